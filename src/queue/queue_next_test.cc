// queue_next_test.cc: Queue::next(), give_back() and settings(), on every store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "support/open_queue.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class QueueNextTest : public OpenQueueTest {
 protected:
  std::vector<Claim> take(std::size_t limit) {
    return queue->next({.limit = limit, .tags = {"a"}}).value().claims;
  }
};
INSTANTIATE_TEST_SUITE_P(AllStores, QueueNextTest, testing::Values("memory", "real"), name_of_url);

TEST_P(QueueNextTest, NextReportsAndClaimsInOneCall) {
  for (int i = 0; i < 4; ++i) publish({.title = "mail", .tags = {"a"}});
  const auto held = take(3);
  ASSERT_THAT(held, SizeIs(3));

  const NextResult result = queue
                                ->next({.reports = {{held[0].event.id, 1, Outcome{}},
                                                    {held[1].event.id, 1, Failure{.message = "no"}},
                                                    {held[2].event.id, 1, Return{.delay = 5s}}},
                                        .limit = 10})
                                .value();

  ASSERT_THAT(result.results, SizeIs(3));
  EXPECT_EQ(result.results[0]->action, Action::completed);
  EXPECT_EQ(result.results[1]->action, Action::failed);
  EXPECT_EQ(result.results[2]->action, Action::released);
  ASSERT_THAT(result.claims, SizeIs(1));
  EXPECT_EQ(result.claims[0].event.id, EventId{4});
  EXPECT_EQ(result.claims[0].lease_until, kStart + 60s);
}

TEST_P(QueueNextTest, ARefusedReportDoesNotStopTheOtherReports) {
  publish({.title = "mail", .tags = {"a"}});
  take(1);

  const NextResult result = queue
                                ->next({.reports = {{EventId{1}, 7, Outcome{}},
                                                    {EventId{1}, 1, Outcome{}},
                                                    {EventId{9}, 1, Outcome{}}}})
                                .value();

  ASSERT_THAT(result.results, SizeIs(3));
  EXPECT_EQ(result.results[0].error().code, ErrorCode::lease_lost);
  EXPECT_EQ(result.results[1]->action, Action::completed);
  EXPECT_EQ(result.results[2].error().code, ErrorCode::not_found);
}

TEST_P(QueueNextTest, NextWithoutReportsAndWithoutALimitTakesNothing) {
  publish({.title = "mail", .tags = {"a"}});
  const NextResult result = queue->next({}).value();
  EXPECT_THAT(result.results, IsEmpty());
  EXPECT_THAT(result.claims, IsEmpty());
  EXPECT_EQ(queue->get(EventId{1})->status, Status::pending);
}

TEST_P(QueueNextTest, NextClaimsForTheNamedWorker) {
  publish({.title = "mail", .tags = {"a"}});
  const auto claims = queue->next({.worker_id = "other:2", .limit = 1}).value().claims;
  ASSERT_THAT(claims, SizeIs(1));
  EXPECT_EQ(claims[0].event.worker_id, "other:2");
}

TEST_P(QueueNextTest, NextWaitsForAnEventToBePublished) {
  std::vector<Claim> claims;
  std::thread waiting([&] { claims = queue->next({.limit = 1, .wait = 60s}).value().claims; });
  publish({.title = "mail", .tags = {"a"}});
  waiting.join();
  ASSERT_THAT(claims, SizeIs(1));
}

TEST_P(QueueNextTest, NextRefusesValuesOverTheirLimits) {
  EXPECT_EQ(queue->next({.limit = 1000}).has_value(), true);
  EXPECT_EQ(queue->next({.limit = 1001}).error().field, "limit");
  EXPECT_EQ(queue->next({.limit = 1, .wait = 3'600'001ms}).error().field, "wait");
  EXPECT_EQ(queue->next({.limit = 1, .wait = -1ms}).error().field, "wait");
  EXPECT_EQ(queue->next({.limit = 1, .tags = {"a b"}}).error().field, "tags");
  EXPECT_EQ(queue->next({.limit = 1, .queue = "a b"}).error().field, "queue");
  EXPECT_EQ(queue->next({.worker_id = std::string(256, 'w'), .limit = 1}).error().field, "worker_id");
  EXPECT_TRUE(queue->next({.reports = std::vector<Report>(10'000, Report{EventId{1}, 1, Outcome{}})}));
  EXPECT_EQ(
      queue->next({.reports = std::vector<Report>(10'001, Report{EventId{1}, 1, Outcome{}})}).error().code,
      ErrorCode::too_large);
}

TEST_P(QueueNextTest, AnEventGivenBackRunsAgainAfterItsDelayAndCountsNoFailure) {
  publish({.title = "mail", .tags = {"a"}});
  const Lease held = lease();

  const LogEntry entry =
      queue->give_back(held, {.delay = 10s, .reason = "the printer is out of paper"}).value();

  EXPECT_EQ(entry.action, Action::released);
  EXPECT_EQ(entry.reason, "the printer is out of paper");
  clock.advance(10s - 1ms);
  EXPECT_EQ(queue->poll().value(), std::nullopt);
  clock.advance(1ms);
  const Claim again = poll();
  EXPECT_EQ(again.event.attempts, 2);
  EXPECT_EQ(again.event.retry_count, 0);
  EXPECT_EQ(queue->give_back(held).value().log_id, entry.log_id)
      << "a repetition is answered with the first entry";
  EXPECT_EQ(queue->give_back({held.id, "other:2", 2}).error().code, ErrorCode::lease_lost);
}

TEST_P(QueueNextTest, AnEventIsGivenBackForAYearAtMost) {
  publish({.title = "mail", .tags = {"a"}});
  const Lease held = lease();
  EXPECT_EQ(queue->give_back(held, {.delay = -1ms}).error().field, "delay");
  EXPECT_EQ(queue->give_back(held, {.delay = 24h * 365 + 1ms}).error().field, "delay");
  EXPECT_TRUE(queue->give_back(held, {.delay = 24h * 365}));
}

TEST_P(QueueNextTest, SettingsAreTheQueuesOwnAndDefaultsForTheRest) {
  open({.lease = 7s, .queues = {{"mail", {.batch_size = 5, .processing_interval = 250ms}}}});

  const QueueConfig mail = queue->settings("mail").value();
  EXPECT_EQ(mail.batch_size, 5);
  EXPECT_EQ(mail.processing_interval, 250ms);
  EXPECT_EQ(mail.lease, 7s);
  EXPECT_EQ(mail.max_queue_depth, 10'000);

  const QueueConfig unknown = queue->settings("nobody/made/it").value();
  EXPECT_EQ(unknown.batch_size, 100);
  EXPECT_EQ(unknown.processing_interval, 1s);
  EXPECT_EQ(unknown.lease, 7s);
  EXPECT_EQ(queue->settings("main")->max_queue_depth, std::nullopt);
  EXPECT_EQ(queue->settings("a b").error().field, "queue");
}

}  // namespace
}  // namespace eventq
