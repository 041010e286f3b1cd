// worker_state_test.cc: the state of a worker at the borders, and the subscribers of a queue.
#include "model/worker_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/metrics.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

WorkerState asked(Millis ago, Millis stale_after = 30s) { return state_of({.asked_ago = ago}, stale_after); }

TEST(WorkerState, AWorkerIsActiveUntilStaleAfterHasPassedSinceItAsked) {
  EXPECT_EQ(asked(0ms), WorkerState::active);
  EXPECT_EQ(asked(30s - 1ms), WorkerState::active);
  EXPECT_EQ(asked(30s), WorkerState::active);
  EXPECT_EQ(asked(30s + 1ms), WorkerState::idle);
}

TEST(WorkerState, AWorkerIsGoneTenMinutesAfterItAsked) {
  EXPECT_EQ(asked(10min - 1ms), WorkerState::idle);
  EXPECT_EQ(asked(10min), WorkerState::idle);
  EXPECT_EQ(asked(10min + 1ms), WorkerState::gone);
}

TEST(WorkerState, ALongStaleAfterKeepsAWorkerActiveForLongerThanTenMinutes) {
  EXPECT_EQ(asked(1h, 1h), WorkerState::active);
  EXPECT_EQ(asked(1h + 1ms, 1h), WorkerState::gone);
}

TEST(WorkerState, AWorkerThatHoldsAnEventIsActiveHoweverLongAgoItAsked) {
  EXPECT_EQ(state_of({.holds = true, .asked_ago = 2h}, 30s), WorkerState::active);
  EXPECT_EQ(state_of({.holds = true}, 30s), WorkerState::active);
}

TEST(WorkerState, StaleWinsOverTheOtherStates) {
  EXPECT_EQ(state_of({.stale = true, .holds = true, .asked_ago = 0ms}, 30s), WorkerState::stale);
}

TEST(WorkerState, AWorkerThatSignedOffAndHoldsNothingIsGone) {
  EXPECT_EQ(state_of({}, 30s), WorkerState::gone);
}

TEST(WorkerState, TheStatesHaveTheNamesOfTheApi) {
  using enum WorkerState;
  EXPECT_EQ(name_of(active), "active");
  EXPECT_EQ(name_of(idle), "idle");
  EXPECT_EQ(name_of(stale), "stale");
  EXPECT_EQ(name_of(gone), "gone");
}

// A queue with two pending events, and one worker.
Metrics metrics_with(const ListedWorker& worker) {
  Metrics metrics;
  metrics.queues.push_back({.queue = "mail"});
  metrics.queues[0].counts.at(static_cast<std::size_t>(Status::pending)) = 2;
  metrics.workers = {worker};
  return metrics;
}

TEST(Subscribers, AnActiveWorkerThatAsksForAQueueAttendsIt) {
  Metrics metrics = metrics_with({.asks = {{"mail", {"a"}}, {"mail", {"b"}}}, .state = WorkerState::active});
  count_subscribers(metrics);

  EXPECT_EQ(metrics.queues[0].subscribers, 1);
  EXPECT_EQ(metrics.queues[0].unattended, 0);
}

TEST(Subscribers, AnIdleWorkerAndAWorkerOfAnotherQueueDoNotAttendAQueue) {
  for (const ListedWorker& worker : {ListedWorker{.asks = {{"mail", {}}}, .state = WorkerState::idle},
                                     ListedWorker{.asks = {{"mail", {}}}, .state = WorkerState::stale},
                                     ListedWorker{.asks = {{"main", {}}}, .state = WorkerState::active}}) {
    Metrics metrics = metrics_with(worker);
    count_subscribers(metrics);
    EXPECT_EQ(metrics.queues[0].subscribers, 0);
    EXPECT_EQ(metrics.queues[0].unattended, 2);
  }
}

TEST(Subscribers, AStaleWorkerThatStillAsksAttendsItsQueue) {
  Metrics metrics = metrics_with({.asks = {{"mail", {}}}, .asked_lately = true, .state = WorkerState::stale});
  count_subscribers(metrics);

  EXPECT_EQ(metrics.queues[0].subscribers, 1);
  EXPECT_EQ(metrics.queues[0].unattended, 0);
}

TEST(Subscribers, EventsOfAPausedQueueDoNotWaitForAWorker) {
  Metrics metrics = metrics_with({.state = WorkerState::gone});
  metrics.queues[0].paused = true;
  count_subscribers(metrics);

  EXPECT_EQ(metrics.queues[0].unattended, 0);
}

TEST(Subscribers, WorkersAreCountedByState) {
  using enum WorkerState;
  const auto in = [](WorkerState state) { return ListedWorker{.state = state}; };
  EXPECT_THAT(count_by_state({in(active), in(stale), in(active), in(gone)}), ElementsAre(1, 0, 2, 1));
}

}  // namespace
}  // namespace eventq
