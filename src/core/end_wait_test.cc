// end_wait_test.cc: waiting for the end of an event, of a correlation, or of all live events of a queue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/core.h"
#include "support/core_driver.h"
#include "support/queue_commands.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using Correlated = WaitRequest::Correlated;
using Drained = WaitRequest::Drained;

const Error kStoreAway{ErrorCode::unavailable, "The store is away.", ""};

class CoreEndWait : public CoreTest {
 protected:
  EventId add() { return driver.publish({.title = "one", .tags = {"t"}}); }
  Lease take() { return driver.claim("t", "w:1"); }
  bool waited(Token token) { return driver.answer(token).waited; }
};
INSTANTIATE_TEST_SUITE_P(AllStores, CoreEndWait, testing::Values(StoreKind::memory, StoreKind::real),
                         name_of_store);

TEST_P(CoreEndWait, AWaitForAnEventIsAnsweredInTheRunOfItsEnd) {
  const Token waiter = driver.run(wait_for(add()));
  const Lease lease = take();
  EXPECT_FALSE(driver.answered(waiter));
  driver.run(complete(lease));

  EXPECT_TRUE(waited(waiter));
}

TEST_P(CoreEndWait, EveryKindOfEndEndsTheWait) {
  for (const std::string end : {"failed", "cancelled", "superseded"}) {
    CoreDriver fresh(GetParam());
    const EventId id = fresh.publish({.title = "one", .tags = {"t"}, .supersede_key = "k"});
    const Token waiter = fresh.run(wait_for(id));
    if (end == "failed") fresh.run(fail_for_good(fresh.claim("t", "w:1")));
    if (end == "cancelled") fresh.run(cancel(id));
    if (end == "superseded") fresh.run(supersede_key("main", "k"));

    EXPECT_TRUE(fresh.answer(waiter).waited) << end;
  }
}

TEST_P(CoreEndWait, AnEventThatWillBeRetriedIsWaitedFor) {
  const Token waiter = driver.run(wait_for(add()));
  driver.run(fail(take()));

  EXPECT_FALSE(driver.answered(waiter));
}

TEST_P(CoreEndWait, AnEventThatHasEndedIsNotWaitedFor) {
  const EventId id = add();
  driver.run(complete(take()));

  EXPECT_TRUE(waited(driver.run(wait_for(id))));
}

TEST_P(CoreEndWait, AnEventThatEndsInTheRunOfTheWaitIsNotWaitedFor) {
  const EventId id = add();
  const auto [waiter, cancellation] = driver.run_together(wait_for(id), cancel(id));

  EXPECT_TRUE(waited(waiter));
}

TEST_P(CoreEndWait, AnEventThatIsResetInTheRunOfItsEndIsStillWaitedFor) {
  const EventId id = add();
  const Token waiter = driver.run(wait_for(id));
  driver.run_together(cancel(id), reset(id));
  EXPECT_FALSE(driver.answered(waiter));

  driver.run(complete(take()));
  EXPECT_TRUE(waited(waiter));
}

TEST_P(CoreEndWait, AnUnknownEventIsNotFound) {
  const Token waiter = driver.run(wait_for(EventId{99}));

  EXPECT_EQ(driver.answer(waiter).error->code, ErrorCode::not_found);
  EXPECT_EQ(driver.answer(waiter).error->message, "There is no event 99.");
}

TEST_P(CoreEndWait, AWaitEndsAtItsDeadline) {
  const Token waiter = driver.run(wait_for(add()));
  driver.expect_attention(kStart + 20s);
  clock().advance(20s - 1ms);
  driver.run_once();
  EXPECT_FALSE(driver.answered(waiter));
  clock().advance(1ms);
  driver.run_once();

  EXPECT_FALSE(waited(waiter));
  EXPECT_FALSE(driver.answer(waiter).error);
}

TEST_P(CoreEndWait, AWaitWithAZeroTimeoutIsAnsweredAtOnce) {
  Command command = wait_for(add());
  command.wait->timeout = Millis(0);

  EXPECT_FALSE(waited(driver.run(command)));
}

TEST_P(CoreEndWait, ManyCallersMayWaitForTheSameEvent) {
  const EventId id = add();
  const auto [first, second] = driver.run_together(wait_for(id), wait_for(id));
  driver.run(complete(take()));

  EXPECT_TRUE(waited(first));
  EXPECT_TRUE(waited(second));
}

TEST_P(CoreEndWait, ACorrelationHasEndedWhenAllItsEventsHave) {
  driver.run(batch({{.title = "1", .tags = {"t"}}, {.title = "2", .tags = {"t"}}}, "c"));
  const Token waiter = driver.run(wait_for(Correlated{"c"}));
  driver.run(complete(take()));
  EXPECT_FALSE(driver.answered(waiter));
  driver.run(fail_for_good(take()));

  EXPECT_TRUE(waited(waiter));
  EXPECT_TRUE(waited(driver.run(wait_for(Correlated{"c"}))));
}

TEST_P(CoreEndWait, AnUnknownCorrelationIsNotFound) {
  EXPECT_EQ(driver.answer(driver.run(wait_for(Correlated{"c"}))).error->code, ErrorCode::not_found);
}

