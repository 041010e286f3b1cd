// same_queue_test.cc: an embedded queue and a queue behind HTTP return the same results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eventq/limits.h"
#include "eventq/queue.h"
#include "support/describe.h"
#include "support/local_server.h"
#include "support/manual_clock.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// The parameter is where the queue is.
class SameQueue : public testing::TestWithParam<std::string> {
 protected:
  // 2026-01-01T00:00:00Z
  static constexpr TimePoint kStart{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};

  void SetUp() override {
    Options options;
    options.clock = &clock;
    options.worker_id = "host:1";
    std::string url = "memory:";
    if (GetParam() == "http") {
      server = std::make_unique<LocalServer>("memory:", options);
      url = "http://127.0.0.1:" + std::to_string(server->port());
    }
    queue = Queue::open(url, options).value();
  }

  static NewEvent mail() {
    NewEvent event;
    event.title = "mail";
    event.tags = {"email", "urgent"};
    event.payload = R"({"n": 12345678901234567890})";
    return event;
  }

  EventId publish(const NewEvent& event = mail()) { return queue->publish(event).value().id; }
  Claim poll() { return queue->poll().value().value(); }
  static Lease lease_of(const Claim& claim) {
    return {claim.event.id, claim.event.worker_id, claim.event.attempts};
  }
  // Lets the lease expire and another worker claim the event.
  Claim steal() {
    clock.advance(60s);
    NextRequest request;
    request.worker_id = "other:1";
    request.limit = 1;
    auto taken = queue->next(request).value();
    return std::move(taken.claims.at(0));
  }
  ErrorCode code_of_complete(const Lease& lease) { return queue->complete(lease, {}).error().code; }

  ManualClock clock{kStart};
  std::unique_ptr<LocalServer> server;
  std::unique_ptr<Queue> queue;
};

INSTANTIATE_TEST_SUITE_P(Both, SameQueue, testing::Values("memory", "http"), [](const auto& kind) {
  return std::string(kind.param == "http" ? "Http" : "Memory");
});

TEST_P(SameQueue, PublishReturnsTheStoredEvent) {
  NewEvent event = mail();
  event.description = "d";
  event.queue = "outbox";
  event.priority = 5;
  event.max_retries = 1;
  event.event_id = "own";
  event.correlation_id = "c";
  event.causation_id = "x";
  event.trace_id = "t";
  event.pattern = "mail.sent";
  event.version = "2";
  event.source = {"workflow", "7", "seven"};
  event.timestamp = kStart - 1h;
  event.ordering_key = "o";
  event.supersede_key = "s";
  event.delay = 90s;
  event.retry = RetryPolicy{RetryPolicy::Kind::exponential, 1s, 2s, 0.5};
  const Event stored = queue->publish(event).value();

  EXPECT_EQ(describe(stored),
            "1 PENDING own queue=outbox title=mail description=d tags=email,urgent "
            R"(payload={"n": 12345678901234567890} correlation_id=c priority=5 max_retries=1 attempts=0 )"
            "retry_count=0 unreported=0 worker_id= created_at=1767225600000 due_at=1767225690000 "
            "updated_at=1767225600000");
  EXPECT_EQ(stored.causation_id, "x");
  EXPECT_EQ(stored.trace_id, "t");
  EXPECT_EQ(stored.pattern, "mail.sent");
  EXPECT_EQ(stored.version, "2");
  EXPECT_EQ(stored.source, (Source{"workflow", "7", "seven"}));
  EXPECT_EQ(stored.timestamp, kStart - 1h);
  EXPECT_EQ(stored.ordering_key, "o");
  EXPECT_EQ(stored.supersede_key, "s");
  EXPECT_EQ(stored.retry, event.retry);
  EXPECT_EQ(describe(queue->get(stored.id).value()), describe(stored));
}

TEST_P(SameQueue, PublishOfAnExistingEventIdReturnsTheExistingEvent) {
  NewEvent event = mail();
  event.event_id = "once";
  const Event first = queue->publish(event).value();
  event.title = "other";
  EXPECT_EQ(describe(queue->publish(event).value()), describe(first));
}

