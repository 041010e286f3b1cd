// shown_lease.h: queues for workers under test whose leases last a minute but are shown to the worker as
// seconds. The worker sends heartbeats often, and a slow machine loses no lease. The test advances the time.
#pragma once

#include <atomic>

#include "support/gate.h"
#include "support/worker_queue.h"
#include "support/wrapped_queue.h"

namespace eventq {

// The lease that the queue is opened with.
constexpr Millis kTrueLease = std::chrono::seconds(60);
// The lease that the worker sees: a heartbeat each second, which has two more seconds to arrive.
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

// Advances the clock with each renewed lease, and opens a gate after `wanted` renewals.
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
