// queues_test.cc: how queues are created, their settings, status and limits.
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
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CoreQueues : public CoreTest {
 protected:
  static NewEvent event(const std::string& title, const std::string& event_id = "") {
    return {.title = title, .tags = {"t"}, .queue = "orders", .event_id = event_id};
  }
  static std::vector<NewEvent> events(int n) {
    return std::vector<NewEvent>(static_cast<std::size_t>(n), event("many"));
  }
  std::optional<QueueDocument> document(const std::string& queue) {
    return driver.store().reader().value()->queue(queue, 0).value();
  }
  QueueChanged change_queue(Command command) {
    return admin_answer<QueueChanged>(driver.answer(driver.run(std::move(command)))).value();
  }
  void limit(std::int64_t depth) { driver.run(configure("orders", {.max_queue_depth = depth})); }
  // Empty if the publication was accepted.
  std::optional<ErrorCode> refusal(Token token) {
    const Result<Published>& published = *driver.answer(token).published;
    return published ? std::nullopt : std::optional(published.error().code);
  }
  std::optional<ErrorCode> publish_many(int n) { return refusal(driver.run(publish_all(events(n)))); }
  bool backpressure(Token token) { return driver.answer(token).backpressure; }
  Lease take() {
    const Claim claim = driver.claims(driver.run(claim_in("orders", "w:1"))).at(0);
    return {claim.event.id, "w:1", claim.event.attempts};
  }
};
INSTANTIATE_TEST_SUITE_P(AllStores, CoreQueues, testing::Values(StoreKind::memory, StoreKind::real),
                         name_of_store);

TEST(CoreShare, ABatchBeyondTheLargestShareIsTooLargeAndOneBeyondThisShareFindsTheQueueFull) {
  const ManualClock clock(kStart);
  const auto store = memory::open_store(clock);
  Core core(*store, {.policy = kPolicy, .queues = {{"orders", {.max_queue_depth = 3}}}, .share = {1, 2}},
            Uuid7Source(1));
  ASSERT_TRUE(core.recover());
  const auto refusal = [&](std::size_t events) -> std::optional<Error> {
    const NewEvent event{.title = "many", .tags = {"t"}, .queue = "orders"};
    std::vector<Envelope<Command>> requests;
    requests.push_back({{}, publish_all(std::vector<NewEvent>(events, event))});
    const auto answers = core.run(std::move(requests));
    const Result<Published>& published = *answers.at(0).content.published;
    return published ? std::nullopt : std::optional(published.error());
  };

  EXPECT_EQ(refusal(3)->code, ErrorCode::too_large);
  EXPECT_EQ(refusal(2)->code, ErrorCode::queue_full);
  EXPECT_EQ(refusal(1), std::nullopt);
  EXPECT_THAT(refusal(1)->message, HasSubstr("Queue \"orders\" on shard 1 is full: it holds 1 live events"));
}

TEST_P(CoreQueues, TheMainQueueExistsFromTheStart) { EXPECT_TRUE(document("main")); }

TEST_P(CoreQueues, AQueueIsCreatedByItsFirstPublication) {
  EXPECT_FALSE(document("orders"));
  clock().advance(1h);
  driver.publish(event("one"));

  ASSERT_TRUE(document("orders"));
  EXPECT_EQ(document("orders")->row.created_at, kStart + 1h);
  EXPECT_EQ(document("orders")->row.status, QueueStatus::active);
}

TEST_P(CoreQueues, AClaimDoesNotCreateAQueueAndIsServedOnceItExists) {
  const Token waiter = driver.run(claim_in_or_wait("orders", "w:1"));
  EXPECT_FALSE(document("orders"));
  driver.publish(event("one"));

  EXPECT_THAT(titles(driver.claims(waiter)), ElementsAre("one"));
}

TEST_P(CoreQueues, ConfiguringAnUnknownQueueCreatesIt) {
  EXPECT_TRUE(change_queue(configure("orders", {.max_retries = 7})).created);
  EXPECT_FALSE(change_queue(configure("orders", {.max_retries = 8})).created);

  EXPECT_EQ(driver.event(driver.publish(event("one"))).max_retries, 8);
}

