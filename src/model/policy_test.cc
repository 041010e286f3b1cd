// policy_test.cc: the defaults and limits of queue settings, and when publishers are asked to slow down or to
// retry.
#include "model/policy.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/describe.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

const Policy kDefaults = default_policy(Options{});

// The field of the error, or an empty text.
std::string fault_of(const QueueConfig& config, std::string_view name = "orders") {
  const auto error = validate(name, config, kDefaults);
  if (!error) return "";
  EXPECT_EQ(error->code, ErrorCode::invalid_argument) << describe(error->code);
  return error->field;
}

TEST(DefaultPolicy, TakesTheOptionsForEveryQueue) {
  Options options;
  options.retry = {RetryPolicy::Kind::exponential, 1s, 2min, 0.5};
  options.lease = 7s;
  options.max_retries = 8;
  options.max_attempts = 9;

  const Policy policy = default_policy(options);

  EXPECT_EQ(policy.retry, options.retry);
  EXPECT_EQ(policy.lease, 7s);
  EXPECT_EQ(policy.max_retries, 8);
  EXPECT_EQ(policy.max_attempts, 9);
  EXPECT_EQ(policy.durability, Durability::strict);
  EXPECT_EQ(policy.on_failure, OnFailure::skip);
}

TEST(Resolve, MainHasNoLimitAndNoWatermark) {
  const Policy policy = resolve("main", {}, kDefaults);

  EXPECT_EQ(policy.max_queue_depth, std::nullopt);
  EXPECT_EQ(policy.high_watermark, std::nullopt);
}

