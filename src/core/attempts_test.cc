// attempts_test.cc: the order of claims, events without a report, and clocks that disagree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/core.h"
#include "support/core_driver.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

Policy with_max_attempts(int max_attempts) {
  Policy policy = kPolicy;
  policy.max_attempts = max_attempts;
  return policy;
}

using CoreClaim = CoreTest;
INSTANTIATE_TEST_SUITE_P(AllStores, CoreClaim, testing::Values(StoreKind::memory, StoreKind::real),
                         name_of_store);

TEST_P(CoreClaim, TakesHigherPriorityFirstAndOlderFirstAmongEquals) {
  driver.publish({.title = "old", .tags = {"a"}});
  driver.publish({.title = "low", .tags = {"a"}, .priority = -5});
  driver.publish({.title = "new", .tags = {"a"}});
  driver.publish({.title = "high", .tags = {"b"}, .priority = 5});

  const Token claiming = driver.run(claim({"a", "b"}, "host:1", 10));

  EXPECT_THAT(titles(driver.claims(claiming)), ElementsAre("high", "old", "new", "low"));
}

TEST_P(CoreClaim, GivesAnEventToOneOfTwoClaimsInOneRun) {
  driver.publish({.title = "mail", .tags = {"email"}});

  const auto [first, second] = driver.run_together(claim({"email"}, "host:1"), claim({"email"}, "host:2"));

  EXPECT_THAT(titles(driver.claims(first)), ElementsAre("mail"));
  EXPECT_THAT(driver.claims(second), IsEmpty());
}

TEST_P(CoreClaim, BringsTheWholeEventAndItsLease) {
  driver.publish({.title = "mail",
                  .description = "a welcome",
                  .tags = {"email", "urgent"},
                  .payload = R"({"to": "alice"})",
                  .priority = 2});
  clock().advance(1s);

  const Claim claimed = driver.claims(driver.run(claim({"urgent"}, "host:1"))).at(0);

  EXPECT_EQ(claimed.event.description, "a welcome");
  EXPECT_THAT(claimed.event.tags, ElementsAre("email", "urgent"));
  EXPECT_EQ(claimed.event.payload, R"({"to": "alice"})");
  EXPECT_EQ(claimed.event.status, Status::processing);
  EXPECT_EQ(claimed.event.attempts, 1);
  EXPECT_EQ(claimed.event.worker_id, "host:1");
  EXPECT_EQ(claimed.event.created_at, kStart);
  EXPECT_EQ(claimed.event.updated_at, kStart + 1s);
  EXPECT_EQ(claimed.lease_until, kStart + 61s);
}

TEST_P(CoreClaim, ClaimedTooOftenWithoutAReportTheEventFailsWhenItsLeaseEnds) {
  driver.restart(with_max_attempts(2));
  const EventId id = driver.publish({.title = "poison", .tags = {"a"}});
  driver.claim("a", "host:1");
  clock().advance(60s);
  driver.claim("a", "host:2");
  clock().advance(60s);

  driver.run_once();

  EXPECT_EQ(driver.event(id).status, Status::failed);
  EXPECT_EQ(driver.event(id).attempts, 2);
  const std::vector<LogEntry> log = driver.log(id);
  EXPECT_THAT(actions(log), ElementsAre(Action::picked, Action::abandoned, Action::picked, Action::abandoned,
                                        Action::failed));
  EXPECT_EQ(log.at(3).worker_id, "host:2");
  EXPECT_EQ(log.at(4).worker_id, "");
  EXPECT_EQ(log.at(4).reason, "Claimed 2 times in a row without a report.");
}

TEST_P(CoreClaim, AnEventThatIsGivenUpWakesNoWaiter) {
  driver.restart(with_max_attempts(1));
  driver.publish({.title = "poison", .tags = {"a"}});
  driver.claim("a", "host:1");
  clock().advance(50s);
  const Token waiter = driver.run(claim_or_wait({"a"}, "host:2"));
  clock().advance(10s);

  driver.run_once();

  EXPECT_FALSE(driver.answered(waiter));
}

TEST_P(CoreClaim, AReportedFailureDoesNotCountTowardsTheAttemptsInARow) {
  driver.restart(with_max_attempts(2));
  const EventId id = driver.publish({.title = "mail", .tags = {"a"}});
  driver.run(fail(driver.claim("a", "host:1")));
  clock().advance(5min);
  driver.claim("a", "host:1");
  clock().advance(60s);

  EXPECT_EQ(driver.claim("a", "host:2").attempt, 3);
  EXPECT_EQ(driver.event(id).status, Status::processing);
}

