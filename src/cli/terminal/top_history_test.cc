// top_history_test.cc: reads samples from the server's answers, and computes rates from samples.
#include "cli/terminal/top_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eventq::cli {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;

TopSample sample(std::int64_t published, std::int64_t completions, std::int64_t failures = 0) {
  TopSample made;
  made.queues = {{.name = "main",
                  .state = "active",
                  .published = published,
                  .completions = completions,
                  .failures = failures}};
  return made;
}

TEST(TopHistoryTest, ReadsTheAnswersOfTheServer) {
  const auto read = read_top_sample(
      R"({"queues":[{"queue":"mail","counts":{"PENDING":7,"PROCESSING":2,"FAILED":1},"oldest_pending_seconds":1.25,
          "published":20,"completed":9,"failed":4},{"queue":"main","oldest_pending_seconds":null}],
          "store":{"file_bytes":4096,"log_bytes":99}})",
      R"({"queues":[{"id":"main","status":"active"},{"id":"mail","status":"paused"}]})",
      R"({"workers":[{"worker_id":"a:1","completed":3,"failed":5,"holding":[7,8],"state":"stale"},)"
      R"({"worker_id":"b:1","completed":0,"failed":0,"holding":[],"state":"gone"}]})");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->queues.size(), 2U);
  const TopQueue& mail = read->queues[0];
  EXPECT_EQ(mail.name, "mail");
  EXPECT_EQ(mail.state, "paused");
  EXPECT_EQ(mail.waiting, 7);
  EXPECT_EQ(mail.running, 2);
  EXPECT_EQ(mail.failed, 1);
  EXPECT_EQ(mail.published, 20);
  EXPECT_EQ(mail.completions, 9);
  EXPECT_EQ(mail.failures, 4);
  EXPECT_EQ(mail.oldest_seconds, 1.25);
  EXPECT_EQ(read->queues[1].oldest_seconds, std::nullopt) << "nothing waits there";
  ASSERT_EQ(read->workers.size(), 1U);
  EXPECT_EQ(read->workers[0].id, "a:1");
  EXPECT_EQ(read->workers[0].state, "stale");
  EXPECT_EQ(read->workers[0].holding, 2U);
  EXPECT_EQ(read->file_bytes, 4096);
  EXPECT_EQ(read->log_bytes, 99);
}

TEST(TopHistoryTest, RefusesTextThatIsNotJson) {
  EXPECT_FALSE(read_top_sample("<html>", "{}", "{}"));
  EXPECT_FALSE(read_top_sample("{}", "", "{}"));
  EXPECT_FALSE(read_top_sample("{}", "{}", "["));
}

TEST(TopHistoryTest, OneSampleHasNoRates) {
  TopHistory history;
  history.add(sample(5, 5), SteadyTime{});
  EXPECT_FALSE(history.rates());
  EXPECT_FALSE(history.rates("main"));
  EXPECT_TRUE(history.done("main").empty());
}

TEST(TopHistoryTest, ARateIsTheDifferenceDividedByTheTime) {
  TopHistory history;
  history.add(sample(100, 50, 1), SteadyTime{});
  history.add(sample(140, 60, 2), SteadyTime{seconds(2)});
  const auto rates = history.rates("main");
  ASSERT_TRUE(rates);
  EXPECT_EQ(rates->in, 20);
  EXPECT_EQ(rates->done, 5);
  EXPECT_EQ(rates->failed, 0.5);
  EXPECT_EQ(history.rates()->in, 20);
}

TEST(TopHistoryTest, SmallerCountersMeanAnotherServerAndGiveNoRate) {
  TopHistory history;
  history.add(sample(100, 50), SteadyTime{});
  history.add(sample(3, 1), SteadyTime{seconds(1)});
  EXPECT_FALSE(history.rates("main"));
  history.add(sample(5, 1), SteadyTime{seconds(2)});
  EXPECT_EQ(history.rates("main")->in, 2);
}

TEST(TopHistoryTest, KeepsFiveMinutesInCellsOfFifteenSeconds) {
  TopHistory history;
  history.add(sample(0, 0), SteadyTime{});
  std::int64_t completions = 0;
  for (int second = 1; second <= 30; ++second) {
    completions += second <= 15 ? 2 : 4;
    history.add(sample(0, completions), SteadyTime{seconds(second)});
  }
  EXPECT_THAT(history.done("main"), ElementsAre(2, 4));
  for (int second = 31; second <= 15 * 20; ++second)
    history.add(sample(0, completions), SteadyTime{seconds(second)});
  EXPECT_EQ(history.done("main").size(), TopHistory::kCells);
  EXPECT_EQ(history.done("main").front(), 2);
  history.add(sample(0, completions), SteadyTime{seconds(301)});
  EXPECT_EQ(history.done("main").size(), TopHistory::kCells);
  EXPECT_EQ(history.done("main").front(), 4) << "what is older than five minutes is gone";
}

}  // namespace
}  // namespace eventq::cli
