// stop_signals.h: waits for SIGTERM and SIGINT, which no longer interrupt the process.
//
// Threads: create it before any other thread starts, because threads inherit the signal mask.
#pragma once

#include <csignal>
#include <optional>

#include "eventq/clock.h"

namespace eventq::server {

class StopSignals {
 public:
  StopSignals();  // blocks both signals in this thread and in threads that it starts
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Returns the first signal. After that, another signal ends the process at once,
  // with exit code 128 + its number, as shells do.
  int wait();

  // The next signal, if one arrives within `limit`. For callers that end the process themselves.
  std::optional<int> wait(Millis limit);

 private:
  sigset_t signals_{};
};

}  // namespace eventq::server