TEST_P(CoreQueues, NewSettingsReplaceAllOldSettings) {
  driver.run(configure("orders", {.max_retries = 7}));
  driver.run(configure("orders", {.max_attempts = 9}));

  EXPECT_EQ(driver.event(driver.publish(event("one"))).max_retries, 3);
}

TEST_P(CoreQueues, SettingsReadAndSentBackFollowTheDefaults) {
  driver.run(configure("orders", {.max_attempts = 9}));
  const QueueConfig shown = in_force(resolve("orders", document("orders")->row.config, kPolicy));
  driver.run(ask(QueueChange{"orders", QueueChange::Configure{shown, true}}));

  EXPECT_EQ(document("orders")->row.config, QueueConfig{.max_attempts = 9});
}

TEST_P(CoreQueues, APatchChangesOnlyWhatItNames) {
  driver.run(configure("orders", {.max_attempts = 9, .max_retries = 7}));

  ConfigPatch patch{.set = {.lease = 5s}, .cleared = {.max_retries = 0}, .retry = {}};
  EXPECT_FALSE(change_queue(ask(QueueChange{"orders", QueueChange::Patch{patch}})).created);

  EXPECT_EQ(document("orders")->row.config, (QueueConfig{.lease = 5s, .max_attempts = 9}));
  EXPECT_TRUE(change_queue(ask(QueueChange{"new", QueueChange::Patch{patch}})).created);
  EXPECT_EQ(document("new")->row.config, QueueConfig{.lease = 5s});
}

TEST_P(CoreQueues, APatchWhoseResultIsInvalidChangesNothing) {
  limit(50);
  const ConfigPatch patch{.set = {.high_watermark = 51, .lease = 5s}, .cleared = {}, .retry = {}};

  const auto answer = admin_answer<QueueChanged>(
      driver.answer(driver.run(ask(QueueChange{"orders", QueueChange::Patch{patch}}))));

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().field, "highWatermark");
  EXPECT_EQ(document("orders")->row.config, QueueConfig{.max_queue_depth = 50});
}

TEST_P(CoreQueues, AnEmptyQueueIsRemovedAndMadeAgainByAnEventWithoutItsSettings) {
  driver.run(configure("orders", {.max_retries = 7}));
  driver.run(pause("orders"));
  change_queue(remove_queue("orders"));

  EXPECT_FALSE(document("orders"));
  EXPECT_EQ(driver.event(driver.publish(event("one"))).max_retries, 3);
  EXPECT_EQ(document("orders")->row.status, QueueStatus::active);
  EXPECT_EQ(document("orders")->totals.published, 1);
}

TEST_P(CoreQueues, AQueueWithALiveOrEndedEventIsNotRemoved) {
  const auto refusal_of_removal = [&] {
    return admin_answer<QueueChanged>(driver.answer(driver.run(remove_queue("orders")))).error();
  };
  driver.publish(event("one"));
  EXPECT_EQ(refusal_of_removal().code, ErrorCode::conflict);
  EXPECT_THAT(refusal_of_removal().message, HasSubstr("holds 1 live and 0 ended events"));

  driver.run(complete(take()));
  EXPECT_THAT(refusal_of_removal().message, HasSubstr("holds 0 live and 1 ended events"));
  EXPECT_TRUE(document("orders"));
}

TEST_P(CoreQueues, AQueueIsRemovedInTheBatchThatRemovesItsLastEventAndLeavesNoCounter) {
  const EventId id = driver.publish(event("one"));
  driver.run(complete(take()));
  driver.run_together(ask(Removal{{id}, std::nullopt}), remove_queue("orders"));
  EXPECT_FALSE(document("orders"));

  driver.publish(event("two"));

  EXPECT_EQ(document("orders")->totals.published, 1);
  EXPECT_EQ(document("orders")->totals.completed, 0);
  driver.restart(kPolicy);
  EXPECT_EQ(document("orders")->totals.published, 1);
}

TEST_P(CoreQueues, AQueueRemovedAndConfiguredInOneBatchStartsAnew) {
  const EventId id = driver.publish(event("one"));
  driver.run(complete(take()));
  driver.run(ask(Removal{{id}, std::nullopt}));
  driver.run_together(remove_queue("orders"), configure("orders", {.max_retries = 5}));

  EXPECT_EQ(document("orders")->row.config, QueueConfig{.max_retries = 5});
  driver.publish(event("two"));
  EXPECT_EQ(document("orders")->totals.published, 1);
}

