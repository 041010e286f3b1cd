// load.h: publishers and workers that use servers while these, or their databases, are killed. Each client
// has its own connection and thread, and some make mistakes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "crash/running_servers.h"
#include "support/history.h"

namespace eventq {

// A second queue beside main, with a limit, ordering keys and supersede keys.
inline constexpr const char* kLimitedQueue = "orders";
inline constexpr int kLimitedDepth = 60;

class Load {
 public:
  enum class Databases : std::uint8_t {
    none,         // one server on a file
    may_be_down,  // servers on a database that may be down; they then answer 503
    shards        // several databases, which may be down: the events of a batch have one ordering_key. Every
                  // publication has a key
  };
  Load(std::uint32_t seed, int publishers, int workers, Databases databases = Databases::none);
  ~Load();

  RunningServers& servers() { return servers_; }

  // Stops the clients, joins all threads and returns their histories as one.
  History finish();

 private:
  RunningServers servers_;
  std::vector<std::unique_ptr<History>> histories_;  // one for each thread
  std::vector<std::thread> threads_;
};

// Counts of the clients' calls, in one line.
std::string summary_of(const History& history, const std::vector<Finding>& findings);
template <typename Calls>
auto count_outcome(const Calls& calls, CallOutcome outcome) {
  return std::count_if(calls.begin(), calls.end(), [&](const auto& call) { return call.outcome == outcome; });
}

// Claims and completes events on one thread until none is live. False when that takes too long, or the server
// does not answer.
bool drain(std::uint16_t port, History& history);

}  // namespace eventq
