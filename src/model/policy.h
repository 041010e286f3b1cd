// policy.h: the settings in force for one queue: its own, and defaults for the rest.
//
// Pure: no I/O, no clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "eventq/error.h"
#include "eventq/event.h"
#include "eventq/limits.h"
#include "eventq/options.h"
#include "model/query.h"

namespace eventq {

struct Policy {
  RetryPolicy retry;
  Millis lease{};
  int max_retries = 0;
  int max_attempts = 0;
  std::optional<std::int64_t> max_queue_depth = {};  // nothing: as many as the disk holds
  std::optional<std::int64_t> high_watermark = {};
  std::size_t batch_size = 100;            // events a worker does well to take at once
  std::size_t claim_max = limits::kClaim;  // events one claim gets at most
  Millis processing_interval = std::chrono::seconds(1);
  std::int64_t persistence_threshold = 500;
  Durability durability = Durability::strict;
  OnFailure on_failure = OnFailure::skip;
  std::chrono::seconds completed_retention{86'400};
  std::chrono::seconds failed_retention{604'800};
};

// What `options` say for every queue.
Policy default_policy(const Options& options);

// The settings of the queue called `name`. "main" has no depth limit and no watermark unless it
// is given one; other queues start with 10000 and 8000. A batch_size that is given limits claims, too.
Policy resolve(std::string_view name, const QueueConfig& config, const Policy& defaults);

// The settings of a queue as the store has it. Errors: corrupt, if the store could not read them.
Result<Policy> policy_of(const QueueRow& row, const Policy& defaults);

// The same settings as a configuration that leaves nothing open, except where there is no limit.
QueueConfig in_force(const Policy& policy);

// How long an event that ended in this way stays.
std::chrono::seconds retention(const Policy& policy, Status ended);

// Asked to slow down: above the watermark, and then until the depth is below 90 % of it.
bool backpressure(const Policy& policy, std::int64_t depth, bool before);

// When a publisher that was refused should come back: once `missing` more events have ended at
// `per_second`, from 1 s to 60 s.
std::chrono::seconds retry_after(std::int64_t missing, double per_second);

// Errors: invalid_argument, also where two settings do not go together.
[[nodiscard]] std::optional<Error> validate(std::string_view name, const QueueConfig& config,
                                            const Policy& defaults);

}  // namespace eventq
