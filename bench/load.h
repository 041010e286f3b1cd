// load.h: HTTP load from one thread: many keep-alive connections, each with one pending request.
//
// A Script returns the next request of a connection, given the last reply. The driver shares the machine with
// the server, so it does as little work as possible.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace eventq::bench {

// Builds the bytes of a request.
std::string get_request(std::string_view target);
std::string post_request(std::string_view target, std::string_view body);

struct Reply {
  int status = 0;
  std::string_view body;
};

class Script {
 public:
  virtual ~Script() = default;
  // The next request, given the reply to the last one (status 0 at the start).
  // Empty: nothing to send now. The driver calls again, with the same reply, after other replies.
  virtual std::string next(const Reply& reply) = 0;
};

struct LoadResult {
  double seconds = 0;
  std::vector<std::uint32_t> latency_us;  // of each reply in the measured time
};

// Runs the scripts, one connection each, for `warm_up` and then `measured` seconds. Calls `at_start` when the
// measured time begins. Exits the process when a connection fails.
LoadResult run_load(std::uint16_t port, std::vector<std::unique_ptr<Script>>& scripts, double warm_up,
                    double measured, const std::function<void()>& at_start);

}  // namespace eventq::bench