TEST_P(CoreQueues, TheQueueMainAndAnUnknownQueueAreNotRemoved) {
  const auto code = [&](const std::string& queue) {
    return admin_answer<QueueChanged>(driver.answer(driver.run(remove_queue(queue)))).error().code;
  };
  EXPECT_EQ(code("main"), ErrorCode::conflict);
  EXPECT_EQ(code("nowhere"), ErrorCode::not_found);
}

TEST_P(CoreQueues, ARequestedCheckpointStaysUntilItIsDeleted) {
  driver.publish(event("one"));
  const Checkpoint made = *change_queue(make_checkpoint("orders")).checkpoint;
  EXPECT_TRUE(made.requested);

  EXPECT_EQ(change_queue(delete_checkpoint("orders", made.id)).checkpoint->id, made.id);

  EXPECT_THAT(driver.store().reader().value()->checkpoints("orders", 10).value(), IsEmpty());
  const auto again =
      admin_answer<QueueChanged>(driver.answer(driver.run(delete_checkpoint("orders", made.id))));
  EXPECT_EQ(again.error().code, ErrorCode::not_found);
}

TEST_P(CoreQueues, ACheckpointOfAnotherQueueIsNotDeleted) {
  driver.publish(event("one"));
  const Checkpoint made = *change_queue(make_checkpoint("orders")).checkpoint;

  const auto answer =
      admin_answer<QueueChanged>(driver.answer(driver.run(delete_checkpoint("main", made.id))));

  EXPECT_EQ(answer.error().code, ErrorCode::not_found);
  EXPECT_THAT(driver.store().reader().value()->checkpoints("orders", 10).value(), SizeIs(1));
}

TEST_P(CoreQueues, TheCheckpointBeyondTheLimitIsRefused) {
  driver.publish(event("one"));
  for (std::size_t i = 1; i < limits::kCheckpoints; ++i) change_queue(make_checkpoint("orders"));
  const Checkpoint last = *change_queue(make_checkpoint("orders")).checkpoint;

  const auto refused = admin_answer<QueueChanged>(driver.answer(driver.run(make_checkpoint("orders"))));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  change_queue(delete_checkpoint("orders", last.id));
  EXPECT_TRUE(change_queue(make_checkpoint("orders")).checkpoint);
}

TEST_P(CoreQueues, SettingsOutliveARestart) {
  driver.run(configure("orders", {.lease = 5s, .max_retries = 7}));
  driver.restart(kPolicy);

  EXPECT_EQ(driver.event(driver.publish(event("one"))).max_retries, 7);
  take();
  clock().advance(5s);
  EXPECT_EQ(take().attempt, 2);
}

TEST_P(CoreQueues, SettingsGivenAtTheStartReplaceStoredSettings) {
  driver.run(configure("orders", {.max_retries = 7}));
  Core core(driver.store(), {.policy = kPolicy, .queues = {{"orders", {.lease = 5s}}, {"new", {}}}},
            Uuid7Source(2));
  ASSERT_TRUE(core.recover());

  EXPECT_EQ(document("orders")->row.config, (QueueConfig{.lease = 5s}));
  EXPECT_TRUE(document("new"));
}

TEST_P(CoreQueues, TheBatchSizeOfAQueueLimitsEveryClaim) {
  driver.run(configure("orders", {.batch_size = 2}));
  publish_many(3);

  EXPECT_THAT(driver.claims(driver.run(claim_in("orders", "w:1", 10))), SizeIs(2));
}

TEST_P(CoreQueues, APausedQueueTakesEventsAndGivesNone) {
  driver.publish(event("one"));
  driver.run(pause("orders"));
  driver.publish(event("two"));

  EXPECT_THAT(driver.claims(driver.run(claim_in("orders", "w:1", 10))), IsEmpty());
}

TEST_P(CoreQueues, APauseDoesNotHoldUpOtherQueues) {
  driver.run(pause("main"));
  driver.publish(event("one"));

  EXPECT_THAT(driver.claims(driver.run(claim_in("orders", "w:1"))), SizeIs(1));
}

