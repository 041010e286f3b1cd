// retry.h: how long a failed event waits before it may run again.
#pragma once

#include <cstdint>

#include "eventq/options.h"

namespace eventq {

// The wait after failure number `failures` (from 1). `salt` tells events apart that share a
// policy: with jitter, each has waits of its own, always the same ones.
Millis retry_delay(const RetryPolicy& policy, int failures, std::int64_t salt);

}  // namespace eventq
