// checkpoint_test.cc: checkpoints, the recovery report of a restart, replay and retry.
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
using testing::IsEmpty;
using testing::SizeIs;

class CoreCheckpoint : public CoreTest {
 protected:
  EventId add(const std::string& title, const std::string& tag = "t", const std::string& queue = "main") {
    return driver.publish({.title = title, .tags = {tag}, .queue = queue, .event_id = title});
  }
  Lease take(const std::string& queue = "main") {
    const Claim claim = driver.claims(driver.run(claim_in(queue, "w:1"))).at(0);
    return {claim.event.id, "w:1", claim.event.attempts};
  }
  EventId add_and_complete(const std::string& title) {
    const EventId id = add(title);
    driver.run(complete(take()));
    return id;
  }
  EventId add_and_fail(const std::string& title, const std::string& message,
                       const std::string& queue = "main") {
    const EventId id = add(title, "t", queue);
    driver.run(fail_for_good(take(queue), message));
    return id;
  }
  // "checkpoint_id/event_count", newest first.
  std::vector<std::string> checkpoints(const std::string& queue = "main") {
    const std::vector<Checkpoint> found = driver.store().reader().value()->checkpoints(queue, 100).value();
    std::vector<std::string> all;
    for (const Checkpoint& one : found) {
      all.push_back(one.checkpoint_id + "/" + std::to_string(one.event_count));
    }
    return all;
  }
  Checkpoint checkpoint() {
    return admin_answer<QueueChanged>(driver.answer(driver.run(make_checkpoint("main"))))->checkpoint.value();
  }
  Recovery recovery(const std::string& queue = "main") {
    return driver.store().reader().value()->recovery(queue).value().value();
  }
  QueueDocument document() { return driver.store().reader().value()->queue("main", 0).value().value(); }
  Result<Revived> revive(Command command) {
    return admin_answer<Revived>(driver.answer(driver.run(std::move(command))));
  }
};
INSTANTIATE_TEST_SUITE_P(AllStores, CoreCheckpoint, testing::Values(StoreKind::memory, StoreKind::real),
                         name_of_store);

TEST_P(CoreCheckpoint, ACheckpointIsMadeAMinuteAfterAnEventWasCompleted) {
  driver.run_once();
  add_and_complete("one");
  driver.expect_attention(kStart + 1min);
  clock().advance(1min - 1ms);
  driver.run_once();
  EXPECT_THAT(checkpoints(), IsEmpty());

  clock().advance(1ms);
  driver.run_once();
  EXPECT_THAT(checkpoints(), ElementsAre("one/1"));
  driver.expect_attention(std::nullopt);
}

TEST_P(CoreCheckpoint, NoCheckpointIsMadeWhenNoEventWasCompletedSinceTheLast) {
  add_and_complete("one");
  clock().advance(1min);
  driver.run_once();
  add("two");
  clock().advance(1min);
  driver.run_once();

  EXPECT_THAT(checkpoints(), ElementsAre("one/1"));
}

TEST_P(CoreCheckpoint, AnEventCompletedInTheRunOfACheckpointIsInTheNextOne) {
  add_and_complete("one");
  add("two");
  const Lease two = take();
  clock().advance(59s);
  driver.run(change({two, Heartbeat{}}));
  clock().advance(1s);
  driver.run(complete(two));
  driver.expect_attention(kStart + 2min);
  clock().advance(1min);
  driver.run_once();

  EXPECT_THAT(checkpoints(), ElementsAre("two/2", "one/1"));
}

TEST_P(CoreCheckpoint, AnEventCompletedByTheFirstRunAfterARestartIsInACheckpointToo) {
  add("one");
  const Lease lease = take();
  driver.restart(kPolicy);
  driver.run(complete(lease));

  driver.expect_attention(kStart + 1min);
}

