// api_test.cc: the HTTP API where seed_conversations_test.cc has no example: bad requests, keys, long polls,
// lists of reports, turns, and a disk that is full or fails.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>

#include "base/json.h"
#include "support/faulty_vfs.h"
#include "support/http_client.h"
#include "support/local_server.h"
#include "support/loopback.h"
#include "support/manual_clock.h"
#include "support/test_store.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::Test;

constexpr std::string_view kEvent = R"({"title":"mail","tags":"email","payload":{"n":1}})";

// A member of a JSON object as it was sent; empty when there is none.
std::string member(std::string_view json, std::string_view name) {
  JsonParser parser;
  const auto value = parser.parse(json);
  if (!value || value->type() != JsonType::object) return {};
  for (const JsonMember& found : value->members()) {
    if (found.name == name) return std::string(found.value.raw());
  }
  return {};
}

class ApiTest : public Test {
 protected:
  ApiTest() : server_(store_.url(), options()), client_(server_.port()) {}

  Options options() {
    Options options;
    options.clock = &clock_;
    return options;
  }

  HttpResponse must(Result<HttpResponse> response) {
    EXPECT_TRUE(response.has_value()) << (response ? "" : response.error().message);
    return response ? std::move(*response) : HttpResponse();
  }
  HttpResponse get(std::string_view target) { return must(client_.get(target)); }
  HttpResponse post(std::string_view target, std::string_view body = "{}", const HttpHeaders& headers = {}) {
    return must(client_.request("POST", target, body, headers));
  }
  std::string status_of(int id) { return member(get("/events/" + std::to_string(id)).body, "status"); }

  // A client whose long poll waits in the engine.
  HttpClient waiting_worker(std::string_view target) {
    HttpClient worker(server_.port());
    const std::size_t before = server_.commands();
    EXPECT_TRUE(worker.send("GET", target).has_value());
    server_.await_commands(before + 1);
    server_.settle();
    return worker;
  }

  // Declared before the server, because the server must close its files first.
  FaultyVfs disk_;
  TestStore store_;
  ManualClock clock_{TimePoint(Millis(1766572200000))};
  LocalServer server_;
  HttpClient client_;
};

TEST_F(ApiTest, AnUnknownPathIs404AndAWrongMethodIs405WithAllowedMethods) {
  EXPECT_EQ(get("/nothing").status, 404);
  EXPECT_EQ(post("/nothing", "{}").status, 404);
  EXPECT_EQ(get("/events/1/complete").status, 405);
  EXPECT_EQ(get("/events/1/complete").header("Allow"), "POST");
  EXPECT_EQ(must(client_.request("DELETE", "/events")).header("Allow"), "GET, POST");
}

TEST_F(ApiTest, ANameThatNoEventHasIs404AndAnIdThatIsNeitherNumberNorNameIs400) {
  EXPECT_EQ(get("/events/abc").status, 404);
  EXPECT_EQ(get("/events/-1").status, 404);
  EXPECT_EQ(get("/events/1%00").status, 400);
  EXPECT_EQ(get("/events/a%20b").status, 400);
  EXPECT_EQ(get("/events/a%C3%A9").status, 400);
  EXPECT_EQ(get("/events/" + std::string(128, 'x')).status, 404);
  EXPECT_EQ(get("/events/" + std::string(129, 'x')).status, 400);
  EXPECT_EQ(get("/events/0").status, 400);
  EXPECT_EQ(get("/events/01").status, 400);
  EXPECT_EQ(get("/events/9007199254740991").status, 404);
  EXPECT_EQ(get("/events/9007199254740992").status, 400);
  EXPECT_EQ(get("/events/18446744073709551617").status, 400);
}

TEST_F(ApiTest, AnotherContentTypeIs415AndInvalidJsonIs400) {
  EXPECT_EQ(post("/events", kEvent, {{"Content-Type", "text/plain"}}).status, 415);
  EXPECT_EQ(post("/events", kEvent, {{"Content-Type", "application/json; charset=latin1"}}).status, 415);
  EXPECT_EQ(post("/events", kEvent, {{"Content-Type", "Application/JSON ; charset=\"UTF-8\""}}).status, 201);
  EXPECT_EQ(post("/events", R"({"title":"a","title":"b","tags":"t"})").status, 400);
  EXPECT_EQ(post("/events", R"({"title":"a","tags":"t"} x)").status, 400);
  EXPECT_EQ(post("/events", "{\"title\":\"\xff\",\"tags\":\"t\"}").status, 400);
  EXPECT_EQ(member(get("/events").body, "total"), "1");
}

