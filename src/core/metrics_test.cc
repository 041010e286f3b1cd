// metrics_test.cc: the metrics of a queue: counters, times, and the list of workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/core.h"
#include "support/core_driver.h"
#include "support/queue_commands.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class CoreMetrics : public CoreTest {
 protected:
  Metrics metrics() { return std::get<Metrics>(driver.answer(driver.run(ask(MetricsRequest{}))).admin); }
  QueueMetrics of(const std::string& queue) {
    for (QueueMetrics& one : metrics().queues) {
      if (one.queue == queue) return one;
    }
    ADD_FAILURE() << "no queue " << queue;
    return {};
  }
  std::vector<ListedWorker> workers() {
    return std::get<std::vector<ListedWorker>>(driver.answer(driver.run(ask(WorkersRequest{}))).admin);
  }
  EventId add() { return driver.publish({.title = "one", .tags = {"t"}}); }
  Lease take(const std::string& worker = "w:1") { return driver.claim("t", worker); }
};
INSTANTIATE_TEST_SUITE_P(AllStores, CoreMetrics, testing::Values(StoreKind::memory, StoreKind::real),
                         name_of_store);

TEST_P(CoreMetrics, TheMetricsOfAnIdleQueueAreZero) {
  const QueueMetrics main = of("main");

  EXPECT_EQ(main.counts, Counts{});
  EXPECT_EQ(main.totals, Totals{});
  EXPECT_EQ(main.oldest_pending, std::nullopt);
  EXPECT_FALSE(main.backpressure);
  EXPECT_EQ(main.wait.total(), 0);
}

TEST_P(CoreMetrics, EveryActionIsCounted) {
  driver.publish({.title = "own", .tags = {"t"}, .event_id = "own"});
  driver.publish({.title = "own", .tags = {"t"}, .event_id = "own"});
  driver.run(complete(take()));
  add();
  driver.run(fail(take()));
  add();
  driver.run(fail_for_good(take()));
  driver.run(cancel(add()));
  driver.publish({.title = "old", .tags = {"t"}, .supersede_key = "k"});
  driver.publish({.title = "new", .tags = {"t"}, .supersede_key = "k"});
  take();
  clock().advance(60s);
  take();

  const Totals totals = of("main").totals;
  EXPECT_EQ(totals.published, 6);
  EXPECT_EQ(totals.deduplicated, 1);
  EXPECT_EQ(totals.claimed, 5);
  EXPECT_EQ(totals.completed, 1);
  EXPECT_EQ(totals.failed, 2);
  EXPECT_EQ(totals.failed_for_good, 1);
  EXPECT_EQ(totals.retried, 1);
  EXPECT_EQ(totals.abandoned, 1);
  EXPECT_EQ(totals.superseded, 1);
  EXPECT_EQ(totals.cancelled, 1);
  EXPECT_EQ(totals.runs, 3);
  EXPECT_EQ(of("main").counts, (Counts{1, 1, 1, 0, 1, 1, 1}));
}

TEST_P(CoreMetrics, TheCountersAreThoseOfTheStore) {
  add();
  driver.run(complete(take()));
  add();
  driver.run(fail_for_good(take()));
  const auto stored = driver.store().reader().value()->queue("main", 0).value().value();

  EXPECT_EQ(of("main").totals, stored.totals);
  EXPECT_EQ(of("main").counts, stored.counts);
}

TEST_P(CoreMetrics, EventsThatRetentionRemovesAreCountedAndResetEventsAreNot) {
  const EventId done = add();
  driver.run(complete(take()));
  const EventId live = add();
  driver.run(ask(Removal{{done, live}, std::nullopt}));
  EXPECT_EQ(of("main").totals.removed, 0);

  driver.run(ask(Removal{{done}, std::nullopt}));

  EXPECT_EQ(of("main").totals.removed, 1);
  EXPECT_EQ(driver.store().reader().value()->queue("main", 0).value().value().totals.removed, 1);
}

TEST_P(CoreMetrics, ACommitThatFailedIsNotCounted) {
  driver.store().refuse_commit(Error{ErrorCode::no_space, "The disk is full.", ""});
  driver.run(publish({.title = "one", .tags = {"t"}}));
  driver.store().refuse_commit(std::nullopt);

  EXPECT_EQ(of("main").totals, Totals{});
  EXPECT_EQ(of("main").counts, Counts{});
}

TEST_P(CoreMetrics, AnEventGivenUpIsAFailureAndAnAbandonment) {
  driver.run(configure("main", {.max_attempts = 1}));
  add();
  take();
  clock().advance(60s);
  driver.run_once();

  const Totals totals = of("main").totals;
  EXPECT_EQ(totals.abandoned, 1);
  EXPECT_EQ(totals.failed, 1);
  EXPECT_EQ(totals.failed_for_good, 1);
  EXPECT_EQ(totals.runs, 0);
  EXPECT_EQ(metrics().failed_24h, 1);
}

TEST_P(CoreMetrics, TheAgeOfTheOldestPendingEventIsMeasured) {
  add();
  clock().advance(30s);
  add();
  clock().advance(10s);
  EXPECT_EQ(of("main").oldest_pending, 40s);

  take();
  EXPECT_EQ(of("main").oldest_pending, 10s);
}

