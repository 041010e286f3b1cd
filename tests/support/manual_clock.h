// manual_clock.h: a clock for tests that changes only when the test sets or advances it.
#pragma once

#include <atomic>

#include "eventq/clock.h"

namespace eventq {

// Threads: every method may be called from any thread.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(TimePoint start = TimePoint()) : now_(start.time_since_epoch().count()) {}

  [[nodiscard]] TimePoint now() const override { return TimePoint(Millis(now_.load())); }

  void set(TimePoint time) { now_.store(time.time_since_epoch().count()); }
  void advance(Millis by) { now_.fetch_add(by.count()); }

 private:
  std::atomic<Millis::rep> now_;
};

}  // namespace eventq
