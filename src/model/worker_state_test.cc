// worker_state_test.cc: the state of a worker at the borders, and the subscribers of a queue.
#include "model/worker_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/metrics.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

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

TEST(Subscribers, AnActiveWorkerThatAsksForAQueueSubscribesToItOnce) {
  Metrics metrics =
      metrics_with({.asks = {{"mail", {"b"}}, {"mail", {"a", "b"}}}, .state = WorkerState::active});
  count_subscribers(metrics);

  EXPECT_EQ(metrics.queues[0].subscribers, 1);
  EXPECT_THAT(asked_tags(metrics), ElementsAre(AskedTags{"mail", {"a", "b"}}));
}

TEST(Subscribers, AnIdleWorkerAndAWorkerOfAnotherQueueAskForNothingOfAQueue) {
  for (const ListedWorker& worker : {ListedWorker{.asks = {{"mail", {}}}, .state = WorkerState::idle},
                                     ListedWorker{.asks = {{"mail", {}}}, .state = WorkerState::stale},
                                     ListedWorker{.asks = {{"main", {}}}, .state = WorkerState::active}}) {
    Metrics metrics = metrics_with(worker);
    count_subscribers(metrics);
    EXPECT_EQ(metrics.queues[0].subscribers, 0);
    EXPECT_THAT(asked_tags(metrics), ElementsAre(AskedTags{"mail", {}}));
  }
}

TEST(Subscribers, AStaleWorkerThatStillAsksSubscribes) {
  Metrics metrics =
      metrics_with({.asks = {{"mail", {"a"}}}, .asked_lately = true, .state = WorkerState::stale});
  count_subscribers(metrics);

  EXPECT_EQ(metrics.queues[0].subscribers, 1);
  EXPECT_THAT(asked_tags(metrics), ElementsAre(AskedTags{"mail", {"a"}}));
}

TEST(Subscribers, AWorkerThatAsksForAllEventsOfAQueueLeavesNoneUnattended) {
  const Metrics metrics =
      metrics_with({.asks = {{"mail", {"a"}}, {"mail", {}}}, .state = WorkerState::active});

  EXPECT_THAT(asked_tags(metrics), IsEmpty());
}

TEST(Subscribers, EventsOfAPausedQueueDoNotWaitForAWorker) {
  Metrics metrics = metrics_with({.state = WorkerState::gone});
  metrics.queues[0].paused = true;

  EXPECT_THAT(asked_tags(metrics), IsEmpty());
}

TEST(Subscribers, AQueueWithoutLiveEventsIsNotSearched) {
  Metrics metrics = metrics_with({.state = WorkerState::gone});
  metrics.queues[0].counts.fill(0);
  metrics.queues[0].counts.at(static_cast<std::size_t>(Status::failed)) = 3;
  EXPECT_THAT(asked_tags(metrics), IsEmpty());

  // Its lease may have expired.
  metrics.queues[0].counts.at(static_cast<std::size_t>(Status::processing)) = 1;
  EXPECT_THAT(asked_tags(metrics), ElementsAre(AskedTags{"mail", {}}));
}

TEST(Subscribers, TheCountsOfUnattendedEventsGoToTheirQueues) {
  Metrics metrics;
  for (const char* name : {"a", "b", "c"}) metrics.queues.push_back({.queue = name});
  metrics.queues[0].unattended = 9;

  set_unattended(metrics, std::vector<AskedTags>{{"b", {}}, {"c", {"x"}}}, std::vector<std::int64_t>{4, 5});

  EXPECT_EQ(metrics.queues[0].unattended, 0);
  EXPECT_EQ(metrics.queues[1].unattended, 4);
  EXPECT_EQ(metrics.queues[2].unattended, 5);
}

TEST(Subscribers, WorkersAreCountedByState) {
  using enum WorkerState;
  const auto in = [](WorkerState state) { return ListedWorker{.state = state}; };
  EXPECT_THAT(count_by_state({in(active), in(stale), in(active), in(gone)}), ElementsAre(1, 0, 2, 1));
}

}  // namespace
}  // namespace eventq
