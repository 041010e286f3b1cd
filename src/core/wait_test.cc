// wait_test.cc: claims that wait: which event serves which claim, in which order, and when a wait ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/core.h"
#include "support/core_driver.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using CoreWait = CoreTest;
INSTANTIATE_TEST_SUITE_P(AllStores, CoreWait, testing::Values(StoreKind::memory, StoreKind::real),
                         name_of_store);

TEST_P(CoreWait, APublicationServesAWaitingClaimInItsOwnRun) {
  const Token waiter = driver.run(claim_or_wait({"email"}, "host:1"));
  const int commits = driver.store().commits();

  const EventId id = driver.publish({.title = "mail", .tags = {"email"}});

  ASSERT_THAT(titles(driver.claims(waiter)), ElementsAre("mail"));
  EXPECT_EQ(driver.store().commits(), commits + 1);
  EXPECT_EQ(driver.claims(waiter).at(0).lease_until, kStart + 60s);
  EXPECT_EQ(driver.event(id).status, Status::processing);
  EXPECT_EQ(driver.event(id).worker_id, "host:1");
}

TEST_P(CoreWait, AClaimThatFindsSomethingDoesNotWait) {
  driver.publish({.title = "mail", .tags = {"email"}});

  const Token claiming = driver.run(claim_or_wait({"email"}, "host:1", 10));

  EXPECT_THAT(titles(driver.claims(claiming)), ElementsAre("mail"));
}

TEST_P(CoreWait, AnEventOfOtherTagsOrAnotherQueueServesNoWaiter) {
  const Token waiter = driver.run(claim_or_wait({"email"}, "host:1"));

  driver.publish({.title = "print", .tags = {"printer"}});
  driver.publish({.title = "mail", .tags = {"email"}, .queue = "other"});

  EXPECT_FALSE(driver.answered(waiter));
}

TEST_P(CoreWait, WaitersForATagAreServedInTheOrderOfTheirArrival) {
  const Token first = driver.run(claim_or_wait({"a"}, "host:1"));
  const Token second = driver.run(claim_or_wait({"a"}, "host:2"));

  driver.publish({.title = "one", .tags = {"a"}});
  EXPECT_FALSE(driver.answered(second));
  driver.publish({.title = "two", .tags = {"a"}});

  EXPECT_THAT(titles(driver.claims(first)), ElementsAre("one"));
  EXPECT_THAT(titles(driver.claims(second)), ElementsAre("two"));
}

TEST_P(CoreWait, AnEventOfTwoTagsServesTheFirstWaiterForEitherTag) {
  const Token for_b = driver.run(claim_or_wait({"b"}, "host:1"));
  const Token for_any = driver.run(claim_or_wait({}, "host:2"));
  const Token for_a = driver.run(claim_or_wait({"a"}, "host:3"));

  driver.publish({.title = "one", .tags = {"a", "b"}});
  driver.publish({.title = "two", .tags = {"a", "b"}});
  driver.publish({.title = "three", .tags = {"a", "b"}});

  EXPECT_THAT(titles(driver.claims(for_b)), ElementsAre("one"));
  EXPECT_THAT(titles(driver.claims(for_any)), ElementsAre("two"));
  EXPECT_THAT(titles(driver.claims(for_a)), ElementsAre("three"));
}

TEST_P(CoreWait, AWaiterIsServedBeforeANewClaimOfTheSameRun) {
  const Token waiter = driver.run(claim_or_wait({"a"}, "host:1"));

  const auto [claiming, publication] =
      driver.run_together(claim({"a"}, "host:2"), publish({.title = "one", .tags = {"a"}}));

  EXPECT_THAT(titles(driver.claims(waiter)), ElementsAre("one"));
  EXPECT_THAT(driver.claims(claiming), IsEmpty());
}

TEST_P(CoreWait, AClaimIsServedByAPublicationOfItsOwnRun) {
  const auto [claiming, publication] =
      driver.run_together(claim({"a"}, "host:1"), publish({.title = "one", .tags = {"a"}}));

  EXPECT_THAT(titles(driver.claims(claiming)), ElementsAre("one"));
}