TEST_P(SameQueue, ABatchSharesACorrelationUnlessAnEventHasItsOwn) {
  std::vector<NewEvent> events{mail(), mail()};
  const auto correlated = queue->publish_batch(events).value();
  ASSERT_THAT(correlated, SizeIs(2));
  EXPECT_NE(correlated[0].correlation_id, "");
  EXPECT_EQ(correlated[0].correlation_id, correlated[1].correlation_id);

  events[0].correlation_id = "own";
  const auto own = queue->publish_batch(events).value();
  EXPECT_EQ(own[0].correlation_id, "own");
  EXPECT_EQ(own[1].correlation_id, "");

  events.resize(1);
  events[0].correlation_id = "";
  EXPECT_EQ(queue->publish_batch(events).value()[0].correlation_id, "");
  EXPECT_THAT(queue->publish_batch({}).value(), IsEmpty());
}

TEST_P(SameQueue, ABatchIsStoredWholeOrNotAtAll) {
  std::vector<NewEvent> events{mail(), mail()};
  events[1].title = "";
  EXPECT_EQ(queue->publish_batch(events).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(queue->poll().value(), std::nullopt);
  events.assign(10'001, mail());
  EXPECT_EQ(queue->publish_batch(events).error().code, ErrorCode::too_large);
}

TEST_P(SameQueue, PublishRefusesBadEvents) {
  NewEvent event = mail();
  event.title = "";
  EXPECT_EQ(queue->publish(event).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(queue->publish(event).error().field, "title");
  event = mail();
  event.payload = "{";
  EXPECT_EQ(queue->publish(event).error().field, "payload");
  event = mail();
  event.payload = "\"" + std::string(1024 * 1024 - 1, 'x') + "\"";
  EXPECT_EQ(queue->publish(event).error().code, ErrorCode::too_large);
  event.payload = "\"" + std::string(1024 * 1024 - 2, 'x') + "\"";
  EXPECT_TRUE(queue->publish(event));
  event = mail();
  event.tags = {"a,b"};
  EXPECT_EQ(queue->publish(event).error().field, "tags");
  event = mail();
  event.delay = -1ms;
  EXPECT_EQ(queue->publish(event).error().field, "delay");
}

TEST_P(SameQueue, PollClaimsTheNextEventThatMatches) {
  publish();
  NewEvent other = mail();
  other.tags = {"sms"};
  const EventId sms = publish(other);
  PollRequest request;
  request.tags = {"sms", "fax"};
  const Claim claim = queue->poll(request).value().value();
  EXPECT_EQ(claim.event.id, sms);
  EXPECT_EQ(claim.event.status, Status::processing);
  EXPECT_EQ(claim.event.worker_id, "host:1");
  EXPECT_EQ(claim.event.attempts, 1);
  EXPECT_EQ(claim.lease_until, kStart + 60s);
  EXPECT_EQ(claim.event.due_at, kStart + 60s);
  EXPECT_EQ(claim.event.picked_at, kStart);
  EXPECT_EQ(queue->poll(request).value(), std::nullopt);
  request.queue = "no such queue!";
  EXPECT_EQ(queue->poll(request).error().code, ErrorCode::invalid_argument);
}

TEST_P(SameQueue, CompleteTwiceReturnsTheFirstEntryAgain) {
  publish();
  const Lease lease = lease_of(poll());
  const LogEntry first = queue->complete(lease, {200, 12, {"one", "two"}}).value();
  clock.advance(1s);
  const LogEntry second = queue->complete(lease, {}).value();

  EXPECT_EQ(first.action, Action::completed);
  EXPECT_EQ(first.status_code, 200);
  EXPECT_EQ(first.execution_time_ms, 12);
  EXPECT_THAT(first.errors, ElementsAre("one", "two"));
  EXPECT_EQ(describe(second), describe(first));
  EXPECT_EQ(queue->get(lease.id).value().status, Status::completed_with_errors);
}

TEST_P(SameQueue, AReportAfterTheLeaseWentToAnotherWorkerIsRefused) {
  publish();
  const Lease lost = lease_of(poll());
  const Lease held = lease_of(steal());
  EXPECT_EQ(code_of_complete(lost), ErrorCode::lease_lost);
  EXPECT_EQ(queue->fail(lost, {}).error().code, ErrorCode::lease_lost);
  EXPECT_EQ(queue->give_back(lost, {}).error().code, ErrorCode::lease_lost);
  EXPECT_EQ(queue->heartbeat(lost).error().code, ErrorCode::lease_lost);
  EXPECT_EQ(queue->finalize(lost.id).error().code, ErrorCode::lease_lost);
  EXPECT_TRUE(queue->complete(held, {}));
}

TEST_P(SameQueue, FailRequeuesTheEventUntilItsRetriesAreUsedUp) {
  NewEvent event = mail();
  event.max_retries = 2;
  publish(event);
  const LogEntry first = queue->fail(lease_of(poll()), {500, 7, "no", false}).value();
  EXPECT_EQ(first.action, Action::failed);
  EXPECT_EQ(first.retry_count, 1);
  EXPECT_EQ(first.error_message, "no");
  EXPECT_EQ(first.next_retry_at, kStart + 5min);
  EXPECT_EQ(queue->get(EventId{1}).value().due_at, kStart + 5min);
  EXPECT_EQ(queue->poll().value(), std::nullopt);

  clock.advance(5min);
  const Lease lease = lease_of(poll());
  const LogEntry last = queue->fail(lease, {500, 7, "still no", false}).value();
  EXPECT_EQ(last.id, EventId{1});
  EXPECT_EQ(last.action, Action::failed);
  EXPECT_EQ(last.attempt, 2);
  EXPECT_EQ(last.worker_id, "host:1");
  EXPECT_EQ(last.retry_count, 2);
  EXPECT_EQ(last.status_code, 500);
  EXPECT_EQ(last.execution_time_ms, 7);
  EXPECT_EQ(last.error_message, "still no");
  EXPECT_EQ(last.next_retry_at, std::nullopt);
  EXPECT_EQ(queue->get(EventId{1}).value().status, Status::failed);
}

TEST_P(SameQueue, APermanentFailureIsFinal) {
  publish();
  const LogEntry entry = queue->fail(lease_of(poll()), {{}, {}, "never", true}).value();
  EXPECT_EQ(entry.next_retry_at, std::nullopt);
  EXPECT_EQ(queue->get(EventId{1}).value().status, Status::failed);
}

TEST_P(SameQueue, GiveBackCountsNoFailure) {
  publish();
  const Lease lease = lease_of(poll());
  const LogEntry entry = queue->give_back(lease, {2s, "busy"}).value();
  EXPECT_EQ(entry.action, Action::released);
  EXPECT_EQ(entry.reason, "busy");
  EXPECT_EQ(queue->get(EventId{1}).value().retry_count, 0);
  EXPECT_EQ(queue->poll().value(), std::nullopt);
  clock.advance(2s);
  EXPECT_EQ(poll().event.attempts, 2);
  EXPECT_EQ(queue->give_back(lease, {-1s, ""}).error().code, ErrorCode::invalid_argument);
}

TEST_P(SameQueue, NextReturnsResultsInTheOrderOfTheReportsAndClaims) {
  for (int i = 0; i < 6; ++i) publish();
  NextRequest request;
  request.limit = 5;
  ASSERT_THAT(queue->next(request).value().claims, SizeIs(5));
  request.reports = {{EventId{1}, 1, Return{0s, "later"}}, {EventId{2}, 1, Failure{{}, {}, "never", true}},
                     {EventId{3}, 1, Outcome{}},           {EventId{4}, 9, Outcome{}},
                     {EventId{99}, 1, Failure{}},          {EventId{5}, 1, Failure{{}, {}, "no", false}}};
  request.limit = 1;
  const NextResult result = queue->next(request).value();
  ASSERT_THAT(result.results, SizeIs(6));
  EXPECT_EQ(result.results[0].value().action, Action::released);
  EXPECT_EQ(result.results[1].value().error_message, "never");
  EXPECT_EQ(result.results[1].value().id, EventId{2});
  EXPECT_EQ(result.results[2].value().action, Action::completed);
  EXPECT_EQ(result.results[3].error().code, ErrorCode::lease_lost);
  EXPECT_EQ(result.results[4].error().code, ErrorCode::not_found);
  EXPECT_EQ(result.results[5].value().next_retry_at, kStart + 5min);
  EXPECT_THAT(result.claims, SizeIs(1));
}

TEST_P(SameQueue, NextRefusesBadMembers) {
  NextRequest request;
  request.limit = 1001;
  EXPECT_EQ(queue->next(request).error().field, "limit");
  request.limit = 1;
  request.wait = 3'600'001ms;
  EXPECT_EQ(queue->next(request).error().field, "wait");
  request.wait = -1ms;
  EXPECT_EQ(queue->next(request).error().field, "wait");
  request.wait = 0ms;
  request.tags = {"a b"};
  EXPECT_EQ(queue->next(request).error().field, "tags");
  request.tags = {};
  request.queue = "a b";
  EXPECT_EQ(queue->next(request).error().field, "queue");
  EXPECT_TRUE(queue->next({}));
}

TEST_P(SameQueue, AHeartbeatMovesTheEndOfTheLease) {
  publish();
  const Lease lease = lease_of(poll());
  clock.advance(30s);
  EXPECT_EQ(queue->heartbeat(lease).value(), kStart + 90s);
}

TEST_P(SameQueue, NextRenewsManyLeasesAndReports) {
  for (int i = 0; i < 3; ++i) publish();
  NextRequest request;
  request.limit = 3;
  ASSERT_THAT(queue->next(request).value().claims, SizeIs(3));
  clock.advance(30s);
  const std::vector<Alive> alive = {{EventId{2}, 1}, {EventId{3}, 9}, {EventId{99}, 1}, {EventId{3}, 1}};
  const NextResult kept = queue->next({.reports = {{EventId{1}, 1, Outcome{}}}, .alive = alive}).value();
  ASSERT_THAT(kept.results, SizeIs(1));
  EXPECT_EQ(kept.results[0].value().action, Action::completed);
  ASSERT_THAT(kept.leases, SizeIs(4));
  EXPECT_EQ(kept.leases[0].value(), kStart + 90s);
  EXPECT_EQ(kept.leases[1].error().code, ErrorCode::lease_lost);
  EXPECT_EQ(kept.leases[2].error().code, ErrorCode::not_found);
  EXPECT_EQ(kept.leases[3].value(), kStart + 90s);
  EXPECT_THAT(kept.claims, IsEmpty());

  EXPECT_THAT(queue->next({.alive = {{EventId{2}, 1}}}).value().leases, SizeIs(1));
  EXPECT_EQ(queue->next({.alive = std::vector<Alive>(10'001, {EventId{2}, 1})}).error().code,
            ErrorCode::too_large);
}

TEST_P(SameQueue, APayloadOfTheGreatestDepthIsReturned) {
  NewEvent deepest = mail();
  deepest.payload = std::string(63, '[') + std::string(63, ']');
  const EventId id = publish(deepest);
  publish();

  const auto result = queue->next({.limit = 2});
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_THAT(result->claims, SizeIs(2));
  EXPECT_EQ(result->claims[0].event.payload, deepest.payload);
  EXPECT_EQ(queue->get(id).value().payload, deepest.payload);
  EXPECT_THAT(queue->log(id).value(), SizeIs(1));
}

TEST_P(SameQueue, FinalizeEndsEventsThatThisObjectPolled) {
  publish();
  publish();
  publish();
  for (int i = 0; i < 3; ++i) poll();
  EXPECT_TRUE(queue->finalize(EventId{1}));
  EXPECT_TRUE(queue->finalize(EventId{2}, {"e"}));
  EXPECT_TRUE(queue->finalize(EventId{3}, Queue::Verdict::failure));
  EXPECT_EQ(queue->get(EventId{1}).value().status, Status::completed);
  EXPECT_EQ(queue->get(EventId{2}).value().status, Status::completed_with_errors);
  EXPECT_EQ(queue->get(EventId{3}).value().status, Status::failed);
  EXPECT_TRUE(queue->finalize(EventId{1}));
  EXPECT_EQ(queue->finalize(EventId{9}).error().code, ErrorCode::not_found);
  const EventId pending = publish();
  EXPECT_EQ(queue->finalize(pending).error().code, ErrorCode::lease_lost);
  EXPECT_EQ(queue->finalize(pending).error().message, "Event 4 was not polled by this queue object.");
}

TEST_P(SameQueue, WaitReturnsWhenTheEventEndsOrAfterTheTimeout) {
  const EventId id = publish();
  const auto early = queue->wait(id, 0s);
  EXPECT_EQ(early.error().code, ErrorCode::timeout);
  EXPECT_EQ(early.error().message, "Event 1 has not ended within 0s.");
  ASSERT_TRUE(queue->complete(lease_of(poll()), {}));
  EXPECT_EQ(queue->wait(id, 10s).value().status, Status::completed);
  EXPECT_EQ(queue->wait(EventId{9}, 10s).error().code, ErrorCode::not_found);
}

TEST_P(SameQueue, AResultIsReadWithItsEvent) {
  const EventId id = publish();
  queue->complete(lease_of(poll()), {.result = R"({"sum": 1.50})"}).value();

  EXPECT_EQ(queue->get(id).value().result, R"({"sum": 1.50})");
  EXPECT_EQ(queue->wait(id, 0ms).value().result, R"({"sum": 1.50})");
}

TEST_P(SameQueue, NextAndFinalizeTakeAResult) {
  const EventId first = publish();
  const EventId second = publish();
  queue->next({.reports = {{first, poll().event.attempts, Outcome{.result = "[1]"}}}}).value();
  poll();
  ASSERT_TRUE(queue->finalize(second, Outcome{.errors = {"late"}, .result = "[2]"}));

  EXPECT_EQ(queue->get(first).value().result, "[1]");
  EXPECT_EQ(queue->get(second).value().result, "[2]");
  EXPECT_EQ(queue->get(second).value().status, Status::completed_with_errors);
}

TEST_P(SameQueue, AResultOfNullIsNone) {
  const EventId id = publish();
  queue->complete(lease_of(poll()), {.result = "null"}).value();

  EXPECT_EQ(queue->get(id).value().result, "");
}

TEST_P(SameQueue, AResultThatIsNotJsonOrTooLargeIsRefused) {
  publish();
  const Lease lease = lease_of(poll());
  const auto refusal = [&](const std::string& result) {
    return queue->complete(lease, {.result = result}).error();
  };

  EXPECT_EQ(refusal("{").code, ErrorCode::invalid_argument);
  EXPECT_EQ(refusal("1,\"x\":2").field, "result");
  EXPECT_EQ(refusal('"' + std::string(limits::kResult - 1, 'x') + '"').code, ErrorCode::too_large);
  EXPECT_EQ(queue->next({.reports = {{lease.id, 1, Outcome{.result = "{"}}}}).error().field, "result");
  EXPECT_TRUE(queue->complete(lease, {.result = '"' + std::string(limits::kResult - 2, 'x') + '"'}));
}

TEST_P(SameQueue, ADetailIsInTheLogAndNotInTheAnswer) {
  const EventId id = publish();
  const LogEntry entry = queue->fail(lease_of(poll()), {.message = "away", .detail = "at line 7"}).value();

  EXPECT_EQ(entry.error_detail, "");
  EXPECT_EQ(queue->log(id).value().at(1).error_detail, "at line 7");
}

TEST_P(SameQueue, SettingsAreInForceEvenForAQueueThatDoesNotExist) {
  const QueueConfig unknown = queue->settings("a/b").value();
  EXPECT_EQ(unknown.max_queue_depth, 10'000);
  EXPECT_EQ(unknown.batch_size, 100);
  EXPECT_EQ(unknown.lease, 60s);
  publish();
  const QueueConfig main = queue->settings("main").value();
  EXPECT_EQ(main.max_queue_depth, std::nullopt);
  EXPECT_EQ(main.retry, RetryPolicy{});
  EXPECT_EQ(main.durability, Durability::strict);
  EXPECT_EQ(queue->settings("a b").error().code, ErrorCode::invalid_argument);
}

TEST_P(SameQueue, TheLogHasAnEntryForEachAction) {
  const EventId id = publish();
  ASSERT_TRUE(queue->fail(lease_of(poll()), {{}, {}, "no", false}));
  clock.advance(5min);
  ASSERT_TRUE(queue->complete(lease_of(poll()), {}));
  const auto log = queue->log(id).value();
  EXPECT_EQ(actions_of(log), "PICKED,FAILED,PICKED,COMPLETED");
  EXPECT_EQ(log[1].error_message, "no");
  EXPECT_EQ(log[2].attempt, 2);
  EXPECT_NE(log[0].log_id, LogId{0});
}

TEST_P(SameQueue, AnEventIsFoundByItsEventId) {
  const EventId named = queue->publish({.title = "x", .tags = {"a"}, .event_id = "order/1?of=2"}).value().id;
  const EventId digits = queue->publish({.title = "x", .tags = {"a"}, .event_id = "17"}).value().id;

  EXPECT_EQ(queue->find("order/1?of=2").value(), named);
  EXPECT_EQ(queue->find("17").value(), digits);
  EXPECT_EQ(queue->find("order/2").error().code, ErrorCode::not_found);
  EXPECT_EQ(queue->find("").error().code, ErrorCode::invalid_argument);
}

TEST_P(SameQueue, AnUnknownEventIsNotFound) {
  const Lease lease{EventId{999}, "host:1", 1};
  EXPECT_EQ(queue->get(EventId{999}).error().code, ErrorCode::not_found);
  EXPECT_EQ(queue->log(EventId{999}).error().code, ErrorCode::not_found);
  EXPECT_EQ(code_of_complete(lease), ErrorCode::not_found);
  EXPECT_EQ(queue->heartbeat(lease).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace eventq
