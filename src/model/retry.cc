// retry.cc: see retry.h.
#include "model/retry.h"

#include <algorithm>

#include "base/assert.h"

namespace eventq {
namespace {

// SplitMix64: a number from -1 to 1, evenly distributed and unrelated for neighbouring inputs.
double spread(std::uint64_t number) {
  number += 0x9E3779B97F4A7C15U;
  number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9U;
  number = (number ^ (number >> 27U)) * 0x94D049BB133111EBU;
  number ^= number >> 31U;
  return static_cast<double>(number >> 11U) * 0x1.0p-52 - 1.0;
}

Millis without_jitter(const RetryPolicy& policy, int failures) {
  if (policy.kind == RetryPolicy::Kind::fixed) return policy.base;
  Millis delay = policy.base;
  // Stops at the cap, because doubling once for each failure would overflow.
  for (int i = 1; i < failures && delay < policy.cap; ++i) delay *= 2;
  return std::min(delay, policy.cap);
}

}  // namespace

Millis retry_delay(const RetryPolicy& policy, int failures, std::int64_t salt) {
  EVENTQ_ASSERT(failures >= 1);
  const Millis delay = without_jitter(policy, failures);
  if (policy.jitter == 0) return delay;
  // Mixes salt and failure, so that two failures of one event get different waits, too.
  const auto number = static_cast<std::uint64_t>(salt) * 1'000'003U + static_cast<std::uint64_t>(failures);
  const double factor = 1.0 + policy.jitter * spread(number);
  return Millis(static_cast<std::int64_t>(static_cast<double>(delay.count()) * factor));
}

}  // namespace eventq
