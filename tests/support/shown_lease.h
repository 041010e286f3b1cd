// shown_lease.h: queues for workers under test that keep a lease of a minute and call it one of seconds: the
// worker gives signs of life often, and a machine that is slow loses no lease. Time is moved by the test.
#pragma once

#include <atomic>

#include "support/gate.h"
#include "support/worker_queue.h"
#include "support/wrapped_queue.h"

namespace eventq {

// What the queue is opened with.
constexpr Millis kTrueLease = std::chrono::seconds(60);
// A sign of life each second, and two more for it to arrive in.
constexpr Millis kShownLease = std::chrono::seconds(3);

class ShownLease : public WrappedQueue {
 public:
  explicit ShownLease(Queue& inner, Millis shown = kShownLease) : WrappedQueue(inner), shown_(shown) {}

  Result<NextResult> next(const NextRequest& request) override {
    auto result = WrappedQueue::next(request);
    if (!result) return result;
    for (Claim& claim : result->claims) claim.lease_until = claim.event.updated_at + shown_;
    return result;
  }

 private:
  const Millis shown_;
};

// Lets time pass with each lease that is renewed, and opens a gate after so many.
class HeartbeatCount final : public ShownLease {
 public:
  HeartbeatCount(Queue& inner, MovedClock& clock, int wanted, Millis passing, Millis shown = kShownLease)
      : ShownLease(inner, shown), clock_(clock), wanted_(wanted), passing_(passing) {}

  Result<NextResult> next(const NextRequest& request) override {
    auto result = ShownLease::next(request);
    if (!result) return result;
    for (const auto& renewed : result->leases) {
      if (!renewed) continue;
      clock_.advance(passing_);
      if (++count_ == wanted_) reached.open();
    }
    return result;
  }

  Gate reached;

 private:
  MovedClock& clock_;
  const int wanted_;
  const Millis passing_;
  std::atomic<int> count_ = 0;
};

}  // namespace eventq