TEST_F(ApiTest, AnErrorIsOneBodyOfBothShapes) {
  const HttpResponse response =
      post("/events", R"({"title":"","tags":"email"})", {{"X-Request-Id", "mine-1"}});

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.body,
            R"({"error":"title is missing or empty; it needs 1 to 200 characters.","field":"title",)"
            R"("type":"urn:eventq:problem:invalid-request","title":"Invalid request","status":400,)"
            R"("detail":"title is missing or empty; it needs 1 to 200 characters.","request_id":"mine-1"})");
  EXPECT_EQ(response.header("X-Request-Id"), "mine-1");
}

TEST_F(ApiTest, AProblemHasItsOwnTypeForAClientThatAcceptsIt) {
  const HttpHeaders problem{{"Accept", "application/json, application/problem+json"},
                            {"X-Request-Id", "mine"}};
  const HttpHeaders json{{"Accept", "application/json"}, {"X-Request-Id", "mine"}};
  const HttpResponse own = must(client_.request("GET", "/events/999", {}, problem));
  const HttpResponse plain = must(client_.request("GET", "/events/999", {}, json));

  EXPECT_EQ(own.status, 404);
  EXPECT_EQ(own.header("Content-Type"), "application/problem+json");
  EXPECT_EQ(own.header("Vary"), "Accept");
  EXPECT_EQ(plain.header("Content-Type"), "application/json");
  EXPECT_EQ(plain.header("Vary"), "Accept");
  EXPECT_EQ(own.body, plain.body);
  EXPECT_EQ(post("/events", R"({"title":""})", problem).header("Content-Type"), "application/problem+json");
  EXPECT_EQ(must(client_.request("GET", "/nothing", {}, problem)).header("Content-Type"),
            "application/problem+json");
  EXPECT_EQ(must(client_.request("GET", "/events", {}, problem)).header("Content-Type"), "application/json");
}

TEST_F(ApiTest, AClientThatAcceptsAnythingGetsJson) {
  for (const std::string_view accept :
       {"*/*", "application/*", "application/json, application/problem+json;q=0.5",
        "application/problem+json;q=0", "text/html"}) {
    const HttpResponse response =
        must(client_.request("GET", "/events/999", {}, {{"Accept", std::string(accept)}}));
    EXPECT_EQ(response.header("Content-Type"), "application/json") << accept;
  }
}

TEST_F(ApiTest, ALateProblemOfAWaitHasItsOwnTypeToo) {
  post("/events", kEvent);

  const HttpResponse late = post("/events/1/wait?timeout=0", "{}", {{"Accept", "application/problem+json"}});

  EXPECT_EQ(late.status, 408);
  EXPECT_EQ(late.header("Content-Type"), "application/problem+json");
}

TEST_F(ApiTest, ACloudEventsBatchIsAnsweredAsTheDocumentSays) {
  const std::string kBatch = "application/cloudevents-batch+json";
  const std::string_view events =
      R"([{"specversion":"1.0","id":"1","source":"/shop","type":"order","region":"eu","data":{"n":1}},)"
      R"({"specversion":"1.0","id":"2","source":"/shop","type":"order"}])";
  const HttpResponse plain = post("/events", events, {{"Content-Type", kBatch}, {"Idempotency-Key", "k"}});
  const HttpResponse own =
      post("/events", events, {{"Content-Type", kBatch}, {"Idempotency-Key", "k"}, {"Accept", kBatch}});

  EXPECT_EQ(plain.status, 201);
  EXPECT_EQ(plain.header("Content-Type"), "application/json");
  EXPECT_EQ(member(plain.body, "correlation_id"), "null");
  EXPECT_EQ(own.status, 201);
  EXPECT_EQ(own.header("Content-Type"), kBatch);
  EXPECT_EQ(own.body,
            R"([{"specversion":"1.0","type":"order","source":"/shop","id":"1","region":"eu","data":{"n":1}},)"
            R"({"specversion":"1.0","type":"order","source":"/shop","id":"2"}])");
}

