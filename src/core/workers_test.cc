// workers_test.cc: held events and counts of workers, and which workers are stale.
#include "core/workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/times.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = WorkerActionKind;

class WorkersTest : public testing::Test {
 protected:
  void note(Kind kind, const std::string& worker, std::int64_t event, TimePoint now = kStart) {
    workers_.note({kind, worker, EventId{event}}, now);
  }
  std::vector<ListedWorker> list(TimePoint now = kStart) { return workers_.list(now); }
  ListedWorker only(TimePoint now = kStart) { return list(now).at(0); }

  Workers workers_{WorkerTimes{.stale_after = 30s, .start_within = 5min}};
};

TEST_F(WorkersTest, AWorkerWhoseClaimFoundNothingIsListedAndHoldsNothing) {
  workers_.note_asked("w:1", {"mail", {"a", "b"}}, kStart);
  workers_.note_asked("w:1", {"mail", {"b"}}, kStart + 40s);

  const ListedWorker worker = only(kStart + 41s);
  EXPECT_EQ(worker.row.last_seen, kStart + 40s);
  EXPECT_EQ(worker.asked, (Selector{"mail", {"b"}}));
  EXPECT_THAT(worker.holding, IsEmpty());
  EXPECT_EQ(worker.state, WorkerState::active);
}

TEST_F(WorkersTest, ARequestSoonAfterAStoredOneIsNotWorthAWrite) {
  workers_.note_asked("w:1", {"mail", {}}, kStart);
  EXPECT_TRUE(workers_.has_changed());
  EXPECT_THAT(workers_.asks_to_store(), SizeIs(1));
  workers_.clear_changed();

  workers_.note_asked("w:1", {"mail", {}}, kStart + 10s - 1ms);
  EXPECT_FALSE(workers_.has_changed());
  workers_.note_asked("w:1", {"mail", {}}, kStart + 10s);
  EXPECT_TRUE(workers_.has_changed());
}

TEST_F(WorkersTest, AWorkerIsActiveThenIdleThenGone) {
  workers_.note_asked("w:1", {"mail", {}}, kStart);

  EXPECT_EQ(only(kStart + 30s).state, WorkerState::active);
  EXPECT_EQ(only(kStart + 30s + 1ms).state, WorkerState::idle);
  EXPECT_EQ(only(kStart + 10min + 1ms).state, WorkerState::gone);
}

TEST_F(WorkersTest, AGoneWorkerLeavesTheListAfterADay) {
  workers_.note_asked("w:1", {"mail", {}}, kStart);

  EXPECT_THAT(list(kStart + 24h - 1ms), SizeIs(1));
  EXPECT_THAT(list(kStart + 24h), SizeIs(1));
  EXPECT_THAT(list(kStart + 24h + 1ms), IsEmpty());
}

TEST_F(WorkersTest, AWorkerThatSignsOffIsGoneAndIsActiveAgainWhenItAsksAgain) {
  workers_.note_asked("w:1", {"mail", {}}, kStart);
  workers_.sign_off("w:1");
  EXPECT_EQ(only().state, WorkerState::gone);
  EXPECT_THAT(only().asks, IsEmpty());

  workers_.note_asked("w:1", {"mail", {}}, kStart + 1s);
  EXPECT_EQ(only(kStart + 1s).state, WorkerState::active);
}

TEST_F(WorkersTest, AWorkerThatSignedOffAndHoldsAnEventIsActiveThenStale) {
  workers_.note_asked("w:1", {"mail", {}}, kStart);
  note(Kind::claimed, "w:1", 7);
  workers_.sign_off("w:1");

  EXPECT_EQ(only(kStart + 30s).state, WorkerState::active);
  EXPECT_EQ(only(kStart + 31s).state, WorkerState::stale);
}

TEST_F(WorkersTest, AWorkerAsksForWhatItAskedForShortlyBeforeItsLastRequest) {
  workers_.note_asked("w:1", {"a", {}}, kStart);
  workers_.note_asked("w:1", {"b", {}}, kStart + 1s);
  workers_.note_asked("w:1", {"c", {}}, kStart + 30s + 1ms);

  const ListedWorker worker = only(kStart + 30s + 1ms);
  EXPECT_EQ(worker.asked, (Selector{"c", {}}));
  EXPECT_THAT(worker.asks, ElementsAre(Selector{"b", {}}, Selector{"c", {}}));
}

TEST_F(WorkersTest, ADroppedWorkerIsForgottenUnlessItHoldsAnEvent) {
  note(Kind::claimed, "holds", 7);
  workers_.note_asked("asked", {"a", {}}, kStart);
  workers_.clear_changed();
  workers_.drop(kStart + 1ms);

  ASSERT_THAT(list(), SizeIs(1));
  EXPECT_EQ(only().row.id, "holds");
}

