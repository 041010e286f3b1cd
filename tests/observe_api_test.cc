// observe_api_test.cc: workers, failures, metrics, traces and the archive, over HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/steady.h"
#include "support/file_text.h"
#include "support/local_api.h"
#include "support/process.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class ObserveApiTest : public LocalApiTest {
 protected:
  explicit ObserveApiTest(Options options = {}) : LocalApiTest(std::move(options)) {}

  HttpResponse metrics(const std::string& accept) {
    return request("GET", "/metrics", "", {{"Accept", accept}});
  }
};

// Workers

TEST_F(ObserveApiTest, AWorkerIsListedAfterItsCalls) {
  EXPECT_EQ(get("/workers").body, R"({"workers":[]})");
  put("/queues/mail", R"({"retry":{"baseMs":0}})");
  publish("mail");
  publish("mail");
  fail(claim("mail"));
  complete(claim("mail"));
  advance(3s);
  claim("mail");

  EXPECT_EQ(
      get("/workers").body,
      R"({"workers":[{"worker_id":"w:1","first_seen":"2024-03-15T00:00:00.000Z",)"
      R"("last_seen":"2024-03-15T00:00:03.000Z","completed":1,"failed":1,"holding":[2],"queue":"mail","tags":"t",)"
      R"("state":"active","asks":[{"queue":"mail","tags":"t"}],"stale":false}]})");
}

TEST_F(ObserveApiTest, AWorkerThatSignsOffIsGone) {
  get("/events/subscribe?tags=t&worker_id=a%2Fb:1");
  EXPECT_EQ(at(get("/workers"), "workers[0].state"), R"("active")");

  const HttpResponse answer = request("DELETE", "/workers/a%2Fb:1", "");
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.body, "");
  EXPECT_EQ(at(get("/workers"), "workers[0].state"), R"("gone")");
  EXPECT_EQ(request("DELETE", "/workers/a%2Fb:1", "").status, 204) << "again";
  EXPECT_EQ(request("DELETE", "/workers/unknown", "").status, 204);
  EXPECT_EQ(request("DELETE", "/workers/" + std::string(256, 'w'), "").status, 400);

  get("/events/subscribe?tags=t&worker_id=a%2Fb:1");
  EXPECT_EQ(at(get("/workers"), "workers[0].state"), R"("active")");
}

TEST_F(ObserveApiTest, AWorkerIsActiveThenIdleThenGoneAndLeavesTheListAfterADay) {
  get("/events/subscribe?tags=t&worker_id=w:1");
  advance(31s);
  EXPECT_EQ(at(get("/workers"), "workers[0].state"), R"("idle")");
  EXPECT_THAT(metrics("text/plain").body, HasSubstr("eventq_workers{state=\"idle\"} 1\n"));
  advance(10min);
  EXPECT_EQ(at(get("/workers"), "workers[0].state"), R"("gone")");
  EXPECT_THAT(metrics("text/plain").body, HasSubstr("eventq_workers{state=\"gone\"} 1\n"));
  advance(24h);
  EXPECT_EQ(get("/workers").body, R"({"workers":[]})");
}

TEST_F(ObserveApiTest, AWaitingPollCountsAsAsking) {
  publish("mail");
  HttpClient worker = waiting("GET", "/events/subscribe?queue=mail&tags=none&worker_id=w:1&wait=3600");
  advance(50min);

  EXPECT_EQ(at(get("/workers"), "workers[0].state"), R"("active")");
  EXPECT_THAT(metrics("text/plain").body, HasSubstr("eventq_queue_subscribers{queue=\"mail\"} 1\n"));
}

TEST_F(ObserveApiTest, AWorkerWithoutAHeartbeatIsStale) {
  publish("mail");
  claim("mail");
  advance(30s);
  EXPECT_EQ(at(get("/workers"), "workers[0].stale"), "false");

  advance(1s);

  const HttpResponse workers = get("/workers");
  EXPECT_EQ(at(workers, "workers[0].stale"), "true");
  EXPECT_THAT(at(workers, "workers[0].stale_because"), HasSubstr("No sign of life for event 1"));

  post("/events/1/heartbeat", R"({"worker_id":"w:1"})");
  EXPECT_EQ(at(get("/workers"), "workers[0].stale"), "false");
}

