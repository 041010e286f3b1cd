// stop_signals.h: waits for the signals of a process that runs until it is stopped. They no longer interrupt
// it.
//
// Threads: create it before any other thread starts, because threads inherit the signal mask.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>

#include "eventq/clock.h"

namespace eventq::server {

// Whether SIGHUP is waited for, too. It then no longer ends the process. A process that was started to ignore
// it, as nohup does, never gets it.
enum class HangUp : std::uint8_t { ends_process, is_received };

class StopSignals {
 public:
  // Blocks SIGTERM and SIGINT in this thread and in threads that it starts.
  explicit StopSignals(HangUp hang_up = HangUp::ends_process);
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Waits for the next signal.
  int wait();

  // After this, SIGTERM and SIGINT end the process at once, with exit code 128 + the number, as shells do.
  // For a process that begins to stop: a second signal must end it, also if the stop hangs.
  void end_at_next();

  // The next signal, if one arrives within `limit`. For callers that end the process themselves.
  std::optional<int> wait(Millis limit);

 private:
  sigset_t signals_{};
};

// Whether the process has a controlling terminal. After the terminal was closed it has none.
[[nodiscard]] bool has_terminal();

}  // namespace eventq::server