TEST_P(CoreQueues, AClaimThatWaitsAtAPausedQueueIsServedWhenItIsResumed) {
  driver.publish(event("one"));
  driver.publish(event("two"));
  driver.run(pause("orders"));
  const Token first = driver.run(claim_in_or_wait("orders", "w:1"));
  driver.publish(event("three"));
  const Token second = driver.run(claim_in_or_wait("orders", "w:2", 10));
  EXPECT_FALSE(driver.answered(first));

  driver.run(resume("orders"));
  EXPECT_LE(driver.core().next_attention(), clock().now());
  driver.run_once();

  EXPECT_THAT(titles(driver.claims(first)), ElementsAre("one"));
  EXPECT_THAT(titles(driver.claims(second)), ElementsAre("two", "three"));
}

TEST_P(CoreQueues, AnEventThatCameDueDuringAPauseIsClaimedAfterIt) {
  driver.publish({.title = "later", .tags = {"t"}, .queue = "orders", .delay = 10s});
  driver.run(pause("orders"));
  const Token waiter = driver.run(claim_in_or_wait("orders", "w:1"));
  clock().advance(10s);
  driver.run_once();
  EXPECT_FALSE(driver.answered(waiter));
  driver.run(resume("orders"));
  driver.run_once();

  EXPECT_THAT(titles(driver.claims(waiter)), ElementsAre("later"));
}

TEST_P(CoreQueues, AWorkerMayReportToAPausedQueue) {
  const EventId id = driver.publish(event("one"));
  const Lease lease = take();
  driver.run(pause("orders"));
  driver.run(complete(lease));

  EXPECT_EQ(driver.event(id).status, Status::completed);
}

TEST_P(CoreQueues, TheStatusAndItsReasonOutliveARestart) {
  driver.publish(event("one"));
  clock().advance(1min);
  driver.run(set_status("orders", QueueStatus::paused, "upgrade", "ann"));
  driver.restart(kPolicy);

  const QueueRow row = document("orders")->row;
  EXPECT_EQ(row.status, QueueStatus::paused);
  EXPECT_EQ(row.status_reason, "upgrade");
  EXPECT_EQ(row.status_by, "ann");
  EXPECT_EQ(row.status_at, kStart + 1min);
  EXPECT_THAT(driver.claims(driver.run(claim_in("orders", "w:1"))), IsEmpty());
}

TEST_P(CoreQueues, AnUnknownQueueCannotBePaused) {
  EXPECT_EQ(admin_answer<QueueChanged>(driver.answer(driver.run(pause("nowhere")))).error().code,
            ErrorCode::not_found);
  EXPECT_FALSE(document("nowhere"));
}

TEST_P(CoreQueues, ADrainingQueueGivesEventsAndTakesNone) {
  driver.publish(event("one"));
  EXPECT_EQ(change_queue(drain("orders")).depth, 1);

  EXPECT_EQ(publish_many(1), ErrorCode::conflict);
  driver.run(complete(take()));
  EXPECT_EQ(publish_many(1), ErrorCode::conflict);
  driver.run(resume("orders"));
  EXPECT_EQ(publish_many(1), std::nullopt);
}

TEST_P(CoreQueues, ADrainingQueueAnswersAPublicationThatItHasAlready) {
  driver.publish(event("one", "own"));
  driver.run(drain("orders"));

  EXPECT_EQ(refusal(driver.run(publish(event("one", "own")))), std::nullopt);
  EXPECT_EQ(refusal(driver.run(publish_all({event("one", "own"), event("two")}))), ErrorCode::conflict);
}

TEST_P(CoreQueues, ADrainingQueueTakesNoneOfABatchThatIsOnlyPartlyForIt) {
  driver.publish(event("one"));
  driver.run(drain("orders"));

  EXPECT_EQ(refusal(driver.run(publish_all({{.title = "main", .tags = {"t"}}, event("two")}))),
            ErrorCode::conflict);
  EXPECT_EQ(driver.count({.queue = "main"}), 0);
}

TEST_P(CoreQueues, ADrainingQueueRetriesButRefusesToResetAnEndedEvent) {
  driver.publish(event("one"));
  const EventId ended = driver.publish(event("two"));
  driver.run(cancel(ended));
  driver.run(drain("orders"));
  driver.run(fail(take()));
  EXPECT_EQ(driver.answer(driver.run(reset(ended))).changed.at(0).error().code, ErrorCode::conflict);

  clock().advance(5min);
  EXPECT_EQ(take().attempt, 2);
}