TEST_F(ApiTest, ARequestIdWithUnsafeCharactersIsReplaced) {
  const HttpResponse response = post("/events", kEvent, {{"X-Request-Id", "a b\"c"}});

  EXPECT_EQ(response.header("X-Request-Id").size(), 36U);
}

TEST_F(ApiTest, AnUnknownParameterIsRefusedOnEveryRoute) {
  for (const std::string_view target : {"/events?color=red", "/events/1?color=red", "/events/1/why?color=red",
                                        "/events/subscribe?tags=a&worker_id=w&color=red"}) {
    EXPECT_EQ(get(target).status, 400) << target;
  }
  for (const std::string_view target :
       {"/healthz?color=red", "/readyz?color=red", "/openapi.json?color=red"}) {
    EXPECT_EQ(get(target).status, 400) << target;
  }
  for (const std::string_view target : {"/events/1/reset?color=red", "/events/1/cancel?color=red"}) {
    EXPECT_EQ(post(target).status, 400) << target;
  }
  EXPECT_EQ(post("/events?color=red", kEvent).status, 400);
  EXPECT_EQ(post("/events/1/cancel", R"({"color":"red"})").status, 400);
}

TEST_F(ApiTest, APageOfAnotherSiteCannotClaimOrChange) {
  post("/events", kEvent);

  const auto cross_site = HttpHeaders{{"Sec-Fetch-Site", "cross-site"}};
  EXPECT_EQ(must(client_.request("GET", "/events/subscribe?tags=email&worker_id=w", "", cross_site)).status,
            403);
  EXPECT_EQ(post("/events", kEvent, cross_site).status, 403);
  EXPECT_EQ(post("/events/1/cancel", "", {{"Origin", "http://elsewhere.example"}}).status, 403);
  EXPECT_EQ(must(client_.request("GET", "/events/1", "", cross_site)).status, 200);
  EXPECT_EQ(status_of(1), R"("PENDING")");
  EXPECT_EQ(post("/events", kEvent, {{"Sec-Fetch-Site", "same-origin"}}).status, 201);
}

TEST_F(ApiTest, AKeyGivesTheSameBytesAgainAndRefusesAnotherBody) {
  const HttpHeaders key = {{"Idempotency-Key", "order-1"}};
  const HttpResponse first = post("/events", kEvent, key);
  const HttpResponse second = post("/events", kEvent, key);
  const HttpResponse other = post("/events", R"({"title":"other","tags":"email"})", key);

  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(second.status, 201);
  EXPECT_EQ(second.body, first.body);
  EXPECT_EQ(first.header("Idempotency-Replayed"), "");
  EXPECT_EQ(second.header("Idempotency-Replayed"), "true");
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(member(get("/events").body, "total"), "1");
}

TEST_F(ApiTest, AKeyOutlivesARestart) {
  const HttpHeaders key = {{"Idempotency-Key", "order-1"}};
  const std::string first = post("/events/batch", R"({"events":[)" + std::string(kEvent) + "]}", key).body;

  server_.restart();
  HttpClient again(server_.port());
  const HttpResponse second =
      must(again.request("POST", "/events/batch", R"({"events":[)" + std::string(kEvent) + "]}", key));

  EXPECT_EQ(second.body, first);
}

TEST_F(ApiTest, TheLengthOfAKeyIsLimited) {
  EXPECT_EQ(post("/events", kEvent, {{"Idempotency-Key", std::string(254, 'k')}}).status, 201);
  EXPECT_EQ(post("/events", kEvent, {{"Idempotency-Key", std::string(255, 'k')}}).status, 201);
  EXPECT_EQ(post("/events", kEvent, {{"Idempotency-Key", std::string(256, 'k')}}).status, 400);
}

TEST_F(ApiTest, AnEventIdThatExistsGivesTheExistingEvent) {
  const std::string body = R"({"title":"mail","tags":"email","event_id":"mine"})";
  EXPECT_EQ(post("/events", body).status, 201);
  const HttpResponse again = post("/events", R"({"title":"changed","tags":"other","event_id":"mine"})");

  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(member(again.body, "title"), R"("mail")");
}

