// client.h: a queue behind a running eventq server.
//
// Retries: a call is repeated when the connection breaks or the server is busy (429, 502, 503, 504), with
//          growing, jittered pauses. A repetition changes nothing, because a publish carries an idempotency
//          key and a report its attempt. `unknown_outcome` is returned and not retried, because only the
//          caller can decide what to do then.
//          A repeated next() or poll() claims other events. Events of a lost answer stay leased until their
//          leases expire.
//          A heartbeat(), and a next() that has nothing but `alive`, is tried once, for 5 s at most. Send
//          the next heartbeat instead.
//
// Differences from an embedded queue: waits and delays are rounded up to whole seconds. poll() refuses a
// clock, and publish() refuses attributes. Returned events have only the attributes of context_of(). The
// entry of a report has no log_id; the entry of a final failure has the time of this process.
//
// Threads: every method may be called from any thread. Connections are kept open and shared.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/error.h"
#include "eventq/event.h"
#include "eventq/options.h"
#include "eventq/queue.h"

namespace eventq {

struct ClientOptions {
  std::string worker_id = {};                 // "{hostname}:{pid}" when empty
  Millis timeout = std::chrono::seconds(30);  // for one answer, added to the time that the call itself waits
  int tries = 5;                              // per call, including the first one
  Logger logger = {};                         // no logging when empty
};

struct StreamRequest {
  std::string worker_id = {};          // the client's own when empty
  std::vector<std::string> tags = {};  // events with at least one of these tags; empty: all events
  std::string queue = "main";
  std::size_t prefetch = 1;  // the most events that are pushed and not yet reported
};

class Client : public Queue {
 public:
  // `url` is http://HOST:PORT. Sends nothing: the first call connects.
  // Errors: invalid_argument.
  static Result<std::unique_ptr<Client>> connect(std::string_view url, const ClientOptions& options = {});

  // Calls `on_claim` on this thread for each event that the server pushes, until `stop` is requested.
  // Connects again when the connection breaks.
  // Errors: the server's, when it refuses the stream.
  virtual Result<void> stream(const StreamRequest& request, const std::function<void(Claim)>& on_claim,
                              const std::stop_token& stop) = 0;
};

}  // namespace eventq