Options long_lease() {
  Options options;
  options.lease = 1h;
  options.stale_after = 1h;
  options.start_within = 5min;
  return options;
}

class LongLeaseApiTest : public ObserveApiTest {
 protected:
  LongLeaseApiTest() : ObserveApiTest(long_lease()) {}
};

TEST_F(LongLeaseApiTest, AWorkerThatStartedNoneOfItsClaimsIsStale) {
  publish("mail");
  claim("mail");
  advance(5min + 1s);
  EXPECT_THAT(at(get("/workers"), "workers[0].stale_because"), HasSubstr("has not begun it"));

  post("/events/1/start", R"({"worker_id":"w:1"})");

  EXPECT_EQ(at(get("/workers"), "workers[0].stale"), "false");
}

TEST_F(ObserveApiTest, WorkersSurviveARestart) {
  publish("mail");
  claim("mail");

  server_.restart();

  EXPECT_EQ(at(get("/workers"), "workers[0].worker_id"), R"("w:1")");
  EXPECT_EQ(at(get("/workers"), "workers[0].holding[0]"), "1");
}

TEST_F(ObserveApiTest, AWorkerIsShownByItsId) {
  publish("mail");
  claim("mail", "a/b:1");

  const HttpResponse worker = get("/workers/a%2Fb:1");

  EXPECT_EQ(worker.status, 200);
  EXPECT_EQ(R"({"workers":[)" + worker.body + "]}", get("/workers").body);
  EXPECT_EQ(at(worker, "worker_id"), R"("a/b:1")");
  EXPECT_EQ(at(worker, "holding[0]"), "1");
}

TEST_F(ObserveApiTest, AnUnknownWorkerIs404AndHasAnEmptyLog) {
  const HttpResponse none = get("/workers/w:9");

  EXPECT_EQ(none.status, 404);
  EXPECT_EQ(at(none, "type"), R"("urn:eventq:problem:not-found")");
  EXPECT_EQ(get("/workers/w:9/log").body, R"({"worker_id":"w:9","entries":[],"next":null,"complete":true})");
}

TEST_F(ObserveApiTest, AllActionsOfAWorkerAreListedNewestFirst) {
  put("/queues/mail", R"({"retry":{"baseMs":0}})");
  publish("mail");
  publish("mail");
  const auto later = [&](const std::string& id) {
    advance(1s);
    return id;
  };
  fail(later(claim("mail")), "busy");
  complete(later(claim("mail", "w:2")), "w:2");
  complete(later(claim("mail")));

  expect_members(R"({"worker_id":"w:1","entries":[
      {"event_id":2,"action":"COMPLETED","attempt":1,"created_at":"2024-03-15T00:00:03.000Z"},
      {"event_id":2,"action":"PICKED","attempt":1,"created_at":"2024-03-15T00:00:02.000Z"},
      {"event_id":1,"action":"FAILED","attempt":1,"error_message":"busy","created_at":"2024-03-15T00:00:01.000Z"},
      {"event_id":1,"action":"PICKED","attempt":1,"created_at":"2024-03-15T00:00:00.000Z"}],
      "next":null,"complete":true})",
                 get("/workers/w:1/log"));
}

TEST_F(ObserveApiTest, AWorkerThatFailedAnEventIsFoundAfterAnotherCompletedIt) {
  put("/queues/mail", R"({"retry":{"baseMs":0}})");
  publish("mail");
  publish("mail");
  fail(claim("mail"));
  complete(claim("mail", "w:2"), "w:2");

  expect_members(
      R"({"events":[{"id":1,"status":"COMPLETED","worker_id":"w:2"}],"total":1,"total_exact":true})",
      get("/events?worker_id=w:1"));
  EXPECT_EQ(at(get("/events?worker_id=w:1"), "scanned_to"), "");
}

