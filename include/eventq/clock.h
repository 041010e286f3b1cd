// clock.h: the one source of time, replaceable in tests.
#pragma once

#include <chrono>

namespace eventq {

using Millis = std::chrono::milliseconds;

// UTC, in whole milliseconds.
using TimePoint = std::chrono::sys_time<Millis>;

// The time as the queue sees it. Tests replace it.
//
// Threads: now() may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const = 0;
};

// The system time at the first call, advanced by a clock that never jumps. Setting the machine's
// time therefore moves no lease.
const Clock& system_clock();

}  // namespace eventq
