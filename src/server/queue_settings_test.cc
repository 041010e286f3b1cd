// queue_settings_test.cc: tests of queue_settings.h, and of tables in toml_file.h through it.
#include "server/queue_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

namespace eventq::server {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Result<QueueSettings> read(std::string_view text) {
  const auto entries = parse_toml(text, "a.toml");
  if (!entries) return entries.error();
  return read_queue_settings(*entries, "a.toml");
}

// The error message for a file.
std::string complaint(std::string_view text) {
  const auto settings = read(text);
  return settings ? "no complaint" : settings.error().message;
}

constexpr std::string_view kEverything =
    "[queues.mail]\n"
    "maxQueueDepth = 5000\n"
    "highWatermark = 4000\n"
    "batchSize = 50\n"
    "processingInterval = 250\n"
    "persistenceThreshold = 100\n"
    "leaseMs = 30_000\n"
    "maxAttempts = 7\n"
    "maxRetries = 0\n"
    "retry = { kind = \"exponential\", baseMs = 1000, capMs = 60000, jitter = 0.2 }\n"
    "durability = \"buffered\"\n"
    "onFailure = \"block\"\n"
    "retention = { completedSeconds = 3600, failedSeconds = 7200 }\n";

const QueueConfig kMail{
    .max_queue_depth = 5000,
    .high_watermark = 4000,
    .batch_size = 50,
    .processing_interval = 250ms,
    .persistence_threshold = 100,
    .lease = 30s,
    .max_attempts = 7,
    .max_retries = 0,
    .retry = RetryPolicy{.kind = RetryPolicy::Kind::exponential, .base = 1s, .cap = 60s, .jitter = 0.2},
    .durability = Durability::buffered,
    .on_failure = OnFailure::block,
    .completed_retention = 3600s,
    .failed_retention = 7200s,
};

TEST(QueueSettings, EverySettingIsRead) {
  const auto settings = read(kEverything);

  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_THAT(settings->queues, ElementsAre(Pair("mail", kMail)));
  EXPECT_THAT(settings->origins, ElementsAre(Pair("mail", "a.toml:1")));
}

TEST(QueueSettings, WithoutATableThereAreNoQueues) {
  EXPECT_THAT(read("lease = \"1m\"\n")->queues, IsEmpty());
  EXPECT_THAT(read("[queues]\n")->queues, IsEmpty());
}

TEST(QueueSettings, AnEmptyTableHasAllDefaults) {
  EXPECT_THAT(read("[queues.mail]\n")->queues, ElementsAre(Pair("mail", QueueConfig{})));
}

TEST(QueueSettings, ANameInQuotesIsAccepted) {
  const auto settings = read("[queues.\"a/b.c\"]\nmaxRetries = 1\n\n[queues.a]\nmaxRetries = 2\n");

  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_THAT(settings->queues, ElementsAre(Pair("a", QueueConfig{.max_retries = 2}),
                                            Pair("a/b.c", QueueConfig{.max_retries = 1})));
  EXPECT_THAT(settings->origins, ElementsAre(Pair("a", "a.toml:4"), Pair("a/b.c", "a.toml:1")));
}

TEST(QueueSettings, AllTomlSpellingsOfATableAreAccepted) {
  const QueueConfig expected{.max_retries = 1, .failed_retention = 5s};
  for (const char* text : {
           "[queues.mail]\nmaxRetries = 1\nretention.failedSeconds = 5\n",
           "[queues.mail]\nmaxRetries = 1\n[queues.mail.retention]\nfailedSeconds = 5\n",
           "[queues.mail.retention]\nfailedSeconds = 5\n[queues.mail]\nmaxRetries = 1\n",
           "queues.mail.maxRetries = 1\nqueues.mail.retention.failedSeconds = 5\n",
           "queues = { mail = { maxRetries = 1, retention = { failedSeconds = 5 } } }\n",
           "[queues]\nmail.maxRetries = 1\nmail.retention = { failedSeconds = 5 }\n",
       }) {
    const auto settings = read(text);

    ASSERT_TRUE(settings) << text << settings.error().message;
    EXPECT_THAT(settings->queues, ElementsAre(Pair("mail", expected))) << text;
  }
}

TEST(QueueSettings, AnIncompleteRetryTableHasTheDefaultsOfTheRetryPolicy) {
  EXPECT_EQ(read("[queues.mail]\nretry = {}\n")->queues.at("mail").retry, RetryPolicy{});
  EXPECT_EQ(read("[queues.mail]\nretry.jitter = 1\n")->queues.at("mail").retry, RetryPolicy{.jitter = 1});
}

TEST(QueueSettings, TheWatermarkMayPrecedeItsDepth) {
  const auto settings = read("[queues.mail]\nhighWatermark = 20000\nmaxQueueDepth = 30000\n");

  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->queues.at("mail").high_watermark, 20000);
}