TEST_F(ObserveApiTest, TheLogOfAWorkerIsReadPageByPage) {
  for (int i = 0; i < 3; ++i) {
    publish("mail");
    claim("mail");
  }
  std::string before;
  for (const std::string id : {"3", "2", "1"}) {
    const HttpResponse page = get("/workers/w:1/log?limit=1" + before);
    EXPECT_EQ(at(page, "entries[0].event_id"), id) << page.body;
    EXPECT_EQ(at(page, "entries[1].event_id"), "");
    std::string next = at(page, "next");
    std::erase(next, '"');
    before = "&before=" + next;
  }
  EXPECT_EQ(get("/workers/w:1/log?limit=1" + before).body,
            R"({"worker_id":"w:1","entries":[],"next":null,"complete":true})");
}

TEST_F(ObserveApiTest, AWrongCursorOrLimitOfAWorkersLogIsRefused) {
  for (const std::string query :
       {"before=7", "before=7-", "before=-7", "before=a-b", "limit=0", "limit=1001", "after=1-1"}) {
    EXPECT_EQ(get("/workers/w:1/log?" + query).status, 400) << query;
  }
}

// Failures

class FailuresApiTest : public ObserveApiTest {
 protected:
  // Fails a new event permanently.
  std::string fail_new(std::string_view queue, std::string_view message, std::string_view more = {}) {
    const std::string id = publish(queue, R"(,"max_retries":1)" + std::string(more));
    EXPECT_EQ(fail(claim(queue), message), 400);
    return id;
  }
};

