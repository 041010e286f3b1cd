// retry.h: how long a failed event waits before it may run again. For calls of eventq: base/backoff.h.
#pragma once

#include <cstdint>

#include "eventq/options.h"

namespace eventq {

// The wait after failure number `failures`, from 1. With jitter, events with different `salt` get different
// waits. The same arguments always give the same wait, so that a retry time can be computed again.
// REQUIRES: failures >= 1.
Millis retry_delay(const RetryPolicy& policy, int failures, std::int64_t salt);

}  // namespace eventq
