// policy.cc: see policy.h.
#include "model/policy.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "base/range.h"
#include "model/validate.h"

namespace eventq {
namespace {

constexpr std::int64_t kDepth = 10'000;
constexpr std::int64_t kWatermark = 8'000;
constexpr double kRelease = 0.9;  // the share of the watermark below which backpressure ends
constexpr std::chrono::hours kYear{24 * 365};

using Fault = std::optional<Error>;

// Every member of QueueConfig.
constexpr std::tuple kSettings{&QueueConfig::max_queue_depth,
                               &QueueConfig::high_watermark,
                               &QueueConfig::batch_size,
                               &QueueConfig::processing_interval,
                               &QueueConfig::persistence_threshold,
                               &QueueConfig::lease,
                               &QueueConfig::max_attempts,
                               &QueueConfig::max_retries,
                               &QueueConfig::retry,
                               &QueueConfig::durability,
                               &QueueConfig::on_failure,
                               &QueueConfig::completed_retention,
                               &QueueConfig::failed_retention};

template <typename Change>
void for_each_setting(const Change& change) {
  std::apply([&](auto... members) { (change(members), ...); }, kSettings);
}

template <typename Duration>
std::optional<std::int64_t> count(const std::optional<Duration>& duration) {
  return duration ? std::optional<std::int64_t>(duration->count()) : std::nullopt;
}

}  // namespace

Policy default_policy(const Options& options) {
  return {options.retry, options.lease, options.max_retries, options.max_attempts};
}

Policy resolve(std::string_view name, const QueueConfig& config, const Policy& defaults) {
  Policy policy = defaults;
  if (name != "main") {
    policy.max_queue_depth = kDepth;
    policy.high_watermark = kWatermark;
  }
  // A configured depth limit also sets the watermark, unless the watermark is configured, too.
  if (config.max_queue_depth) {
    policy.max_queue_depth = config.max_queue_depth;
    policy.high_watermark = std::max<std::int64_t>(1, *config.max_queue_depth * 4 / 5);
  }
  if (config.high_watermark) policy.high_watermark = config.high_watermark;
  if (config.batch_size) {
    policy.batch_size = static_cast<std::size_t>(*config.batch_size);
    policy.claim_max = policy.batch_size;
  }
  policy.processing_interval = config.processing_interval.value_or(policy.processing_interval);
  policy.persistence_threshold = config.persistence_threshold.value_or(policy.persistence_threshold);
  policy.lease = config.lease.value_or(policy.lease);
  policy.max_attempts = config.max_attempts.value_or(policy.max_attempts);
  policy.max_retries = config.max_retries.value_or(policy.max_retries);
  policy.retry = config.retry.value_or(policy.retry);
  policy.durability = config.durability.value_or(policy.durability);
  policy.on_failure = config.on_failure.value_or(policy.on_failure);
  policy.completed_retention = config.completed_retention.value_or(policy.completed_retention);
  policy.failed_retention = config.failed_retention.value_or(policy.failed_retention);
  return policy;
}

Result<Policy> policy_of(const QueueRow& row, const Policy& defaults) {
  if (!row.config_fault.empty()) return Error{ErrorCode::corrupt, row.config_fault, ""};
  return resolve(row.id, row.config, defaults);
}

QueueConfig in_force(const Policy& policy) {
  return {
      .max_queue_depth = policy.max_queue_depth,
      .high_watermark = policy.high_watermark,
      .batch_size = static_cast<int>(policy.batch_size),
      .processing_interval = policy.processing_interval,
      .persistence_threshold = policy.persistence_threshold,
      .lease = policy.lease,
      .max_attempts = policy.max_attempts,
      .max_retries = policy.max_retries,
      .retry = policy.retry,
      .durability = policy.durability,
      .on_failure = policy.on_failure,
      .completed_retention = policy.completed_retention,
      .failed_retention = policy.failed_retention,
  };
}

QueueConfig own_settings(std::string_view name, const QueueConfig& given, const QueueConfig& present,
                         const Policy& defaults) {
  QueueConfig unset = in_force(resolve(name, {}, defaults));
  // The default of the watermark follows the depth limit.
  unset.high_watermark = resolve(name, {.max_queue_depth = given.max_queue_depth}, defaults).high_watermark;
  QueueConfig own = given;
  for_each_setting([&](auto member) {
    if (!(present.*member) && own.*member == unset.*member) (own.*member).reset();
  });
  return own;
}

QueueConfig patched(std::string_view name, QueueConfig own, const ConfigPatch& patch,
                    const Policy& defaults) {
  if (patch.retry) {
    RetryPolicy retry = resolve(name, own, defaults).retry;
    retry.kind = patch.retry->kind.value_or(retry.kind);
    retry.base = patch.retry->base.value_or(retry.base);
    retry.cap = patch.retry->cap.value_or(retry.cap);
    retry.jitter = patch.retry->jitter.value_or(retry.jitter);
    own.retry = retry;
  }
  for_each_setting([&](auto member) {
    if (patch.cleared.*member) (own.*member).reset();
    if (patch.set.*member) own.*member = patch.set.*member;
  });
  return own;
}

std::chrono::seconds retention(const Policy& policy, Status ended) {
  return ended == Status::failed ? policy.failed_retention : policy.completed_retention;
}

bool backpressure(const Policy& policy, std::int64_t depth, bool before) {
  if (!policy.high_watermark) return false;
  if (depth > *policy.high_watermark) return true;
  return before && static_cast<double>(depth) >= kRelease * static_cast<double>(*policy.high_watermark);
}

std::chrono::seconds retry_after(std::int64_t missing, double per_second) {
  constexpr std::int64_t kLongest = 60;
  if (per_second <= 0) return std::chrono::seconds(kLongest);
  const double seconds = std::ceil(static_cast<double>(missing) / per_second);
  return std::chrono::seconds(static_cast<std::int64_t>(std::clamp(seconds, 1.0, double{kLongest})));
}

Fault validate(std::string_view name, const QueueConfig& config, const Policy& defaults) {
  if (Fault fault = validate_queue_name(name)) return fault;
  const std::int64_t year = Millis(kYear).count();
  const Fault faults[] = {
      out_of_range("maxQueueDepth", config.max_queue_depth, 1, limits::kQueueDepth),
      out_of_range("highWatermark", config.high_watermark, 1, limits::kQueueDepth),
      out_of_range("batchSize", config.batch_size, 1, limits::kClaim),
      out_of_range("processingInterval", count(config.processing_interval), 1, 3'600'000),
      out_of_range("persistenceThreshold", config.persistence_threshold, 1, limits::kQueueDepth),
      out_of_range("leaseMs", count(config.lease), 100, year),
      out_of_range("maxAttempts", config.max_attempts, 1, limits::kMaxAttempts),
      out_of_range("maxRetries", config.max_retries, 0, limits::kMaxRetries),
      out_of_range("retention.completedSeconds", count(config.completed_retention), 0, year / 1000 * 100),
      out_of_range("retention.failedSeconds", count(config.failed_retention), 0, year / 1000 * 100),
  };
  for (const Fault& fault : faults) {
    if (fault) return fault;
  }
  if (config.retry) {
    if (Fault fault = validate(*config.retry, "retry.")) return fault;
  }
  const Policy policy = resolve(name, config, defaults);
  if (policy.high_watermark && policy.max_queue_depth && *policy.high_watermark > *policy.max_queue_depth) {
    return Error{ErrorCode::invalid_argument,
                 "highWatermark is " + std::to_string(*policy.high_watermark) + " and maxQueueDepth " +
                     std::to_string(*policy.max_queue_depth) +
                     "; publishers would be refused before they are asked to slow down. Set highWatermark to "
                     "maxQueueDepth or less.",
                 "highWatermark"};
  }
  return std::nullopt;
}

}  // namespace eventq