TEST_F(FailuresApiTest, FailureGroupsKeepASampleMessageAndReadableCodes) {
  fail_new("mail", "550 5.1.1 <alice@example.com>: no such user");
  fail_new("mail", "550 5.1.1 <bob@example.com>: no such user");
  fail_new("pay", "card_declined: 51");
  fail_new("pay", "card_declined: 05");
  fail_new("pay",
           "Traceback (most recent call last):\\n  File \\\"pay.py\\\", line 3, in charge\\nKeyError: "
           "'amount'\\n");

  const HttpResponse mail = get("/failures?queue=mail");
  const HttpResponse pay = get("/failures?queue=pay");

  EXPECT_EQ(at(mail, "failures[0].cause"), R"("550 5.1.1 <#>: no such user")");
  EXPECT_EQ(at(mail, "failures[0].sample"), R"("550 5.1.1 <bob@example.com>: no such user")");
  EXPECT_EQ(at(mail, "failures[0].events"), "2");
  EXPECT_EQ(at(pay, "failures[0].cause"), R"("KeyError: 'amount'")");
  EXPECT_EQ(at(pay, "failures[0].sample"), R"("KeyError: 'amount'")");
  EXPECT_EQ(at(pay, "failures[1].cause"), R"("card_declined: 05")");
  EXPECT_EQ(at(pay, "failures[2].cause"), R"("card_declined: 51")");
}

TEST_F(FailuresApiTest, FailuresAreGroupedByCauseWithoutNumbersLargestFirst) {
  fail_new("mail", "No such user");
  advance(1s);
  fail_new("mail", "Timeout after 30 ms");
  advance(1s);
  fail_new("mail", "Timeout after 4000 ms");
  fail_new("other", "Timeout after 1 ms");

  const HttpResponse failures = get("/failures?queue=mail");

  EXPECT_EQ(
      failures.body,
      R"({"failures":[{"id":"d00c33b1","queue":"mail","cause":"Timeout after # ms",)"
      R"("sample":"Timeout after 4000 ms","events":2,)"
      R"("first_at":"2024-03-15T00:00:01.000Z","last_at":"2024-03-15T00:00:02.000Z","last_event_id":3},)"
      R"({"id":"41e5d5f0","queue":"mail","cause":"No such user","sample":"No such user","events":1,)"
      R"("first_at":"2024-03-15T00:00:00.000Z","last_at":"2024-03-15T00:00:00.000Z","last_event_id":1}]})");
  EXPECT_NE(at(get("/failures"), "failures[2].queue"), "");
  EXPECT_EQ(at(get("/failures?limit=1"), "failures[1].queue"), "");
  EXPECT_EQ(get("/failures?limit=0").status, 400);
}

TEST_F(FailuresApiTest, ARetryRunsTheFailuresOfACauseAgain) {
  const std::string first = fail_new("mail", "Timeout after 30 ms");
  const std::string other = fail_new("mail", "No such user");
  const std::string body = R"({"queue":"mail","cause":"Timeout after # ms","reason":"fixed")";

  EXPECT_EQ(post("/failures/retry", body + R"(,"dry_run":true})").body,
            R"({"dry_run":true,"matched":1,"retried":0,"events":[1],"more":false})");
  EXPECT_EQ(status_of(first), R"("FAILED")");

  EXPECT_EQ(post("/failures/retry", body + "}").body,
            R"({"dry_run":false,"matched":1,"retried":1,"events":[1],"more":false})");
  EXPECT_EQ(status_of(first), R"("PENDING")");
  EXPECT_EQ(status_of(other), R"("FAILED")");
  EXPECT_THAT(get("/events/1?include_logs=true").body, HasSubstr(R"("reason":"fixed")"));
  EXPECT_EQ(at(get("/failures"), "failures[0].cause"), R"("No such user")");
}

TEST_F(FailuresApiTest, TheEarlierNameOfTheRouteAnswersWithItsEarlierMember) {
  fail_new("mail", "Timeout after 5 ms");

  EXPECT_EQ(post("/failures/redrive", R"({"queue":"mail"})").body,
            R"({"dry_run":false,"matched":1,"redriven":1,"events":[1],"more":false})");
}

TEST_F(FailuresApiTest, ARetryOfAllQueuesNeedsABody) {
  fail_new("mail", "one");
  fail_new("other", "two", R"(,"pattern":"p")");

  EXPECT_EQ(post("/failures/retry").status, 415);
  EXPECT_EQ(at(post("/failures/retry", R"({"pattern":"p","dry_run":true})"), "matched"), "1");
  EXPECT_EQ(at(post("/failures/retry", R"({"tags":"other","dry_run":true})"), "matched"), "0");
  EXPECT_EQ(at(post("/failures/retry", R"({"from":"2024-03-15T00:00:01Z"})"), "matched"), "0");
  EXPECT_EQ(at(post("/failures/retry", "{}"), "retried"), "2");
  EXPECT_EQ(post("/failures/retry", R"({"queue":"none"})").status, 404);
}

TEST_F(FailuresApiTest, ARetryIntoAFullQueueIs429) {
  put("/queues/mail", R"({"maxQueueDepth":1})");
  const std::string failed = fail_new("mail", "one");
  publish("mail");

  const HttpResponse refused = post("/failures/retry", R"({"queue":"mail"})");

  EXPECT_EQ(refused.status, 429);
  EXPECT_NE(refused.header("Retry-After"), "");
  EXPECT_EQ(status_of(failed), R"("FAILED")");
}

TEST_F(FailuresApiTest, ARetryIntoAnAlmostFullQueueRetriesSomeEventsAndReportsMore) {
  put("/queues/mail", R"({"maxQueueDepth":2})");
  const std::string first = fail_new("mail", "one");
  const std::string second = fail_new("mail", "one");
  publish("mail");

  EXPECT_EQ(post("/failures/retry", R"({"queue":"mail"})").body,
            R"({"dry_run":false,"matched":2,"retried":1,"events":[1],"more":true})");
  EXPECT_EQ(status_of(first), R"("PENDING")");
  EXPECT_EQ(status_of(second), R"("FAILED")");
  EXPECT_EQ(depth_of("mail"), "2");
}

TEST_F(FailuresApiTest, AnEventShowsTheMessageOfItsLastFailure) {
  fail_new("mail", "No such user");

  EXPECT_EQ(at(get("/events/1"), "error_message"), R"("No such user")");
  EXPECT_EQ(at(get("/events/1"), "processed_at"), R"("2024-03-15T00:00:00.000Z")");
}

TEST_F(FailuresApiTest, AListSaysWhyAnEventFailedAndWhichWorkerHadIt) {
  fail_new("mail", "No such user", R"(,"pattern":"user.created")");
  publish("mail");

  expect_members(R"({"events":[
      {"id":1,"error_message":"No such user","processed_at":"2024-03-15T00:00:00.000Z",
       "finished_at":"2024-03-15T00:00:00.000Z","pattern":"user.created","worker_id":"w:1","superseded_by":null},
      {"id":2,"error_message":null,"processed_at":null,"finished_at":null,"pattern":null,"worker_id":null,
       "superseded_by":null}]})",
                 get("/events"));
}