TEST(QueueSettings, AnErrorNamesTheLineAndAValidValue) {
  struct Case {
    const char* file;
    const char* complaint;
  };
  for (const Case& row : {
           Case{"queues = 3\n", "a.toml:1: queues must be a table, such as [queues.mail], not 3."},
           Case{"[[queues]]\nname = \"mail\"\n",
                "a.toml:1: queues must be a table, such as [queues.mail], not an array."},
           Case{"[queues]\nmail = 3\n",
                "a.toml:2: queue \"mail\" must be a table, such as [queues.mail], not 3."},
           Case{"[queues]\nmaxRetries = 3\n",
                "a.toml:2: queue \"maxRetries\" must be a table, such as [queues.mail], not 3."},
           Case{"[queues.mail]\nmaxQueueDepht = 3\n",
                "a.toml:2: queue \"mail\": there is no setting \"maxQueueDepht\"; did you mean "
                "maxQueueDepth?"},
           Case{"[queues.mail]\nmax_retries = 3\n",
                "a.toml:2: queue \"mail\": there is no setting \"max_retries\"; did you mean maxRetries?"},
           Case{"[queues.mail]\ncolor = 3\n",
                "a.toml:2: queue \"mail\": there is no setting \"color\"; there are "
                "maxQueueDepth, highWatermark, batchSize, processingInterval, persistenceThreshold, leaseMs, "
                "maxAttempts, maxRetries, retry, retry.kind, retry.baseMs, retry.capMs, retry.jitter, "
                "durability, onFailure, retention, retention.completedSeconds, retention.failedSeconds."},
           Case{"[queues.mail]\n\nretry = { base = 3 }\n",
                "a.toml:3: queue \"mail\": there is no setting \"retry.base\"; did you mean retry.baseMs?"},
           Case{"[queues.mail]\n\"retry.kind\" = \"fixed\"\n",
                "a.toml:2: queue \"mail\": there is no setting \"retry.kind\"; write retry.kind without the "
                "quotes."},
           Case{"[queues.a.b]\n",
                "a.toml:1: queue \"a\": there is no setting \"b\"; there are "
                "maxQueueDepth, highWatermark, batchSize, processingInterval, persistenceThreshold, leaseMs, "
                "maxAttempts, maxRetries, retry, retry.kind, retry.baseMs, retry.capMs, retry.jitter, "
                "durability, onFailure, retention, retention.completedSeconds, retention.failedSeconds."},
           Case{"[queues.mail]\nleaseMs.b.c.d = 1\n",
                "a.toml:2: queue \"mail\": leaseMs must be a whole number of milliseconds, such as 60000, "
                "not a table."},
           Case{"[queues.mail]\nretry.kind.a.b = 1\n",
                "a.toml:2: queue \"mail\": retry.kind must be \"fixed\" or \"exponential\", not a table."},
           Case{"[queues.mail]\nmaxQueueDepth = \"3\"\n",
                "a.toml:2: queue \"mail\": maxQueueDepth must be a whole number, such as 10000, not \"3\"."},
           Case{"[queues.mail]\nmaxRetries = 1.5\n",
                "a.toml:2: queue \"mail\": maxRetries must be a whole number, such as 3, not a number with a "
                "fraction."},
           Case{"[queues.mail]\nleaseMs = \"1m\"\n",
                "a.toml:2: queue \"mail\": leaseMs must be a whole number of milliseconds, such as 60000, "
                "not \"1m\"."},
           Case{"[queues.mail]\nretry = \"fixed\"\n",
                "a.toml:2: queue \"mail\": retry must be a table, such as { kind = \"exponential\", baseMs = "
                "1000, "
                "capMs = 60000, jitter = 0.2 }, not \"fixed\"."},
           Case{"[queues.mail]\nretry.kind = \"linear\"\n",
                "a.toml:2: queue \"mail\": retry.kind must be \"fixed\" or \"exponential\", not "
                "\"linear\"."},
           Case{
               "[queues.mail]\nretry.jitter = true\n",
               "a.toml:2: queue \"mail\": retry.jitter must be a number from 0 to 1, such as 0.2, not true."},
           Case{"[queues.mail]\ndurability = true\n",
                "a.toml:2: queue \"mail\": durability must be \"strict\" or \"buffered\", not true."},
           Case{"[queues.mail]\nonFailure = \"stop\"\n",
                "a.toml:2: queue \"mail\": onFailure must be \"skip\" or \"block\", not \"stop\"."},
           Case{"[queues.mail]\nretention = 5\n",
                "a.toml:2: queue \"mail\": retention must be a table, such as { completedSeconds = 86400, "
                "failedSeconds = "
                "604800 }, not 5."},
       }) {
    EXPECT_EQ(complaint(row.file), row.complaint) << row.file;
  }
}

