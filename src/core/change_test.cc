// change_test.cc: reports and other changes: each gets its own result, a repeated report changes nothing, and
// a report without the lease is refused.
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

class CoreChange : public CoreTest {
 protected:
  const Result<Changed>& changed(Token token, std::size_t index = 0) {
    return driver.answer(token).changed.at(index);
  }
  ErrorCode error_of(Token token) { return changed(token).error().code; }
};
INSTANTIATE_TEST_SUITE_P(AllStores, CoreChange, testing::Values(StoreKind::memory, StoreKind::real),
                         name_of_store);

// One command of a worker: reports on its events, and claims new ones.
Command next(std::vector<Change> changes, Command claiming) {
  claiming.changes = std::move(changes);
  return claiming;
}

TEST_P(CoreChange, ReportsAndTheClaimOfOneCommandAreOneCommit) {
  driver.publish({.title = "one", .tags = {"a"}});
  driver.publish({.title = "two", .tags = {"a"}});
  const Lease lease = driver.claim("a", "host:1");
  const int commits = driver.store().commits();

  const Token turn = driver.run(next({{lease, Complete{}}}, claim({"a"}, "host:1")));

  EXPECT_EQ(driver.store().commits(), commits + 1);
  EXPECT_EQ(changed(turn)->status, Status::completed);
  EXPECT_THAT(titles(driver.claims(turn)), ElementsAre("two"));
}

TEST_P(CoreChange, ACommandReportsBeforeItClaims) {
  const EventId id = driver.publish({.title = "one", .tags = {"a"}});
  const Lease lease = driver.claim("a", "host:1");

  const Token turn = driver.run(next({{lease, Release{}}}, claim({"a"}, "host:1")));

  EXPECT_THAT(titles(driver.claims(turn)), ElementsAre("one"));
  EXPECT_THAT(actions(driver.log(id)), ElementsAre(Action::picked, Action::released, Action::picked));
}

TEST_P(CoreChange, ACommandWhoseReportIsRefusedStillClaims) {
  driver.publish({.title = "one", .tags = {"a"}});

  const Token turn = driver.run(next({{{EventId{99}, "host:1", 1}, Complete{}}}, claim({"a"}, "host:1")));

  EXPECT_EQ(error_of(turn), ErrorCode::not_found);
  EXPECT_THAT(titles(driver.claims(turn)), ElementsAre("one"));
}

TEST_P(CoreChange, ACommandThatWaitsKeepsTheResultsOfItsReports) {
  const EventId id = driver.publish({.title = "one", .tags = {"a"}});
  const Lease lease = driver.claim("a", "host:1");

  const Token turn = driver.run(next({{lease, Complete{}}}, claim_or_wait({"a"}, "host:1")));
  EXPECT_FALSE(driver.answered(turn));
  EXPECT_EQ(driver.event(id).status, Status::completed);
  driver.publish({.title = "two", .tags = {"a"}});

  EXPECT_THAT(titles(driver.claims(turn)), ElementsAre("two"));
  ASSERT_THAT(driver.answer(turn).changed, SizeIs(1));
  EXPECT_EQ(changed(turn)->entry.action, Action::completed);
}

TEST_P(CoreChange, ACommandWhoseWaitEndsKeepsTheResultsOfItsReports) {
  driver.publish({.title = "one", .tags = {"a"}});
  const Lease lease = driver.claim("a", "host:1");
  const Token turn = driver.run(next({{lease, Complete{}}}, claim_or_wait({"a"}, "host:1")));
  clock().advance(20s);

  driver.run_once();

  EXPECT_THAT(driver.claims(turn), IsEmpty());
  EXPECT_EQ(changed(turn)->entry.action, Action::completed);
}

TEST_P(CoreChange, TheChangesOfACommandAreAnsweredInTheirOrder) {
  driver.publish({.title = "one", .tags = {"a"}});
  driver.publish({.title = "two", .tags = {"a"}});
  const Lease one = driver.claim("a", "host:1");
  const Lease two = driver.claim("a", "host:1");

  Command command;
  command.changes = {{two, Complete{}}, {{EventId{99}, "host:1", 1}, Complete{}}, {one, Fail{}}};
  const Token token = driver.run(command);

  ASSERT_THAT(driver.answer(token).changed, SizeIs(3));
  EXPECT_EQ(changed(token, 0)->entry.id, two.id);
  EXPECT_EQ(changed(token, 0)->status, Status::completed);
  EXPECT_EQ(changed(token, 1).error().code, ErrorCode::not_found);
  EXPECT_EQ(changed(token, 2)->entry.id, one.id);
  EXPECT_EQ(changed(token, 2)->status, Status::pending);
}

