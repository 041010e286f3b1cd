// wait_api_test.cc: the routes that wait for the end of an event, of a publication or of a correlation.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/local_api.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

class WaitApiTest : public LocalApiTest {};

TEST_F(WaitApiTest, AWaitIsAnsweredWithTheEndedEvent) {
  publish("mail");
  HttpClient waiter = waiting("POST", "/events/1/wait?timeout=20");

  complete(claim("mail"));

  const HttpResponse ended = waiter.receive().value();
  EXPECT_EQ(ended.status, 200);
  EXPECT_EQ(ended.body, get("/events/1").body);
  EXPECT_EQ(at(ended, "status"), R"("COMPLETED")");
}

TEST_F(WaitApiTest, AWaitIsAnsweredWithAnyEndOfTheEvent) {
  put("/queues/mail", R"({"maxRetries":1})");
  for (int i = 0; i < 3; ++i) publish("mail", R"(,"supersede_key":"k)" + std::to_string(i) + '"');
  HttpClient first = waiting("POST", "/events/1/wait");
  HttpClient second = waiting("POST", "/events/2/wait");
  HttpClient third = waiting("POST", "/events/3/wait", "{}");

  fail(claim("mail"));
  post("/events/2/cancel");
  post("/queues/mail/supersede", R"({"supersede_key":"k2"})");

  EXPECT_EQ(at(first.receive().value(), "status"), R"("FAILED")");
  EXPECT_EQ(at(second.receive().value(), "status"), R"("CANCELLED")");
  EXPECT_EQ(at(third.receive().value(), "status"), R"("SUPERSEDED")");
}

TEST_F(WaitApiTest, ARetryDoesNotEndAWait) {
  publish("mail");
  HttpClient waiter = waiting("POST", "/events/1/wait?timeout=20");

  fail(claim("mail"));
  server_.settle();

  EXPECT_FALSE(waiter.readable_within(0ms));
}

TEST_F(WaitApiTest, AWaitThatTakesTooLongIs408) {
  publish("mail");
  HttpClient waiter = waiting("POST", "/events/1/wait");
  advance(29s);
  EXPECT_FALSE(waiter.readable_within(0ms)) << "30 s by default";

  advance(1s);

  const HttpResponse late = waiter.receive().value();
  EXPECT_EQ(late.status, 408);
  EXPECT_EQ(at(late, "type"), R"("urn:eventq:problem:timeout")");
}

TEST_F(WaitApiTest, AWaitForAnEndedOrUnknownEventIsAnsweredAtOnce) {
  publish("mail");
  complete(claim("mail"));

  EXPECT_EQ(post("/events/1/wait?timeout=60").status, 200);
  EXPECT_EQ(post("/events/99/wait?timeout=60").status, 404);
  EXPECT_EQ(post("/events/correlation/none/wait?timeout=60").status, 404);
  EXPECT_EQ(post("/events/1/wait?timeout=3601").status, 400);
  publish("mail");
  EXPECT_EQ(post("/events/2/wait?timeout=0").status, 408);
}

TEST_F(WaitApiTest, APublisherThatPrefersToWaitGetsTheEndedEvent) {
  HttpClient publisher =
      waiting("POST", "/events", R"({"title":"event","tags":"t"})", {{"Prefer", "wait=10"}});

  fail(claim("main"), "not yet");
  advance(5min);
  EXPECT_EQ(publisher.receive().value().status, 202);

  HttpClient next = waiting("POST", "/events", R"({"title":"event","tags":"t","priority":1})",
                            {{"Prefer", "respond-async, wait=10"}});
  complete(claim("main"));
  const HttpResponse ended = next.receive().value();
  EXPECT_EQ(ended.status, 201);
  EXPECT_EQ(ended.header("Preference-Applied"), "wait=10");
  EXPECT_EQ(ended.header("Location"), "/events/2");
  EXPECT_EQ(at(ended, "status"), R"("COMPLETED")");
}

TEST_F(WaitApiTest, APublicationWhoseWaitTimesOutIs202AndOnDisk) {
  HttpClient publisher =
      waiting("POST", "/events", R"({"title":"event","tags":"t"})", {{"Prefer", "wait=10"}});

  advance(10s);

  const HttpResponse late = publisher.receive().value();
  EXPECT_EQ(late.status, 202);
  EXPECT_EQ(late.header("Preference-Applied"), "wait=10");
  EXPECT_EQ(at(late, "status"), R"("PENDING")");
  EXPECT_EQ(status_of("1"), R"("PENDING")");
}

TEST_F(WaitApiTest, AnExistingEventThatHasEndedIs200WithoutWaiting) {
  const std::string event = R"({"title":"event","tags":"t","event_id":"e"})";
  post("/events", event);
  complete(claim("main"));

  const HttpResponse again = post("/events", event, {{"Prefer", "wait=10"}});

  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(at(again, "status"), R"("COMPLETED")");
}