TEST_P(CoreCheckpoint, ACheckpointMadeOnRequestCountsEventsThatItsOwnRunCompleted) {
  add("one");
  const Lease lease = take();
  driver.run_together(complete(lease), make_checkpoint("main"));
  EXPECT_THAT(checkpoints(), ElementsAre("one/1"));

  clock().advance(1min);
  driver.run_once();
  EXPECT_THAT(checkpoints(), SizeIs(1));
}

TEST_P(CoreCheckpoint, ACheckpointMadeOnRequestMayBeEmpty) {
  const Checkpoint made = checkpoint();

  EXPECT_EQ(made.queue, "main");
  EXPECT_EQ(made.checkpoint_id, "");
  EXPECT_EQ(made.event_count, 0);
  EXPECT_EQ(made.created_at, kStart);
  EXPECT_THAT(made.id, SizeIs(36));
}

TEST_P(CoreCheckpoint, ACheckpointOfAnUnknownQueueIsRefused) {
  EXPECT_EQ(admin_answer<QueueChanged>(driver.answer(driver.run(make_checkpoint("nowhere")))).error().code,
            ErrorCode::not_found);
}

TEST_P(CoreCheckpoint, ACheckpointIsMadeAtTheCloseForQueuesWithNewCompletedEvents) {
  driver.run(configure("idle", {}));
  add_and_complete("one");
  ASSERT_TRUE(driver.core().close());

  EXPECT_THAT(checkpoints(), ElementsAre("one/1"));
  EXPECT_THAT(checkpoints("idle"), IsEmpty());
}

TEST_P(CoreCheckpoint, ARestartReportsWhatItFound) {
  add_and_complete("one");
  ASSERT_TRUE(driver.core().close());
  add("two");
  add("three");
  take();
  clock().advance(1h);
  driver.restart(kPolicy);

  const Recovery found = recovery();
  EXPECT_EQ(found.queue, "main");
  EXPECT_EQ(found.checkpoint_id, "one");
  EXPECT_EQ(found.events_recovered, 2);
  EXPECT_EQ(found.started_at, kStart + 1h);
  EXPECT_EQ(found.completed_at, kStart + 1h);
  EXPECT_EQ(found.status, "completed");
}

TEST_P(CoreCheckpoint, AQueueThatWasCreatedSinceTheStartHasNoReport) {
  add("one", "t", "orders");
  EXPECT_FALSE(driver.store().reader().value()->recovery("orders").value());

  driver.restart(kPolicy);
  EXPECT_EQ(recovery("orders").events_recovered, 1);
}

TEST_P(CoreCheckpoint, ARestartKeepsTheCountersAndTheLastCompleted) {
  add_and_complete("one");
  add_and_fail("two", "no");
  const Totals before = document().totals;
  driver.restart(kPolicy);
  clock().advance(Millis(1));  // within one millisecond either of two connections may be the last
  add_and_complete("three");

  EXPECT_EQ(before.completed, 1);
  EXPECT_EQ(document().totals.completed, 2);
  EXPECT_EQ(document().totals.failed, 1);
  EXPECT_EQ(document().totals.published, 3);
  EXPECT_EQ(document().checkpoint_id, "three");
  clock().advance(1min);
  driver.run_once();
  EXPECT_EQ(checkpoints().at(0), "three/2");
}

TEST_P(CoreCheckpoint, AReplayPublishesEventsThatEndedSinceACheckpointOnceMore) {
  add_and_complete("before");
  clock().advance(1s);
  const Checkpoint since = checkpoint();
  clock().advance(1s);
  const EventId one = add_and_complete("one");
  const EventId two = add_and_complete("two");

  const auto revived = revive(replay({.queue = "main", .statuses = {Status::completed}}, since.id));

  ASSERT_TRUE(revived);
  EXPECT_THAT(revived->matched, ElementsAre(one, two));
  ASSERT_THAT(revived->events, SizeIs(2));
  EXPECT_FALSE(revived->more);
  const Event copy = driver.event(revived->events[0]);
  EXPECT_EQ(copy.title, "one");
  EXPECT_EQ(copy.causation_id, "one");
  EXPECT_NE(copy.event_id, "one");
  EXPECT_EQ(copy.status, Status::pending);
  EXPECT_EQ(driver.event(one).status, Status::completed);
}

