// clock.h: the one source of time, replaceable in tests.
#pragma once

#include <chrono>

namespace eventq {

using Millis = std::chrono::milliseconds;

// UTC, in whole milliseconds.
using TimePoint = std::chrono::sys_time<Millis>;

// Threads: now() may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const = 0;
};

// The system's time, read once when the process starts and carried on by a
// clock that never jumps: setting the machine's time moves no lease.
const Clock& system_clock();

}  // namespace eventq
