// window.cc: the Core's count of held events per worker, and the waiting claims that a full window holds
// back.
#include <utility>

#include "base/assert.h"
#include "core/batch.h"
#include "eventq/limits.h"

namespace eventq {

// How many more events the worker may hold. limits::kClaim stands for any number.
std::size_t Core::window_left(const Batch& batch, const ClaimRequest& request) const {
  if (request.window == 0) return limits::kClaim;
  const Holder holder(request.worker_id, request.selector.queue);
  const auto count_in = [&](const std::map<Holder, std::int64_t>& counts) {
    const auto found = counts.find(holder);
    return found == counts.end() ? 0 : found->second;
  };
  const auto held = static_cast<std::size_t>(count_in(held_) + count_in(batch.held));
  return request.window > held ? request.window - held : 0;
}

// Serves held-back waiters of workers whose number of held events this batch changed.
Result<void> Core::wake_held_back(Batch& batch) {
  for (const auto& [holder, change] : batch.held) {
    for (const std::uint64_t place : waiters_.held_back(holder)) {
      auto served = serve(batch, place, waiters_.take(place));
      if (!served) return served.error();
    }
  }
  return {};
}

void Core::settle_held(Batch& batch) {
  for (const auto& [holder, change] : std::exchange(batch.held, {})) {
    const auto found = held_.try_emplace(holder, 0).first;
    found->second += change;
    EVENTQ_ASSERT(found->second >= 0);
    if (found->second == 0) held_.erase(found);
  }
}

// After a rollback. A waiter may have been held back by a claim that was undone, so all of them try again in
// the next batch.
void Core::release_held_back() {
  for (const std::uint64_t place : waiters_.held_back()) {
    WaitingClaim waiter = waiters_.take(place);
    waiter.held_back = false;
    resumed_.insert(waiter.request.selector.queue);
    waiters_.put_back(place, std::move(waiter));
  }
}

}  // namespace eventq
