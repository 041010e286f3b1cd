// policy.h: the settings in force for one queue: its own settings, completed by defaults.
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
  std::optional<std::int64_t> max_queue_depth = {};  // absent: no limit
  std::optional<std::int64_t> high_watermark = {};
  std::size_t batch_size = 100;            // recommended events per claim
  std::size_t claim_max = limits::kClaim;  // the most events per claim
  Millis processing_interval = std::chrono::seconds(1);
  std::int64_t persistence_threshold = 500;
  Durability durability = Durability::strict;
  OnFailure on_failure = OnFailure::skip;
  std::chrono::seconds completed_retention{86'400};
  std::chrono::seconds failed_retention{604'800};
};

// A change to some settings of a queue; the others stay as they are.
struct ConfigPatch {
  struct RetryPatch {
    std::optional<RetryPolicy::Kind> kind;
    std::optional<Millis> base;
    std::optional<Millis> cap;
    std::optional<double> jitter;
  };
  QueueConfig set;                  // members with a value replace the queue's own; `retry` is not used
  QueueConfig cleared;              // members with any value get their default back
  std::optional<RetryPatch> retry;  // its members change the retry policy in force
};

// The settings that `options` give to every queue.
Policy default_policy(const Options& options);

// The settings of the queue `name`. By default "main" has neither depth limit nor watermark, and every other
// queue has 10000 and 8000. A configured batch_size also limits the events per claim.
Policy resolve(std::string_view name, const QueueConfig& config, const Policy& defaults);

// The settings of a stored queue.
// Errors: corrupt, when the store could not read them.
Result<Policy> policy_of(const QueueRow& row, const Policy& defaults);

// The same settings as a configuration. Every member is set, except limits that do not exist.
QueueConfig in_force(const Policy& policy);

// The own settings to store for a queue whose settings shall be `given`: a value that equals the default
// stays unset, unless the queue's `present` settings have an own value for it. So settings that were read and
// sent back unchanged follow later changes of the defaults.
QueueConfig own_settings(std::string_view name, const QueueConfig& given, const QueueConfig& present,
                         const Policy& defaults);

// The queue's `own` settings after the change.
QueueConfig patched(std::string_view name, QueueConfig own, const ConfigPatch& patch, const Policy& defaults);

// How long an event with this final status is kept.
std::chrono::seconds retention(const Policy& policy, Status ended);

// Whether publishers are asked to slow down: from a depth above the watermark until it is below 90 % of it.
// The margin keeps the answer from changing with every event. `before` is the previous answer.
bool backpressure(const Policy& policy, std::int64_t depth, bool before);

// When a refused publisher should retry: after `missing` more events have ended at the rate `per_second`, but
// not before 1 s and not after 60 s.
std::chrono::seconds retry_after(std::int64_t missing, double per_second);

// Errors: invalid_argument, also for two settings that contradict each other.
[[nodiscard]] std::optional<Error> validate(std::string_view name, const QueueConfig& config,
                                            const Policy& defaults);

}  // namespace eventq