TEST_F(WorkersTest, WorkersThatOnlyClaimDoNotGrowTheListWithoutBound) {
  for (int i = 0; i < 10'001; ++i) workers_.note_asked("w:" + std::to_string(i), {"main", {}}, kStart);
  workers_.note_asked("one more", {"main", {}}, kStart + 1s);
  EXPECT_THAT(list(), SizeIs(10'001));

  workers_.note_asked("one more", {"main", {}}, kStart + 2min);
  EXPECT_THAT(list(), SizeIs(1)) << "the silent ones are forgotten first";
}

TEST_F(WorkersTest, AWorkerIsListedFromItsFirstClaim) {
  note(Kind::claimed, "w:1", 7);
  note(Kind::claimed, "w:1", 8, kStart + 5s);

  const ListedWorker worker = only();
  EXPECT_EQ(worker.row.id, "w:1");
  EXPECT_EQ(worker.row.first_seen, kStart);
  EXPECT_EQ(worker.row.last_seen, kStart + 5s);
  EXPECT_THAT(worker.holding, ElementsAre(EventId{7}, EventId{8}));
}

TEST_F(WorkersTest, WorkersAreListedByName) {
  note(Kind::claimed, "b", 1);
  note(Kind::claimed, "a", 2);

  ASSERT_THAT(list(), SizeIs(2));
  EXPECT_EQ(list()[0].row.id, "a");
  EXPECT_EQ(list()[1].row.id, "b");
}

TEST_F(WorkersTest, AReportEndsTheLeaseAndIsCounted) {
  for (const std::int64_t event : {1, 2, 3}) note(Kind::claimed, "w:1", event);
  note(Kind::completed, "w:1", 1, kStart + 1s);
  note(Kind::completed, "w:1", 2, kStart + 2s);
  note(Kind::failed, "w:1", 3, kStart + 3s);

  const ListedWorker worker = only();
  EXPECT_THAT(worker.holding, IsEmpty());
  EXPECT_EQ(worker.row.completed, 2);
  EXPECT_EQ(worker.row.failed, 1);
  EXPECT_EQ(worker.row.last_seen, kStart + 3s);
}

TEST_F(WorkersTest, ALostEventDoesNotUpdateLastSeen) {
  note(Kind::claimed, "w:1", 1);
  note(Kind::lost, "w:1", 1, kStart + 1min);

  EXPECT_THAT(only().holding, IsEmpty());
  EXPECT_EQ(only().row.last_seen, kStart);
}

TEST_F(WorkersTest, AReleaseUpdatesLastSeen) {
  note(Kind::claimed, "w:1", 1);
  note(Kind::released, "w:1", 1, kStart + 1s);

  EXPECT_THAT(only().holding, IsEmpty());
  EXPECT_EQ(only().row.last_seen, kStart + 1s);
  EXPECT_EQ(only().row.completed + only().row.failed, 0);
}

TEST_F(WorkersTest, AWorkerIsStaleAfterItsSilenceExceedsStaleAfter) {
  note(Kind::claimed, "w:1", 7);

  EXPECT_NE(only(kStart + 30s).state, WorkerState::stale);
  EXPECT_EQ(only(kStart + 30s).stale_because, "");
  EXPECT_EQ(only(kStart + 30s + 1ms).state, WorkerState::stale);
  EXPECT_EQ(only(kStart + 31s).stale_because, "No sign of life for event 7 for 31s.");
}

TEST_F(WorkersTest, AHeartbeatKeepsAWorkerFresh) {
  note(Kind::claimed, "w:1", 7);
  note(Kind::alive, "w:1", 7, kStart + 20s);

  EXPECT_NE(only(kStart + 50s).state, WorkerState::stale);
  EXPECT_EQ(only(kStart + 51s).state, WorkerState::stale);
}

TEST_F(WorkersTest, AHeartbeatForOneEventDoesNotRenewAnother) {
  note(Kind::claimed, "w:1", 7);
  note(Kind::claimed, "w:1", 8);
  note(Kind::alive, "w:1", 8, kStart + 25s);

  EXPECT_EQ(only(kStart + 31s).state, WorkerState::stale);
  EXPECT_EQ(only(kStart + 31s).stale_because, "No sign of life for event 7 for 31s.");
}

TEST_F(WorkersTest, AWorkerThatStartsNoneOfItsClaimedEventsIsStale) {
  Workers unhurried({.stale_after = 1h, .start_within = 5min});
  unhurried.note({Kind::claimed, "w:1", EventId{7}}, kStart);

  const auto state = [&](TimePoint now) { return unhurried.list(now).at(0); };
  EXPECT_NE(state(kStart + 5min).state, WorkerState::stale);
  EXPECT_EQ(state(kStart + 5min + 1ms).state, WorkerState::stale);
  EXPECT_EQ(state(kStart + 6min).stale_because, "It claimed event 7 6m ago and has not begun it.");
}

TEST_F(WorkersTest, AWorkerThatStartedItsEventIsNotStaleAfterStartWithin) {
  Workers unhurried({.stale_after = 1h, .start_within = 5min});
  unhurried.note({Kind::claimed, "w:1", EventId{7}}, kStart);
  unhurried.note({Kind::started, "w:1", EventId{7}}, kStart + 1s);

  EXPECT_NE(unhurried.list(kStart + 6min).at(0).state, WorkerState::stale);
}

TEST_F(WorkersTest, AWorkerWithoutEventsIsNeverStale) {
  note(Kind::claimed, "w:1", 7);
  note(Kind::completed, "w:1", 7);

  EXPECT_EQ(only(kStart + 1h).state, WorkerState::gone);
}

TEST_F(WorkersTest, OnlyWorkersThatChangedSinceTheLastStoreAreStored) {
  EXPECT_FALSE(workers_.has_changed());
  note(Kind::claimed, "a", 1);
  note(Kind::claimed, "b", 2);
  EXPECT_TRUE(workers_.has_changed());
  EXPECT_THAT(workers_.changed(), SizeIs(2));

  workers_.clear_changed();
  EXPECT_FALSE(workers_.has_changed());
  EXPECT_THAT(workers_.changed(), IsEmpty());

  note(Kind::completed, "b", 2);
  ASSERT_THAT(workers_.changed(), SizeIs(1));
  EXPECT_EQ(workers_.changed()[0].id, "b");
}

TEST_F(WorkersTest, TheStoredChangeCountsOnlyReportsSinceTheLastStore) {
  workers_.recall({.workers = {{"w:1", kStart - 1h, kStart - 1min, 4, 2}}});
  note(Kind::completed, "w:1", 1);
  note(Kind::failed, "w:1", 2);
  ASSERT_THAT(workers_.changed(), SizeIs(1));
  EXPECT_EQ(workers_.changed()[0].completed, 1);
  EXPECT_EQ(workers_.changed()[0].failed, 1);

  workers_.clear_changed();
  note(Kind::completed, "w:1", 3, kStart + 1s);
  ASSERT_THAT(workers_.changed(), SizeIs(1));
  EXPECT_EQ(workers_.changed()[0].completed, 1);
  EXPECT_EQ(workers_.changed()[0].failed, 0);
  EXPECT_EQ(workers_.changed()[0].last_seen, kStart + 1s);
  EXPECT_EQ(only().row.completed, 6) << "all of it is shown";
}

TEST_F(WorkersTest, UnstoredChangesOfAnotherTrackerAreAdded) {
  workers_.recall({.workers = {{"w:1", kStart - 1h, kStart - 1min, 4, 2}}});
  Workers seen(WorkerTimes{});
  seen.recall({.workers = {{"w:1", kStart - 1h, kStart - 1min, 3, 2}}});
  seen.note({Kind::completed, "w:1", EventId{1}}, kStart);
  seen.note_asked("new", {"mail", {"b"}}, kStart);

  workers_.add(seen);

  ASSERT_THAT(list(), SizeIs(2));
  EXPECT_EQ(list()[0].row.id, "new");
  EXPECT_EQ(list()[0].asked, std::nullopt) << "only the store knows which requests count";
  EXPECT_EQ(list()[1].row.completed, 5);
  EXPECT_EQ(list()[1].row.last_seen, kStart);
}

TEST_F(WorkersTest, StoredWorkersAndHeldEventsAreRecalled) {
  Stored held;
  held.event.id = EventId{7};
  held.event.status = Status::processing;
  held.event.worker_id = "w:1";
  held.event.picked_at = kStart - 10s;
  held.event.updated_at = kStart - 5s;
  Stored other = held;
  other.event.id = EventId{8};
  other.event.worker_id = "new";

  workers_.recall({.workers = {{"w:1", kStart - 1h, kStart - 1min, 4, 2}},
                   .asks = {{"asked", {"mail", {}}, kStart - 2s}},
                   .processing = {held, other}});

  ASSERT_THAT(list(), SizeIs(3));
  EXPECT_EQ(list()[0].row.id, "asked");
  EXPECT_EQ(list()[0].row.last_seen, kStart - 2s);
  EXPECT_EQ(list()[0].state, WorkerState::active);
  EXPECT_EQ(list()[1].row.id, "new");
  EXPECT_EQ(list()[1].row.first_seen, kStart - 10s);
  EXPECT_EQ(list()[2].row.first_seen, kStart - 1h);
  EXPECT_EQ(list()[2].row.last_seen, kStart - 5s);
  EXPECT_EQ(list()[2].row.completed, 4);
  EXPECT_THAT(list()[2].holding, ElementsAre(EventId{7}));
  EXPECT_FALSE(workers_.has_changed());
}

TEST_F(WorkersTest, BeyondTenThousandWorkersTheIdleOnesAreForgotten) {
  for (int i = 0; i <= 10'000; ++i) {
    note(Kind::claimed, "w:" + std::to_string(i), i);
    if (i > 0) note(Kind::completed, "w:" + std::to_string(i), i);
  }

  note(Kind::claimed, "late", 1, kStart + 24h + 1ms);

  ASSERT_THAT(list(), SizeIs(2));  // and the one that holds an event
  EXPECT_EQ(list()[1].row.id, "w:0");
}

}  // namespace
}  // namespace eventq