TEST_P(CoreQueues, ADrainingQueueTakesAnOnCompleteEvent) {
  driver.run(batch({event("one")}, "c", NewEvent{.title = "done", .tags = {"t"}}));
  const Lease lease = take();
  driver.run(drain("orders"));
  driver.run(complete(lease));

  EXPECT_THAT(titles(driver.claims(driver.run(claim_in("orders", "w:1")))), ElementsAre("done"));
}

TEST_P(CoreQueues, AQueueTakesAsManyEventsAsItsLimitAndNoMore) {
  limit(3);
  EXPECT_EQ(publish_many(2), std::nullopt);
  EXPECT_EQ(publish_many(1), std::nullopt);
  EXPECT_EQ(publish_many(1), ErrorCode::queue_full);
  EXPECT_EQ(document("orders")->counts[0], 3);
}

TEST_P(CoreQueues, ABatchIsTakenWholeOrNotAtAll) {
  limit(3);
  EXPECT_EQ(publish_many(2), std::nullopt);
  EXPECT_EQ(publish_many(2), ErrorCode::queue_full);
  EXPECT_EQ(driver.count({.queue = "orders"}), 2);
  EXPECT_EQ(publish_many(1), std::nullopt);
}

TEST_P(CoreQueues, ABatchLargerThanTheLimitNeverFits) {
  limit(3);
  EXPECT_EQ(publish_many(4), ErrorCode::too_large);
  EXPECT_EQ(publish_many(3), std::nullopt);
}

TEST_P(CoreQueues, ThePublicationsOfOneRunCountTogether) {
  limit(3);
  const auto [first, second, third] =
      driver.run_together(publish_all(events(2)), publish_all(events(2)), publish_all(events(1)));

  EXPECT_EQ(refusal(first), std::nullopt);
  EXPECT_EQ(refusal(second), ErrorCode::queue_full);
  EXPECT_EQ(refusal(third), std::nullopt);
}

TEST_P(CoreQueues, DelayedEventsAndEventsInWorkCount) {
  limit(2);
  driver.publish({.title = "later", .tags = {"t"}, .queue = "orders", .delay = 1h});
  driver.publish(event("one"));
  const Lease lease = take();
  EXPECT_EQ(publish_many(1), ErrorCode::queue_full);

  driver.run(complete(lease));
  EXPECT_EQ(publish_many(1), std::nullopt);
}

TEST_P(CoreQueues, AnEventThatExistsAlreadyDoesNotCountAgainstTheLimit) {
  limit(1);
  driver.publish(event("one", "own"));

  EXPECT_EQ(refusal(driver.run(publish(event("one", "own")))), std::nullopt);
  EXPECT_EQ(refusal(driver.run(publish_all({event("one", "own"), event("two")}))), ErrorCode::queue_full);
}

TEST_P(CoreQueues, AnEventThatIsInABatchTwiceCountsOnceAgainstTheLimit) {
  limit(1);
  EXPECT_EQ(refusal(driver.run(publish_all({event("one", "own"), event("one", "own")}))), std::nullopt);
}

TEST_P(CoreQueues, ASupersededEventDoesNotCountAgainstTheLimit) {
  limit(1);
  NewEvent newer = event("one");
  newer.supersede_key = "k";
  driver.publish(newer);

  EXPECT_EQ(refusal(driver.run(publish(newer))), std::nullopt);
  EXPECT_EQ(refusal(driver.run(publish_all({newer, newer, newer}))), std::nullopt);
  EXPECT_EQ(refusal(driver.run(publish_all({newer, event("other")}))), ErrorCode::queue_full);
  take();
  EXPECT_EQ(refusal(driver.run(publish(newer))), ErrorCode::queue_full);
}

TEST_P(CoreQueues, AnEndedEventIsResetOnlyBelowTheLimit) {
  limit(1);
  const EventId ended = driver.publish(event("one"));
  driver.run(cancel(ended));
  const EventId second = driver.publish(event("two"));
  EXPECT_EQ(driver.answer(driver.run(reset(ended))).changed.at(0).error().code, ErrorCode::queue_full);
  EXPECT_TRUE(driver.answer(driver.run(reset(second))).changed.at(0));

  driver.run(cancel(second));
  EXPECT_TRUE(driver.answer(driver.run(reset(ended))).changed.at(0));
}

