// config_text_test.cc: a queue's settings to the text of their column and back.
#include <gtest/gtest.h>

#include <chrono>
#include <string_view>

#include "store/row_text.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

TEST(ConfigText, AllSettingsAreWrittenAndReadBack) {
  const QueueConfig all{.max_queue_depth = 500,
                        .high_watermark = 400,
                        .batch_size = 20,
                        .processing_interval = 250ms,
                        .persistence_threshold = 50,
                        .lease = 30s,
                        .max_attempts = 5,
                        .max_retries = 7,
                        .retry = RetryPolicy{RetryPolicy::Kind::exponential, 1s, 1min, 0.2},
                        .durability = Durability::buffered,
                        .on_failure = OnFailure::block,
                        .completed_retention = 60s,
                        .failed_retention = 120s};
  const std::string_view text =
      R"({"maxQueueDepth":500,"batchSize":20,"processingInterval":250,"persistenceThreshold":50,)"
      R"("highWatermark":400,"leaseMs":30000,"maxAttempts":5,"maxRetries":7,)"
      R"("retry":{"kind":"exponential","baseMs":1000,"capMs":60000,"jitter":0.2},)"
      R"("durability":"buffered","onFailure":"block","retention":{"completedSeconds":60,"failedSeconds":120}})";

  EXPECT_EQ(config_to_text(all), text);
  const auto read = config_from_text(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, all);
}

TEST(ConfigText, SettingsThatAreNotSetAreNotWritten) {
  EXPECT_EQ(config_to_text({}), "{}");
  EXPECT_EQ(config_to_text({.failed_retention = 0s}), R"({"retention":{"failedSeconds":0}})");
}

TEST(ConfigText, AnEmptyTextAndNullsHaveNoSettings) {
  for (const std::string_view text : {"", "{}", R"({"batchSize":null,"retry":null,"retention":null})"}) {
    const auto config = config_from_text(text);
    ASSERT_TRUE(config) << text << ": " << config.error().message;
    EXPECT_EQ(*config, QueueConfig()) << text;
  }
}

TEST(ConfigText, ARetryPolicyWithoutMembersHasTheDefaults) {
  const auto config = config_from_text(R"({"retry":{"kind":"exponential"}})");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->retry, (RetryPolicy{.kind = RetryPolicy::Kind::exponential}));
}

TEST(ConfigText, ATextThatNoVersionWritesIsCorrupt) {
  for (const std::string_view text :
       {"{", "[]", R"({"batchSize":"x"})", R"({"batchSize":3000000000})", R"({"leaseMs":1.5})",
        R"({"newSetting":1})", R"({"retry":1})", R"({"retry":{"kind":"never"}})",
        R"({"retry":{"jitter":"x"}})", R"({"retry":{"newSetting":1}})", R"({"durability":"none"})",
        R"({"onFailure":true})", R"({"retention":{"completedSeconds":"1"}})"}) {
    const auto config = config_from_text(text);
    ASSERT_FALSE(config) << text;
    EXPECT_EQ(config.error().code, ErrorCode::corrupt) << text;
    EXPECT_TRUE(config.error().message.starts_with("The stored settings of a queue cannot be read: "))
        << text;
  }
}

}  // namespace
}  // namespace eventq
