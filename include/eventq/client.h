// client.h: a queue behind a running eventq server.
//
// Calls are made again when the connection breaks or the server is busy (429, 503), with growing,
// jittered pauses: publishes carry an idempotency key and reports their attempt, so a repetition
// changes nothing. An answer of `unknown_outcome` is handed on, not retried: only the caller knows.
// A next() or poll() that is made again takes other events: those in the answer that was lost stay leased,
// unknown to this process, until their leases end.
// Signs of life, heartbeat() and a turn with nothing but `alive`, get one try of 5 s at most: send the next
// one.
//
// Not as in a queue of this process: waits and delays are rounded up to whole seconds; poll() takes no
// clock, publish() no attributes; events come without attributes, the entry of a report without its id, and
// that of a last failure with the time of this process.
//
// Threads: every method may be called from any thread. Connections are kept and shared.
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
  std::string worker_id;                      // "{hostname}:{pid}" when empty
  Millis timeout = std::chrono::seconds(30);  // for one answer, beside what the call itself waits
  int tries = 5;                              // of one call, the first counted
  Logger logger;                              // silent when empty
};

struct StreamRequest {
  std::string worker_id;          // the client's own when empty
  std::vector<std::string> tags;  // any of these; empty: whatever the tags
  std::string queue = "main";
  std::size_t prefetch = 1;  // events pushed and not yet reported, at most
};

class Client : public Queue {
 public:
  // `url` is http://HOST:PORT. Nothing is sent yet. Errors: invalid_argument.
  static Result<std::unique_ptr<Client>> connect(std::string_view url, const ClientOptions& options = {});

  // Events as they are pushed, one call of `on_claim` each, on this thread. Returns when `stop` fires.
  // A broken connection is made anew. Errors: what the server refuses the stream with.
  virtual Result<void> stream(const StreamRequest& request, const std::function<void(Claim)>& on_claim,
                              const std::stop_token& stop) = 0;
};

}  // namespace eventq