TEST_P(CoreCheckpoint, AReplayServesWaitingClaims) {
  add_and_complete("one");
  const Token waiter = driver.run(claim_in_or_wait("main", "w:2"));
  driver.run(replay({.queue = "main"}));
  EXPECT_LE(driver.core().next_attention(), clock().now());
  driver.run_once();

  EXPECT_THAT(titles(driver.claims(waiter)), ElementsAre("one"));
}

TEST_P(CoreCheckpoint, AReplayTakesOnlyEventsThatMatchItsFilter) {
  add_and_complete("early");
  clock().advance(10s);
  const EventId one = add_and_complete("one");
  add_and_fail("failed", "no");
  add("other", "u");
  driver.run(complete(take()));
  clock().advance(10s);
  add_and_complete("late");

  const auto revived = revive(replay({.queue = "main",
                                      .statuses = {Status::completed},
                                      .tags = {"t"},
                                      .from = kStart + 10s,
                                      .to = kStart + 20s}));
  EXPECT_THAT(revived->matched, ElementsAre(one));
}

TEST_P(CoreCheckpoint, AReplayOfMoreThanItsLimitSaysThatThereIsMore) {
  for (const std::string title : {"1", "2", "3"}) add_and_complete(title);

  EXPECT_TRUE(revive(replay({.queue = "main", .limit = 2}))->more);
  EXPECT_THAT(revive(replay({.queue = "main", .limit = 2}))->matched, SizeIs(2));
  EXPECT_FALSE(revive(replay({.queue = "main", .limit = 4}))->more);
}

TEST_P(CoreCheckpoint, AReplayContinuesWhereTheLastOneStoppedAlsoWithinAMillisecond) {
  const std::vector<EventId> ids = {add_and_complete("a"), add_and_complete("b"), add_and_complete("c"),
                                    add_and_complete("d"), add_and_complete("e")};
  std::vector<EventId> matched;
  EndedFilter filter{.queue = "main", .to = clock().now() + 1ms, .limit = 2};
  for (int call = 0; call < 3; ++call) {
    const auto revived = revive(replay(filter));
    matched.insert(matched.end(), revived->matched.begin(), revived->matched.end());
    EXPECT_EQ(revived->more, call < 2);
    filter.after = revived->next;
  }

  EXPECT_EQ(matched, ids);
}

TEST_P(CoreCheckpoint, AReplayOfMoreBytesThanFitIntoTheMemorySaysThatThereIsMore) {
  const std::string large = "\"" + std::string(kClaimBytes / 2, 'a') + "\"";
  for (int i = 0; i < 3; ++i) {
    driver.publish({.title = "large", .tags = {"t"}, .payload = large});
    driver.run(complete(take()));
  }

  const auto revived = revive(replay({.queue = "main"}, std::nullopt, true));
  EXPECT_THAT(revived->matched, SizeIs(2));
  EXPECT_TRUE(revived->more);
}

TEST_P(CoreCheckpoint, ADryRunOfAReplayChangesNothing) {
  const EventId one = add_and_complete("one");

  const auto revived = revive(replay({.queue = "main"}, std::nullopt, true));

  EXPECT_THAT(revived->matched, ElementsAre(one));
  EXPECT_THAT(revived->events, IsEmpty());
  EXPECT_EQ(driver.count(), 1);
}

