// commit_thread_test.cc: the threads round the core: what shares a commit, what waits for one, and what does
// not.
#include "engine/commit_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/read_thread.h"
#include "support/core_driver.h"
#include "support/gate.h"
#include "support/mailbox.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class LaneTest : public testing::Test {
 protected:
  explicit LaneTest(StoreKind kind = StoreKind::memory)
      : store(kind == StoreKind::memory ? memory::open_store(clock)
                                        : sqlite::open_store(directory.file("events.db"), clock).value()) {
    // When this is answered, the lane has had its first look at the store and is idle.
    submit(0, claim({"nothing"}, "host:0"));
    mailbox.wait(0);
  }
  ~LaneTest() override { store.let_commits_go(); }

  void submit(std::uint64_t token, Command command) { lane.submit({{&mailbox, token}, std::move(command)}); }

  // Until let_commits_go(), whatever is submitted from now on waits behind a publication under way.
  void occupy_lane() {
    store.hold_commits();
    submit(kOccupant, publish({.title = "occupant", .tags = {"occupant"}}));
    store.await_held_commit();
  }

  static constexpr std::uint64_t kOccupant = 1000;

  const TemporaryDirectory directory;
  std::vector<std::string> lines;  // of the lane's log; read it when the lane has stopped
  const Logger logger = [this](LogLevel, std::string_view line) { lines.emplace_back(line); };
  ManualClock clock{kStart};
  WrappedStore store;
  Core core{store, CoreOptions{.policy = kPolicy}, Uuid7Source(1)};
  Mailbox mailbox;
  Lane lane{store, core, clock, logger};
};

TEST_F(LaneTest, CommandsThatArriveDuringACommitShareTheNextOne) {
  occupy_lane();
  const int commits = store.commits();
  for (std::uint64_t token = 1; token <= 100; ++token)
    submit(token, publish({.title = "mail", .tags = {"a"}}));

  store.let_commits_go();
  for (std::uint64_t token = 1; token <= 100; ++token) EXPECT_FALSE(mailbox.wait(token).error);

  EXPECT_EQ(store.commits(), commits + 2);
}

TEST_F(LaneTest, OneCommitHoldsAThousandCommandsAtMost) {
  occupy_lane();
  const int commits = store.commits();
  for (std::uint64_t token = 1; token <= 999; ++token) submit(token, claim({"a"}, "host:1"));
  for (std::uint64_t token = 2001; token <= 2002; ++token) submit(token, claim({"a"}, "host:1"));

  store.let_commits_go();
  mailbox.wait(2002);

  EXPECT_EQ(store.commits(), commits + 3);
}

TEST_F(LaneTest, ThereIsNoAnswerBeforeTheCommit) {
  occupy_lane();

  EXPECT_FALSE(mailbox.has(kOccupant));
  store.let_commits_go();

  EXPECT_EQ((*mailbox.wait(kOccupant).published)->events.at(0).title, "occupant");
}

TEST_F(LaneTest, ACommandWithItsOwnTimeHasACommitOfItsOwn) {
  occupy_lane();
  const int commits = store.commits();
  Command later = claim({"a"}, "host:1");
  later.now = kStart + 1h;
  submit(1, publish({.title = "one", .tags = {"b"}}));
  submit(2, later);
  submit(3, publish({.title = "two", .tags = {"b"}}));

  store.let_commits_go();
  mailbox.wait(3);

  EXPECT_EQ((*mailbox.wait(1).published)->events.at(0).created_at, kStart);
  EXPECT_EQ((*mailbox.wait(3).published)->events.at(0).created_at, kStart);
  EXPECT_EQ(store.commits(), commits + 4);
}

TEST_F(LaneTest, TheAnswersOfOneCommitReachASinkInOneCall) {
  occupy_lane();
  for (std::uint64_t token = 1; token <= 10; ++token) submit(token, claim({"a"}, "host:1"));

  const int calls = mailbox.calls();

  store.let_commits_go();
  mailbox.wait(10);

  EXPECT_EQ(mailbox.calls(), calls + 2);  // the occupant's, and that of the ten
}

TEST_F(LaneTest, EachSinkGetsItsOwnAnswers) {
  Mailbox other;
  occupy_lane();
  submit(1, claim({"a"}, "host:1"));
  lane.submit({{&other, 1}, publish({.title = "mail", .tags = {"email"}})});

  store.let_commits_go();

  EXPECT_THAT(mailbox.wait(1).claims, IsEmpty());
  EXPECT_EQ((*other.wait(1).published)->events.at(0).title, "mail");
  EXPECT_EQ(other.size(), 1U);
}

