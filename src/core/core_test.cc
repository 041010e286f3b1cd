// core_test.cc: many commands in one transaction: the answer of each caller after a commit, and after a
// failed one.
#include "core/core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/core_driver.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const Error kDiskFull{ErrorCode::no_space, "The disk is full.", ""};
const Error kAway{ErrorCode::unavailable, "The store is away.", ""};

class CoreCommit : public testing::Test {
 protected:
  CoreDriver driver{StoreKind::memory};
};

TEST_F(CoreCommit, ManyCommandsInOneRunAreOneCommit) {
  const int before = driver.store().commits();

  driver.run_together(publish({.title = "one", .tags = {"a"}}), publish({.title = "two", .tags = {"b"}}),
                      claim({"a"}, "host:1"), claim({"b"}, "host:2"), why(EventId{1}));

  EXPECT_EQ(driver.store().commits() - before, 1);
}

TEST_F(CoreCommit, EachRequestGetsTheErrorOfTheCommitThatFailed) {
  driver.store().refuse_commit(kDiskFull);

  const auto [publication, claiming, report] = driver.run_together(
      publish({.title = "one", .tags = {"a"}}), claim({"a"}, "host:1"), complete({EventId{1}, "host:1", 1}));

  for (const Token token : {publication, claiming, report}) {
    ASSERT_TRUE(driver.answer(token).error);
    EXPECT_EQ(driver.answer(token).error->code, ErrorCode::no_space);
    EXPECT_EQ(driver.answer(token).error->message, "The disk is full.");
  }
}

TEST_F(CoreCommit, NothingOfACommitThatFailedIsStored) {
  driver.store().refuse_commit(kDiskFull);
  driver.run_together(publish({.title = "one", .tags = {"a"}}), publish({.title = "two", .tags = {"a"}}));
  driver.store().refuse_commit(std::nullopt);

  driver.publish({.title = "three", .tags = {"a"}});

  EXPECT_EQ(driver.count(), 1);
  EXPECT_THAT(titles(driver.claims(driver.run(claim({"a"}, "host:1", 10)))), ElementsAre("three"));
}

TEST_F(CoreCommit, AClaimWhoseCommitFailedLeavesTheEventToTheNextOne) {
  const EventId id = driver.publish({.title = "mail", .tags = {"email"}});
  driver.store().refuse_commit(kDiskFull);
  driver.run(claim({"email"}, "host:1"));
  driver.store().refuse_commit(std::nullopt);

  EXPECT_EQ(driver.event(id).attempts, 0);
  EXPECT_EQ(driver.claim("email", "host:2").attempt, 1);
}

TEST_F(CoreCommit, AReportWhoseCommitFailedCanBeMadeAgain) {
  const EventId id = driver.publish({.title = "mail", .tags = {"email"}});
  const Lease lease = driver.claim("email", "host:1");
  driver.store().refuse_commit(kDiskFull);
  driver.run(complete(lease));
  EXPECT_EQ(driver.event(id).status, Status::processing);
  driver.store().refuse_commit(std::nullopt);

  driver.run(complete(lease));

  EXPECT_EQ(driver.event(id).status, Status::completed);
  EXPECT_THAT(actions(driver.log(id)), ElementsAre(Action::picked, Action::completed));
}

TEST_F(CoreCommit, AWaiterDoesNotNoticeACommitThatFailedAndIsServedByALaterOne) {
  const Token waiter = driver.run(claim_or_wait({"a"}, "host:1"));
  driver.store().refuse_commit(kDiskFull);
  driver.run(publish({.title = "one", .tags = {"a"}}));
  EXPECT_FALSE(driver.answered(waiter));
  driver.store().refuse_commit(std::nullopt);

  driver.publish({.title = "two", .tags = {"a"}});

  EXPECT_THAT(titles(driver.claims(waiter)), ElementsAre("two"));
}

TEST_F(CoreCommit, ACommitThatFailedKeepsTheOrderOfTheWaiters) {
  const Token first = driver.run(claim_or_wait({"a"}, "host:1"));
  const Token second = driver.run(claim_or_wait({"a"}, "host:2"));
  driver.store().refuse_commit(kDiskFull);
  driver.run(publish({.title = "lost", .tags = {"a"}}));
  driver.store().refuse_commit(std::nullopt);

  driver.publish({.title = "kept", .tags = {"a"}});

  EXPECT_THAT(titles(driver.claims(first)), ElementsAre("kept"));
  EXPECT_FALSE(driver.answered(second));
}