TEST_P(CoreWait, AWaiterTakesAsManyAsItsLimitAndLeavesTheRestToTheNext) {
  const Token first = driver.run(claim_or_wait({"a"}, "host:1", 3));
  const Token second = driver.run(claim_or_wait({"a"}, "host:2", 3));

  driver.run(publish_all({{.title = "1", .tags = {"a"}},
                          {.title = "2", .tags = {"a"}},
                          {.title = "3", .tags = {"a"}},
                          {.title = "4", .tags = {"a"}},
                          {.title = "5", .tags = {"a"}}}));

  EXPECT_THAT(titles(driver.claims(first)), ElementsAre("1", "2", "3"));
  EXPECT_THAT(titles(driver.claims(second)), ElementsAre("4", "5"));
}

TEST_P(CoreWait, AWaiterIsServedWithLessThanItsLimit) {
  const Token waiter = driver.run(claim_or_wait({"a"}, "host:1", 1000));

  driver.publish({.title = "one", .tags = {"a"}});

  EXPECT_THAT(titles(driver.claims(waiter)), ElementsAre("one"));
}

TEST_P(CoreWait, TheHighestPriorityGoesToTheFirstWaiter) {
  const Token first = driver.run(claim_or_wait({"a"}, "host:1"));
  const Token second = driver.run(claim_or_wait({"a"}, "host:2"));

  driver.run_together(publish({.title = "low", .tags = {"a"}, .priority = -1}),
                      publish({.title = "high", .tags = {"a"}, .priority = 7}),
                      publish({.title = "middle", .tags = {"a"}}));

  EXPECT_THAT(titles(driver.claims(first)), ElementsAre("high"));
  EXPECT_THAT(titles(driver.claims(second)), ElementsAre("middle"));
}

TEST_P(CoreWait, OfSeveralEventsPublishedTogetherEachGoesToTheFirstWaiterForIt) {
  const Token for_a = driver.run(claim_or_wait({"a"}, "host:1"));
  const Token for_both = driver.run(claim_or_wait({"a", "b"}, "host:2"));

  driver.run_together(publish({.title = "low b", .tags = {"b"}}),
                      publish({.title = "high a", .tags = {"a"}, .priority = 1}));

  EXPECT_THAT(titles(driver.claims(for_a)), ElementsAre("high a"));
  EXPECT_THAT(titles(driver.claims(for_both)), ElementsAre("low b"));
}

TEST_P(CoreWait, AnOlderReleasedEventGoesToTheFirstWaiterThoughANewerOneIsPublishedWithIt) {
  driver.publish({.title = "old a", .tags = {"a"}});
  const Lease lease = driver.claim("a", "host:1");
  const Token for_a = driver.run(claim_or_wait({"a"}, "host:2"));
  const Token for_both = driver.run(claim_or_wait({"a", "b"}, "host:3"));

  driver.run_together(publish({.title = "new b", .tags = {"b"}}), change({lease, Release{}}));

  EXPECT_THAT(titles(driver.claims(for_a)), ElementsAre("old a"));
  EXPECT_THAT(titles(driver.claims(for_both)), ElementsAre("new b"));
}

TEST_P(CoreWait, AnEventThatItsFirstWaiterDoesNotTakeIsGivenToTheNext) {
  const Token for_a = driver.run(claim_or_wait({"a"}, "host:1"));
  const Token for_b = driver.run(claim_or_wait({"b"}, "host:2"));

  driver.run_together(publish({.title = "both", .tags = {"a", "b"}}),
                      publish({.title = "only a", .tags = {"a"}, .priority = 1}));

  EXPECT_THAT(titles(driver.claims(for_a)), ElementsAre("only a"));
  EXPECT_THAT(titles(driver.claims(for_b)), ElementsAre("both"));
}

TEST_P(CoreWait, NoClaimWaitsWhileAMatchingEventIsReady) {
  const Token for_b = driver.run(claim_or_wait({"b"}, "host:1"));
  const Token for_a = driver.run(claim_or_wait({"a"}, "host:2"));

  driver.run_together(publish({.title = "both", .tags = {"a", "b"}}),
                      publish({.title = "only a", .tags = {"a"}}));

  EXPECT_THAT(titles(driver.claims(for_b)), ElementsAre("both"));
  EXPECT_THAT(titles(driver.claims(for_a)), ElementsAre("only a"));
}

TEST_P(CoreWait, ACancelledWaiterIsGivenNothing) {
  const Token gone = driver.run(claim_or_wait({"a"}, "host:1"));

  driver.cancel_wait(gone);
  const EventId id = driver.publish({.title = "one", .tags = {"a"}});

  EXPECT_FALSE(driver.answered(gone));
  EXPECT_EQ(driver.event(id).status, Status::pending);
}