TEST_F(LaneTest, AClaimForgottenBeforeItsTurnTakesNothing) {
  occupy_lane();
  submit(1, publish({.title = "mail", .tags = {"email"}}));
  submit(2, claim({"email"}, "host:1"));
  lane.forget({&mailbox, 2});

  store.let_commits_go();

  EXPECT_THAT(mailbox.wait(2).claims, IsEmpty());
  submit(3, claim({"email"}, "host:2"));
  EXPECT_THAT(titles(mailbox.wait(3).claims), ElementsAre("mail"));
}

TEST_F(LaneTest, AClaimForgottenBeforeItsTurnDoesNotWait) {
  occupy_lane();
  submit(1, claim_or_wait({"email"}, "host:1"));
  lane.forget({&mailbox, 1});
  store.let_commits_go();
  mailbox.wait(1);

  submit(2, publish({.title = "mail", .tags = {"email"}}));
  mailbox.wait(2);

  submit(3, claim({"email"}, "host:2"));
  EXPECT_THAT(titles(mailbox.wait(3).claims), ElementsAre("mail"));
}

TEST_F(LaneTest, AClaimForgottenBeforeItsTurnStillMakesItsReports) {
  submit(1, publish({.title = "mail", .tags = {"email"}}));
  submit(2, claim({"email"}, "host:1"));
  const EventId id = mailbox.wait(2).claims.at(0).event.id;
  occupy_lane();
  Command turn = claim_or_wait({"email"}, "host:1");
  turn.changes.push_back({Lease{id, "host:1", 1}, Complete{}});
  submit(3, turn);
  lane.forget({&mailbox, 3});

  store.let_commits_go();

  EXPECT_EQ(mailbox.wait(3).changed.at(0)->status, Status::completed);
}

TEST_F(LaneTest, AClaimForgottenDuringItsCommitIsGivenNothingLater) {
  store.hold_commits();
  submit(1, claim_or_wait({"email"}, "host:1"));
  store.await_held_commit();
  lane.forget({&mailbox, 1});
  store.let_commits_go();

  submit(2, publish({.title = "mail", .tags = {"email"}}));
  mailbox.wait(2);

  submit(3, claim({"email"}, "host:2"));
  EXPECT_THAT(titles(mailbox.wait(3).claims), ElementsAre("mail"));
  EXPECT_FALSE(mailbox.has(1));
}

TEST_F(LaneTest, DismissedWaitersAreAnsweredAndThoseInTheQueueDoNotWaitEither) {
  submit(1, claim_or_wait({"a"}, "host:1"));
  occupy_lane();
  submit(2, claim_or_wait({"a"}, "host:2"));

  lane.dismiss_waiters();
  store.let_commits_go();

  EXPECT_THAT(mailbox.wait(1).claims, IsEmpty());
  EXPECT_THAT(mailbox.wait(2).claims, IsEmpty());
}

TEST_F(LaneTest, StoppingFinishesWhatWasSubmittedBehindACommitUnderWay) {
  occupy_lane();
  submit(1, publish({.title = "mail", .tags = {"email"}}));
  submit(2, claim_or_wait({"nothing"}, "host:1"));
  std::thread stopper([this] { lane.stop(); });

  store.let_commits_go();
  stopper.join();

  EXPECT_EQ((*mailbox.wait(1).published)->events.at(0).title, "mail");
  EXPECT_THAT(mailbox.wait(2).claims, IsEmpty());
  EXPECT_FALSE(mailbox.wait(2).error);
}

TEST_F(LaneTest, ACommandAfterTheStopIsAnsweredThatTheQueueIsClosed) {
  lane.stop();

  submit(1, publish({.title = "mail", .tags = {"email"}}));

  ASSERT_TRUE(mailbox.has(1));
  EXPECT_EQ(mailbox.wait(1).error->code, ErrorCode::unavailable);
}

TEST(LaneStart, ANewLaneLooksAtTheStoreWithoutBeingAsked) {
  const ManualClock clock(kStart);
  WrappedStore store(memory::open_store(clock));
  Core core(store, CoreOptions{.policy = kPolicy}, Uuid7Source(1));
  const Logger silent;
  store.hold_commits();

  Lane lane(store, core, clock, silent);
  store.await_held_commit();
  store.let_commits_go();
  lane.stop();

  EXPECT_EQ(store.commits(), 2);  // the look, and the last checkpoint
}

