// shared_test.cc: two servers on one database: limits that hold for both together, and changes that one makes
// and the other sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/core.h"
#include "support/core_driver.h"
#include "support/queue_commands.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class CoreShared : public testing::Test {
 protected:
  static NewEvent event(const std::string& title, const std::string& queue = "main") {
    return {.title = title, .tags = {"t"}, .queue = queue};
  }
  static NewEvent in_line(const std::string& title) {
    return {.title = title, .tags = {"t"}, .ordering_key = "line"};
  }
  // Empty if the publication was accepted.
  static std::optional<ErrorCode> refusal(CoreDriver& server, Command command) {
    const Answer& answer = server.answer(server.run(std::move(command)));
    if (answer.error) return answer.error->code;
    return *answer.published ? std::nullopt : std::optional(answer.published->error().code);
  }
  static std::vector<std::string> claimed(CoreDriver& server, const std::string& queue = "main",
                                          std::size_t limit = 10) {
    return titles(server.claims(server.run(claim_in(queue, "w:1", limit))));
  }
  static Lease take(CoreDriver& server, const std::string& queue = "main") {
    const Claim claim = server.claims(server.run(claim_in(queue, "w:1"))).at(0);
    return {claim.event.id, "w:1", claim.event.attempts};
  }
  static QueueMetrics metrics(CoreDriver& server, const std::string& queue = "main") {
    const Metrics all = std::get<Metrics>(server.answer(server.run(ask(MetricsRequest{}))).admin);
    for (const QueueMetrics& one : all.queues) {
      if (one.queue == queue) return one;
    }
    ADD_FAILURE() << "no queue " << queue;
    return {};
  }
  static std::int64_t pending(const QueueMetrics& metrics) {
    return metrics.counts[static_cast<std::size_t>(Status::pending)];
  }
  std::vector<Checkpoint> checkpoints() {
    return one.store().reader().value()->checkpoints("main", 100).value();
  }

  CoreDriver one{StoreKind::shared};
  CoreDriver other{&one};
};

TEST_F(CoreShared, ADepthLimitHoldsForBothTogether) {
  one.run(configure("orders", {.max_queue_depth = 3}));

  EXPECT_EQ(refusal(one, publish_all({event("a", "orders"), event("b", "orders")})), std::nullopt);
  EXPECT_EQ(refusal(other, publish(event("c", "orders"))), std::nullopt);
  EXPECT_EQ(refusal(one, publish(event("d", "orders"))), ErrorCode::queue_full);
  EXPECT_EQ(refusal(other, publish(event("e", "orders"))), ErrorCode::queue_full);

  other.run(complete(take(other, "orders")));
  EXPECT_EQ(refusal(one, publish_all({event("d", "orders"), event("e", "orders")})), ErrorCode::queue_full);
  EXPECT_EQ(refusal(one, publish(event("d", "orders"))), std::nullopt);
}

TEST_F(CoreShared, ADepthLimitHoldsForPublicationsAtTheSameTime) {
  one.run(configure("orders", {.max_queue_depth = 25}));
  std::atomic<int> taken = 0;
  const auto publish_many = [&](CoreDriver& server) {
    for (int i = 0; i < 20; ++i) taken += refusal(server, publish(event("one", "orders"))) ? 0 : 1;
  };

  std::thread beside([&] { publish_many(other); });
  publish_many(one);
  beside.join();

  EXPECT_EQ(taken, 25);
  EXPECT_EQ(one.count(), 25);
}

TEST_F(CoreShared, ALimitThatTheOtherServerHasSetHoldsForTheNextPublication) {
  one.publish(event("a"));
  other.run(configure("main", {.max_queue_depth = 2}));

  EXPECT_EQ(refusal(one, publish(event("b"))), std::nullopt);
  EXPECT_EQ(refusal(one, publish(event("c"))), ErrorCode::queue_full);
}

TEST_F(CoreShared, AResetCountsTheEventsOfTheOtherServerAgainstTheLimit) {
  one.run(configure("orders", {.max_queue_depth = 1}));
  const EventId id = one.publish(event("a", "orders"));
  one.run(fail_for_good(take(one, "orders")));
  other.publish(event("b", "orders"));

  EXPECT_EQ(one.answer(one.run(reset(id))).changed.at(0).error().code, ErrorCode::queue_full);
  other.run(complete(take(other, "orders")));
  EXPECT_TRUE(one.answer(one.run(reset(id))).changed.at(0));
}

