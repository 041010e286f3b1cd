// commit_thread_test.cc: the commit thread and the read thread: which commands share a commit, and which do
// not wait for one.
#include "engine/commit_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
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
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class CommitThreadTest : public testing::Test {
 protected:
  explicit CommitThreadTest(StoreKind kind = StoreKind::memory)
      : store(kind == StoreKind::memory ? memory::open_store(clock)
                                        : sqlite::open_store(directory.file("events.db"), clock).value()) {
    // After this answer the commit thread has run its first maintenance and is idle.
    submit(0, claim({"nothing"}, "host:0"));
    mailbox.wait(0);
  }
  ~CommitThreadTest() override { store.let_commits_go(); }

  void submit(std::uint64_t token, Command command) {
    commit_thread.submit({{&mailbox, token}, std::move(command)});
  }

  // Until let_commits_go(), later commands wait behind a publication that is being committed.
  void occupy_commit_thread() {
    store.hold_commits();
    submit(kOccupant, publish({.title = "occupant", .tags = {"occupant"}}));
    store.await_held_commit();
  }

  static constexpr std::uint64_t kOccupant = 1000;

  const TemporaryDirectory directory;
  std::vector<std::string> lines;  // the log; read it after the commit thread has stopped
  const Logger logger = [this](LogLevel, std::string_view line) { lines.emplace_back(line); };
  ManualClock clock{kStart};
  WrappedStore store;
  Core core{store, CoreOptions{.policy = kPolicy}, Uuid7Source(1)};
  Mailbox mailbox;
  CommitThread commit_thread{store, core, clock, logger};
};

TEST_F(CommitThreadTest, CommandsThatArriveDuringACommitShareTheNextOne) {
  occupy_commit_thread();
  const int commits = store.commits();
  for (std::uint64_t token = 1; token <= 100; ++token)
    submit(token, publish({.title = "mail", .tags = {"a"}}));

  store.let_commits_go();
  for (std::uint64_t token = 1; token <= 100; ++token) EXPECT_FALSE(mailbox.wait(token).error);

  EXPECT_EQ(store.commits(), commits + 2);
}

TEST_F(CommitThreadTest, OneCommitHoldsAThousandCommandsAtMost) {
  occupy_commit_thread();
  const int commits = store.commits();
  for (std::uint64_t token = 1; token <= 999; ++token) submit(token, claim({"a"}, "host:1"));
  for (std::uint64_t token = 2001; token <= 2002; ++token) submit(token, claim({"a"}, "host:1"));

  store.let_commits_go();
  mailbox.wait(2002);

  EXPECT_EQ(store.commits(), commits + 3);
}

TEST_F(CommitThreadTest, ThereIsNoAnswerBeforeTheCommit) {
  occupy_commit_thread();

  EXPECT_FALSE(mailbox.has(kOccupant));
  store.let_commits_go();

  EXPECT_EQ((*mailbox.wait(kOccupant).published)->events.at(0).title, "occupant");
}