TEST_F(ApiTest, AKeyOnAnExistingEventIdGivesTheSameStatusAgain) {
  const std::string body = R"({"title":"mail","tags":"email","event_id":"mine"})";
  post("/events", body);
  clock_.advance(1s);
  const HttpHeaders key = {{"Idempotency-Key", "again"}};

  EXPECT_EQ(post("/events", body, key).status, 200);
  EXPECT_EQ(post("/events", body, key).status, 200);
}

TEST_F(ApiTest, ABatchNamesItsOwnCorrelationAlsoWhenItsFirstEventExisted) {
  post("/events", R"({"title":"mail","tags":"email","event_id":"mine","correlation_id":"old"})");
  const std::string body =
      R"({"correlation_id":"new","events":[{"title":"mail","tags":"email","event_id":"mine"}]})";

  EXPECT_EQ(member(post("/events/batch", body).body, "correlation_id"), R"("new")");
}

TEST_F(ApiTest, AKeyedBatchOfExistingEventsGetsTheSameBytesAgain) {
  post("/events", R"({"title":"mail","tags":"email","event_id":"mine"})");
  clock_.advance(1s);
  const std::string body = R"({"events":[{"title":"mail","tags":"email","event_id":"mine"}]})";
  const HttpHeaders key = {{"Idempotency-Key", "again"}};

  const HttpResponse first = post("/events/batch", body, key);
  const HttpResponse second = post("/events/batch", body, key);

  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(second.body, first.body);
}

TEST_F(ApiTest, TheLocationOfAPublicationLeadsToItsEvent) {
  const HttpResponse published = post("/events", kEvent);

  EXPECT_EQ(published.header("Location"), "/events/1");
  // A read also says why an event ended.
  const std::string common = published.body.substr(0, published.body.size() - 1);
  const std::string read = get("/events/1").body;
  EXPECT_TRUE(read.starts_with(common + ",")) << read;
}

TEST_F(ApiTest, ABadEventInABatchRefusesTheWholeBatch) {
  const HttpResponse response =
      post("/events/batch", R"({"events":[)" + std::string(kEvent) + R"(,{"title":"x"}]})");

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(member(response.body, "field"), R"("events[1].tags")");
  EXPECT_EQ(member(get("/events").body, "total"), "0");
}

TEST_F(ApiTest, ALongPollIsAnsweredByThePublicationItWaitsFor) {
  HttpClient worker = waiting_worker("/events/subscribe?tags=email&worker_id=w:1&wait=20");

  post("/events", kEvent);

  const HttpResponse taken = must(worker.receive());
  EXPECT_EQ(taken.status, 200);
  EXPECT_EQ(member(taken.body, "id"), "1");
  EXPECT_EQ(taken.header("Cache-Control"), "no-store");
}

TEST_F(ApiTest, ALongPollThatGetsNothingEndsWith204AtItsTime) {
  HttpClient worker = waiting_worker("/events/subscribe?tags=email&worker_id=w:1&wait=20");

  clock_.advance(19s);
  server_.settle();
  EXPECT_FALSE(worker.readable_within(0ms));
  clock_.advance(1s);
  server_.settle();

  EXPECT_EQ(must(worker.receive()).status, 204);
}

TEST_F(ApiTest, AWorkerThatDisconnectsWhileItWaitsCostsNoEvent) {
  { HttpClient worker = waiting_worker("/events/subscribe?tags=email&worker_id=gone:1&wait=60"); }
  HttpClient second = waiting_worker("/events/subscribe?tags=email&worker_id=second:1&wait=60");

  post("/events", kEvent);

  // The server may read the end of the first connection only after the publication. It then releases the
  // claim made for it, and the other worker is next.
  const HttpResponse taken = must(second.receive());
  EXPECT_EQ(taken.status, 200);
  EXPECT_EQ(member(taken.body, "worker_id"), R"("second:1")");
}