TEST_P(CoreWait, TheEventOfACancelledWaiterGoesToTheNextWaiter) {
  const Token gone = driver.run(claim_or_wait({"a"}, "host:1"));
  const Token next = driver.run(claim_or_wait({"a"}, "host:2"));

  driver.cancel_wait(gone);
  driver.publish({.title = "one", .tags = {"a"}});

  EXPECT_THAT(titles(driver.claims(next)), ElementsAre("one"));
}

TEST_P(CoreWait, AWaitEndsWithNothingAtItsDeadlineAndNotBefore) {
  const Token waiter = driver.run(claim_or_wait({"a"}, "host:1"));

  clock().advance(20s - 1ms);
  driver.run_once();
  EXPECT_FALSE(driver.answered(waiter));
  clock().advance(1ms);
  driver.run_once();

  EXPECT_THAT(driver.claims(waiter), IsEmpty());
  EXPECT_FALSE(driver.answer(waiter).error);
}

TEST_P(CoreWait, AWaitThatEndedIsNotServedAnyMore) {
  const Token waiter = driver.run(claim_or_wait({"a"}, "host:1"));
  clock().advance(20s);
  driver.run_once();

  const EventId id = driver.publish({.title = "one", .tags = {"a"}});

  EXPECT_THAT(driver.claims(waiter), IsEmpty());
  EXPECT_EQ(driver.event(id).status, Status::pending);
}

TEST_P(CoreWait, AnyRunEndsTheExpiredWaits) {
  const Token waiter = driver.run(claim_or_wait({"a"}, "host:1"));
  clock().advance(20s);

  driver.publish({.title = "print", .tags = {"printer"}});

  EXPECT_THAT(driver.claims(waiter), IsEmpty());
}

TEST_P(CoreWait, ARetryThatComesDueWakesAWaiter) {
  driver.publish({.title = "mail", .tags = {"email"}});
  driver.run(fail(driver.claim("email", "host:1")));
  clock().advance(5min - 1ms);
  const Token waiter = driver.run(claim_or_wait({"email"}, "host:2"));
  EXPECT_FALSE(driver.answered(waiter));

  clock().advance(1ms);
  driver.run_once();

  ASSERT_THAT(titles(driver.claims(waiter)), ElementsAre("mail"));
  EXPECT_EQ(driver.claims(waiter).at(0).event.attempts, 2);
  EXPECT_EQ(driver.claims(waiter).at(0).event.retry_count, 1);
}

TEST_P(CoreWait, ALeaseThatEndsWakesAWaiter) {
  const EventId id = driver.publish({.title = "mail", .tags = {"email"}});
  driver.claim("email", "host:1");
  clock().advance(60s - 1ms);
  const Token waiter = driver.run(claim_or_wait({"email"}, "host:2"));
  EXPECT_FALSE(driver.answered(waiter));

  clock().advance(1ms);
  driver.run_once();

  ASSERT_THAT(titles(driver.claims(waiter)), ElementsAre("mail"));
  EXPECT_EQ(driver.claims(waiter).at(0).event.attempts, 2);
  EXPECT_THAT(actions(driver.log(id)), ElementsAre(Action::picked, Action::abandoned, Action::picked));
  EXPECT_EQ(driver.log(id).at(1).worker_id, "host:1");
  EXPECT_EQ(driver.log(id).at(1).attempt, 1);
}

TEST_P(CoreWait, AnEventGivenBackWakesAWaiterInTheSameRun) {
  driver.publish({.title = "mail", .tags = {"email"}});
  const Lease lease = driver.claim("email", "host:1");
  const Token waiter = driver.run(claim_or_wait({"email"}, "host:2"));

  driver.run(change({lease, Release{"shutting down"}}));

  EXPECT_THAT(titles(driver.claims(waiter)), ElementsAre("mail"));
}

TEST_P(CoreWait, AnEventThatIsResetWakesAWaiterInTheSameRun) {
  const EventId id = driver.publish({.title = "mail", .tags = {"email"}});
  driver.run(complete(driver.claim("email", "host:1")));
  const EventId failed = driver.publish({.title = "bad mail", .tags = {"email"}, .max_retries = 1});
  driver.run(fail(driver.claim("email", "host:1")));
  const Token waiter = driver.run(claim_or_wait({"email"}, "host:2"));

  driver.run(reset(failed));

  EXPECT_THAT(ids(driver.claims(waiter)), ElementsAre(failed));
  EXPECT_EQ(driver.event(id).status, Status::completed);
}

