// interrupt.cc: see interrupt.h.
#include "cli/framework/interrupt.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <limits>

namespace eventq::cli {
namespace {

std::atomic<bool> interrupted{false};  // set by the signal handler, read by any thread
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void note_interrupt(int) { interrupted = true; }

}  // namespace

Interrupt::Interrupt() {
  struct sigaction note {};
  note.sa_handler = note_interrupt;
  note.sa_flags = static_cast<int>(SA_RESETHAND);  // no SA_RESTART, so a blocked read() returns; the next
                                                   // signal has its default action and ends the process
  sigaction(SIGINT, &note, nullptr);
  sigaction(SIGTERM, &note, nullptr);
}

bool Interrupt::requested() const { return interrupted; }

void Interrupt::wait(Millis duration) const {
  if (requested()) return;
  const Millis most = std::min<Millis>(duration, Millis(std::numeric_limits<int>::max()));
  poll(nullptr, 0, static_cast<int>(most.count()));
}

}  // namespace eventq::cli