TEST_F(ApiTest, ASubscriptionByPostAcceptsTheSameMembers) {
  post("/events", kEvent);
  post("/events", kEvent);

  const HttpResponse taken =
      post("/events/subscribe", R"({"tags":["email"],"worker_id":"w:1","limit":5,"queue":"main","wait":0})");

  EXPECT_EQ(taken.status, 200);
  EXPECT_EQ(status_of(1), R"("PROCESSING")");
  EXPECT_EQ(status_of(2), R"("PROCESSING")");
}

TEST_F(ApiTest, AListOfReportsIsAnsweredOneByOneInOrder) {
  post("/events", kEvent);
  post("/events", kEvent);
  post("/events/subscribe", R"({"tags":"email","worker_id":"w:1"})");

  const HttpResponse response =
      post("/events/complete", R"({"worker_id":"w:1","events":[{"id":99},{"id":1,"attempt":1},{"id":2}]})");

  EXPECT_EQ(response.status, 200);
  JsonParser parser;
  const auto body = parser.parse(response.body);
  ASSERT_TRUE(body.has_value());
  std::vector<std::string> statuses;
  for (const JsonValue& result : body->members().front().value.elements()) {
    statuses.push_back(member(result.raw(), "status"));
  }
  EXPECT_EQ(statuses, (std::vector<std::string>{"404", "200", "409"}));
}

TEST_F(ApiTest, ATurnReportsAndClaimsInOneCall) {
  post("/events", kEvent);
  post("/events", kEvent);
  const std::string first = post("/events/next", R"({"worker_id":"w:1","tags":"email"})").body;
  EXPECT_EQ(member(first, "results"), "[]");

  const HttpResponse second =
      post("/events/next", R"({"worker_id":"w:1","tags":"email","completed":[{"id":1,"attempt":1}]})");

  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(status_of(1), R"("COMPLETED")");
  EXPECT_EQ(status_of(2), R"("PROCESSING")");
  EXPECT_EQ(member(post("/events/next", R"({"worker_id":"w:1","tags":"none"})").body, "events"), "[]");
}

TEST_F(ApiTest, ATurnWithLimitZeroOnlyReports) {
  post("/events", kEvent);
  post("/events", kEvent);
  post("/events/next", R"({"worker_id":"w:1"})");

  const std::string turn = R"({"worker_id":"w:1","limit":0,"wait":60,"released":[{"id":1,"attempt":1}]})";
  const HttpResponse response = post("/events/next", turn);

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(member(response.body, "events"), "[]");
  EXPECT_NE(response.body.find(R"("action":"RELEASED")"), std::string::npos) << response.body;
  EXPECT_EQ(status_of(1), R"("PENDING")");
  EXPECT_EQ(status_of(2), R"("PENDING")");
}