TEST_F(WaitApiTest, APreferenceThatIsNotAWaitIsIgnored) {
  const std::string event = R"({"title":"event","tags":"t"})";
  for (const std::string_view prefer : {"wait=-1", "wait=1.5", "wait=soon", "wait", "return=minimal", ";;"}) {
    const HttpResponse published = post("/events", event, {{"Prefer", std::string(prefer)}});
    EXPECT_EQ(published.status, 201) << prefer;
    EXPECT_EQ(published.header("Preference-Applied"), "") << prefer;
  }
  EXPECT_EQ(post("/events/batch", R"({"events":[)" + event + "]}", {{"Prefer", "wait=10"}}).status, 201);
}

TEST_F(WaitApiTest, APreferredWaitOverAnHourLastsAnHour) {
  HttpClient publisher =
      waiting("POST", "/events", R"({"title":"event","tags":"t"})", {{"Prefer", "wait=4000"}});

  advance(1h - 1ms);
  EXPECT_FALSE(publisher.readable_within(0ms));
  advance(1ms);

  const HttpResponse late = publisher.receive().value();
  EXPECT_EQ(late.status, 202);
  EXPECT_EQ(late.header("Preference-Applied"), "wait=3600");
}

// Correlations

TEST_F(WaitApiTest, ACorrelationCountsItsEventsByOutcome) {
  put("/queues/main", R"({"maxRetries":1})");
  const std::string event = R"({"title":"event","tags":"t"})";
  const HttpResponse published = post("/events/batch", R"({"correlation_id":"order-1/7","events":[)" + event +
                                                           "," + event + "," + event + "," + event + "]}");
  ASSERT_EQ(published.status, 201) << published.body;
  complete(claim("main"));
  fail(claim("main"));
  post("/events/3/cancel");

  const HttpResponse correlation = get("/events/correlation/order-1%2F7?limit=2&after_id=1");

  EXPECT_EQ(correlation.status, 200);
  expect_members(R"({"correlation_id":"order-1/7","total":4,"completed":1,"failed":1,"pending":1,
                     "events":[{"id":2,"sequence":1},{"id":3}]})",
                 correlation);
  EXPECT_EQ(at(correlation, "events[2].id"), "");
  EXPECT_EQ(get("/events/correlation/none").status, 404);
  EXPECT_EQ(get("/events/correlation/order-1%2F7?limit=1001").status, 400);
}

TEST_F(WaitApiTest, TheEventsOfACorrelationSayErrorAndProcessedAt) {
  publish("main", R"(,"correlation_id":"c","max_retries":1)");
  publish("main", R"(,"correlation_id":"c")");
  fail(claim("main"), "Conflict in a.md");

  expect_members(R"({"events":[
      {"id":1,"status":"FAILED","error_message":"Conflict in a.md","processed_at":"2024-03-15T00:00:00.000Z",
       "worker_id":"w:1"},
      {"id":2,"status":"PENDING","error_message":null,"processed_at":null}]})",
                 get("/events/correlation/c"));
}

TEST_F(WaitApiTest, AWaitForACorrelationIsAnsweredWhenItsLastEventEnds) {
  publish("main", R"(,"correlation_id":"c")");
  publish("mail", R"(,"correlation_id":"c")");
  HttpClient waiter = waiting("POST", "/events/correlation/c/wait?timeout=20");
  complete(claim("main"));
  server_.settle();
  EXPECT_FALSE(waiter.readable_within(0ms));

  complete(claim("mail"));

  const HttpResponse done = waiter.receive().value();
  EXPECT_EQ(done.status, 200);
  EXPECT_EQ(done.body, get("/events/correlation/c").body);
  EXPECT_EQ(at(done, "completed"), "2");
}

TEST_F(WaitApiTest, AWaitForACorrelationThatTakesTooLongIs408) {
  publish("main", R"(,"correlation_id":"c")");
  HttpClient waiter = waiting("POST", "/events/correlation/c/wait?timeout=5");

  advance(5s);

  EXPECT_EQ(waiter.receive().value().status, 408);
}

TEST_F(WaitApiTest, OnCompleteIsPublishedOnceWhenTheLastEventEnds) {
  const std::string event = R"({"title":"part","tags":"t"})";
  const std::string batch = R"({"correlation_id":"c","events":[)" + event + "," + event +
                            R"(],"on_complete":{"title":"whole","tags":"sum","payload":{"of":2}}})";
  ASSERT_EQ(post("/events/batch", batch).status, 201);
  EXPECT_EQ(post("/events/batch", batch).status, 409)
      << "the on_complete event of the first batch is not published yet";
  complete(claim("main"));
  EXPECT_EQ(get("/events/subscribe?tags=sum&worker_id=w:2").status, 204);

  complete(claim("main"));

  const HttpResponse whole = get("/events/subscribe?tags=sum&worker_id=w:2");
  EXPECT_EQ(at(whole, "title"), R"("whole")");
  EXPECT_EQ(at(whole, "payload"), R"({"of":2})");
  EXPECT_EQ(at(whole, "causation_id"), at(get("/events/2"), "event_id"));
}

}  // namespace
}  // namespace eventq
