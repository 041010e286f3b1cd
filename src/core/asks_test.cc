// asks_test.cc: the states of workers by what they asked for, on a store that one Core owns. On a shared
// store the router notes requests, see router_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/core_driver.h"
#include "support/queue_commands.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class CoreAsks : public CoreTest {
 protected:
  Metrics metrics() { return std::get<Metrics>(driver.answer(driver.run(ask(MetricsRequest{}))).admin); }
  std::vector<ListedWorker> workers() {
    return std::get<std::vector<ListedWorker>>(driver.answer(driver.run(ask(WorkersRequest{}))).admin);
  }
  EventId add() { return driver.publish({.title = "one", .tags = {"t"}}); }
  // A poll that finds no event.
  void poll(const std::string& worker) { driver.run(claim({"t"}, worker)); }
};
INSTANTIATE_TEST_SUITE_P(AllStores, CoreAsks, testing::Values(StoreKind::memory, StoreKind::real),
                         name_of_store);

TEST_P(CoreAsks, AWaitingPollCountsAsAsking) {
  Command wait = claim({"t"}, "w:1");
  wait.claim->wait = 1h;
  driver.run(std::move(wait));
  clock().advance(30min);
  EXPECT_EQ(workers().at(0).state, WorkerState::active);
  EXPECT_THAT(workers().at(0).asks, ElementsAre(Selector{"main", {"t"}}));

  clock().advance(30min);
  driver.run_once();
  EXPECT_EQ(workers().at(0).state, WorkerState::active) << "it waited until now";
  clock().advance(31s);
  EXPECT_EQ(workers().at(0).state, WorkerState::idle);
}

TEST_P(CoreAsks, AWorkerThatSignsOffIsGoneAlsoAfterARestart) {
  poll("w:1");
  poll("w:2");
  driver.run(ask(SignOff{"w:1"}));
  EXPECT_EQ(workers().at(0).state, WorkerState::gone);

  ASSERT_TRUE(driver.core().close());
  driver.restart(kPolicy);

  ASSERT_THAT(workers(), SizeIs(2));
  EXPECT_EQ(workers().at(0).state, WorkerState::gone);
  EXPECT_EQ(workers().at(1).state, WorkerState::active);
}

TEST_P(CoreAsks, ASignOffCountsAlsoForAPollOfTheSameBatch) {
  Command both = claim({"t"}, "w:1");
  both.admin = SignOff{"w:1"};
  driver.run(std::move(both));
  EXPECT_EQ(workers().at(0).state, WorkerState::gone);
}

TEST_P(CoreAsks, APollThatStillWaitsAtASignOffMakesItsWorkerNotActiveAgain) {
  Command wait = claim({"t"}, "w:1");
  wait.claim->wait = 1h;
  const auto waiting = driver.run(std::move(wait));
  driver.run(ask(SignOff{"w:1"}));
  EXPECT_EQ(workers().at(0).state, WorkerState::gone);

  driver.cancel_wait(waiting);
  EXPECT_EQ(workers().at(0).state, WorkerState::gone);
}

TEST_P(CoreAsks, ACancelledPollCountsAsAskingUntilItWasCancelled) {
  Command wait = claim({"t"}, "w:1");
  wait.claim->wait = 1h;
  const auto waiting = driver.run(std::move(wait));
  clock().advance(30min);
  driver.cancel_wait(waiting);

  clock().advance(30s);
  EXPECT_EQ(workers().at(0).state, WorkerState::active);
  clock().advance(1ms);
  EXPECT_EQ(workers().at(0).state, WorkerState::idle);
}

TEST_P(CoreAsks, AStaleWorkerThatStillAsksSubscribesToItsQueue) {
  add();
  driver.claim("t", "w:1");
  clock().advance(31s);
  add();
  EXPECT_EQ(workers().at(0).state, WorkerState::stale);
  EXPECT_EQ(metrics().queues.at(0).subscribers, 0);

  driver.run(claim({"other"}, "w:1"));
  EXPECT_EQ(workers().at(0).state, WorkerState::stale);
  EXPECT_EQ(metrics().queues.at(0).subscribers, 1);
}

TEST_P(CoreAsks, AGoneWorkerLeavesTheListAfterADay) {
  poll("w:1");
  clock().advance(24h);
  driver.run_once();
  EXPECT_THAT(workers(), SizeIs(1));

  clock().advance(1ms);
  EXPECT_THAT(workers(), IsEmpty());
  ASSERT_TRUE(driver.core().close());
  driver.restart(kPolicy);
  EXPECT_THAT(workers(), IsEmpty());
}

TEST_P(CoreAsks, PollsOfOneWorkerAreStoredEveryTenSecondsAndNotEachTime) {
  for (int i = 0; i < 25; ++i) {
    poll("w:1");
    clock().advance(1s);
  }
  // A crash: what is not stored is lost.
  driver.restart(kPolicy);

  EXPECT_EQ(workers().at(0).row.last_seen, kStart + 20s);
}

TEST_P(CoreAsks, AWorkerThatClaimsSubscribesToItsQueue) {
  add();
  EXPECT_EQ(metrics().queues.at(0).subscribers, 0);

  driver.claim("t", "w:1");
  EXPECT_EQ(metrics().queues.at(0).subscribers, 1);
}

}  // namespace
}  // namespace eventq