TEST_F(ApiTest, ATurnAnswersAHeartbeatAsTheHeartbeatRouteDoes) {
  post("/events", kEvent);
  post("/events/next", R"({"worker_id":"w:1"})");

  const std::string turn =
      R"({"worker_id":"w:1","limit":0,"alive":[{"id":1,"attempt":1},{"id":1,"attempt":2},{"id":9}]})";
  const HttpResponse response = post("/events/next", turn);

  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(response.body.starts_with(
      R"({"results":[{"status":200,"event_id":1,"worker_id":"w:1","lease_until":"2)"))
      << response.body;
  EXPECT_NE(response.body.find(R"("event_id":1,"type":"urn:eventq:problem:lease-lost")"), std::string::npos)
      << response.body;
  EXPECT_NE(response.body.find(R"("event_id":9,"field":"id","type":"urn:eventq:problem:not-found")"),
            std::string::npos)
      << response.body;
  EXPECT_EQ(member(response.body, "events"), "[]");
}

TEST_F(ApiTest, ATurnWithoutTagsClaimsEventsWithAnyTag) {
  post("/events", kEvent);
  post("/events", R"({"title":"report","tags":"reporting"})");

  post("/events/next", R"({"worker_id":"w:1","limit":10})");

  EXPECT_EQ(status_of(1), R"("PROCESSING")");
  EXPECT_EQ(status_of(2), R"("PROCESSING")");
}

TEST_F(ApiTest, AReleasedEventIsPendingAgainAfterItsDelayAndCountsNoFailure) {
  post("/events", kEvent);
  get("/events/subscribe?tags=email&worker_id=w:1");
  const std::string back = R"({"worker_id":"w:1","attempt":1,"delay":60,"reason":"stopping"})";

  const HttpResponse released = post("/events/1/release", back);

  EXPECT_EQ(released.status, 200);
  EXPECT_EQ(member(released.body, "action"), R"("RELEASED")");
  EXPECT_EQ(member(released.body, "reason"), R"("stopping")");
  EXPECT_EQ(post("/events/1/release", back).body, released.body);
  EXPECT_EQ(post("/events/1/release", R"({"worker_id":"w:2"})").status, 409);
  EXPECT_EQ(post("/events/9/release", back).status, 404);
  EXPECT_EQ(member(get("/events/1").body, "retry_count"), "0");
  clock_.advance(59s);
  EXPECT_EQ(get("/events/subscribe?tags=email&worker_id=w:2").status, 204);
  clock_.advance(1s);
  EXPECT_EQ(get("/events/subscribe?tags=email&worker_id=w:2").status, 200);
}

TEST_F(ApiTest, AnEventIsNotRetriedAfterAPermanentFailure) {
  post("/events", kEvent);
  get("/events/subscribe?tags=email&worker_id=w:1");

  const HttpResponse failed = post("/events/1/fail", R"({"worker_id":"w:1","attempt":1,"permanent":true})");

  EXPECT_EQ(failed.status, 400);
  EXPECT_EQ(member(failed.body, "error"), R"("Failed permanently")");
  EXPECT_EQ(member(failed.body, "type"), R"("urn:eventq:problem:failed-permanently")");
  EXPECT_EQ(member(failed.body, "retry_count"), "1");
  EXPECT_EQ(member(failed.body, "max_retries"), "3");
  EXPECT_EQ(status_of(1), R"("FAILED")");
  EXPECT_EQ(post("/events/1/fail", R"({"worker_id":"w:1","attempt":1,"permanent":true})").body, failed.body);
}

TEST_F(ApiTest, AHeartbeatExtendsTheLease) {
  post("/events", kEvent);
  post("/events/subscribe", R"({"tags":"email","worker_id":"w:1"})");
  clock_.advance(40s);

  const HttpResponse beat = post("/events/1/heartbeat", R"({"worker_id":"w:1","attempt":1})");

  EXPECT_EQ(beat.body, R"({"event_id":1,"worker_id":"w:1","lease_until":"2025-12-24T10:31:40.000Z"})");
  EXPECT_EQ(post("/events/1/heartbeat", R"({"worker_id":"w:2"})").status, 409);
}

TEST_F(ApiTest, ACancelledEventStaysCancelledUntilItIsReset) {
  post("/events", kEvent);
  EXPECT_EQ(post("/events/1/cancel?reason=mistake", "").status, 200);
  EXPECT_EQ(status_of(1), R"("CANCELLED")");
  EXPECT_EQ(get("/events/subscribe?tags=email&worker_id=w:1").status, 204);

  EXPECT_EQ(post("/events/1/reset", "").status, 200);
  EXPECT_EQ(get("/events/subscribe?tags=email&worker_id=w:1").status, 200);
}

TEST_F(ApiTest, ARetryIsAResetUnderItsWordForPeople) {
  post("/events", kEvent);
  get("/events/subscribe?tags=email&worker_id=w:1");

  const HttpResponse retried = post("/events/1/retry?by=ann&reason=again", "");

  EXPECT_EQ(retried.status, 200);
  EXPECT_EQ(member(retried.body, "action"), R"("RESET")");
  EXPECT_EQ(member(retried.body, "by"), R"("ann")");
  EXPECT_EQ(member(retried.body, "reason"), R"("again")");
  EXPECT_EQ(status_of(1), R"("PENDING")");
  EXPECT_EQ(post("/events/1/retry?spare_processing=true", "").status, 200);
  EXPECT_EQ(post("/events/1/retry?by=a%0Ab", "").status, 400);
  EXPECT_EQ(post("/events/1/retry", R"({"by":"ann"})").status, 400) << "the body must be empty or {}";
  EXPECT_EQ(post("/events/9/retry", "").status, 404);
}

TEST_F(ApiTest, AResetWithSpareProcessingRefusesAClaimedEvent) {
  post("/events", kEvent);
  EXPECT_EQ(post("/events/1/reset?spare_processing=true", "").status, 200);
  get("/events/subscribe?tags=email&worker_id=w:1");

  const HttpResponse refused = post("/events/1/reset?spare_processing=true&reason=r", "");

  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(member(refused.body, "type"), R"("urn:eventq:problem:conflict")");
  EXPECT_EQ(status_of(1), R"("PROCESSING")");
  EXPECT_EQ(post("/events/1/reset?spare_processing=perhaps", "").status, 400);
  EXPECT_EQ(post("/events/1/cancel?spare_processing=true", "").status, 400);
  EXPECT_EQ(post("/events/1/reset?spare_processing=false", "").status, 200);
}

TEST_F(ApiTest, AServerOnLoopbackRefusesTheHostNamesOfOtherMachines) {
  for (const std::string_view host :
       {"evil.example", "evil.example:8080", "127.0.0.1.evil.example", "10.0.0.1"}) {
    EXPECT_EQ(must(client_.request("GET", "/events", "", {{"Host", std::string(host)}})).status, 403) << host;
  }
  for (const std::string_view host :
       {"localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "[::1]"}) {
    EXPECT_EQ(must(client_.request("GET", "/events", "", {{"Host", std::string(host)}})).status, 200) << host;
  }
}

TEST_F(ApiTest, AClientThatClosesItsSendingSideIsStillAnswered) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = loopback_address(server_.port());
  ASSERT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const std::string request =
      "POST /events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: " +
      std::to_string(kEvent.size()) + "\r\n\r\n" + std::string(kEvent);
  ASSERT_EQ(::send(socket, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  ::shutdown(socket, SHUT_WR);

  std::string answer(12, ' ');
  EXPECT_EQ(::recv(socket, answer.data(), answer.size(), MSG_WAITALL), 12);
  ::close(socket);

  EXPECT_EQ(answer, "HTTP/1.1 201");
}

TEST_F(ApiTest, AnEmptyKeyIsRefused) {
  EXPECT_EQ(post("/events", kEvent, {{"Idempotency-Key", ""}}).status, 400);
}

TEST_F(ApiTest, AHeadRequestForASubscriptionClaimsNothing) {
  post("/events", kEvent);
  HttpClient client(server_.port());
  ASSERT_TRUE(client.send("HEAD", "/events/subscribe?tags=email&worker_id=w:1").has_value());
  ASSERT_TRUE(client.readable_within(60s));

  server_.settle();

  EXPECT_EQ(status_of(1), R"("PENDING")");
}

TEST_F(ApiTest, HealthAndReadinessAreOk) {
  EXPECT_EQ(get("/healthz").body, R"({"status":"ok"})");
  EXPECT_EQ(get("/readyz").body, R"({"status":"ready"})");
}

TEST_F(ApiTest, AFullDiskIs507AndPublishingSucceedsOnceSpaceIsFree) {
  post("/events", kEvent);
  disk_.fill_disk(true);
  const HttpResponse refused = post("/events", kEvent);
  EXPECT_EQ(refused.status, 507);
  EXPECT_EQ(member(refused.body, "outcome"), R"("unchanged")");
  EXPECT_EQ(get("/readyz").status, 507);
  EXPECT_EQ(status_of(1), R"("PENDING")");

  disk_.fill_disk(false);

  EXPECT_EQ(post("/events", kEvent).status, 201);
  EXPECT_EQ(member(get("/events").body, "total"), "2");
}

TEST_F(ApiTest, AFailedSyncIsAnUnknownOutcomeAndEndsAcknowledgementsUntilARestart) {
  disk_.fail_next_sync(EIO);
  const HttpResponse unknown = post("/events", kEvent);
  EXPECT_EQ(unknown.status, 503);
  EXPECT_EQ(member(unknown.body, "outcome"), R"("unknown")");

  EXPECT_EQ(post("/events", kEvent).status, 503);
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_EQ(get("/healthz").status, 200);

  server_.restart();
  HttpClient again(server_.port());
  EXPECT_EQ(must(again.post("/events", kEvent)).status, 201);
}

}  // namespace
}  // namespace eventq