TEST_F(CoreShared, BackpressureCountsTheEventsOfBothServers) {
  one.run(configure("orders", {.high_watermark = 2}));
  one.publish(event("a", "orders"));
  other.publish(event("b", "orders"));

  EXPECT_TRUE(one.answer(one.run(publish(event("c", "orders")))).backpressure);
}

TEST_F(CoreShared, APauseHoldsForTheOtherServerUntilItIsResumed) {
  one.publish(event("a"));
  one.run(pause("main"));
  EXPECT_THAT(claimed(other), IsEmpty());

  other.run(resume("main"));
  EXPECT_THAT(claimed(one), ElementsAre("a"));
}

TEST_F(CoreShared, ADrainHoldsForTheOtherServer) {
  one.publish(event("a"));
  const Answer& drained = one.answer(one.run(drain("main")));

  EXPECT_EQ(admin_answer<QueueChanged>(drained)->depth, 1);
  EXPECT_EQ(refusal(other, publish(event("b"))), ErrorCode::conflict);
}

TEST_F(CoreShared, ADrainWaitsForTheEventsOfBothServers) {
  other.publish(event("a"));
  Command command = drain("main");
  command.wait = WaitRequest{WaitRequest::Drained{"main"}, Millis(0)};
  EXPECT_FALSE(one.answer(one.run(command)).waited);

  other.run(complete(take(other)));
  EXPECT_TRUE(one.answer(one.run(command)).waited);
}

TEST_F(CoreShared, SettingsHoldForTheOtherServer) {
  one.run(configure("orders", {.lease = 5s}));
  other.publish(event("a", "orders"));

  const Claim claim = other.claims(other.run(claim_in("orders", "w:1"))).at(0);
  EXPECT_EQ(claim.lease_until, kStart + 5s);
}

TEST_F(CoreShared, ChangesOfAQueueByBothAddUp) {
  one.run(configure("orders", {.lease = 5s}));
  other.run(pause("orders"));
  one.run(configure("orders", {.lease = 6s}));

  const QueueDocument document = one.store().reader().value()->queue("orders", 0).value().value();
  EXPECT_EQ(document.row.status, QueueStatus::paused);
  EXPECT_EQ(document.row.config, (QueueConfig{.lease = 6s}));
}

TEST_F(CoreShared, AnEventMakesAQueueAgainThatTheOtherServerRemoved) {
  one.run(configure("orders", {.max_queue_depth = 1}));
  other.run(pause("orders"));
  {
    const auto transaction = one.store().begin(std::nullopt).value();
    ASSERT_TRUE(transaction->remove_queue("orders"));
    ASSERT_TRUE(transaction->commit());
  }
  other.publish(event("a", "orders"));
  other.publish(event("b", "orders"));

  const QueueDocument document = one.store().reader().value()->queue("orders", 0).value().value();
  EXPECT_EQ(document.row.status, QueueStatus::active);
  EXPECT_EQ(document.row.config, QueueConfig());
  EXPECT_EQ(document.totals.published, 2);
  EXPECT_THAT(claimed(one, "orders"), ElementsAre("a", "b"));
}

TEST_F(CoreShared, AQueueThatTheOtherServerRemovedAtOnceIsMadeAgain) {
  one.run(configure("orders", {.max_queue_depth = 1}));
  other.run(remove_queue("orders"));

  one.publish(event("a", "orders"));

  EXPECT_TRUE(one.store().reader().value()->queue("orders", 0).value());
  EXPECT_THAT(claimed(other, "orders"), ElementsAre("a"));
}

TEST_F(CoreShared, EventsOfAQueueThatTheOtherServerCreatedAreClaimedAndReported) {
  const EventId id = one.publish(event("a", "new"));

  EXPECT_EQ(take(other, "new").id, id);
  EXPECT_TRUE(one.answer(one.run(complete({id, "w:1", 1}))).changed.at(0));
}

