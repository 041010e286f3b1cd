// window_test.cc: claims with a window: how many events a worker may hold, and which actions free the window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/core.h"
#include "support/core_driver.h"
#include "support/queue_commands.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class CoreWindow : public CoreTest {
 protected:
  static Command claim_within(std::size_t window, Tags tags = {}, std::string worker_id = "w:1") {
    Command command = claim_or_wait(std::move(tags), std::move(worker_id), window);
    command.claim->window = window;
    return command;
  }

  void publish_many(int count) {
    for (int i = 1; i <= count; ++i) driver.publish({.title = std::to_string(i), .tags = {"a"}});
  }

  // A worker with a window of one holds event 1 and waits, although event 2 is ready.
  Token full_worker() {
    publish_many(2);
    EXPECT_THAT(titles(driver.claims(driver.run(claim_within(1)))), ElementsAre("1"));
    const Token waiting = driver.run(claim_within(1));
    EXPECT_FALSE(driver.answered(waiting));
    return waiting;
  }

  static Lease lease(int id, int attempt = 1) { return {EventId{id}, "w:1", attempt}; }
};

INSTANTIATE_TEST_SUITE_P(AllStores, CoreWindow, testing::Values(StoreKind::memory, StoreKind::real),
                         name_of_store);

TEST_P(CoreWindow, AClaimTakesNoMoreThanTheWindowLeaves) {
  publish_many(5);

  EXPECT_THAT(driver.claims(driver.run(claim_within(3))), SizeIs(3));
  EXPECT_FALSE(driver.answered(driver.run(claim_within(3))));
  EXPECT_THAT(driver.claims(driver.run(claim_within(4))), SizeIs(1));
}

TEST_P(CoreWindow, TwoClaimsOfOneRunShareTheWindow) {
  publish_many(5);

  const auto [first, second] = driver.run_together(claim_within(2), claim_within(3));

  EXPECT_THAT(driver.claims(first), SizeIs(2));
  EXPECT_THAT(driver.claims(second), SizeIs(1));
}

TEST_P(CoreWindow, EveryReportFreesTheWindowInItsOwnRun) {
  const struct {
    std::string_view name;
    Command report;
  } cases[] = {
      {"complete", complete(lease(1))},
      {"fail", fail(lease(1))},
      {"release", change({lease(1), Release{"", 1h}})},
      {"reset", reset(EventId{1})},
      {"cancel", cancel(EventId{1})},
  };
  for (const auto& row : cases) {
    CoreDriver fresh(GetParam());
    fresh.publish({.title = "1", .tags = {"a"}});
    fresh.run(claim_within(1));
    fresh.publish({.title = "2", .tags = {"a"}, .priority = 1});
    const Token waiting = fresh.run(claim_within(1));
    ASSERT_FALSE(fresh.answered(waiting)) << row.name;
    const int commits = fresh.store().commits();

    fresh.run(row.report);

    EXPECT_EQ(fresh.store().commits(), commits + 1) << row.name;
    ASSERT_TRUE(fresh.answered(waiting)) << row.name;
    EXPECT_THAT(titles(fresh.claims(waiting)), ElementsAre("2")) << row.name;
  }
}

TEST_P(CoreWindow, AHeartbeatDoesNotFreeTheWindow) {
  const Token waiting = full_worker();

  driver.run(change({lease(1), Start{}}));
  driver.run(change({lease(1), Heartbeat{}}));

  EXPECT_FALSE(driver.answered(waiting));
}

TEST_P(CoreWindow, AnEndedLeaseFreesTheWindowForTheSameEvent) {
  driver.publish({.title = "only", .tags = {"a"}});
  driver.run(claim_within(1));
  clock().advance(45s);
  const Token waiting = driver.run(claim_within(1));

  clock().advance(15s);
  driver.run_once();

  ASSERT_TRUE(driver.answered(waiting));
  ASSERT_THAT(titles(driver.claims(waiting)), ElementsAre("only"));
  EXPECT_EQ(driver.claims(waiting)[0].event.attempts, 2);
  EXPECT_FALSE(driver.answered(driver.run(claim_within(1))));
}

TEST_P(CoreWindow, ALeaseThatEndedAndIsRenewedCountsAgain) {
  driver.publish({.title = "one", .tags = {"a"}});
  driver.run(claim_within(1));
  clock().advance(60s);
  driver.run_once();
  driver.run(change({lease(1), Heartbeat{}}));

  driver.publish({.title = "two", .tags = {"a"}});

  EXPECT_FALSE(driver.answered(driver.run(claim_within(1))));
}

TEST_P(CoreWindow, AnEventGivenUpFreesTheWindow) {
  Policy policy = kPolicy;
  policy.max_attempts = 1;
  driver.restart(policy);
  driver.publish({.title = "one", .tags = {"a"}});
  driver.run(claim_within(1));
  clock().advance(50s);
  driver.publish({.title = "two", .tags = {"a"}});
  const Token waiting = driver.run(claim_within(1));

  clock().advance(10s);
  driver.run_once();

  EXPECT_EQ(driver.event(EventId{1}).status, Status::failed);
  EXPECT_THAT(titles(driver.claims(waiting)), ElementsAre("two"));
}

