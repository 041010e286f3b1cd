// batch_test.cc: correlated events: their totals, their order, and the on_complete event.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/core.h"
#include "eventq/limits.h"
#include "model/names.h"
#include "support/core_driver.h"
#include "support/queue_commands.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const NewEvent kDone{.title = "done", .tags = {"report"}};

class CoreBatch : public CoreTest {
 protected:
  static std::vector<NewEvent> events(int n, const std::string& queue = "main") {
    std::vector<NewEvent> events;
    for (int i = 1; i <= n; ++i) {
      events.push_back({.title = std::to_string(i), .tags = {"t"}, .queue = queue});
    }
    return events;
  }
  Published published(Token token) { return driver.answer(token).published->value(); }
  ErrorCode refusal(Token token) { return driver.answer(token).published->error().code; }
  Lease take() { return driver.claim("t", "w:1"); }

  // "total pending completed failed"
  std::string totals(const std::string& id) {
    const auto found = driver.store().reader().value()->correlation(id, EventId{}, 100).value();
    if (!found) return "unknown";
    return std::to_string(found->total) + " " + std::to_string(found->pending) + " " +
           std::to_string(found->completed) + " " + std::to_string(found->failed);
  }
  // The on_complete events that were published.
  std::vector<Event> reports(const std::string& queue = "main") {
    ListFilter filter{.tags = {"report"}, .queue = queue};
    return driver.store().reader().value()->list(filter)->events;
  }
};
INSTANTIATE_TEST_SUITE_P(AllStores, CoreBatch, testing::Values(StoreKind::memory, StoreKind::real),
                         name_of_store);

TEST_P(CoreBatch, EachEventOfABatchHasItsSequenceNumber) {
  const std::vector<Event> all = published(driver.run(batch(events(3)))).events;

  EXPECT_EQ(all.at(0).sequence, 0);
  EXPECT_EQ(all.at(2).sequence, 2);
  EXPECT_EQ(driver.event(all.at(1).id).sequence, 1);
}

TEST_P(CoreBatch, AnEventPublishedAloneHasNoSequenceNumber) {
  EXPECT_EQ(driver.event(driver.publish({.title = "one", .tags = {"t"}})).sequence, std::nullopt);
}

TEST_P(CoreBatch, TheTotalsCountEveryChangeOfAnEvent) {
  driver.run(batch(events(5), "c"));
  EXPECT_EQ(totals("c"), "5 5 0 0");

  driver.run(complete(take()));
  EXPECT_EQ(totals("c"), "5 4 1 0");
  driver.run(change({take(), Complete{{.errors = {"late"}}}}));
  EXPECT_EQ(totals("c"), "5 3 2 0");
  const Lease third = take();
  driver.run(fail_for_good(third));
  EXPECT_EQ(totals("c"), "5 2 2 1");
  driver.run(cancel(take().id));
  EXPECT_EQ(totals("c"), "5 1 2 1");
  driver.run(fail(take()));
  EXPECT_EQ(totals("c"), "5 1 2 1");
  driver.run(reset(third.id));
  EXPECT_EQ(totals("c"), "5 2 2 0");
}

TEST_P(CoreBatch, ACancelledEventIsNotCountedAsAFailureOfTheBatch) {
  driver.run(batch(events(1), "c"));
  const Lease lease = take();
  driver.run(fail_for_good(lease));
  driver.run(cancel(lease.id));

  EXPECT_EQ(totals("c"), "1 0 0 0");
}

TEST_P(CoreBatch, EventsPublishedAloneCountToTheirCorrelation) {
  driver.run(batch(events(1), "c"));
  driver.publish({.title = "alone", .tags = {"t"}, .correlation_id = "c"});

  EXPECT_EQ(totals("c"), "2 2 0 0");
}

TEST_P(CoreBatch, AnEventThatExistsAlreadyIsNotCountedAgain) {
  std::vector<NewEvent> all = events(2);
  all[0].event_id = "own";
  driver.run(batch(all, "c"));
  driver.run(batch(all, "c"));

  EXPECT_EQ(totals("c"), "3 3 0 0");
}

TEST_P(CoreBatch, AnOrderedBatchRunsOneAtATime) {
  Command command = batch(events(3));
  command.publication->ordered = true;
  const Published all = published(driver.run(command));

  EXPECT_EQ(all.events.at(0).ordering_key, all.correlation_id);
  EXPECT_THAT(titles(driver.claims(driver.run(claim({"t"}, "w:1", 10)))), ElementsAre("1"));
}

TEST_P(CoreBatch, AnOrderingKeyOfItsOwnStaysInAnOrderedBatch) {
  std::vector<NewEvent> all = events(3);
  all[1].ordering_key = "own";
  Command command = batch(all, "c");
  command.publication->ordered = true;
  driver.run(command);

  EXPECT_THAT(titles(driver.claims(driver.run(claim({"t"}, "w:1", 10)))), ElementsAre("1", "2"));
}