TEST(Resolve, AnyOtherQueueHasALimitAndAWatermark) {
  for (const std::string_view name : {"orders", "Main", "main2"}) {
    const Policy policy = resolve(name, {}, kDefaults);

    EXPECT_EQ(policy.max_queue_depth, 10'000) << name;
    EXPECT_EQ(policy.high_watermark, 8'000) << name;
  }
}

TEST(Resolve, OtherSettingsAreTheSameForEveryQueue) {
  for (const std::string_view name : {"main", "orders"}) {
    const Policy policy = resolve(name, {}, kDefaults);

    EXPECT_EQ(policy.batch_size, 100U) << name;
    EXPECT_EQ(policy.claim_max, 1000U) << name;
    EXPECT_EQ(policy.processing_interval, 1s) << name;
    EXPECT_EQ(policy.persistence_threshold, 500) << name;
    EXPECT_EQ(policy.durability, Durability::strict) << name;
    EXPECT_EQ(policy.on_failure, OnFailure::skip) << name;
    EXPECT_EQ(policy.completed_retention, 24h) << name;
    EXPECT_EQ(policy.failed_retention, 7 * 24h) << name;
    EXPECT_EQ(policy.lease, 60s) << name;
    EXPECT_EQ(policy.max_retries, 3) << name;
    EXPECT_EQ(policy.max_attempts, 20) << name;
    EXPECT_EQ(policy.retry, RetryPolicy{}) << name;
  }
}

TEST(Resolve, AQueuesOwnSettingsOverrideTheDefaults) {
  const RetryPolicy retry{RetryPolicy::Kind::exponential, 2s, 3s, 0.25};
  const QueueConfig config{.max_queue_depth = 50,
                           .high_watermark = 30,
                           .batch_size = 5,
                           .processing_interval = 20ms,
                           .persistence_threshold = 7,
                           .lease = 9s,
                           .max_attempts = 4,
                           .max_retries = 0,
                           .retry = retry,
                           .durability = Durability::buffered,
                           .on_failure = OnFailure::block,
                           .completed_retention = 11s,
                           .failed_retention = 12s};
  for (const std::string_view name : {"main", "orders"}) {
    const Policy policy = resolve(name, config, kDefaults);

    EXPECT_EQ(policy.max_queue_depth, 50) << name;
    EXPECT_EQ(policy.high_watermark, 30) << name;
    EXPECT_EQ(policy.batch_size, 5U) << name;
    EXPECT_EQ(policy.claim_max, 5U) << name;
    EXPECT_EQ(policy.processing_interval, 20ms) << name;
    EXPECT_EQ(policy.persistence_threshold, 7) << name;
    EXPECT_EQ(policy.lease, 9s) << name;
    EXPECT_EQ(policy.max_attempts, 4) << name;
    EXPECT_EQ(policy.max_retries, 0) << name;
    EXPECT_EQ(policy.retry, retry) << name;
    EXPECT_EQ(policy.durability, Durability::buffered) << name;
    EXPECT_EQ(policy.on_failure, OnFailure::block) << name;
    EXPECT_EQ(policy.completed_retention, 11s) << name;
    EXPECT_EQ(policy.failed_retention, 12s) << name;
  }
}

TEST(Resolve, AConfiguredLimitAlsoSetsTheWatermark) {
  EXPECT_EQ(resolve("orders", {.max_queue_depth = 100}, kDefaults).high_watermark, 80);
  EXPECT_EQ(resolve("main", {.max_queue_depth = 100}, kDefaults).high_watermark, 80);
  EXPECT_EQ(resolve("orders", {.max_queue_depth = 1}, kDefaults).high_watermark, 1);
}

TEST(OwnSettings, ValuesEqualToTheDefaultStayUnset) {
  const Policy defaults = default_policy(Options{.max_retries = 7});
  const QueueConfig shown = in_force(resolve("mail", {}, defaults));

  EXPECT_EQ(own_settings("mail", shown, {}, defaults), QueueConfig());
}

TEST(OwnSettings, AnOwnValueEqualToTheDefaultStaysSet) {
  const Policy defaults = default_policy(Options{});
  const QueueConfig present{.batch_size = 100, .retry = RetryPolicy{}};

  EXPECT_EQ(own_settings("mail", in_force(resolve("mail", present, defaults)), present, defaults), present);
}

TEST(OwnSettings, AWatermarkThatFollowsTheDepthStaysUnset) {
  const Policy defaults = default_policy(Options{});

  EXPECT_EQ(own_settings("mail", {.max_queue_depth = 500, .high_watermark = 400}, {}, defaults),
            QueueConfig{.max_queue_depth = 500});
  EXPECT_EQ(own_settings("mail", {.max_queue_depth = 500, .high_watermark = 399}, {}, defaults),
            (QueueConfig{.max_queue_depth = 500, .high_watermark = 399}));
}

TEST(Patched, ChangesOnlyWhatThePatchNames) {
  const QueueConfig own{.batch_size = 5, .lease = Millis(1000)};

  EXPECT_EQ(patched("mail", own, {.set = {.lease = Millis(2000)}, .cleared = {}, .retry = {}},
                    default_policy(Options{})),
            (QueueConfig{.batch_size = 5, .lease = Millis(2000)}));
  EXPECT_EQ(
      patched("mail", own, {.set = {}, .cleared = {.batch_size = 1}, .retry = {}}, default_policy(Options{})),
      QueueConfig{.lease = Millis(1000)});
}

TEST(Patched, OneMemberOfTheRetryPolicyKeepsTheOthersInForce) {
  const Policy defaults = default_policy(Options{.retry = {.base = Millis(7), .jitter = 0.5}});
  ConfigPatch patch;
  patch.retry.emplace().kind = RetryPolicy::Kind::exponential;

  const auto retry = patched("mail", {}, patch, defaults).retry;

  ASSERT_TRUE(retry);
  EXPECT_EQ(*retry, (RetryPolicy{RetryPolicy::Kind::exponential, Millis(7), defaults.retry.cap, 0.5}));
}

TEST(Retention, OnlyFailedEventsHaveTheRetentionOfFailures) {
  const Policy policy = resolve("main", {.completed_retention = 1s, .failed_retention = 2s}, kDefaults);

  EXPECT_EQ(retention(policy, Status::failed), 2s);
  for (const Status status :
       {Status::completed, Status::completed_with_errors, Status::superseded, Status::cancelled}) {
    EXPECT_EQ(retention(policy, status), 1s) << name_of(status);
  }
}

TEST(ValidateConfig, EveryNumberHasItsLimits) {
  struct Row {
    std::string field;
    std::int64_t least;
    std::int64_t most;
    std::function<void(QueueConfig&, std::int64_t)> set;
  };
  constexpr std::int64_t kBillion = 1'000'000'000;
  constexpr std::int64_t kYear = 31'536'000;
  const auto whole = [](std::int64_t n) { return static_cast<int>(n); };
  const std::vector<Row> rows = {
      {"maxQueueDepth", 1, kBillion, [](QueueConfig& it, std::int64_t n) { it.max_queue_depth = n; }},
      {"highWatermark", 1, kBillion, [](QueueConfig& it, std::int64_t n) { it.high_watermark = n; }},
      {"batchSize", 1, 1000, [&](QueueConfig& it, std::int64_t n) { it.batch_size = whole(n); }},
      {"processingInterval", 1, 3'600'000,
       [](QueueConfig& it, std::int64_t n) { it.processing_interval = Millis(n); }},
      {"persistenceThreshold", 1, kBillion,
       [](QueueConfig& it, std::int64_t n) { it.persistence_threshold = n; }},
      {"leaseMs", 100, kYear * 1000, [](QueueConfig& it, std::int64_t n) { it.lease = Millis(n); }},
      {"maxAttempts", 1, 1'000'000, [&](QueueConfig& it, std::int64_t n) { it.max_attempts = whole(n); }},
      {"maxRetries", 0, 1000, [&](QueueConfig& it, std::int64_t n) { it.max_retries = whole(n); }},
      {"retention.completedSeconds", 0, kYear * 100,
       [](QueueConfig& it, std::int64_t n) { it.completed_retention = std::chrono::seconds(n); }},
      {"retention.failedSeconds", 0, kYear * 100,
       [](QueueConfig& it, std::int64_t n) { it.failed_retention = std::chrono::seconds(n); }},
  };
  for (const Row& row : rows) {
    const auto fault = [&](std::int64_t value) {
      QueueConfig config;
      row.set(config, value);
      return fault_of(config, "main");
    };
    EXPECT_EQ(fault(row.least - 1), row.field);
    EXPECT_EQ(fault(row.least), "") << row.field;
    EXPECT_EQ(fault(row.least + 1), "") << row.field;
    EXPECT_EQ(fault(row.most - 1), "") << row.field;
    EXPECT_EQ(fault(row.most), "") << row.field;
    EXPECT_EQ(fault(row.most + 1), row.field);
  }
}

TEST(ValidateConfig, AnErrorSaysWhatIsWrongAndWhatWouldBeRight) {
  EXPECT_EQ(validate("orders", {.batch_size = 1001}, kDefaults)->message,
            "batchSize is 1001; it must be from 1 to 1000.");
}

TEST(ValidateConfig, TheWatermarkIsAtMostTheLimit) {
  EXPECT_EQ(fault_of({.max_queue_depth = 100, .high_watermark = 99}), "");
  EXPECT_EQ(fault_of({.max_queue_depth = 100, .high_watermark = 100}), "");
  EXPECT_EQ(fault_of({.max_queue_depth = 100, .high_watermark = 101}), "highWatermark");
}

TEST(ValidateConfig, AConfiguredWatermarkIsAtMostTheDefaultLimit) {
  EXPECT_EQ(fault_of({.high_watermark = 10'000}), "");
  EXPECT_EQ(fault_of({.high_watermark = 10'001}), "highWatermark");
  EXPECT_EQ(fault_of({.high_watermark = 10'001}, "main"), "");
}

TEST(ValidateConfig, ALimitBelowTheDefaultWatermarkIsAccepted) {
  EXPECT_EQ(fault_of({.max_queue_depth = 1}), "");
  EXPECT_EQ(fault_of({.max_queue_depth = 7'999}), "");
}

TEST(ValidateConfig, TheRetryPolicyAndTheNameAreChecked) {
  EXPECT_EQ(fault_of({.retry = RetryPolicy{.jitter = 1.5}}), "retry.jitter");
  EXPECT_NE(fault_of({}, "no good name"), "");
}

TEST(Backpressure, BeginsAboveTheWatermark) {
  const Policy policy = resolve("orders", {.max_queue_depth = 100, .high_watermark = 50}, kDefaults);

  EXPECT_FALSE(backpressure(policy, 49, false));
  EXPECT_FALSE(backpressure(policy, 50, false));
  EXPECT_TRUE(backpressure(policy, 51, false));
}

TEST(Backpressure, EndsBelow90PercentOfTheWatermark) {
  const Policy policy = resolve("orders", {.max_queue_depth = 100, .high_watermark = 50}, kDefaults);

  EXPECT_TRUE(backpressure(policy, 50, true));
  EXPECT_TRUE(backpressure(policy, 46, true));
  EXPECT_TRUE(backpressure(policy, 45, true));
  EXPECT_FALSE(backpressure(policy, 44, true));
}

TEST(Backpressure, NinetyPercentIsExactForEveryWatermark) {
  for (std::int64_t watermark = 10; watermark <= 1'000'000'000; watermark *= 10) {
    for (const std::int64_t factor : {1, 3, 7}) {
      const std::int64_t mark = std::min<std::int64_t>(watermark * factor, 1'000'000'000);
      const Policy policy = resolve("main", {.high_watermark = mark}, kDefaults);

      EXPECT_TRUE(backpressure(policy, mark / 10 * 9, true)) << mark;
      EXPECT_FALSE(backpressure(policy, mark / 10 * 9 - 1, true)) << mark;
    }
  }
}

TEST(Backpressure, AWatermarkOfOneEndsWithTheLastEvent) {
  const Policy policy = resolve("orders", {.max_queue_depth = 2, .high_watermark = 1}, kDefaults);

  EXPECT_TRUE(backpressure(policy, 2, false));
  EXPECT_TRUE(backpressure(policy, 1, true));
  EXPECT_FALSE(backpressure(policy, 0, true));
}

TEST(Backpressure, AQueueWithoutAWatermarkHasNone) {
  const Policy policy = resolve("main", {}, kDefaults);

  EXPECT_FALSE(backpressure(policy, 1'000'000'000, false));
  EXPECT_FALSE(backpressure(policy, 1'000'000'000, true));
}

TEST(RetryAfter, IsTheTimeUntilEnoughEventsHaveEnded) {
  EXPECT_EQ(retry_after(10, 2.0), 5s);
  EXPECT_EQ(retry_after(11, 2.0), 6s);
}

TEST(RetryAfter, IsFromOneSecondToSixty) {
  EXPECT_EQ(retry_after(1, 1000.0), 1s);
  EXPECT_EQ(retry_after(1, 1.0), 1s);
  EXPECT_EQ(retry_after(59, 1.0), 59s);
  EXPECT_EQ(retry_after(60, 1.0), 60s);
  EXPECT_EQ(retry_after(61, 1.0), 60s);
  EXPECT_EQ(retry_after(1'000'000'000, 0.000'001), 60s);
}

TEST(RetryAfter, IsTheMaximumWhileNoEventEnds) { EXPECT_EQ(retry_after(1, 0), 60s); }

}  // namespace
}  // namespace eventq