TEST_F(CoreShared, AKeyThatTheOtherServerHasUsedGetsTheFirstAnswer) {
  const IdempotencyKey key{"k", "same"};
  const Answer& first = one.answer(one.run(publish(event("a"), key)));
  const Answer& second = other.answer(other.run(publish(event("a"), key)));

  EXPECT_TRUE((*second.published)->replayed);
  EXPECT_EQ((*second.published)->events.at(0).id, (*first.published)->events.at(0).id);
  EXPECT_EQ(one.count(), 1);
}

TEST_F(CoreShared, AnEventIdThatTheOtherServerHasPublishedExistsAlready) {
  NewEvent named = event("a");
  named.event_id = "evt_a";
  const EventId id = one.publish(named);
  const Answer& second = other.answer(other.run(publish(named)));

  EXPECT_TRUE((*second.published)->existed);
  EXPECT_EQ((*second.published)->events.at(0).id, id);
}

TEST_F(CoreShared, OneEventIdPublishedByBothAtTheSameTimeIsOneEvent) {
  const auto publish_all = [](CoreDriver& server) {
    for (int i = 0; i < 30; ++i) {
      NewEvent named = event("a");
      named.event_id = "evt_" + std::to_string(i);
      server.run(publish(std::move(named)));
    }
  };

  std::thread beside([&] { publish_all(other); });
  publish_all(one);
  beside.join();

  EXPECT_EQ(one.count(), 30);
}

TEST_F(CoreShared, ANewerEventSupersedesAnEventOfTheOtherServer) {
  NewEvent newer = event("old");
  newer.supersede_key = "price";
  const EventId old = one.publish(newer);
  newer.title = "new";
  const EventId id = other.publish(newer);

  EXPECT_EQ(one.event(old).status, Status::superseded);
  EXPECT_EQ(one.event(old).superseded_by, id);
  EXPECT_THAT(claimed(one), ElementsAre("new"));
}

TEST_F(CoreShared, ALineIsKeptAcrossServers) {
  one.publish(in_line("a"));
  other.publish(in_line("b"));
  one.publish(in_line("c"));

  const Lease first = take(other);
  EXPECT_THAT(claimed(one), IsEmpty());
  one.run(complete(first));
  EXPECT_THAT(claimed(other), ElementsAre("b"));
}

TEST_F(CoreShared, TheLastEndOfACorrelationOnEitherServerPublishesTheOnCompleteEvent) {
  one.run(batch({event("a"), event("b")}, "order-1", event("done")));
  const Lease first = take(one);
  const Lease second = take(other);
  one.run(complete(first));
  EXPECT_EQ(one.count(), 2);
  other.run(complete(second));

  EXPECT_THAT(claimed(one), ElementsAre("done"));
}

TEST_F(CoreShared, CountersOfBothServersAddUp) {
  one.publish(event("a"));
  other.publish(event("b"));
  other.run(complete(take(other)));

  for (CoreDriver* server : {&one, &other}) {
    const QueueMetrics main = metrics(*server);
    EXPECT_EQ(pending(main), 1);
    EXPECT_EQ(main.totals.published, 2);
    EXPECT_EQ(main.totals.completed, 1);
  }
}

TEST_F(CoreShared, FailuresOfTheLastDayAreCountedOnBothServers) {
  for (CoreDriver* server : {&one, &other}) {
    server->publish(event("a"));
    server->run(fail_for_good(take(*server)));
  }

  EXPECT_EQ(std::get<Metrics>(one.answer(one.run(ask(MetricsRequest{}))).admin).failed_24h, 2);
}

TEST_F(CoreShared, TheListOfWorkersAddsUpBothServers) {
  one.run(publish_all({event("a"), event("b"), event("c")}));
  one.run(complete(take(one)));
  other.run(complete(take(other)));
  const Lease held = take(one);
  one.clock().advance(10s);
  one.run_once();
  other.run_once();

  const auto workers =
      std::get<std::vector<ListedWorker>>(other.answer(other.run(ask(WorkersRequest{}))).admin);
  ASSERT_THAT(workers, SizeIs(1));
  EXPECT_EQ(workers[0].row.completed, 2);
  EXPECT_THAT(workers[0].holding, ElementsAre(held.id));
}