TEST_P(CoreWait, AnEventCompletedLateInTheRunThatFindsItAbandonedWakesNoWaiter) {
  const EventId id = driver.publish({.title = "mail", .tags = {"email"}});
  const Lease lease = driver.claim("email", "host:1");
  clock().advance(50s);
  const Token waiter = driver.run(claim_or_wait({"email"}, "host:2"));
  clock().advance(10s);

  driver.run(complete(lease));

  EXPECT_FALSE(driver.answered(waiter));
  EXPECT_EQ(driver.event(id).status, Status::completed);
}

TEST_P(CoreWait, AnEventCompletedInTheRunThatFindsItAbandonedKeepsTheOrderOfWaiters) {
  driver.publish({.title = "late", .tags = {"b"}});
  const Lease lease = driver.claim("b", "host:1");
  clock().advance(50s);
  const Token for_a = driver.run(claim_or_wait({"a"}, "host:2"));
  const Token for_both = driver.run(claim_or_wait({"a", "b"}, "host:3"));
  clock().advance(10s);

  driver.run_together(complete(lease), publish({.title = "new a", .tags = {"a"}}));

  EXPECT_THAT(titles(driver.claims(for_a)), ElementsAre("new a"));
  EXPECT_FALSE(driver.answered(for_both));
}

TEST_P(CoreWait, AHeartbeatInTheRunThatFindsAnEventAbandonedRenewsTheLease) {
  const EventId id = driver.publish({.title = "mail", .tags = {"email"}});
  const Lease lease = driver.claim("email", "host:1");
  clock().advance(50s);
  const Token waiter = driver.run(claim_or_wait({"email"}, "host:2"));
  clock().advance(10s);

  driver.run(change({lease, Heartbeat{}}));

  EXPECT_FALSE(driver.answered(waiter));
  EXPECT_EQ(driver.event(id).worker_id, "host:1");
  EXPECT_EQ(driver.event(id).due_at, kStart + 120s);
}

TEST_P(CoreWait, EndingAllWaitsAnswersWaitingClaimsWithNothing) {
  const Token first = driver.run(claim_or_wait({"a"}, "host:1"));
  const Token second = driver.run(claim_or_wait({}, "host:2"));

  driver.end_all_waits();

  EXPECT_THAT(driver.claims(first), IsEmpty());
  EXPECT_THAT(driver.claims(second), IsEmpty());
}

TEST_P(CoreWait, AttentionIsNeededWhenTheFirstWaitEnds) {
  driver.run(claim_or_wait({"a"}, "host:1"));
  clock().advance(3s);
  driver.run(claim_or_wait({"a"}, "host:2"));

  driver.expect_attention(kStart + 20s);
}

TEST_P(CoreWait, AttentionIsNeededWhenALeaseEndsBeforeAWaitDoes) {
  driver.publish({.title = "mail", .tags = {"email"}});
  driver.claim("email", "host:1");
  clock().advance(50s);
  driver.run(claim_or_wait({"email"}, "host:2"));

  driver.expect_attention(kStart + 60s);
}

TEST_P(CoreWait, AReadyEventWithoutAWaiterNeedsNoAttention) {
  driver.publish({.title = "mail", .tags = {"email"}});

  driver.expect_attention(std::nullopt);
}

// One transaction makes at most 5000 events ready, so that other commands are answered soon.
TEST_P(CoreWait, MoreEventsThanOneTransactionPromotesAreMadeReadyInSeveral) {
  std::vector<NewEvent> events(5001, NewEvent{.title = "mail", .tags = {"email"}});
  driver.run(publish_all(std::move(events)));
  for (int i = 0; i < 6; ++i) driver.run(claim({"email"}, "host:1", 1000));
  clock().advance(60s);

  driver.run_once();
  driver.expect_attention(kStart + 60s);
  driver.run_once();
  driver.expect_attention(std::nullopt);

  std::size_t again = 0;
  for (int i = 0; i < 6; ++i) again += driver.claims(driver.run(claim({"email"}, "host:2", 1000))).size();
  EXPECT_EQ(again, 5001U);
}

}  // namespace
}  // namespace eventq