TEST_P(CoreQueues, AResetThatIsNeverPossibleIsAConflictInAFullQueueToo) {
  limit(1);
  const EventId ended = driver.publish(event("one"));
  driver.run(complete(take()));
  driver.publish(event("two"));

  EXPECT_EQ(driver.answer(driver.run(reset(ended))).changed.at(0).error().code, ErrorCode::conflict);
}

TEST_P(CoreQueues, ARetryResetsFailedEventsUpToTheLimit) {
  limit(3);
  publish_many(3);
  for (int i = 0; i < 3; ++i) driver.run(fail_for_good(take()));
  publish_many(1);

  const auto revived = admin_answer<Revived>(driver.answer(driver.run(retry_failed({.queue = "orders"}))));
  EXPECT_THAT(revived->matched, SizeIs(3));
  EXPECT_THAT(revived->events, SizeIs(2));
  EXPECT_TRUE(revived->more);

  EXPECT_EQ(admin_answer<Revived>(driver.answer(driver.run(retry_failed({.queue = "orders"})))).error().code,
            ErrorCode::queue_full);
}

TEST_P(CoreQueues, AnOnCompleteEventIsPublishedIntoAFullQueue) {
  limit(2);
  driver.run(batch({event("one")}, "c", NewEvent{.title = "done", .tags = {"t"}}));
  const Lease lease = take();
  driver.publish(event("two"));
  driver.run_together(complete(lease), publish(event("three")));

  EXPECT_EQ(document("orders")->counts[0], 2);
}

TEST_P(CoreQueues, AnswersSayWhenThePublisherShouldSlowDown) {
  driver.run(configure("orders", {.max_queue_depth = 20, .high_watermark = 10}));
  EXPECT_FALSE(backpressure(driver.run(publish_all(events(10)))));
  EXPECT_TRUE(backpressure(driver.run(publish_all(events(1)))));
  EXPECT_TRUE(backpressure(driver.run(publish_all(events(20)))));  // refused
  EXPECT_FALSE(backpressure(driver.run(publish({.title = "main", .tags = {"t"}}))));

  driver.run(complete(take()));
  driver.run(complete(take()));  // 9 are left, which is not below 90 %
  EXPECT_TRUE(backpressure(driver.run(publish_all(events(1)))));
  driver.run(complete(take()));
  driver.run(complete(take()));
  EXPECT_FALSE(backpressure(driver.run(publish_all(events(1)))));
}

TEST_P(CoreQueues, TheErrorOfAFullQueueSaysWhenToRetry) {
  limit(4);
  publish_many(4);
  const auto retry_after = [&](int n) {
    return driver.answer(driver.run(publish_all(events(n)))).published->error().retry_after;
  };
  EXPECT_EQ(retry_after(1), 60s);  // nothing has ended yet

  driver.run(complete(take()));
  publish_many(1);
  EXPECT_EQ(retry_after(1), 1s);
  EXPECT_EQ(retry_after(3), 3s);
  clock().advance(10s);
  EXPECT_EQ(retry_after(2), 20s);
}

TEST_P(CoreQueues, TheDepthOutlivesARestart) {
  limit(2);
  publish_many(2);
  take();
  driver.restart(kPolicy);

  EXPECT_EQ(publish_many(1), ErrorCode::queue_full);
}

TEST_P(CoreQueues, ARepeatedRequestForAnEventOfAnotherQueueCreatesNoQueue) {
  driver.publish({.title = "one", .tags = {"t"}, .event_id = "own"});
  driver.run(publish(event("one", "own"), {"key", "body"}));
  driver.run(publish(event("one", "own"), {"key", "body"}));

  EXPECT_FALSE(document("orders"));
  EXPECT_EQ(document("main")->totals.deduplicated, 2);
}

TEST_P(CoreQueues, ARepeatedRequestForADelayedEventShowsItAsItWasPublished) {
  NewEvent delayed = event("one");
  delayed.delay = 1h;
  driver.run(publish(delayed, {"key", "body"}));
  const Token again = driver.run(publish(delayed, {"key", "body"}));

  EXPECT_EQ((*driver.answer(again).published)->events.at(0).due_at, kStart + 1h);
}

}  // namespace
}  // namespace eventq