TEST_F(CoreShared, AllServersGiveTheSameStateOfAWorker) {
  const auto states_of_both = [&] {
    std::vector<WorkerState> states;
    for (CoreDriver* server : {&one, &other}) {
      const auto answer = server->answer(server->run(ask(WorkersRequest{})));
      for (const ListedWorker& it : std::get<std::vector<ListedWorker>>(answer.admin)) {
        states.push_back(it.state);
      }
    }
    return states;
  };
  using enum WorkerState;
  one.run(ask(NoteAsks{{{"w:1", {"mail", {"t"}}, 5s}}}));
  EXPECT_THAT(states_of_both(), ElementsAre(active, active));
  one.clock().advance(25s);
  EXPECT_THAT(states_of_both(), ElementsAre(active, active));
  one.clock().advance(1ms);
  EXPECT_THAT(states_of_both(), ElementsAre(idle, idle));
  one.run(ask(NoteAsks{{{"w:1", {"mail", {"t"}}, 0s}}}));
  EXPECT_THAT(states_of_both(), ElementsAre(active, active));
  one.clock().advance(1ms);
  other.run(ask(SignOff{"w:1"}));
  EXPECT_THAT(states_of_both(), ElementsAre(gone, gone));
}

TEST_F(CoreShared, ACheckpointCountsCompletedEventsOfBothServersAndIsMadeByOneOfThem) {
  one.run_once();
  other.run_once();
  for (CoreDriver* server : {&one, &other}) {
    server->publish(event("a"));
    server->run(complete(take(*server)));
  }
  one.clock().advance(1min);
  one.run_once();
  other.run_once();

  ASSERT_THAT(checkpoints(), SizeIs(1));
  EXPECT_EQ(checkpoints()[0].event_count, 2);
}

TEST_F(CoreShared, NoTwoCheckpointsOfAQueueAreMadeInOneMinute) {
  one.run_once();
  one.clock().advance(30s);
  other.run_once();
  for (int i = 0; i < 8; ++i) {  // four minutes
    one.publish(event("a"));
    one.run(complete(take(one)));
    one.clock().advance(30s);
    one.run_once();
    other.run_once();
  }

  EXPECT_THAT(checkpoints(), SizeIs(4));
}

TEST_F(CoreShared, AnEventThatOneServersWorkerAbandonedIsClaimedThroughTheOther) {
  const EventId id = one.publish(event("a"));
  take(one);
  EXPECT_THAT(claimed(other), IsEmpty());

  one.clock().advance(kPolicy.lease);
  other.run_once();
  EXPECT_EQ(take(other).id, id);
  EXPECT_EQ(one.event(id).attempts, 2);
}

TEST_F(CoreShared, AnEventThatTheOtherServerDelayedIsFoundWithinFiveSeconds) {
  one.run_once();
  NewEvent delayed = event("a");
  delayed.delay = 100ms;
  other.publish(delayed);

  EXPECT_LE(one.core().next_attention(), kStart + 5s);
  one.clock().advance(5s);
  one.run_once();
  EXPECT_THAT(claimed(one), ElementsAre("a"));
}

TEST_F(CoreShared, AnEventThatTheOtherServerDelayedIsFoundAfterAnEmptyClaim) {
  one.run_once();
  NewEvent delayed = event("a");
  delayed.delay = 200ms;
  other.publish(delayed);

  one.clock().advance(100ms);
  EXPECT_THAT(claimed(one), IsEmpty());
  EXPECT_EQ(one.core().next_attention(), kStart + 200ms);
}

TEST_F(CoreShared, ADueTimeOfAnotherCoreIsKeptUntilItHasPassed) {
  one.run_once();
  one.core().expect_due(kStart + 2s);
  one.publish(event("a"));
  EXPECT_EQ(one.core().next_attention(), kStart + 2s);

  one.clock().advance(2s);
  one.run_once();
  EXPECT_GT(one.core().next_attention(), kStart + 2s);
}

