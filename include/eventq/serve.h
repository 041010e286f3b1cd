// serve.h: serves the HTTP API and the dashboard of a queue from the program that contains the queue.
//
//   const auto server = eventq::serve(*queue, {.port = 8080});
//
// Other programs then use the queue as if `eventq serve` ran: publishers, workers, the command line and
// browsers. The program itself uses the queue as before. Notebooks are not served.
//
// Threads: call stop() from one thread at a time. Requests are handled on a thread of the server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "eventq/error.h"
#include "eventq/options.h"
#include "eventq/queue.h"

namespace eventq {

struct ServeOptions {
  std::string host = "127.0.0.1";  // an IPv4 or IPv6 address, or localhost
  std::uint16_t port = 8080;       // 0: any free port, see EmbeddedServer::url()
  bool allow_remote = false;       // must be true for an address that other machines can reach
  Logger logger = {};              // no logging when empty
};

class EmbeddedServer {
 public:
  virtual ~EmbeddedServer() = default;  // calls stop()

  // The address that clients use, such as "http://127.0.0.1:8080". The dashboard is its first page.
  [[nodiscard]] virtual std::string url() const = 0;

  // Accepts no more requests, answers those under way, and closes the connections. Calls that wait for events
  // are answered at once. Takes up to 8 s when a client does not read its answer. The queue stays open.
  virtual void stop() = 0;
};

// Listens on the address and serves until the object is destroyed.
// REQUIRES: `queue` outlives the server.
// Errors: invalid_argument for a bad host, for an address that other machines can reach without
// `allow_remote`, and for a queue that is not in this process (http:); unavailable when the address cannot be
// bound.
Result<std::unique_ptr<EmbeddedServer>> serve(Queue& queue, const ServeOptions& options = {});

}  // namespace eventq