TEST_F(CoreCommit, AClaimWhoseCommitFailedDoesNotWait) {
  driver.run_once();
  driver.store().refuse_commit(kDiskFull);
  const Token claiming = driver.run(claim_or_wait({"a"}, "host:1"));
  driver.store().refuse_commit(std::nullopt);

  EXPECT_EQ(driver.answer(claiming).error->code, ErrorCode::no_space);
  EXPECT_EQ(driver.core().next_attention(), std::nullopt);
}

TEST_F(CoreCommit, AWaitEndsAtItsDeadlineAlsoWhileCommitsFail) {
  const Token waiter = driver.run(claim_or_wait({"a"}, "host:1"));
  driver.store().refuse_commit(kDiskFull);
  driver.clock().advance(20s);

  driver.run_once();

  EXPECT_THAT(driver.claims(waiter), IsEmpty());
  EXPECT_FALSE(driver.answer(waiter).error);
}

TEST_F(CoreCommit, AnEventThatCameDueInACommitThatFailedIsMadeReadyByTheNextOne) {
  driver.publish({.title = "mail", .tags = {"email"}});
  driver.run(fail(driver.claim("email", "host:1")));
  driver.clock().advance(4min + 50s);
  const Token waiter = driver.run(claim_or_wait({"email"}, "host:2"));
  driver.clock().advance(10s);
  driver.store().refuse_commit(kDiskFull);
  driver.run_once();
  EXPECT_FALSE(driver.answered(waiter));
  driver.store().refuse_commit(std::nullopt);

  driver.run_once();

  EXPECT_THAT(titles(driver.claims(waiter)), ElementsAre("mail"));
}

TEST_F(CoreCommit, ARefusedBeginGivesItsErrorToTheRequestsAndToAllWaiters) {
  const Token waiter = driver.run(claim_or_wait({"a"}, "host:1"));
  driver.store().refuse_begin(kAway);

  const Token publication = driver.run(publish({.title = "one", .tags = {"a"}}));

  EXPECT_EQ(driver.answer(publication).error->code, ErrorCode::unavailable);
  EXPECT_EQ(driver.answer(waiter).error->code, ErrorCode::unavailable);
  EXPECT_EQ(driver.answer(waiter).error->message, "The store is away.");
}

TEST_F(CoreCommit, AStoreThatBeginsAgainAfterAnErrorIsUsedAgain) {
  driver.store().refuse_begin(kAway);
  driver.run(publish({.title = "one", .tags = {"a"}}));
  driver.store().refuse_begin(std::nullopt);

  driver.publish({.title = "two", .tags = {"a"}});

  EXPECT_THAT(titles(driver.claims(driver.run(claim({"a"}, "host:1", 10)))), ElementsAre("two"));
}

TEST_F(CoreCommit, TheLastErrorIsThatOfTheLastTransaction) {
  EXPECT_FALSE(driver.core().last_error());

  driver.store().refuse_commit(kDiskFull);
  driver.run_once();
  EXPECT_EQ(driver.core().last_error()->code, ErrorCode::no_space);

  driver.store().refuse_begin(kAway);
  driver.run_once();
  EXPECT_EQ(driver.core().last_error()->code, ErrorCode::unavailable);

  driver.store().refuse_begin(std::nullopt);
  driver.store().refuse_commit(std::nullopt);
  driver.run_once();
  EXPECT_FALSE(driver.core().last_error());
}

TEST_F(CoreCommit, APublicationOfUnknownOutcomeMadeAgainWithItsKeyIsStoredOnce) {
  const IdempotencyKey key{"order-17", "body"};
  driver.store().lose_commit_answers();
  const Token first = driver.run(publish({.title = "order", .tags = {"a"}}, key));
  driver.store().refuse_commit(std::nullopt);

  const Token second = driver.run(publish({.title = "order", .tags = {"a"}}, key));

  EXPECT_EQ(driver.answer(first).error->code, ErrorCode::unknown_outcome);
  EXPECT_TRUE((*driver.answer(second).published)->replayed);
  EXPECT_EQ(driver.count(), 1);
}

TEST_F(CoreCommit, ACommandsOwnTimeReplacesTheClock) {
  Command command = publish({.title = "mail", .tags = {"email"}});
  command.now = kStart + 1h;

  const Token token = driver.run(command);

  EXPECT_EQ((*driver.answer(token).published)->events.at(0).created_at, kStart + 1h);
}

TEST_F(CoreCommit, AnEmptyQueueNeedsNoAttentionAfterTheFirstRun) {
  EXPECT_LE(driver.core().next_attention(), driver.clock().now());

  driver.run_once();

  EXPECT_EQ(driver.core().next_attention(), std::nullopt);
}

}  // namespace
}  // namespace eventq
