// retry.h: how long a failed event waits.
#pragma once

#include "eventq/options.h"

namespace eventq {

// The wait after the `failures`-th reported failure. REQUIRES: failures >= 1.
Millis retry_delay(const RetryPolicy& policy, int failures);

}  // namespace eventq