TEST_P(CoreClaim, AnEventGivenBackDoesNotCountTowardsTheAttemptsInARow) {
  driver.restart(with_max_attempts(1));
  const EventId id = driver.publish({.title = "mail", .tags = {"a"}});
  driver.run(change({driver.claim("a", "host:1"), Release{}}));
  driver.run(change({driver.claim("a", "host:1"), Release{}}));

  driver.run_once();

  EXPECT_EQ(driver.event(id).status, Status::pending);
  EXPECT_EQ(driver.event(id).attempts, 2);
}

TEST_P(CoreClaim, AnEventsOwnMaxAttemptsReplacesThatOfItsQueue) {
  driver.restart(with_max_attempts(2));
  const EventId fewer = driver.publish({.title = "fewer", .tags = {"a"}, .max_attempts = 1});
  const EventId more = driver.publish({.title = "more", .tags = {"a"}, .max_attempts = 3});
  for (int i = 0; i < 2; ++i) {
    driver.run(claim({"a"}, "host:1", 10));
    clock().advance(60s);
  }
  driver.run_once();

  EXPECT_EQ(driver.event(fewer).status, Status::failed);
  EXPECT_EQ(driver.log(fewer).back().reason, "Claimed 1 times in a row without a report.");
  EXPECT_EQ(driver.event(fewer).max_attempts, 1);
  EXPECT_EQ(driver.claim("a", "host:2").attempt, 3);
  clock().advance(60s);
  driver.run_once();
  EXPECT_EQ(driver.event(more).status, Status::failed);
}

TEST_P(CoreClaim, AfterARestartWithALowerLimitAClaimGivesUpEventsOverTheLimit) {
  const EventId poison = driver.publish({.title = "poison", .tags = {"a"}, .priority = 1});
  driver.publish({.title = "mail", .tags = {"a"}});
  driver.claim("a", "host:1");
  clock().advance(60s);
  driver.run_once();
  driver.restart(with_max_attempts(1));

  const Token claiming = driver.run(claim({"a"}, "host:2"));

  EXPECT_THAT(titles(driver.claims(claiming)), ElementsAre("mail"));
  EXPECT_EQ(driver.event(poison).status, Status::failed);
  EXPECT_EQ(driver.log(poison).back().reason, "Claimed 1 times in a row without a report.");
}

TEST_P(CoreClaim, AfterARestartWithALowerLimitAClaimMayFindOnlyEventsToGiveUp) {
  const EventId poison = driver.publish({.title = "poison", .tags = {"a"}});
  driver.claim("a", "host:1");
  clock().advance(60s);
  driver.run_once();
  driver.restart(with_max_attempts(1));

  const Token claiming = driver.run(claim({"a"}, "host:2"));

  EXPECT_THAT(driver.claims(claiming), IsEmpty());
  EXPECT_EQ(driver.event(poison).status, Status::failed);
}

TEST_P(CoreClaim, AfterARestartALeaseIsStillHeld) {
  driver.publish({.title = "mail", .tags = {"a"}});
  const Lease lease = driver.claim("a", "host:1");
  driver.restart(kPolicy);

  EXPECT_THAT(driver.claims(driver.run(claim({"a"}, "host:2"))), IsEmpty());
  EXPECT_TRUE(driver.answer(driver.run(complete(lease))).changed.at(0).has_value());
}

TEST_P(CoreClaim, AfterARestartALeaseEndsWhenItWasGoingToEnd) {
  driver.publish({.title = "mail", .tags = {"a"}});
  driver.claim("a", "host:1");
  driver.restart(kPolicy);
  clock().advance(60s);

  EXPECT_EQ(driver.claim("a", "host:2").attempt, 2);
}

// A caller may pass poll() a clock that runs ahead, and the machine's time may be set back between two
// starts.
TEST_P(CoreClaim, AnEventThatALaterClockMadeReadyIsNotGivenToAClaimWithAnEarlierClock) {
  const EventId id = driver.publish({.title = "mail", .tags = {"a"}});
  driver.claim("a", "host:1");
  driver.run({.now = kStart + 1h});

  const Token claiming = driver.run(claim({"a"}, "host:2"));

  EXPECT_THAT(driver.claims(claiming), IsEmpty());
  EXPECT_EQ(driver.event(id).worker_id, "host:1");
}

TEST_P(CoreClaim, AnEventThatALaterClockMadeReadyIsGivenWhenItIsDue) {
  driver.publish({.title = "mail", .tags = {"a"}});
  driver.claim("a", "host:1");
  driver.run({.now = kStart + 1h});
  clock().advance(45s);
  const Token waiter = driver.run(claim_or_wait({"a"}, "host:2"));
  EXPECT_FALSE(driver.answered(waiter));

  clock().advance(15s);
  driver.run_once();

  EXPECT_EQ(driver.claims(waiter).at(0).event.attempts, 2);
}

}  // namespace
}  // namespace eventq