// The ids of the correlations are in the opposite order.
TEST_P(CoreBatch, OnCompleteEventsOfOneTransactionAreInTheOrderOfTheEnds) {
  driver.run(batch(events(1), "b", NewEvent{.title = "first", .tags = {"report"}}));
  driver.run(batch(events(1), "a", NewEvent{.title = "second", .tags = {"report"}}));
  Command both = complete(take());
  both.changes.push_back(complete(take()).changes.at(0));
  driver.run(both);

  ASSERT_THAT(reports(), SizeIs(2));
  EXPECT_EQ(reports()[0].title, "first");
  EXPECT_EQ(reports()[1].title, "second");
}

TEST_P(CoreBatch, AnOnCompleteEventWithoutAPayloadHasTheResults) {
  driver.run(batch(events(2), "c", kDone));
  const Lease first = take();
  const Lease last = take();
  driver.run(change({first, Complete{{.result = R"({"sum": 1})"}}}));
  driver.run(fail_for_good(last));

  const Event done = driver.event(reports().at(0).id);
  EXPECT_EQ(done.payload, R"({"correlation_id":"c","total":2,"completed":1,"failed":1,"results":[{"id":)" +
                              id_text(first.id) + R"(,"event_id":")" + driver.event(first.id).event_id +
                              R"(","status":"COMPLETED","result":{"sum": 1}},{"id":)" + id_text(last.id) +
                              R"(,"event_id":")" + driver.event(last.id).event_id +
                              R"(","status":"FAILED","result":null}],"results_complete":true})");
}

TEST_P(CoreBatch, AnOnCompleteEventKeepsAPayloadOfItsOwn) {
  NewEvent own = kDone;
  own.payload = "[1]";
  driver.run(batch(events(1), "c", own));
  driver.run(change({take(), Complete{{.result = "2"}}}));

  EXPECT_EQ(driver.event(reports().at(0).id).payload, "[1]");
}

TEST_P(CoreBatch, TheResultsForAnOnCompleteEventNeverExceedThePayloadLimit) {
  driver.run(batch(events(20), "c", kDone));
  const std::string large = '"' + std::string(limits::kResult - 2, 'x') + '"';
  for (int i = 0; i < 20; ++i) driver.run(change({take(), Complete{{.result = large}}}));

  const std::string payload = driver.event(reports().at(0).id).payload;
  EXPECT_LE(payload.size(), limits::kPayload);
  EXPECT_GT(payload.size(), limits::kPayload - 2 * limits::kResult);
  EXPECT_TRUE(payload.ends_with(R"(],"results_complete":false})"));
}

TEST_P(CoreBatch, TheOnCompleteEventIsPublishedWhenTheLastEventEnds) {
  driver.run(batch(events(2), "c", kDone));
  driver.run(complete(take()));
  EXPECT_THAT(reports(), IsEmpty());
  const Lease last = take();
  driver.run(complete(last));

  ASSERT_THAT(reports(), SizeIs(1));
  const Event done = driver.event(reports()[0].id);
  EXPECT_EQ(done.title, "done");
  EXPECT_EQ(done.causation_id, driver.event(last.id).event_id);
  EXPECT_EQ(done.correlation_id, "");
  EXPECT_EQ(done.status, Status::pending);
}

TEST_P(CoreBatch, AnyEndOfTheLastEventPublishesTheOnCompleteEvent) {
  for (const std::string end : {"failed", "cancelled", "superseded", "given up"}) {
    CoreDriver fresh(GetParam());
    fresh.run(configure("main", {.max_attempts = 1}));
    const auto all = fresh.run(batch({{.title = "1", .tags = {"t"}, .supersede_key = "k"}}, "c", kDone));
    const EventId id = (*fresh.answer(all).published)->events.at(0).id;
    if (end == "cancelled") fresh.run(cancel(id));
    if (end == "superseded") fresh.run(supersede_key("main", "k"));
    if (end == "failed") fresh.run(fail_for_good(fresh.claim("t", "w:1")));
    if (end == "given up") {
      fresh.claim("t", "w:1");
      fresh.clock().advance(60s);
      fresh.run_once();
    }
    EXPECT_EQ(fresh.count({.tags = {"report"}}), 1) << end;
  }
}

TEST_P(CoreBatch, AnEventThatWillBeRetriedHasNotEnded) {
  driver.run(batch(events(1), "c", kDone));
  driver.run(fail(take()));

  EXPECT_THAT(reports(), IsEmpty());
}

TEST_P(CoreBatch, TheOnCompleteEventIsPublishedOnceEvenIfAnEventIsReset) {
  driver.run(batch(events(1), "c", kDone));
  const Lease lease = take();
  driver.run(fail_for_good(lease));
  driver.run(reset(lease.id));
  driver.run(complete(take()));

  EXPECT_THAT(reports(), SizeIs(1));
}

TEST_P(CoreBatch, AllEventsOfABatchMayEndInOneRun) {
  driver.run(batch(events(2), "c", kDone));
  const Lease first = take();
  const Lease second = take();
  driver.run_together(complete(first), fail_for_good(second));

  ASSERT_THAT(reports(), SizeIs(1));
  EXPECT_EQ(driver.event(reports()[0].id).causation_id, driver.event(second.id).event_id);
}

