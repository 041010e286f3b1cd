// stop_signals.h: SIGTERM and SIGINT, waited for instead of interrupting.
//
// Threads: made before any other thread is started, so that all inherit the mask.
#pragma once

#include <csignal>
#include <optional>

#include "eventq/clock.h"

namespace eventq::server {

class StopSignals {
 public:
  StopSignals();  // blocks them in this thread, and in all that it starts
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Returns the first one. From then on another one ends the process at once,
  // with 128 + its number, as a shell shows it.
  int wait();

  // The next one, if one comes within that time. For callers that end the process themselves.
  std::optional<int> wait(Millis limit);

 private:
  sigset_t signals_{};
};

}  // namespace eventq::server
