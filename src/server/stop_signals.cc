// stop_signals.cc: see stop_signals.h.
#include "server/stop_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/assert.h"
#include "base/descriptor.h"

namespace eventq::server {
namespace {

extern "C" void end_at_once(int signal) { _exit(128 + signal); }

}  // namespace

// sigwait() gets a signal reliably only if every thread blocks it. Threads inherit the mask, so this
// constructor must run before the process starts other threads.
StopSignals::StopSignals(HangUp hang_up) {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  // A blocked signal arrives at sigwait() even if it is ignored, so an ignored one must not be blocked.
  struct sigaction found {};
  sigaction(SIGHUP, nullptr, &found);
  if (hang_up == HangUp::is_received && found.sa_handler != SIG_IGN) sigaddset(&signals_, SIGHUP);
  const int failed = pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  EVENTQ_ASSERT(failed == 0);
}

int StopSignals::wait() {
  int signal = 0;
  int failed = sigwait(&signals_, &signal);
  while (failed == EINTR) failed = sigwait(&signals_, &signal);
  EVENTQ_ASSERT(failed == 0);
  return signal;
}

void StopSignals::end_at_next() {
  struct sigaction end {};
  end.sa_handler = end_at_once;
  sigaction(SIGTERM, &end, nullptr);
  sigaction(SIGINT, &end, nullptr);
  // SIGHUP stays blocked: a closed terminal may send it twice.
  sigset_t both = signals_;
  sigdelset(&both, SIGHUP);
  pthread_sigmask(SIG_UNBLOCK, &both, nullptr);
}

std::optional<int> StopSignals::wait(Millis limit) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(limit);
  const timespec time{.tv_sec = seconds.count(),
                      .tv_nsec = std::chrono::nanoseconds(limit - seconds).count()};
  const int signal = sigtimedwait(&signals_, nullptr, &time);
  if (signal < 0) return std::nullopt;
  return signal;
}

bool has_terminal() { return Descriptor(open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)).open(); }

}  // namespace eventq::server