TEST_F(LaneTest, AFailedCommitIsLogged) {
  store.refuse_commit(Error{ErrorCode::no_space, "The disk is full.", ""});
  submit(1, publish({.title = "mail", .tags = {"email"}}));
  EXPECT_EQ(mailbox.wait(1).error->code, ErrorCode::no_space);
  store.refuse_commit(std::nullopt);

  lane.stop();

  EXPECT_THAT(lines, testing::Contains("msg=\"commit failed\" error=\"The disk is full.\""));
}

// Two lanes of one process on one database, of which the second leaves to the first what comes due.
class SharedLaneTest : public testing::Test {
 protected:
  SharedLaneTest() {
    EXPECT_TRUE(first_core.recover());
    EXPECT_TRUE(second_core.recover());
  }

  const TestDatabase database;
  ManualClock clock{kStart};
  const std::unique_ptr<Store> first_store = postgres::make_store(database.url(), {}, &clock);
  const std::unique_ptr<Store> second_store = postgres::make_store(database.url(), {}, &clock);
  Core first_core{*first_store, {.policy = kPolicy}, Uuid7Source(1)};
  Core second_core{*second_store, {.policy = kPolicy, .maintains = false}, Uuid7Source(2)};
  const Logger silent;
  Mailbox mailbox;
};

TEST_F(SharedLaneTest, EachCommitIsToldOf) {
  std::vector<Happened> told;
  Lane lane(*second_store, second_core, clock, silent, [&](const Happened& it) { told.push_back(it); });
  lane.submit({{&mailbox, 1}, publish({.title = "mail", .tags = {"a"}})});
  mailbox.wait(1);
  lane.submit({{&mailbox, 2}, claim({"a"}, "host:1")});
  mailbox.wait(2);
  lane.stop();

  ASSERT_THAT(told, SizeIs(3));  // one for the worker that was seen
  EXPECT_THAT(told[0].ready, ElementsAre("main"));
  EXPECT_EQ(told[1].next_due, kStart + kPolicy.lease);
}

TEST_F(SharedLaneTest, WhatOneLaneDelaysAnotherMakesReady) {
  Gate ready;  // which may be told twice
  Lane first(*first_store, first_core, clock, silent, [&](const Happened& it) {
    if (it.ready.contains("main")) ready.open();
  });
  Lane second(*second_store, second_core, clock, silent, [&](const Happened& it) {
    if (it.next_due) first.expect(*it.next_due);
  });
  second.submit({{&mailbox, 1}, publish({.title = "later", .tags = {"a"}, .delay = 10s})});
  mailbox.wait(1);

  clock.advance(10s);
  first.poke();
  EXPECT_TRUE(ready.wait());
}

// On SQLite, where reading and writing have connections of their own.
class ReadLaneTest : public LaneTest {
 protected:
  ReadLaneTest() : LaneTest(StoreKind::real) {}

  ReadLane read_lane{store.reader().value()};
};

TEST_F(ReadLaneTest, AReadDoesNotWaitBehindACommit) {
  submit(1, publish({.title = "mail", .tags = {"email"}}));
  const EventId id = (*mailbox.wait(1).published)->events.at(0).id;
  occupy_lane();

  read_lane.submit({{&mailbox, 2}, get(id)});

  EXPECT_EQ((*mailbox.wait(2).details)->event.title, "mail");
  EXPECT_FALSE(mailbox.has(kOccupant));
}

TEST_F(ReadLaneTest, AReadSeesNothingOfACommitUnderWay) {
  occupy_lane();

  read_lane.submit({{&mailbox, 1}, get(EventId{1})});
  EXPECT_EQ(mailbox.wait(1).details->error().code, ErrorCode::not_found);
  store.let_commits_go();
  mailbox.wait(kOccupant);
  read_lane.submit({{&mailbox, 2}, get(EventId{1})});

  EXPECT_EQ((*mailbox.wait(2).details)->event.title, "occupant");
}

TEST_F(ReadLaneTest, AReadAfterTheStopIsAnsweredThatTheQueueIsClosed) {
  read_lane.stop();

  read_lane.submit({{&mailbox, 1}, get(EventId{1})});

  ASSERT_TRUE(mailbox.has(1));
  EXPECT_EQ(mailbox.wait(1).error->code, ErrorCode::unavailable);
}

TEST_F(ReadLaneTest, ReadsSubmittedBeforeTheStopAreAnswered) {
  const std::size_t before = mailbox.size();
  for (std::uint64_t token = 1; token <= 100; ++token)
    read_lane.submit({{&mailbox, token}, get(EventId{99})});

  read_lane.stop();

  EXPECT_EQ(mailbox.size(), before + 100);
}

}  // namespace
}  // namespace eventq
