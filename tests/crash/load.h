// load.h: publishers and workers at work on a server that is killed under them, or on several with their
// databases, each on a connection and a thread of its own, some of them careless.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "crash/gate.h"
#include "support/history.h"

namespace eventq {

// A second queue beside main: it takes only so many, and its events have an order and make way for others.
inline constexpr const char* kLimitedQueue = "orders";
inline constexpr int kLimitedDepth = 60;

class Load {
 public:
  enum class Databases : std::uint8_t {
    none,   // the server is alone with its file
    away,   // servers may have lost theirs, and say so
    shards  // likewise, and there are several: the events of a batch have one ordering_key. Every publication
            // has a key
  };
  Load(std::uint32_t seed, int publishers, int workers, Databases databases = Databases::none);
  ~Load();

  Gate& gate() { return gate_; }

  // Closes the gate, waits for everybody, and tells what they saw.
  History finish();

 private:
  Gate gate_;
  std::vector<std::unique_ptr<History>> histories_;  // one for each thread
  std::vector<std::thread> threads_;
};

// What clients saw, in one line.
std::string summary_of(const History& history, const std::vector<Finding>& findings);
template <typename Calls>
auto count_told(const Calls& calls, Heard told) {
  return std::count_if(calls.begin(), calls.end(), [&](const auto& call) { return call.told == told; });
}

// Works alone until nothing is left to do. False when that takes too long, or the server cannot be asked.
bool drain(std::uint16_t port, History& history);

}  // namespace eventq