TEST_P(CoreBatch, AnEventThatJoinsInTheRunOfTheLastEndDelaysTheOnCompleteEvent) {
  driver.run(batch(events(1), "c", kDone));
  const Lease lease = take();
  driver.run_together(complete(lease), publish({.title = "more", .tags = {"t"}, .correlation_id = "c"}));
  EXPECT_THAT(reports(), IsEmpty());

  driver.run(complete(take()));
  EXPECT_THAT(reports(), SizeIs(1));
}

TEST_P(CoreBatch, AnEventOfTheBatchThatSupersedesAnotherDoesNotEndIt) {
  std::vector<NewEvent> all = events(2);
  all[0].supersede_key = all[1].supersede_key = "k";
  driver.run(batch(all, "c", kDone));
  EXPECT_THAT(reports(), IsEmpty());

  driver.run(complete(take()));
  EXPECT_THAT(reports(), SizeIs(1));
}

TEST_P(CoreBatch, AWaitingWorkerGetsTheOnCompleteEventInTheRunOfTheEnd) {
  driver.run(batch(events(1), "c", kDone));
  const Lease lease = take();
  const Token waiter = driver.run(claim_or_wait({"report"}, "w:2"));
  driver.run(complete(lease));

  EXPECT_THAT(titles(driver.claims(waiter)), ElementsAre("done"));
}

TEST_P(CoreBatch, ACommitThatFailedPublishesNothing) {
  driver.run(batch(events(1), "c", kDone));
  const Lease lease = take();
  driver.store().refuse_commit(Error{ErrorCode::no_space, "The disk is full.", ""});
  driver.run(complete(lease));
  driver.store().refuse_commit(std::nullopt);
  EXPECT_THAT(reports(), IsEmpty());
  EXPECT_EQ(totals("c"), "1 1 0 0");

  driver.run(complete(lease));
  EXPECT_THAT(reports(), SizeIs(1));
}

TEST_P(CoreBatch, TheOnCompleteEventOutlivesARestart) {
  driver.run(batch(events(1, "orders"), "c", kDone));
  driver.restart(kPolicy);
  const Claim taken = driver.claims(driver.run(claim_in("orders", "w:1"))).at(0);
  driver.run(complete({taken.event.id, "w:1", 1}));

  EXPECT_THAT(reports("orders"), SizeIs(1));
}

TEST_P(CoreBatch, TheOnCompleteEventKeepsItsOrderingKey) {
  NewEvent done = kDone;
  done.ordering_key = "A";
  driver.run(batch(events(1), "c", done));
  const Lease lease = take();
  driver.publish({.title = "older", .tags = {"report"}, .ordering_key = "A"});
  driver.run(complete(lease));

  EXPECT_THAT(titles(driver.claims(driver.run(claim({"report"}, "w:1", 10)))), ElementsAre("older"));
}

TEST_P(CoreBatch, ASecondOnCompleteEventForTheSameCorrelationIsRefused) {
  driver.run(batch(events(1), "c", kDone));
  const Token again = driver.run(batch(events(2), "c", kDone));

  EXPECT_EQ(refusal(again), ErrorCode::conflict);
  EXPECT_EQ(totals("c"), "1 1 0 0");
}

TEST_P(CoreBatch, ASecondOnCompleteEventInTheSameRunIsRefused) {
  const auto [first, second] =
      driver.run_together(batch(events(1), "c", kDone), batch(events(1), "c", kDone));

  EXPECT_TRUE(driver.answer(first).published->has_value());
  EXPECT_EQ(refusal(second), ErrorCode::conflict);
}

TEST_P(CoreBatch, ABatchSentAgainWithItsEventIdsAddsNoSecondOnCompleteEvent) {
  std::vector<NewEvent> all = events(1);
  all[0].event_id = "own";
  driver.run(batch(all, "c", kDone));
  const Token again = driver.run(batch(all, "c", kDone));

  ASSERT_TRUE(driver.answer(again).published->has_value());
  EXPECT_TRUE(published(again).existed);
  driver.run(complete(take()));
  EXPECT_THAT(reports(), SizeIs(1));
}

TEST_P(CoreBatch, AfterTheOnCompleteEventWasPublishedAnotherMayBeSet) {
  driver.run(batch(events(1), "c", kDone));
  driver.run(complete(take()));
  driver.run(batch(events(1), "c", kDone));
  EXPECT_THAT(reports(), SizeIs(1));

  driver.run(complete(take()));
  EXPECT_THAT(reports(), SizeIs(2));
}

TEST_P(CoreBatch, TheSameKeyGivesTheSameBatch) {
  Command command = batch(events(2), "", kDone);
  command.publication->key = IdempotencyKey{"k", "f"};
  const Published first = published(driver.run(command));
  const Published second = published(driver.run(command));

  EXPECT_TRUE(second.replayed);
  EXPECT_EQ(second.correlation_id, first.correlation_id);
  EXPECT_EQ(totals(first.correlation_id), "2 2 0 0");
}

}  // namespace
}  // namespace eventq
