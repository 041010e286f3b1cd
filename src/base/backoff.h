// backoff.h: how long to wait before a call that failed is made again.
#pragma once

#include <algorithm>
#include <chrono>

#include "eventq/clock.h"

namespace eventq {

// From nothing to all of `pause`, at random, so that those who failed together do not come back together.
// Threads: any.
Millis random_part(Millis pause);

// Threads: one at a time.
class Backoff {
 public:
  static constexpr Millis kShortest{100};
  static constexpr Millis kLongest{5000};

  // The call failed: 100 ms, then twice as long each time, up to 5 s.
  Millis failed() {
    const Millis pause = next_;
    next_ = std::min(next_ * 2, kLongest);
    return pause;
  }

  void succeeded() { next_ = kShortest; }

  // Since the last success.
  [[nodiscard]] bool has_failed() const { return next_ > kShortest; }

 private:
  Millis next_ = kShortest;
};

}  // namespace eventq