TEST_P(CoreCheckpoint, AReplayNeedsAQueueAndItsCheckpoint) {
  driver.run(configure("orders", {}));
  const Checkpoint of_main = checkpoint();

  EXPECT_EQ(revive(replay({.queue = "nowhere"})).error().code, ErrorCode::not_found);
  EXPECT_EQ(revive(replay({.queue = "main"}, "00000000-0000-7000-8000-000000000000")).error().code,
            ErrorCode::not_found);
  EXPECT_EQ(revive(replay({.queue = "orders"}, of_main.id)).error().code, ErrorCode::not_found);
}

TEST_P(CoreCheckpoint, AReplayIntoAFullOrDrainingQueuePublishesNothing) {
  add_and_complete("one");
  add_and_complete("two");
  driver.run(configure("main", {.max_queue_depth = 2}));
  add("three");
  EXPECT_EQ(revive(replay({.queue = "main"})).error().code, ErrorCode::queue_full);
  driver.run(configure("main", {}));
  driver.run(drain("main"));
  EXPECT_EQ(revive(replay({.queue = "main"})).error().code, ErrorCode::conflict);
  EXPECT_EQ(driver.count(), 3);
}

TEST_P(CoreCheckpoint, ARetryResetsFailedEvents) {
  const EventId one = add_and_fail("one", "no network");
  add_and_complete("done");

  const auto revived = revive(retry_failed({.queue = "main"}));

  EXPECT_THAT(revived->matched, ElementsAre(one));
  EXPECT_THAT(revived->events, ElementsAre(one));
  EXPECT_EQ(driver.event(one).status, Status::pending);
  EXPECT_EQ(driver.log(one).back().action, Action::reset);
  EXPECT_EQ(driver.log(one).back().reason, "fixed");
}

TEST_P(CoreCheckpoint, ARetryMayBeOfOneCauseInEveryQueue) {
  const EventId one = add_and_fail("one", "no network after 5 s");
  add_and_fail("two", "no disk");
  const EventId three = add_and_fail("three", "no network after 7 s", "orders");

  const auto revived = revive(retry_failed({.cause = "no network after # s"}));

  EXPECT_THAT(revived->events, testing::UnorderedElementsAre(one, three));
}

TEST_P(CoreCheckpoint, ADryRunOfARetryChangesNothing) {
  const EventId one = add_and_fail("one", "no");

  EXPECT_THAT(revive(retry_failed({.queue = "main"}, true))->matched, ElementsAre(one));
  EXPECT_EQ(driver.event(one).status, Status::failed);
}

TEST_P(CoreCheckpoint, ARetriedEventThatBlockedItsKeyRunsFirst) {
  driver.run(configure("main", {.on_failure = OnFailure::block}));
  for (const std::string title : {"A1", "A2"}) {
    driver.publish({.title = title, .tags = {"t"}, .ordering_key = "A"});
  }
  driver.run(fail_for_good(take()));
  driver.run(retry_failed({.queue = "main"}));

  EXPECT_THAT(titles(driver.claims(driver.run(claim_in("main", "w:1", 10)))), ElementsAre("A1"));
}

TEST_P(CoreCheckpoint, FailuresAreGroupedByTheirCause) {
  add_and_fail("one", "timeout after 5 s");
  clock().advance(1s);
  const EventId two = add_and_fail("two", "timeout after 9 s");
  const EventId three = add_and_fail("three", "refused");
  const auto failures = [&] { return driver.store().reader().value()->failures("main", 10).value(); };

  ASSERT_THAT(failures(), SizeIs(2));
  EXPECT_EQ(failures()[0].cause, "timeout after # s");
  EXPECT_EQ(failures()[0].events, 2);
  EXPECT_EQ(failures()[0].first_at, kStart);
  EXPECT_EQ(failures()[0].last_at, kStart + 1s);
  EXPECT_EQ(failures()[0].last_event, two);

  driver.run(reset(two));
  driver.run(cancel(three));
  ASSERT_THAT(failures(), SizeIs(1));
  EXPECT_EQ(failures()[0].events, 1);
}

}  // namespace
}  // namespace eventq