TEST_P(CoreMetrics, WaitsAreFromDueToClaimedAndRunsFromClaimedToReported) {
  driver.publish({.title = "one", .tags = {"t"}, .delay = 10s});
  clock().advance(12s);
  const Lease lease = take();
  clock().advance(3s);
  driver.run(complete(lease));

  const QueueMetrics main = of("main");
  EXPECT_EQ(main.wait.total(), 1);
  EXPECT_DOUBLE_EQ(main.wait.sum(), 2);
  EXPECT_EQ(main.run.total(), 1);
  EXPECT_DOUBLE_EQ(main.run.sum(), 3);
  EXPECT_EQ(main.totals.run_ms, 3000);
}

TEST_P(CoreMetrics, TheRunTimeThatAWorkerReportsReplacesTheMeasuredOne) {
  add();
  driver.run(change({take(), Complete{{.execution_time_ms = 250}}}));

  EXPECT_EQ(of("main").totals.run_ms, 250);
}

TEST_P(CoreMetrics, FinalFailuresCountForADay) {
  clock().advance(30min);
  add();
  driver.run(fail_for_good(take()));
  driver.restart(kPolicy);
  EXPECT_EQ(metrics().failed_24h, 1);
  clock().advance(23h);
  EXPECT_EQ(metrics().failed_24h, 1);
  clock().advance(1h);
  EXPECT_EQ(metrics().failed_24h, 0);
}

TEST_P(CoreMetrics, WaitingClaimsAndWaitingEndsAreCounted) {
  const EventId id = add();
  take();
  driver.run_together(claim_or_wait({"t"}, "w:2"), claim_or_wait({"u"}, "w:2"), wait_for(id));

  EXPECT_EQ(metrics().waiting_claims, 2);
  EXPECT_EQ(metrics().waiting_ends, 1);
}

TEST_P(CoreMetrics, EachQueueHasItsOwnMetrics) {
  driver.run(configure("orders", {.max_queue_depth = 2, .high_watermark = 1}));
  driver.run(publish_all(std::vector<NewEvent>(2, {.title = "one", .tags = {"t"}, .queue = "orders"})));

  EXPECT_TRUE(of("orders").backpressure);
  EXPECT_EQ(of("orders").totals.published, 2);
  EXPECT_FALSE(of("main").backpressure);
  EXPECT_EQ(of("main").totals.published, 0);
}

TEST_P(CoreMetrics, CommitsThatChangedEventsAreMeasured) {
  driver.run(publish_all(std::vector<NewEvent>(3, {.title = "one", .tags = {"t"}})));
  driver.core().note_commit(0.002);
  driver.run(claim({"other"}, "w:1"));
  driver.core().note_commit(0.002);

  EXPECT_EQ(metrics().commit_seconds.total(), 1);
  EXPECT_DOUBLE_EQ(metrics().batch_events.sum(), 3);
}

TEST_P(CoreMetrics, AResetOfAnEndedEventAddsNoWorker) {
  const EventId id = add();
  driver.run(cancel(id));
  driver.run(reset(id));

  EXPECT_THAT(workers(), SizeIs(0));
}

TEST_P(CoreMetrics, TheListOfWorkersShowsHeldEventsAndCounts) {
  add();
  add();
  driver.run(complete(take()));
  const Lease held = take();

  ASSERT_THAT(workers(), SizeIs(1));
  EXPECT_EQ(workers()[0].row.id, "w:1");
  EXPECT_EQ(workers()[0].row.completed, 1);
  EXPECT_THAT(workers()[0].holding, ElementsAre(held.id));
  EXPECT_EQ(metrics().workers.at(0).state, WorkerState::active);

  clock().advance(31s);
  EXPECT_EQ(workers()[0].state, WorkerState::stale);
  EXPECT_EQ(metrics().workers.at(0).state, WorkerState::stale);
  driver.run(change({held, Heartbeat{}}));
  EXPECT_EQ(workers()[0].state, WorkerState::active);
}

TEST_P(CoreMetrics, AWorkerThatLosesItsEventHoldsItNoLonger) {
  add();
  take("lost");
  clock().advance(60s);
  take("new");
  EXPECT_THAT(workers().at(0).holding, IsEmpty());
  EXPECT_THAT(workers().at(1).holding, SizeIs(1));

  driver.run(cancel(workers().at(1).holding.at(0)));
  EXPECT_THAT(workers().at(1).holding, IsEmpty());
}

TEST_P(CoreMetrics, AWorkerThatReleasesItsEventHasBeenSeen) {
  add();
  const Lease lease = take();
  clock().advance(5s);
  driver.run(change({lease, Release{}}));

  EXPECT_EQ(workers().at(0).row.last_seen, kStart + 5s);
  EXPECT_THAT(workers().at(0).holding, IsEmpty());
}

TEST_P(CoreMetrics, WorkersOutliveARestart) {
  add();
  add();
  driver.run(complete(take()));
  const Lease held = take();
  ASSERT_TRUE(driver.core().close());
  driver.restart(kPolicy);

  ASSERT_THAT(workers(), SizeIs(1));
  EXPECT_EQ(workers()[0].row.completed, 1);
  EXPECT_THAT(workers()[0].holding, ElementsAre(held.id));
}

}  // namespace
}  // namespace eventq