TEST_F(CoreShared, ACoreThatDoesNotMaintainPromotesDueEventsForAClaimButNeedsNoAttention) {
  CoreDriver third(&one, {.policy = kPolicy, .maintains = false});
  NewEvent delayed = event("a");
  delayed.delay = 1s;
  third.publish(delayed);
  EXPECT_EQ(third.core().last_effects().next_due, kStart + 1s);
  EXPECT_EQ(third.core().next_attention(), std::nullopt);

  one.clock().advance(1s);
  EXPECT_EQ(third.core().next_attention(), std::nullopt);
  EXPECT_THAT(claimed(third), ElementsAre("a"));
}

TEST_F(CoreShared, TheEffectsOfACommitNameQueuesWithReadyEvents) {
  one.run_together(publish(event("a")), publish(event("b", "orders")));
  EXPECT_THAT(one.core().last_effects().ready, UnorderedElementsAre("main", "orders"));
  EXPECT_THAT(one.core().last_effects().ended, IsEmpty());

  one.run_together(publish(event("c")), claim_in("main", "w:1", 10));
  EXPECT_THAT(one.core().last_effects().ready, IsEmpty());
}

TEST_F(CoreShared, TheEffectsOfACommitNameEndedEvents) {
  one.publish(event("a"));
  const Lease lease = take(one);
  one.run(complete(lease));
  EXPECT_THAT(one.core().last_effects().ended, ElementsAre(lease.id));

  one.store().refuse_commit(Error{ErrorCode::unavailable, "It is away.", ""});
  one.run(publish(event("b")));
  EXPECT_THAT(one.core().last_effects().ended, IsEmpty());
  EXPECT_THAT(one.core().last_effects().ready, IsEmpty());
}

TEST_F(CoreShared, TheEffectsOfAResumeNameTheQueue) {
  one.publish(event("a"));
  one.run(pause("main"));
  one.run(resume("main"));

  EXPECT_THAT(one.core().last_effects().ready, ElementsAre("main"));
}

// Two threads run publications, claims and reports as fast as they can.
TEST_F(CoreShared, TwoServersGiveEachEventOnceAndKeepTheCounters) {
  one.run(configure("orders", {.max_queue_depth = 40}));
  std::atomic<std::int64_t> published = 0;
  std::atomic<std::int64_t> completed = 0;
  const auto work = [&](CoreDriver& server, unsigned seed) {
    std::mt19937 random(seed);
    const auto key = [&](const char* what) { return what + std::to_string(random() % 5); };
    for (int i = 0; i < 100; ++i) {
      NewEvent made = event("e", i % 2 == 0 ? "main" : "orders");
      if (i % 3 == 0) made.ordering_key = key("line");
      if (i % 5 == 0) made.supersede_key = key("price");
      if (i % 7 == 0) made.correlation_id = key("order");
      const auto [publication, main, orders] =
          server.run_together(publish(std::move(made)), claim_in("main", "w", 2), claim_in("orders", "w", 2));
      const Answer& answer = server.answer(publication);
      ASSERT_FALSE(answer.error && answer.error->code != ErrorCode::unavailable) << answer.error->message;
      if (answer.error) continue;
      published += *answer.published ? 1 : 0;
      Command reports;
      for (const Token token : {main, orders}) {
        for (const Claim& claim : server.claims(token)) {
          reports.changes.push_back({{claim.event.id, "w", claim.event.attempts}, Complete{}});
        }
      }
      const Answer& reported = server.answer(server.run(std::move(reports)));
      for (const auto& changed : reported.changed) completed += changed ? 1 : 0;
    }
  };

  std::thread beside([&] { work(other, 2); });
  work(one, 1);
  beside.join();

  EXPECT_EQ(one.count(), published);
  std::int64_t counted = 0;
  for (const char* queue : {"main", "orders"}) {
    const QueueMetrics seen = metrics(one, queue);
    counted += seen.totals.completed;
    for (const Status status : {Status::pending, Status::processing, Status::completed, Status::superseded}) {
      EXPECT_EQ(seen.counts[static_cast<std::size_t>(status)],
                one.count({.status = status, .queue = std::string(queue)}))
          << queue;
    }
  }
  EXPECT_EQ(counted, completed);
}

}  // namespace
}  // namespace eventq
