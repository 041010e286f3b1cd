// stop_signals.cc: see stop_signals.h.
#include "server/stop_signals.h"

#include <unistd.h>

#include <cerrno>

#include "base/assert.h"

namespace eventq::server {
namespace {

extern "C" void end_at_once(int signal) { _exit(128 + signal); }

}  // namespace

// sigwait() gets a signal reliably only if every thread blocks it. Threads inherit the mask, so this
// constructor must run before the process starts other threads.
StopSignals::StopSignals() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  const int failed = pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  EVENTQ_ASSERT(failed == 0);
}

int StopSignals::wait() {
  int signal = 0;
  int failed = sigwait(&signals_, &signal);
  while (failed == EINTR) failed = sigwait(&signals_, &signal);
  EVENTQ_ASSERT(failed == 0);

  // From here on a second signal must end the process, also if the stop hangs.
  struct sigaction end {};
  end.sa_handler = end_at_once;
  sigaction(SIGTERM, &end, nullptr);
  sigaction(SIGINT, &end, nullptr);
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  return signal;
}

std::optional<int> StopSignals::wait(Millis limit) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(limit);
  const timespec time{.tv_sec = seconds.count(),
                      .tv_nsec = std::chrono::nanoseconds(limit - seconds).count()};
  const int signal = sigtimedwait(&signals_, nullptr, &time);
  if (signal < 0) return std::nullopt;
  return signal;
}

}  // namespace eventq::server
