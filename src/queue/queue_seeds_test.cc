// queue_seeds_test.cc: the two examples that the queue was designed from, step by step: an EventQueue
// finalized with its errors, and an EventBus finalized with a verdict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "eventq/queue.h"
#include "support/commands.h"
#include "support/open_queue.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::SizeIs;
using Verdict = Queue::Verdict;

class EventQueue : public OpenQueueTest {
 protected:
  EventId publish_mail() { return publish({.title = "mail", .tags = {"email"}}); }
};
INSTANTIATE_TEST_SUITE_P(AllStores, EventQueue, testing::Values("memory", "real"), name_of_url);

TEST_P(EventQueue, PublishInsertsThePendingEventWithNoAttempts) {
  const Event event = queue->publish({.title = "mail", .tags = {"email"}}).value();

  EXPECT_EQ(event.status, Status::pending);
  EXPECT_EQ(event.attempts, 0);
}

TEST_P(EventQueue, PollMarksTheNextEventProcessingAndCountsTheAttempt) {
  const EventId id = publish_mail();
  clock.advance(1s);

  const Claim claim = poll();

  EXPECT_EQ(claim.event.id, id);
  EXPECT_EQ(claim.event.status, Status::processing);
  EXPECT_EQ(claim.event.attempts, 1);
  EXPECT_EQ(claim.event.updated_at, kStart + 1s);
}

TEST_P(EventQueue, PollReturnsNothingWhenThereIsNone) { EXPECT_EQ(queue->poll().value(), std::nullopt); }

TEST_P(EventQueue, OnlyOnePollGetsAnEvent) {
  publish_mail();
  poll();

  EXPECT_EQ(queue->poll().value(), std::nullopt);
}

TEST_P(EventQueue, FinalizeWithoutErrorsCompletesTheEvent) {
  const EventId id = publish_mail();
  poll();

  ASSERT_TRUE(queue->finalize(id));

  EXPECT_EQ(queue->get(id).value().status, Status::completed);
  EXPECT_THAT(actions(queue->log(id).value()), ElementsAre(Action::picked, Action::completed));
}

TEST_P(EventQueue, FinalizeWithErrorsCompletesTheEventWithErrors) {
  const EventId id = publish_mail();
  poll();

  ASSERT_TRUE(queue->finalize(id, std::vector<std::string>{"the archive handler failed"}));

  EXPECT_EQ(queue->get(id).value().status, Status::completed_with_errors);
  EXPECT_THAT(queue->log(id).value().back().errors, ElementsAre("the archive handler failed"));
}

TEST_P(EventQueue, AFinalizedEventIsNotPolledAgain) {
  const EventId id = publish_mail();
  poll();
  ASSERT_TRUE(queue->finalize(id));
  clock.advance(24h);

  EXPECT_EQ(queue->poll().value(), std::nullopt);
}

TEST_P(EventQueue, FinalizeOfAFinalizedEventDoesNothing) {
  const EventId id = publish_mail();
  poll();
  ASSERT_TRUE(queue->finalize(id));

  ASSERT_TRUE(queue->finalize(id, std::vector<std::string>{"too late"}));

  EXPECT_EQ(queue->get(id).value().status, Status::completed);
  EXPECT_THAT(queue->log(id).value(), SizeIs(2));
}

TEST_P(EventQueue, FinalizeWithABadErrorChangesNothingAndCanBeMadeAgain) {
  const EventId id = publish_mail();
  poll();

  EXPECT_EQ(queue->finalize(id, std::vector<std::string>{""}).error().field, "errors");

  EXPECT_EQ(queue->get(id).value().status, Status::processing);
  EXPECT_TRUE(queue->finalize(id));
}

TEST_P(EventQueue, AnEventWhoseProcessDiedIsNotPolledBeforeTheTimeout) {
  publish_mail();
  poll();
  clock.advance(1min - 1ms);

  EXPECT_EQ(queue->poll().value(), std::nullopt);
}

TEST_P(EventQueue, AnEventWhoseProcessDiedIsPolledAgainAfterTheTimeout) {
  const EventId id = publish_mail();
  poll();
  clock.advance(1min);

  const Claim claim = poll();

  EXPECT_EQ(claim.event.id, id);
  EXPECT_EQ(claim.event.attempts, 2);
  EXPECT_EQ(claim.event.updated_at, kStart + 1min);
  ASSERT_TRUE(queue->finalize(id));
  EXPECT_THAT(actions(queue->log(id).value()),
              ElementsAre(Action::picked, Action::abandoned, Action::picked, Action::completed));
}

TEST_P(EventQueue, PollTakesAClockThatIsPastTheTimeout) {
  const EventId id = publish_mail();
  poll();
  ManualClock later(kStart + 1min);

  const Claim claim = poll({.clock = &later});

  EXPECT_EQ(claim.event.id, id);
  EXPECT_EQ(claim.event.attempts, 2);
  EXPECT_EQ(claim.lease_until, kStart + 2min);
}

TEST_P(EventQueue, FinalizeAfterTheTimeoutCountsWhileTheEventWasNotPolledAgain) {
  const EventId id = publish_mail();
  poll();
  clock.advance(1h);

  ASSERT_TRUE(queue->finalize(id));

  EXPECT_EQ(queue->get(id).value().status, Status::completed);
}

class EventBus : public EventQueue {
 protected:
  void SetUp() override {
    Options options;
    options.lease = 5min;
    open(options);
  }
};
INSTANTIATE_TEST_SUITE_P(AllStores, EventBus, testing::Values("memory", "real"), name_of_url);

TEST_P(EventBus, FinalizeWithSuccessCompletesTheEvent) {
  const EventId id = publish_mail();
  poll();

  ASSERT_TRUE(queue->finalize(id, Verdict::success));

  EXPECT_EQ(queue->get(id).value().status, Status::completed);
  EXPECT_THAT(actions(queue->log(id).value()), ElementsAre(Action::picked, Action::completed));
}

TEST_P(EventBus, FinalizeWithFailureFailsTheEventWithoutARetry) {
  const EventId id = publish_mail();
  poll();

  ASSERT_TRUE(queue->finalize(id, Verdict::failure));

  EXPECT_EQ(queue->get(id).value().status, Status::failed);
  EXPECT_THAT(actions(queue->log(id).value()), ElementsAre(Action::picked, Action::failed));
  clock.advance(24h);
  EXPECT_EQ(queue->poll().value(), std::nullopt);
}

TEST_P(EventBus, FinalizeOfAFinalizedEventDoesNothing) {
  const EventId id = publish_mail();
  poll();
  ASSERT_TRUE(queue->finalize(id, Verdict::failure));

  ASSERT_TRUE(queue->finalize(id, Verdict::success));

  EXPECT_EQ(queue->get(id).value().status, Status::failed);
}

TEST_P(EventBus, AnEventWhosePodDiedIsPolledAgainAfterFiveMinutes) {
  const EventId id = publish_mail();
  poll();
  clock.advance(5min - 1ms);
  EXPECT_EQ(queue->poll().value(), std::nullopt);
  clock.advance(1ms);

  const Claim claim = poll();

  EXPECT_EQ(claim.event.attempts, 2);
  ASSERT_TRUE(queue->finalize(id, Verdict::success));
  EXPECT_EQ(queue->get(id).value().status, Status::completed);
}

}  // namespace
}  // namespace eventq