TEST_F(CommitThreadTest, ACommandWithItsOwnTimeHasACommitOfItsOwn) {
  occupy_commit_thread();
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

TEST_F(CommitThreadTest, TheAnswersOfOneCommitReachASinkInOneCall) {
  occupy_commit_thread();
  for (std::uint64_t token = 1; token <= 10; ++token) submit(token, claim({"a"}, "host:1"));

  const int calls = mailbox.calls();

  store.let_commits_go();
  mailbox.wait(10);

  EXPECT_EQ(mailbox.calls(), calls + 2);  // one for the blocked publication, one for the ten
}

TEST_F(CommitThreadTest, EachSinkGetsItsOwnAnswers) {
  Mailbox other;
  occupy_commit_thread();
  submit(1, claim({"a"}, "host:1"));
  commit_thread.submit({{&other, 1}, publish({.title = "mail", .tags = {"email"}})});

  store.let_commits_go();

  EXPECT_THAT(mailbox.wait(1).claims, IsEmpty());
  EXPECT_EQ((*other.wait(1).published)->events.at(0).title, "mail");
  EXPECT_EQ(other.size(), 1U);
}

TEST_F(CommitThreadTest, AClaimCancelledBeforeItsBatchTakesNothing) {
  occupy_commit_thread();
  submit(1, publish({.title = "mail", .tags = {"email"}}));
  submit(2, claim({"email"}, "host:1"));
  commit_thread.cancel_wait({&mailbox, 2});

  store.let_commits_go();

  EXPECT_THAT(mailbox.wait(2).claims, IsEmpty());
  submit(3, claim({"email"}, "host:2"));
  EXPECT_THAT(titles(mailbox.wait(3).claims), ElementsAre("mail"));
}

TEST_F(CommitThreadTest, AClaimCancelledBeforeItsBatchDoesNotWait) {
  occupy_commit_thread();
  submit(1, claim_or_wait({"email"}, "host:1"));
  commit_thread.cancel_wait({&mailbox, 1});
  store.let_commits_go();
  mailbox.wait(1);

  submit(2, publish({.title = "mail", .tags = {"email"}}));
  mailbox.wait(2);

  submit(3, claim({"email"}, "host:2"));
  EXPECT_THAT(titles(mailbox.wait(3).claims), ElementsAre("mail"));
}

TEST_F(CommitThreadTest, AClaimCancelledBeforeItsBatchStillMakesItsReports) {
  submit(1, publish({.title = "mail", .tags = {"email"}}));
  submit(2, claim({"email"}, "host:1"));
  const EventId id = mailbox.wait(2).claims.at(0).event.id;
  occupy_commit_thread();
  Command turn = claim_or_wait({"email"}, "host:1");
  turn.changes.push_back({Lease{id, "host:1", 1}, Complete{}});
  submit(3, turn);
  commit_thread.cancel_wait({&mailbox, 3});

  store.let_commits_go();

  EXPECT_EQ(mailbox.wait(3).changed.at(0)->status, Status::completed);
}

TEST_F(CommitThreadTest, AClaimCancelledDuringItsCommitIsGivenNothingLater) {
  store.hold_commits();
  submit(1, claim_or_wait({"email"}, "host:1"));
  store.await_held_commit();
  commit_thread.cancel_wait({&mailbox, 1});
  store.let_commits_go();

  submit(2, publish({.title = "mail", .tags = {"email"}}));
  mailbox.wait(2);

  submit(3, claim({"email"}, "host:2"));
  EXPECT_THAT(titles(mailbox.wait(3).claims), ElementsAre("mail"));
  EXPECT_FALSE(mailbox.has(1));
}

TEST_F(CommitThreadTest, EndingAllWaitsAnswersWaitersAndKeepsSubmittedClaimsFromWaiting) {
  submit(1, claim_or_wait({"a"}, "host:1"));
  occupy_commit_thread();
  submit(2, claim_or_wait({"a"}, "host:2"));

  commit_thread.end_all_waits();
  store.let_commits_go();

  EXPECT_THAT(mailbox.wait(1).claims, IsEmpty());
  EXPECT_THAT(mailbox.wait(2).claims, IsEmpty());
}

TEST_F(CommitThreadTest, StoppingFinishesCommandsSubmittedDuringACommit) {
  occupy_commit_thread();
  submit(1, publish({.title = "mail", .tags = {"email"}}));
  submit(2, claim_or_wait({"nothing"}, "host:1"));
  std::thread stopper([this] { commit_thread.stop(); });

  store.let_commits_go();
  stopper.join();

  EXPECT_EQ((*mailbox.wait(1).published)->events.at(0).title, "mail");
  EXPECT_THAT(mailbox.wait(2).claims, IsEmpty());
  EXPECT_FALSE(mailbox.wait(2).error);
}

TEST_F(CommitThreadTest, ACommandAfterTheStopIsAnsweredThatTheQueueIsClosed) {
  commit_thread.stop();

  submit(1, publish({.title = "mail", .tags = {"email"}}));

  ASSERT_TRUE(mailbox.has(1));
  EXPECT_EQ(mailbox.wait(1).error->code, ErrorCode::unavailable);
}

TEST(CommitThreadStart, ANewCommitThreadRunsMaintenanceWithoutACommand) {
  const ManualClock clock(kStart);
  WrappedStore store(memory::open_store(clock));
  Core core(store, CoreOptions{.policy = kPolicy}, Uuid7Source(1));
  const Logger silent;
  store.hold_commits();

  CommitThread commit_thread(store, core, clock, silent);
  store.await_held_commit();
  store.let_commits_go();
  commit_thread.stop();

  EXPECT_EQ(store.commits(), 2);  // maintenance, and the last checkpoint
}

TEST_F(CommitThreadTest, AFailedCommitIsLogged) {
  store.refuse_commit(Error{ErrorCode::no_space, "The disk is full.", ""});
  submit(1, publish({.title = "mail", .tags = {"email"}}));
  EXPECT_EQ(mailbox.wait(1).error->code, ErrorCode::no_space);
  store.refuse_commit(std::nullopt);

  commit_thread.stop();

  EXPECT_THAT(lines, Contains("msg=\"commit failed\" error=\"The disk is full.\""));
}

// Two commit threads of one process on one database. Only the first one promotes due events.
class SharedCommitThreadTest : public testing::Test {
 protected:
  SharedCommitThreadTest() {
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

TEST_F(SharedCommitThreadTest, TheCallbackGetsTheEffectsOfEachCommit) {
  std::vector<CommitEffects> effects;
  CommitThread commit_thread(*second_store, second_core, clock, silent,
                             [&](const CommitEffects& it) { effects.push_back(it); });
  commit_thread.submit({{&mailbox, 1}, publish({.title = "mail", .tags = {"a"}})});
  mailbox.wait(1);
  commit_thread.submit({{&mailbox, 2}, claim({"a"}, "host:1")});
  mailbox.wait(2);
  commit_thread.stop();

  ASSERT_THAT(effects, SizeIs(3));  // the third stores the worker
  EXPECT_THAT(effects[0].ready, ElementsAre("main"));
  EXPECT_EQ(effects[1].next_due, kStart + kPolicy.lease);
}

TEST_F(SharedCommitThreadTest, AnEventThatOneCommitThreadDelaysIsMadeReadyByAnother) {
  Gate ready;  // may be opened twice
  CommitThread first(*first_store, first_core, clock, silent, [&](const CommitEffects& it) {
    if (it.ready.contains("main")) ready.open();
  });
  CommitThread second(*second_store, second_core, clock, silent, [&](const CommitEffects& it) {
    if (it.next_due) first.expect_due(*it.next_due);
  });
  second.submit({{&mailbox, 1}, publish({.title = "later", .tags = {"a"}, .delay = 10s})});
  mailbox.wait(1);

  clock.advance(10s);
  first.recheck_clock();
  EXPECT_TRUE(ready.wait());
}

// The clock of a store. Time passes before its first reading, as in a database that is slow to begin.
class SlowToBegin final : public Clock {
 public:
  SlowToBegin(ManualClock& clock, Millis pause) : clock_(clock), pause_(pause.count()) {}
  [[nodiscard]] TimePoint now() const override {
    clock_.advance(Millis(pause_.exchange(0)));
    return clock_.now();
  }

 private:
  ManualClock& clock_;
  mutable std::atomic<Millis::rep> pause_;
};

// stop() runs what is due by the estimated time, so after it the times of all transactions are known.
TEST_F(SharedCommitThreadTest, ASlowTransactionDoesNotLetTheNextOneStartTooEarly) {
  const SlowToBegin slow(clock, 300ms);
  const std::unique_ptr<Store> store = postgres::make_store(database.url(), {}, &slow);
  Core core{*store, {.policy = kPolicy}, Uuid7Source(3)};
  std::vector<TimePoint> times;
  Gate committed;
  CommitThread commit_thread(*store, core, clock, silent, [&](const CommitEffects&) {
    times.push_back(core.time());
    committed.open();
  });
  ASSERT_TRUE(committed.wait());

  clock.set(kStart + 300ms + 5s - 1ms);  // due events are looked for every 5 s
  commit_thread.stop();

  EXPECT_THAT(times, ElementsAre(kStart + 300ms));
}

TEST_F(SharedCommitThreadTest, ACommandWithItsOwnTimeDoesNotDelayMaintenance) {
  std::vector<TimePoint> times;
  CommitThread commit_thread(*first_store, first_core, clock, silent,
                             [&](const CommitEffects&) { times.push_back(first_core.time()); });
  commit_thread.submit({{&mailbox, 1}, claim({"a"}, "host:1")});
  mailbox.wait(1);
  clock.advance(5s - 1ms);
  Command with_own_time = claim({"a"}, "host:1");
  with_own_time.now = kStart;
  commit_thread.submit({{&mailbox, 2}, with_own_time});
  mailbox.wait(2);

  clock.advance(1ms);
  commit_thread.stop();

  EXPECT_THAT(times, Contains(kStart + 5s));
}

// On SQLite, where reads and commits use different connections.
class ReadThreadTest : public CommitThreadTest {
 protected:
  ReadThreadTest() : CommitThreadTest(StoreKind::real) {}

  ReadThread read_thread{store.reader().value()};
};

TEST_F(ReadThreadTest, AReadDoesNotWaitBehindACommit) {
  submit(1, publish({.title = "mail", .tags = {"email"}}));
  const EventId id = (*mailbox.wait(1).published)->events.at(0).id;
  occupy_commit_thread();

  read_thread.submit({{&mailbox, 2}, get(id)});

  EXPECT_EQ((*mailbox.wait(2).details)->event.title, "mail");
  EXPECT_FALSE(mailbox.has(kOccupant));
}

TEST_F(ReadThreadTest, AReadDoesNotSeeAnUnfinishedCommit) {
  occupy_commit_thread();

  read_thread.submit({{&mailbox, 1}, get(EventId{1})});
  EXPECT_EQ(mailbox.wait(1).details->error().code, ErrorCode::not_found);
  store.let_commits_go();
  mailbox.wait(kOccupant);
  read_thread.submit({{&mailbox, 2}, get(EventId{1})});

  EXPECT_EQ((*mailbox.wait(2).details)->event.title, "occupant");
}

TEST_F(ReadThreadTest, AReadAfterTheStopIsAnsweredThatTheQueueIsClosed) {
  read_thread.stop();

  read_thread.submit({{&mailbox, 1}, get(EventId{1})});

  ASSERT_TRUE(mailbox.has(1));
  EXPECT_EQ(mailbox.wait(1).error->code, ErrorCode::unavailable);
}

TEST_F(ReadThreadTest, ReadsSubmittedBeforeTheStopAreAnswered) {
  const std::size_t before = mailbox.size();
  for (std::uint64_t token = 1; token <= 100; ++token)
    read_thread.submit({{&mailbox, token}, get(EventId{99})});

  read_thread.stop();

  EXPECT_EQ(mailbox.size(), before + 100);
}

}  // namespace
}  // namespace eventq
