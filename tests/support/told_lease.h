// told_lease.h: queues for workers under test that keep a lease of a minute and call it one of seconds: the
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
constexpr Millis kToldLease = std::chrono::seconds(3);

class ToldLease : public WrappedQueue {
 public:
  explicit ToldLease(Queue& inner, Millis told = kToldLease) : WrappedQueue(inner), told_(told) {}

  Result<NextResult> next(const NextRequest& turn) override {
    auto result = WrappedQueue::next(turn);
    if (!result) return result;
    for (Claim& claim : result->claims) claim.lease_until = claim.event.updated_at + told_;
    return result;
  }

 private:
  const Millis told_;
};

// Lets time pass with each lease that is renewed, and opens a gate after so many.
class HeartbeatCount final : public ToldLease {
 public:
  HeartbeatCount(Queue& inner, MovedClock& clock, int wanted, Millis passing, Millis told = kToldLease)
      : ToldLease(inner, told), clock_(clock), wanted_(wanted), passing_(passing) {}

  Result<NextResult> next(const NextRequest& turn) override {
    auto result = ToldLease::next(turn);
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
