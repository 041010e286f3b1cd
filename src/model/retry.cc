// retry.cc: see retry.h.
#include "model/retry.h"

#include <algorithm>

#include "base/assert.h"

namespace eventq {

Millis retry_delay(const RetryPolicy& policy, int failures) {
  EVENTQ_ASSERT(failures >= 1);
  if (policy.kind == RetryPolicy::Kind::fixed) return policy.base;

  Millis delay = policy.base;
  for (int i = 1; i < failures && delay < policy.cap; ++i) delay *= 2;
  return std::min(delay, policy.cap);
}

}  // namespace eventq