TEST_P(CoreEndWait, AQueueIsDrainedWhenItsLastEventHasEnded) {
  add();
  add();
  Command command = drain("main");
  command.wait = WaitRequest{Drained{"main"}, 20s};
  const Token waiter = driver.run(command);
  driver.run(complete(take()));
  EXPECT_FALSE(driver.answered(waiter));
  driver.run(complete(take()));

  EXPECT_TRUE(waited(waiter));
  EXPECT_EQ(admin_answer<QueueChanged>(driver.answer(waiter))->row.status, QueueStatus::draining);
}

TEST_P(CoreEndWait, AnEmptyQueueIsDrainedAtOnce) {
  EXPECT_TRUE(waited(driver.run(wait_for(Drained{"main"}))));
}

TEST_P(CoreEndWait, ADrainOfAnUnknownQueueDoesNotWait) {
  Command command = drain("nowhere");
  command.wait = WaitRequest{Drained{"nowhere"}, 20s};
  const Token waiter = driver.run(command);

  EXPECT_EQ(admin_answer<QueueChanged>(driver.answer(waiter)).error().code, ErrorCode::not_found);
}

TEST_P(CoreEndWait, APublisherMayWaitForItsEvent) {
  const Token waiter = driver.run(publish_and_wait({.title = "one", .tags = {"t"}}));
  EXPECT_FALSE(driver.answered(waiter));
  driver.run(complete(take()));

  EXPECT_TRUE(waited(waiter));
  EXPECT_EQ((*driver.answer(waiter).published)->events.at(0).title, "one");
}

TEST_P(CoreEndWait, APublisherWhoseWaitTimesOutKeepsItsPublication) {
  const Token waiter = driver.run(publish_and_wait({.title = "one", .tags = {"t"}}));
  clock().advance(20s);
  driver.run_once();

  EXPECT_FALSE(waited(waiter));
  EXPECT_TRUE(driver.answer(waiter).published->has_value());
}

TEST_P(CoreEndWait, APublisherOfAnEventThatHasEndedIsAnsweredAtOnce) {
  driver.publish({.title = "one", .tags = {"t"}, .event_id = "own"});
  driver.run(complete(take()));
  const Token waiter = driver.run(publish_and_wait({.title = "one", .tags = {"t"}, .event_id = "own"}));

  EXPECT_TRUE(waited(waiter));
  EXPECT_TRUE((*driver.answer(waiter).published)->existed);
}

TEST_P(CoreEndWait, ARefusedPublicationDoesNotWait) {
  driver.run(configure("main", {.max_queue_depth = 1}));
  add();
  const Token waiter = driver.run(publish_and_wait({.title = "two", .tags = {"t"}}));

  EXPECT_EQ(driver.answer(waiter).published->error().code, ErrorCode::queue_full);
}

TEST_P(CoreEndWait, ACancelledWaitIsNotAnswered) {
  const Token waiter = driver.run(wait_for(add()));
  driver.cancel_wait(waiter);
  driver.run(complete(take()));

  EXPECT_FALSE(driver.answered(waiter));
}

TEST_P(CoreEndWait, AWaitThatTheCloseEndsGetsAnErrorUnlessItPublished) {
  const Token waiter = driver.run(wait_for(add()));
  const Token publisher = driver.run(publish_and_wait({.title = "two", .tags = {"t"}}));
  driver.end_all_waits();

  EXPECT_EQ(driver.answer(waiter).error->code, ErrorCode::unavailable);
  EXPECT_FALSE(driver.answer(publisher).error);
  EXPECT_FALSE(waited(publisher));
  EXPECT_TRUE(driver.answer(publisher).published->has_value());
}

TEST_P(CoreEndWait, ACommitThatFailedEndsNoWaitAndBeginsNone) {
  const EventId id = add();
  const Lease lease = take();
  const Token waiter = driver.run(wait_for(id));
  driver.store().refuse_commit(kStoreAway);
  driver.run(complete(lease));
  const Token second = driver.run(wait_for(id));
  driver.store().refuse_commit(std::nullopt);
  EXPECT_FALSE(driver.answered(waiter));
  EXPECT_EQ(driver.answer(second).error->code, ErrorCode::unavailable);

  driver.run(complete(lease));
  EXPECT_TRUE(waited(waiter));
}

TEST_P(CoreEndWait, ARefusedBeginEndsEveryWaitWithItsErrorUnlessItPublished) {
  const Token waiter = driver.run(wait_for(add()));
  const Token publisher = driver.run(publish_and_wait({.title = "two", .tags = {"t"}}));
  driver.store().refuse_begin(kStoreAway);
  driver.run_once();

  ASSERT_TRUE(driver.answered(waiter));
  ASSERT_TRUE(driver.answered(publisher));
  EXPECT_EQ(driver.answer(waiter).error->code, ErrorCode::unavailable);
  EXPECT_FALSE(driver.answer(publisher).error);
  EXPECT_TRUE(driver.answer(publisher).published->has_value());
}

TEST_P(CoreEndWait, ACorrelationWithAResetEventInTheRunOfItsEndIsStillWaitedFor) {
  driver.run(batch({{.title = "1", .tags = {"t"}}}, "c"));
  const Lease lease = take();
  const Token waiter = driver.run(wait_for(Correlated{"c"}));
  driver.run_together(fail_for_good(lease), retry_failed({.queue = "main"}));
  EXPECT_FALSE(driver.answered(waiter));

  driver.run(complete(take()));
  EXPECT_TRUE(waited(waiter));
}

}  // namespace
}  // namespace eventq
