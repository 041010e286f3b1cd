// stop_signals.h: SIGTERM and SIGINT, waited for instead of interrupting.
//
// Threads: made before any other thread is started, so that all inherit the mask.
#pragma once

#include <csignal>

namespace eventq::cli {

class StopSignals {
 public:
  StopSignals();  // blocks them in this thread, and in all that it starts
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Returns the first one. From then on another one ends the process at once,
  // with 128 + its number, as a shell shows it.
  int wait();

 private:
  sigset_t signals_{};
};

}  // namespace eventq::cli
