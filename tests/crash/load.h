// load.h: publishers and workers at work on a server that is killed under them, each on a connection
// and a thread of its own, some of them careless.
#pragma once

#include <cstdint>
#include <memory>
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
  Load(std::uint32_t seed, int publishers, int workers);
  ~Load();

  Gate& gate() { return gate_; }

  // Closes the gate, waits for everybody, and tells what they saw.
  History finish();

 private:
  Gate gate_;
  std::vector<std::unique_ptr<History>> histories_;  // one for each thread
  std::vector<std::thread> threads_;
};

// Works alone until nothing is left to do. False when that takes too long, or the server cannot be asked.
bool drain(std::uint16_t port, History& history);

}  // namespace eventq