TEST_P(CoreWindow, AWaiterWithAFullWindowLeavesTheEventToTheNext) {
  publish_many(1);
  driver.run(claim_within(1));
  const Token full = driver.run(claim_within(1, {"a"}));
  const Token other = driver.run(claim_within(1, {"a"}, "w:2"));

  driver.publish({.title = "next", .tags = {"a"}});

  EXPECT_FALSE(driver.answered(full));
  EXPECT_THAT(titles(driver.claims(other)), ElementsAre("next"));
}

TEST_P(CoreWindow, AWaiterWhoseWindowFilledWhileItWaitedLeavesTheEventToTheNext) {
  const Token waiting = driver.run(claim_within(1, {"a"}));
  const Token other = driver.run(claim_within(1, {"a"}, "w:2"));
  driver.publish({.title = "by hand", .tags = {"b"}});
  driver.run(claim({"b"}, "w:1"));

  driver.publish({.title = "next", .tags = {"a"}});

  EXPECT_FALSE(driver.answered(waiting));
  EXPECT_THAT(titles(driver.claims(other)), ElementsAre("next"));
  driver.publish({.title = "last", .tags = {"a"}});
  driver.run(complete(lease(1)));
  EXPECT_THAT(titles(driver.claims(waiting)), ElementsAre("last"));
}

TEST_P(CoreWindow, EventsOfAnotherQueueOrWorkerDoNotCount) {
  driver.publish({.title = "other", .tags = {"a"}, .queue = "other"});
  Command elsewhere = claim({"a"}, "w:1");
  elsewhere.claim->selector.queue = "other";
  driver.run(elsewhere);
  publish_many(2);
  driver.run(claim({"a"}, "w:2"));

  EXPECT_THAT(titles(driver.claims(driver.run(claim_within(1)))), ElementsAre("2"));
}

TEST_P(CoreWindow, AWindowFreedInAPausedQueueIsUsedWhenItIsResumed) {
  const Token waiting = full_worker();
  driver.run(pause("main"));
  driver.run(complete(lease(1)));
  EXPECT_FALSE(driver.answered(waiting));

  driver.run(resume("main"));
  driver.run_once();

  EXPECT_THAT(titles(driver.claims(waiting)), ElementsAre("2"));
}

TEST_P(CoreWindow, AWaiterWithAFullWindowTimesOut) {
  const Token waiting = full_worker();

  clock().advance(20s);
  driver.run_once();

  EXPECT_THAT(driver.claims(waiting), IsEmpty());
}

TEST_P(CoreWindow, AWaiterWithAFullWindowCanBeCancelledAndEnded) {
  const Token gone = full_worker();
  const Token stays = driver.run(claim_within(1));
  driver.cancel_wait(gone);
  driver.end_all_waits();

  EXPECT_FALSE(driver.answered(gone));
  EXPECT_THAT(driver.claims(stays), IsEmpty());
}

TEST_P(CoreWindow, HeldEventsCountAfterARestart) {
  publish_many(3);
  driver.run(claim_within(2));
  driver.restart(kPolicy);

  const Token waiting = driver.run(claim_within(2));

  EXPECT_FALSE(driver.answered(waiting));
  driver.run(complete(lease(2)));
  EXPECT_THAT(titles(driver.claims(waiting)), ElementsAre("3"));
}

TEST_P(CoreWindow, ALeaseThatHadEndedBeforeTheRestartDoesNotCount) {
  publish_many(1);
  driver.run(claim_within(1));
  clock().advance(60s);
  driver.run_once();
  driver.restart(kPolicy);

  EXPECT_THAT(titles(driver.claims(driver.run(claim_within(1)))), ElementsAre("1"));
}

TEST_P(CoreWindow, ALeaseThatEndedWhileNothingRanDoesNotCount) {
  publish_many(1);
  driver.run(claim_within(1));
  clock().advance(60s);
  driver.restart(kPolicy);

  EXPECT_THAT(titles(driver.claims(driver.run(claim_within(1)))), ElementsAre("1"));
}

TEST_P(CoreWindow, AWindowFilledByARunThatFailedIsFreeAgain) {
  driver.run(claim_within(1, {"b"}));
  const Token waiting = driver.run(claim_within(1, {"a"}));
  driver.store().refuse_commit(Error{ErrorCode::unavailable, "away", ""});
  driver.run(publish_all({{.title = "lost", .tags = {"b"}}, {.title = "lost", .tags = {"a"}}}));
  driver.store().refuse_commit(std::nullopt);
  EXPECT_FALSE(driver.answered(waiting));

  driver.publish({.title = "kept", .tags = {"a"}});

  EXPECT_THAT(titles(driver.claims(waiting)), ElementsAre("kept"));
}

TEST_P(CoreWindow, AWindowFreedByARunThatFailedIsStillFull) {
  const Token waiting = full_worker();
  driver.store().refuse_commit(Error{ErrorCode::unavailable, "away", ""});
  driver.run(complete(lease(1)));
  driver.store().refuse_commit(std::nullopt);
  EXPECT_FALSE(driver.answered(waiting));

  driver.run_once();

  EXPECT_FALSE(driver.answered(waiting));
  driver.run(complete(lease(1)));
  EXPECT_THAT(titles(driver.claims(waiting)), ElementsAre("2"));
}

}  // namespace
}  // namespace eventq