TEST(QueueSettings, AnErrorNamesTheLineOfTheValueOutOfRange) {
  struct Case {
    const char* file;
    const char* complaint;
  };
  for (const Case& row : {
           Case{"\n[queues.\"a b\"]\nmaxRetries = 1\n",
                "a.toml:2: queue \"a b\": queue has a character that is not allowed; use only A-Z a-z 0-9 . "
                "_ : / @ and -."},
           Case{"[queues.\"\"]\n", "a.toml:1: queue \"\": queue is empty."},
           Case{"[queues.mail]\nmaxAttempts = 1\nmaxRetries = -1\n",
                "a.toml:3: queue \"mail\": maxRetries is -1; it must be from 0 to 1000."},
           Case{"[queues.mail]\nbatchSize = 9000000000\n",
                "a.toml:2: queue \"mail\": batchSize is 2147483647; it must be from 1 to 1000."},
           Case{"[queues.mail]\nmaxQueueDepth = 0\n",
                "a.toml:2: queue \"mail\": maxQueueDepth is 0; it must be from 1 to 1000000000."},
           Case{"[queues.mail]\nleaseMs = 99\n",
                "a.toml:2: queue \"mail\": leaseMs is 99; it must be from 100 to 31536000000."},
           Case{"[queues.mail]\nmaxRetries = 1\n[queues.mail.retention]\nfailedSeconds = -1\n",
                "a.toml:4: queue \"mail\": retention.failedSeconds is -1; it must be from 0 to 3153600000."},
           Case{"[queues.mail]\nretry = { baseMs = -1 }\n",
                "a.toml:2: queue \"mail\": retry.baseMs is -1; it must be from 0 to 31536000000."},
           Case{"[queues.mail]\nretry.jitter = 1.5\n",
                "a.toml:2: queue \"mail\": retry.jitter is 1.5; it must be from 0 to 1."},
           Case{"[queues.mail]\nretry.jitter = nan\n",
                "a.toml:2: queue \"mail\": retry.jitter is nan; it must be from 0 to 1."},
           Case{"[queues.mail]\nmaxQueueDepth = 10\nhighWatermark = 11\n",
                "a.toml:3: queue \"mail\": highWatermark is 11 and maxQueueDepth 10; publishers would be "
                "refused before they are asked to slow down. Set highWatermark to maxQueueDepth or less."},
           Case{"[queues.mail]\nhighWatermark = 10001\n",
                "a.toml:2: queue \"mail\": highWatermark is 10001 and maxQueueDepth 10000; publishers would "
                "be refused before they are asked to slow down. Set highWatermark to maxQueueDepth or less."},
       }) {
    EXPECT_EQ(complaint(row.file), row.complaint) << row.file;
  }
}

TEST(QueueSettings, OnlyGivenSettingsArePrinted) {
  EXPECT_EQ(queue_table_members({}), "");
  EXPECT_EQ(queue_table_members(kMail),
            "maxQueueDepth = 5000\n"
            "highWatermark = 4000\n"
            "batchSize = 50\n"
            "processingInterval = 250\n"
            "persistenceThreshold = 100\n"
            "leaseMs = 30000\n"
            "maxAttempts = 7\n"
            "maxRetries = 0\n"
            "retry.kind = \"exponential\"\n"
            "retry.baseMs = 1000\n"
            "retry.capMs = 60000\n"
            "retry.jitter = 0.2\n"
            "durability = \"buffered\"\n"
            "onFailure = \"block\"\n"
            "retention.completedSeconds = 3600\n"
            "retention.failedSeconds = 7200\n");
}

TEST(QueueSettings, NamesArePrintedInQuotesWhereTomlRequiresIt) {
  EXPECT_EQ(queue_table_header("mail_2-B"), "[queues.mail_2-B]");
  EXPECT_EQ(queue_table_header("a/b"), "[queues.\"a/b\"]");
  EXPECT_EQ(queue_table_header("a.b"), "[queues.\"a.b\"]");
}

TEST(QueueSettings, ThePrintedSettingsCanBeReadBack) {
  for (const QueueConfig& config : {
           QueueConfig{},
           kMail,
           QueueConfig{.retry = RetryPolicy{.jitter = 0.1}},
           QueueConfig{.retry = RetryPolicy{.jitter = 1e-7}, .durability = Durability::strict},
           QueueConfig{.retry = RetryPolicy{}, .on_failure = OnFailure::skip},
       }) {
    const std::string text = queue_table_header("a/b") + "\n" + queue_table_members(config);

    const auto settings = read(text);

    ASSERT_TRUE(settings) << text << settings.error().message;
    EXPECT_THAT(settings->queues, ElementsAre(Pair("a/b", config))) << text;
  }
}

}  // namespace
}  // namespace eventq::server