TEST_P(CoreChange, TheSameReportTwiceInOneRunIsRecordedOnce) {
  const EventId id = driver.publish({.title = "one", .tags = {"a"}});
  const Lease lease = driver.claim("a", "host:1");

  const auto [first, second] = driver.run_together(complete(lease), complete(lease));

  EXPECT_EQ(changed(second)->entry.log_id, changed(first)->entry.log_id);
  EXPECT_EQ(changed(second)->status, Status::completed);
  EXPECT_THAT(actions(driver.log(id)), ElementsAre(Action::picked, Action::completed));
}

TEST_P(CoreChange, TheSameReportTwiceInOneCommandIsRecordedOnce) {
  const EventId id = driver.publish({.title = "one", .tags = {"a"}});
  const Lease lease = driver.claim("a", "host:1");

  Command command;
  command.changes = {{lease, Fail{}}, {lease, Fail{}}};
  const Token token = driver.run(command);

  EXPECT_EQ(changed(token, 1)->entry.log_id, changed(token, 0)->entry.log_id);
  EXPECT_EQ(driver.event(id).retry_count, 1);
}

TEST_P(CoreChange, AReportRepeatedLaterGetsTheFirstAnswer) {
  driver.publish({.title = "one", .tags = {"a"}});
  const Lease lease = driver.claim("a", "host:1");
  const Token first = driver.run(fail(lease, "no network"));
  clock().advance(1h);

  const Token second = driver.run(fail(lease, "another message"));

  EXPECT_EQ(changed(second)->entry.log_id, changed(first)->entry.log_id);
  EXPECT_EQ(changed(second)->entry.error_message, "no network");
  EXPECT_EQ(changed(second)->entry.created_at, kStart);
  EXPECT_EQ(changed(second)->entry.next_retry_at, kStart + 5min);
}

TEST_P(CoreChange, TheFinalFailureRepeatedGetsTheFirstAnswer) {
  driver.publish({.title = "one", .tags = {"a"}, .max_retries = 1});
  const Lease lease = driver.claim("a", "host:1");
  const Token first = driver.run(fail(lease));

  const Token second = driver.run(fail(lease));

  EXPECT_EQ(changed(second)->entry.log_id, changed(first)->entry.log_id);
  EXPECT_EQ(changed(second)->status, Status::failed);
  EXPECT_EQ(changed(second)->entry.retry_count, 1);
  EXPECT_EQ(changed(second)->max_retries, 1);
  EXPECT_EQ(changed(second)->entry.next_retry_at, std::nullopt);
}

TEST_P(CoreChange, TheSameWorkerFailingALaterAttemptIsANewReport) {
  const EventId id = driver.publish({.title = "one", .tags = {"a"}});
  driver.run(fail(driver.claim("a", "host:1")));
  clock().advance(5min);

  driver.run(fail(driver.claim("a", "host:1")));

  EXPECT_EQ(driver.event(id).retry_count, 2);
}

TEST_P(CoreChange, OfTwoDifferentReportsInOneRunTheFirstCounts) {
  const EventId id = driver.publish({.title = "one", .tags = {"a"}});
  const Lease lease = driver.claim("a", "host:1");

  const auto [first, second] = driver.run_together(complete(lease), fail(lease));

  EXPECT_EQ(changed(first)->status, Status::completed);
  EXPECT_EQ(error_of(second), ErrorCode::lease_lost);
  EXPECT_THAT(actions(driver.log(id)), ElementsAre(Action::picked, Action::completed));
}