TEST_F(FailuresApiTest, AnEventThatNeverFailedHasNullForItsError) {
  publish("mail");

  expect_members(R"({"error_message":null,"processed_at":null,"finished_at":null,"pattern":null,
                     "worker_id":null,"superseded_by":null})",
                 get("/events/1"));
}

TEST_F(ObserveApiTest, ASupersededEventIsFinishedButNotProcessed) {
  publish("mail", R"(,"supersede_key":"k")");
  publish("mail", R"(,"supersede_key":"k")");

  expect_members(R"({"events":[{"id":1,"status":"SUPERSEDED","superseded_by":2,"processed_at":null,
                     "finished_at":"2024-03-15T00:00:00.000Z"}]})",
                 get("/events?status=SUPERSEDED"));
}

// Metrics

TEST_F(ObserveApiTest, MetricsAreTextForPrometheusUnlessJsonIsRequested) {
  for (const std::string accept :
       {"", "*/*", "text/plain",
        "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"}) {
    EXPECT_EQ(metrics(accept).header("Content-Type"), "text/plain; version=0.0.4; charset=utf-8") << accept;
  }
  EXPECT_EQ(metrics("application/json").header("Content-Type"), "application/json");
}

TEST_F(ObserveApiTest, MetricsCountTheChangesInEachQueue) {
  put("/queues/mail", R"({"highWatermark":1,"retry":{"baseMs":0}})");
  for (int i = 0; i < 4; ++i) publish("mail");
  complete(claim("mail"));
  fail(claim("mail"));
  advance(7s);

  const std::string text = metrics("text/plain").body;

  for (const std::string_view line : {
           "# TYPE eventq_events gauge\n",
           "eventq_events{queue=\"mail\",state=\"PENDING\"} 3\n",
           "eventq_events{queue=\"mail\",state=\"COMPLETED\"} 1\n",
           "eventq_oldest_pending_age_seconds{queue=\"mail\"} 7\n",
           "eventq_queue_backpressure{queue=\"mail\"} 1\n",
           "eventq_queue_backpressure{queue=\"main\"} 0\n",
           "# TYPE eventq_events_published_total counter\n",
           "eventq_events_published_total{queue=\"mail\"} 4\n",
           "eventq_events_claimed_total{queue=\"mail\"} 2\n",
           "eventq_events_completed_total{queue=\"mail\"} 1\n",
           "eventq_events_failed_total{queue=\"mail\",final=\"false\"} 1\n",
           "eventq_events_retried_total{queue=\"mail\"} 1\n",
           "# TYPE eventq_run_duration_seconds histogram\n",
           "eventq_run_duration_seconds_count{queue=\"mail\"} 2\n",
           "eventq_workers{state=\"active\"} 1\n",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST_F(ObserveApiTest, MetricsInJsonHaveTheSameValues) {
  put("/queues/mail", R"({"highWatermark":1})");
  for (int i = 0; i < 4; ++i) publish("mail");
  complete(claim("mail"));
  claim("mail");
  advance(7s);

  const HttpResponse shown = metrics("application/json");

  expect_members(R"({"pending":2,"processing":1,"failed_24h":0,"workers":1,
                     "queues":[{"queue":"mail","depth":3,"backpressure":true,"published":4,"completed":1,
                                "oldest_pending_seconds":7},
                               {"oldest_pending_seconds":null}]})",
                 shown);
}

TEST_F(ObserveApiTest, EventsOfATagThatNoWorkerAsksForAreUnattendedEverywhere) {
  for (const char* tags : {"a", "b", "b", "a,b"}) {
    post("/events", R"({"title":"t","queue":"mail","tags":")" + std::string(tags) + R"("})");
  }
  post("/events", R"({"title":"later","queue":"mail","tags":"b","run_at":"2024-03-15T00:01:00Z"})");
  get("/events/subscribe?queue=mail&tags=a&worker_id=w:1");

  EXPECT_EQ(at(get("/overview"), "metrics.queues[0].unattended"), "2");
  EXPECT_EQ(at(metrics("application/json"), "queues[0].unattended"), "2");
  EXPECT_THAT(metrics("text/plain").body, HasSubstr("eventq_queue_unattended{queue=\"mail\"} 2\n"));

  post("/queues/mail/pause", "{}");
  EXPECT_EQ(at(get("/overview"), "metrics.queues[0].unattended"), "0");
}

TEST_F(ObserveApiTest, MetricsCountWaitingClaimsAndWaits) {
  publish("mail");
  HttpClient worker = waiting("GET", "/events/subscribe?tags=none&worker_id=w:1&wait=20");
  HttpClient waiter = waiting("POST", "/events/1/wait?timeout=20");

  EXPECT_EQ(at(metrics("application/json"), "waiting_claims"), "1");
  EXPECT_EQ(at(metrics("application/json"), "waiting_ends"), "1");
  EXPECT_THAT(metrics("text/plain").body, HasSubstr("eventq_longpoll_waiting 1\n"));
  EXPECT_THAT(metrics("text/plain").body, HasSubstr("eventq_end_waiting 1\n"));
}

TEST_F(ObserveApiTest, AnEventThatIsResetStaysInTheFailuresOfTheLastDay) {
  put("/queues/mail", R"({"maxRetries":1})");
  publish("mail");
  fail(claim("mail"));

  ASSERT_EQ(post("/events/1/reset").status, 200);

  EXPECT_EQ(status_of("1"), R"("PENDING")");
  EXPECT_EQ(at(metrics("application/json"), "failed_24h"), "1");
}

TEST_F(ObserveApiTest, FailuresOfTheLastDayAreCountedAlsoAfterARestart) {
  put("/queues/mail", R"({"maxRetries":1})");
  publish("mail");
  fail(claim("mail"));

  server_.restart();
  EXPECT_EQ(at(metrics("application/json"), "failed_24h"), "1");
  advance(25h);

  EXPECT_EQ(at(metrics("application/json"), "failed_24h"), "0");
}

// Traces

TEST_F(ObserveApiTest, ATraceparentGivesTheTraceId) {
  const HttpHeaders trace = {{"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}};
  const std::string event = R"({"title":"event","tags":"t"})";

  EXPECT_EQ(at(post("/events", event, trace), "trace_id"), R"("4bf92f3577b34da6a3ce929d0e0e4736")");
  EXPECT_EQ(at(post("/events/batch", R"({"events":[)" + event + "]}", trace), "events[0].trace_id"),
            R"("4bf92f3577b34da6a3ce929d0e0e4736")");
  EXPECT_EQ(at(post("/events", R"({"title":"event","tags":"t","trace_id":"mine"})", trace), "trace_id"),
            R"("mine")");
}

TEST_F(ObserveApiTest, TraceparentAndTracestateReachTheWorkerAsSent) {
  const std::string parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const std::string own = "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03-more";
  const HttpHeaders trace = {{"traceparent", parent}, {"tracestate", "rojo=00f067aa0ba902b7,congo=t61"}};
  post("/events", R"({"title":"event","tags":"header","trace_id":"mine"})", trace);
  post("/events", R"({"title":"event","tags":"body","traceparent":")" + own + R"(","tracestate":"a=b"})",
       trace);

  const HttpResponse header = get("/events/subscribe?tags=header&worker_id=w");
  const HttpResponse body = get("/events/subscribe?tags=body&worker_id=w");

  EXPECT_EQ(at(header, "traceparent"), '"' + parent + '"');
  EXPECT_EQ(at(header, "tracestate"), R"("rojo=00f067aa0ba902b7,congo=t61")");
  EXPECT_EQ(at(header, "trace_id"), R"("mine")");
  EXPECT_EQ(at(body, "traceparent"), '"' + own + '"');
  EXPECT_EQ(at(body, "tracestate"), R"("a=b")");
  EXPECT_EQ(at(body, "trace_id"), R"("0af7651916cd43dd8448eb211c80319c")");
}

TEST_F(ObserveApiTest, ATracestateInSeveralFieldsIsJoined) {
  const std::string parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const std::string event = R"({"title":"event","tags":"t"})";

  EXPECT_EQ(
      at(post("/events", event, {{"traceparent", parent}, {"tracestate", "a=1"}, {"tracestate", "b=2"}}),
         "tracestate"),
      R"("a=1, b=2")");
  EXPECT_EQ(at(post("/events", event, {{"tracestate", "a=1"}}), "tracestate"), "");
  const HttpResponse long_state =
      post("/events", event, {{"traceparent", parent}, {"tracestate", "a=" + std::string(511, 'x')}});
  EXPECT_EQ(at(long_state, "traceparent"), '"' + parent + '"');
  EXPECT_EQ(at(long_state, "tracestate"), "");
}

TEST_F(ObserveApiTest, AMalformedTraceInABodyIsRefused) {
  const auto field = [this](const std::string& members) {
    const HttpResponse refused = post("/events", R"({"title":"event","tags":"t",)" + members + "}");
    EXPECT_EQ(refused.status, 400) << refused.body;
    return at(refused, "field");
  };
  EXPECT_EQ(field(R"("traceparent":"00-1-2-01")"), R"("traceparent")");
  EXPECT_EQ(field(R"("tracestate":"a=b")"), R"("tracestate")");
  EXPECT_EQ(field(R"("published_by":"a\nb")"), R"("published_by")");
}

TEST_F(ObserveApiTest, TheTraceOfABatchReachesItsOnCompleteEvent) {
  const std::string parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  post(
      "/events/batch",
      R"({"events":[{"title":"a","tags":"t"}],"on_complete":{"title":"b","tags":"last","published_by":"Ada"}})",
      {{"traceparent", parent}});
  get("/events/subscribe?tags=t&worker_id=w");
  post("/events/1/complete", R"({"worker_id":"w"})");

  const HttpResponse last = get("/events/subscribe?tags=last&worker_id=w");

  EXPECT_EQ(at(last, "traceparent"), '"' + parent + '"');
  EXPECT_EQ(at(last, "trace_id"), R"("4bf92f3577b34da6a3ce929d0e0e4736")");
  EXPECT_EQ(at(last, "published_by"), R"("Ada")");
}

TEST_F(ObserveApiTest, AnEventSaysItsPublisher) {
  post("/events", R"({"title":"event","tags":"t","published_by":"Ada <ada@example.com>"})");
  post("/events", R"({"title":"event","tags":"t"})");

  EXPECT_EQ(at(get("/events/1"), "published_by"), R"("Ada <ada@example.com>")");
  EXPECT_EQ(at(get("/events/2"), "published_by"), "");
}

TEST_F(ObserveApiTest, AMalformedTraceparentIsIgnored) {
  for (const std::string_view header : {
           "",
           "00",
           "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
           "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
           "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
           "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
       }) {
    const HttpResponse published =
        post("/events", R"({"title":"event","tags":"t"})", {{"traceparent", std::string(header)}});
    EXPECT_EQ(published.status, 201) << header;
    EXPECT_EQ(at(published, "trace_id"), "") << header;
  }
}

// Retention and archive

class RetentionApiTest : public ObserveApiTest {
 protected:
  explicit RetentionApiTest(Options options = {}) : ObserveApiTest(std::move(options)) {}

  // Waits until the retention thread has removed the event; false after a minute.
  bool leaves(std::string_view id) {
    for (const SteadyTime deadline = steady_now() + 60s; steady_now() < deadline;) {
      server_.settle();
      if (get("/events/" + std::string(id)).status == 404) return true;
    }
    return false;
  }
};

TEST_F(RetentionApiTest, EndedEventsAreRemovedAfterTheirRetention) {
  put("/queues/mail", R"({"maxRetries":1,"retention":{"completedSeconds":60,"failedSeconds":3600}})");
  publish("mail");
  complete(claim("mail"));
  publish("mail");
  fail(claim("mail"));
  publish("mail");
  advance(60s);
  EXPECT_EQ(get("/events/1").status, 200);

  advance(1ms);
  EXPECT_TRUE(leaves("1"));
  EXPECT_EQ(get("/events/2").status, 200) << "failed events have a longer retention";

  advance(1h);
  EXPECT_TRUE(leaves("2"));
  EXPECT_EQ(status_of("3"), R"("PENDING")") << "a live event is not removed";
  EXPECT_EQ(at(get("/queues/mail"), "queueMetrics.totalProcessed"), "1") << "totals include removed events";
  EXPECT_EQ(at(get("/queues/mail"), "counts.COMPLETED"), "0");
}

TEST_F(RetentionApiTest, ACorrelationsCountsStayUntilItsLastEventIsRemoved) {
  put("/queues/mail", R"({"retention":{"completedSeconds":60}})");
  publish("mail", R"(,"correlation_id":"c")");
  publish("mail", R"(,"correlation_id":"c")");
  complete(claim("mail"));
  advance(60s + 1ms);
  EXPECT_TRUE(leaves("1"));
  EXPECT_EQ(at(get("/events/correlation/c"), "total"), "2");
  EXPECT_EQ(at(get("/events/correlation/c"), "events[0].id"), "2");

  complete(claim("mail"));
  advance(60s + 1ms);
  EXPECT_TRUE(leaves("2"));

  EXPECT_EQ(get("/events/correlation/c").status, 404);
}

// A base class, because the folder must exist before the server starts.
struct ArchiveFolder {
  TemporaryDirectory directory_;
};

Options with_archive(const TemporaryDirectory& directory) {
  Options options;
  options.archive_dir = directory.file("archive");
  return options;
}

class ArchiveApiTest : protected ArchiveFolder, public RetentionApiTest {
 protected:
  ArchiveApiTest() : RetentionApiTest(with_archive(directory_)) {}

  std::vector<std::string> read(const std::string& file) {
    const Finished read =
        run({.command = {"/bin/zcat", directory_.file("archive/" + file)}, .directory = "/"});
    EXPECT_EQ(read.exit_code, 0) << read.err;
    return lines_of(read.out);
  }
};

TEST_F(ArchiveApiTest, ARemovedEventIsALineOfTheDaysFileAsTheApiShowedIt) {
  put("/queues/mail", R"({"retention":{"completedSeconds":60}})");
  publish("mail", ",\"payload\":{\"text\":\"two\\nlines\",\n \"n\": 1}");
  publish("mail");
  complete(claim("mail"));
  complete(claim("mail"));
  const std::string shown = get("/events/2?include_logs=true").body;
  advance(60s + 1ms);
  ASSERT_TRUE(leaves("1"));
  ASSERT_TRUE(leaves("2"));

  const auto lines = read("events-2024-03-15.ndjson.gz");

  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(at(lines[0], "id"), "1");
  EXPECT_EQ(at(lines[0], "payload"), R"({"text":"two\nlines",  "n": 1})")
      << "a blank replaces the line break";
  EXPECT_EQ(at(lines[0], "logs[1].action"), R"("COMPLETED")");
  EXPECT_EQ(lines[1], shown);
}

TEST_F(ArchiveApiTest, TheWholeFileIsReadableAfterEveryAppend) {
  put("/queues/mail", R"({"retention":{"completedSeconds":1}})");
  for (int i = 1; i <= 3; ++i) {
    const std::string id = publish("mail");
    complete(claim("mail"));
    advance(1s + 1ms);
    ASSERT_TRUE(leaves(id));
    EXPECT_EQ(read("events-2024-03-15.ndjson.gz").size(), static_cast<std::size_t>(i));
    if (i == 2) server_.restart();
  }
}

TEST_F(ArchiveApiTest, EachDayHasItsFile) {
  put("/queues/mail", R"({"retention":{"completedSeconds":1}})");
  for (int day = 0; day < 2; ++day) {
    const std::string id = publish("mail");
    complete(claim("mail"));
    advance(1s + 1ms);
    ASSERT_TRUE(leaves(id));
    advance(24h);
  }

  EXPECT_EQ(read("events-2024-03-15.ndjson.gz").size(), 1U);
  EXPECT_EQ(read("events-2024-03-16.ndjson.gz").size(), 1U);
}

}  // namespace
}  // namespace eventq
