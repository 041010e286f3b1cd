// backoff.h: how long to wait before a failed call is retried. For failed events: model/retry.h.
#pragma once

#include <algorithm>
#include <chrono>

#include "eventq/clock.h"

namespace eventq {

// A random time from 0 to `pause`, so that callers that failed together do not retry together.
//
// Threads: may be called from any thread.
Millis random_part(Millis pause);

// The pauses of one caller: 100 ms after the first failure, then twice the last one, at most 5 s.
//
// Threads: belongs to one thread at a time.
class Backoff {
 public:
  static constexpr Millis kShortest{100};
  static constexpr Millis kLongest{5000};

  // The call failed. Returns the pause before the next try.
  Millis failed() {
    const Millis pause = next_;
    next_ = std::min(next_ * 2, kLongest);
    return pause;
  }

  void succeeded() { next_ = kShortest; }

  // Whether a call has failed since the last success.
  [[nodiscard]] bool has_failed() const { return next_ > kShortest; }

 private:
  Millis next_ = kShortest;
};

}  // namespace eventq