TEST_P(CoreChange, AReportOfAWorkerWhoseEventWasTakenOverChangesNothing) {
  const EventId id = driver.publish({.title = "one", .tags = {"a"}});
  const Lease late = driver.claim("a", "host:1");
  clock().advance(60s);
  driver.claim("a", "host:2");

  const Token report = driver.run(complete(late));

  EXPECT_EQ(error_of(report), ErrorCode::lease_lost);
  EXPECT_EQ(driver.event(id).status, Status::processing);
  EXPECT_EQ(driver.event(id).worker_id, "host:2");
  EXPECT_EQ(driver.log(id).size(), 3U);
}

TEST_P(CoreChange, AReportOfAnEarlierAttemptOfTheSameWorkerChangesNothing) {
  const EventId id = driver.publish({.title = "one", .tags = {"a"}});
  const Lease late = driver.claim("a", "host:1");
  clock().advance(60s);
  driver.claim("a", "host:1");

  EXPECT_EQ(error_of(driver.run(complete(late))), ErrorCode::lease_lost);
  EXPECT_EQ(driver.event(id).attempts, 2);
  EXPECT_EQ(driver.event(id).status, Status::processing);
}

TEST_P(CoreChange, AReportThatNamesNoAttemptCountsForTheOneItsWorkerHolds) {
  driver.publish({.title = "one", .tags = {"a"}});
  Lease lease = driver.claim("a", "host:1");
  lease.attempt.reset();

  EXPECT_EQ(changed(driver.run(complete(lease)))->entry.attempt, 1);
}

TEST_P(CoreChange, AReportAfterTheEndOfTheLeaseCountsWhileNoOtherWorkerHasTheEvent) {
  const EventId id = driver.publish({.title = "one", .tags = {"a"}});
  const Lease lease = driver.claim("a", "host:1");
  clock().advance(2h);

  driver.run(complete(lease));

  EXPECT_EQ(driver.event(id).status, Status::completed);
}

TEST_P(CoreChange, AReportOnAnUnknownEventIsNotFound) {
  const Token report = driver.run(complete({EventId{99}, "host:1", 1}));

  EXPECT_EQ(error_of(report), ErrorCode::not_found);
  EXPECT_EQ(changed(report).error().message, "There is no event 99.");
  EXPECT_EQ(changed(report).error().field, "id");
}

TEST_P(CoreChange, AnEventPublishedInTheRunThatCancelsItIsCancelled) {
  const auto [publication, cancelling] =
      driver.run_together(publish({.title = "one", .tags = {"a"}}), cancel(EventId{1}, "not wanted"));

  EXPECT_EQ(changed(cancelling)->status, Status::cancelled);
  EXPECT_THAT(driver.claims(driver.run(claim({"a"}, "host:1"))), IsEmpty());
}

TEST_P(CoreChange, TheAnswerToAHeartbeatHasTheNewEndOfTheLease) {
  driver.publish({.title = "one", .tags = {"a"}});
  const Lease lease = driver.claim("a", "host:1");
  clock().advance(40s);

  const Token heartbeat = driver.run(change({lease, Heartbeat{}}));

  EXPECT_EQ(changed(heartbeat)->lease_until, kStart + 100s);
  clock().advance(59s);
  EXPECT_THAT(driver.claims(driver.run(claim({"a"}, "host:2"))), IsEmpty());
}

TEST_P(CoreChange, ACompletionWithErrorsKeepsThemInItsEntry) {
  const EventId id = driver.publish({.title = "one", .tags = {"a"}});
  const Lease lease = driver.claim("a", "host:1");

  driver.run(
      change({lease, Complete{{.status_code = 207, .execution_time_ms = 1250, .errors = {"no fax"}}}}));

  EXPECT_EQ(driver.event(id).status, Status::completed_with_errors);
  EXPECT_EQ(driver.log(id).back().status_code, 207);
  EXPECT_EQ(driver.log(id).back().execution_time_ms, 1250);
  EXPECT_THAT(driver.log(id).back().errors, ElementsAre("no fax"));
}

TEST_P(CoreChange, AReportedEventKeepsItsBody) {
  const EventId id =
      driver.publish({.title = "one", .description = "long", .tags = {"a"}, .payload = R"({"n": 1})"});
  driver.run(fail(driver.claim("a", "host:1")));

  EXPECT_EQ(driver.event(id).payload, R"({"n": 1})");
  EXPECT_EQ(driver.event(id).description, "long");
}

}  // namespace
}  // namespace eventq
