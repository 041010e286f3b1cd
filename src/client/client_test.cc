// client_test.cc: which calls are retried, the requests that are sent, and how answers are read.
#include "eventq/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "base/steady.h"
#include "eventq/admin.h"
#include "support/gate.h"
#include "support/scripted_server.h"

namespace eventq::client {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const std::string kMembers =
    R"("id":7,"title":"t","description":null,"tags":"a","status":"PENDING","payload":{"n":1},"retry_count":0,)"
    R"("max_retries":3,"next_retry_at":null,"created_at":"2025-12-24T10:30:00.000Z",)"
    R"("updated_at":"2025-12-24T10:30:00.000Z","event_id":"evt_1","queue":"main","priority":0,"attempts":0,)"
    R"("worker_id":null,"correlation_id":null)";
const std::string kEvent = "{" + kMembers + "}";
const std::string kClaim = "{" + kMembers + R"(,"attempt":1,"lease_until":"2025-12-24T10:31:00.000Z"})";

std::string problem(const std::string& kind) {
  return R"({"error":"Busy.","type":"urn:eventq:problem:)" + kind + R"(","detail":"Busy.","status":0})";
}

NewEvent new_event() {
  NewEvent event;
  event.title = "t";
  event.tags = {"a"};
  event.payload = R"({"n":1})";
  return event;
}

ClientOptions options() {
  ClientOptions options;
  options.worker_id = "host:1";
  options.timeout = 5s;
  return options;
}

std::unique_ptr<Client> connect(const ScriptedServer& server, ClientOptions with = options()) {
  return Client::connect(server.url(), with).value();
}

// Answers one request.
ScriptedServer::Script answers(std::string status, std::string body, std::string fields = {}) {
  return [status, body, fields](Peer& peer) {
    peer.read_request();
    peer.answer(status, body, "Connection: close\r\n" + fields);
  };
}

// Reads a request and closes.
void breaks(Peer& peer) { peer.read_request(); }

std::string key_of(const std::string& request) {
  const std::string field = "\r\nIdempotency-Key: ";
  const std::size_t at = request.find(field) + field.size();
  return request.substr(at, request.find("\r\n", at) - at);
}

TEST(Connect, RefusesBadUrlsAndOptions) {
  EXPECT_EQ(Client::connect("https://a").error().field, "url");
  ClientOptions bad = options();
  bad.tries = 0;
  EXPECT_EQ(Client::connect("http://a", bad).error().field, "tries");
  bad = options();
  bad.timeout = 0ms;
  EXPECT_EQ(Client::connect("http://a", bad).error().field, "timeout");
  bad = options();
  bad.worker_id = std::string(256, 'x');
  EXPECT_EQ(Client::connect("http://a", bad).error().field, "worker_id");
}

TEST(Client, RetriesAPublishWithTheSameKeyWhenTheConnectionBreaks) {
  std::vector<std::string> lines;
  ClientOptions with = options();
  with.logger = [&](LogLevel, std::string_view line) { lines.emplace_back(line); };
  const ScriptedServer server({breaks, answers("201 Created", kEvent)});
  const auto client = connect(server, with);

  const auto event = client->publish(new_event());
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->id, EventId{7});
  const auto seen = server.requests();
  ASSERT_THAT(seen, SizeIs(2));
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_THAT(key_of(seen[0]), SizeIs(36));
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines[0],
              HasSubstr("msg=\"call of the server failed, retrying\" method=POST path=/events in="));
}

TEST(Client, EachPublishHasItsOwnKey) {
  const ScriptedServer server({answers("201 Created", kEvent), answers("201 Created", kEvent)});
  const auto client = connect(server);
  ASSERT_TRUE(client->publish(new_event()));
  ASSERT_TRUE(client->publish(new_event()));
  const auto seen = server.requests();
  EXPECT_NE(key_of(seen[0]), key_of(seen[1]));
}

TEST(Client, AHeartbeatIsTriedOnce) {
  const ScriptedServer server({breaks, breaks, answers("200 OK", "{}")});
  const auto client = connect(server);
  EXPECT_FALSE(client->heartbeat({EventId{7}, "host:1", 1}));
  EXPECT_FALSE(client->next({.alive = {{EventId{7}, 1}}}));
  EXPECT_THAT(server.requests(), SizeIs(2));
}

TEST(Client, AHeartbeatTimesOutBeforeOtherCalls) {
  const ScriptedServer server({[](Peer& peer) {
    peer.read_request();
    peer.await_close();
  }});
  ClientOptions with = options();
  with.timeout = 60s;
  const SteadyTime start = steady_now();
  EXPECT_EQ(connect(server, with)->next({.alive = {{EventId{7}, 1}}}).error().code,
            ErrorCode::unknown_outcome);
  EXPECT_LT(millis_since(start), 30s);
}

TEST(Client, DoesNotRepeatAnInterventionThatMayHaveHappened) {
  const ScriptedServer server({breaks, breaks, breaks, breaks});
  const auto client = connect(server);
  Admin admin(*client);

  EXPECT_EQ(admin.cancel(EventId{7}).error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(admin.retry(EventId{7}).error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(admin.pause("main").error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(admin.resume("main").error().code, ErrorCode::unknown_outcome);
  EXPECT_THAT(server.requests(), SizeIs(4));
}

TEST(Client, RetriesWhenTheServerIsBusy) {
  const ScriptedServer server({answers("503 Service Unavailable", problem("overloaded")),
                               answers("429 Too Many Requests", problem("queue-full")),
                               answers("502 Bad Gateway", "<html>"), answers("504 Gateway Timeout", ""),
                               answers("201 Created", kEvent)});
  const auto event = connect(server)->publish(new_event());
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_THAT(server.requests(), SizeIs(5));
}

TEST(Client, GivesUpAfterItsTries) {
  ClientOptions with = options();
  with.tries = 2;
  const ScriptedServer server({answers("503 Service Unavailable", problem("store-unavailable")),
                               answers("503 Service Unavailable", problem("store-unavailable")),
                               answers("201 Created", kEvent)});
  const auto client = connect(server, with);
  EXPECT_EQ(client->publish(new_event()).error().code, ErrorCode::unavailable);
  EXPECT_THAT(server.requests(), SizeIs(2));
  EXPECT_TRUE(client->publish(new_event()));
}

TEST(Client, ReturnsUnknownOutcomeWithoutARetry) {
  const ScriptedServer server({answers("503 Service Unavailable", problem("outcome-unknown"))});
  EXPECT_EQ(connect(server)->publish(new_event()).error().code, ErrorCode::unknown_outcome);
  EXPECT_THAT(server.requests(), SizeIs(1));
}

TEST(Client, DoesNotWaitLongerThanFiveSecondsForABusyServer) {
  const ScriptedServer server(
      {answers("429 Too Many Requests", problem("queue-full"), "Retry-After: 6\r\n")});
  const auto refused = connect(server)->publish(new_event());
  EXPECT_EQ(refused.error().code, ErrorCode::queue_full);
  EXPECT_EQ(refused.error().retry_after, 6s);
  EXPECT_THAT(server.requests(), SizeIs(1));
}

TEST(Client, WaitsAsLongAsABusyServerAsks) {
  const ScriptedServer server({answers("429 Too Many Requests", problem("queue-full"), "Retry-After: 1\r\n"),
                               answers("201 Created", kEvent)});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(connect(server)->publish(new_event()));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 1s);
}

TEST(Client, ReturnsUnknownOutcomeOnlyForChangesWhenNoAnswerCame) {
  ClientOptions with = options();
  with.tries = 1;
  const ScriptedServer server(
      {breaks, breaks, answers("502 Bad Gateway", ""), answers("502 Bad Gateway", "")});
  const auto client = connect(server, with);
  EXPECT_EQ(client->publish(new_event()).error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(client->get(EventId{7}).error().code, ErrorCode::unavailable);
  EXPECT_EQ(client->publish(new_event()).error().code, ErrorCode::unknown_outcome);
  EXPECT_EQ(client->get(EventId{7}).error().code, ErrorCode::unavailable);
}

TEST(Client, ReturnsUnavailableWhenNoServerListens) {
  const ClosedPort port;
  ClientOptions with = options();
  with.tries = 2;
  EXPECT_EQ(Client::connect(port.url(), with).value()->publish(new_event()).error().code,
            ErrorCode::unavailable);
}

TEST(Client, DoesNotRetryAfterATimeout) {
  ClientOptions with = options();
  with.timeout = 200ms;
  Gate closed;
  const ScriptedServer server({[&](Peer& peer) {
    peer.read_request();
    peer.await_close();
    closed.open();
  }});
  EXPECT_EQ(connect(server, with)->publish(new_event()).error().code, ErrorCode::unknown_outcome);
  ASSERT_TRUE(closed.wait());
  EXPECT_THAT(server.requests(), SizeIs(1));
}

TEST(Client, RefusesAnAnswerThatIsNotJsonOrLacksMembers) {
  const ScriptedServer server({answers("200 OK", "<html>"), answers("200 OK", "{}")});
  const auto client = connect(server);
  const auto html = client->get(EventId{7});
  EXPECT_EQ(html.error().code, ErrorCode::internal);
  EXPECT_THAT(html.error().message, HasSubstr("is not JSON"));
  EXPECT_THAT(client->get(EventId{7}).error().message, HasSubstr("id is missing"));
}

TEST(Client, DoesNotSendARequestThatAServerMustRefuse) {
  const auto client = Client::connect("http://127.0.0.1:1", options()).value();
  NewEvent event = new_event();
  event.payload = R"(1,"title":"other")";
  EXPECT_EQ(client->publish(event).error().field, "payload");
  const std::vector<NewEvent> batch{new_event(), event};
  EXPECT_EQ(client->publish_batch(batch).error().field, "payload");
  event = new_event();
  event.attributes = "{}";
  EXPECT_EQ(client->publish(event).error().field, "attributes");
  PollRequest request;
  request.clock = &system_clock();
  EXPECT_EQ(client->poll(request).error().field, "clock");
}

TEST(Client, LongWaitsAreCutIntoSlicesOfAMinute) {
  const ScriptedServer server({answers("408 Request Timeout", problem("timeout")),
                               answers("408 Request Timeout", problem("timeout")),
                               answers("408 Request Timeout", problem("timeout"))});
  const auto waited = connect(server)->wait(EventId{7}, 121s - 500ms);
  EXPECT_EQ(waited.error().code, ErrorCode::timeout);
  EXPECT_EQ(waited.error().message, "Event 7 has not ended within 2m500ms.");
  const auto seen = server.requests();
  ASSERT_THAT(seen, SizeIs(3));
  EXPECT_THAT(seen[0], HasSubstr("POST /events/7/wait?timeout=60 "));
  EXPECT_THAT(seen[1], HasSubstr("POST /events/7/wait?timeout=60 "));
  EXPECT_THAT(seen[2], HasSubstr("POST /events/7/wait?timeout=1 "));
}

TEST(Client, AnAnswerWithoutOneResultForEachReportIsRefused) {
  const ScriptedServer server({answers("200 OK", R"({"results":[],"events":[]})")});
  NextRequest request;
  request.reports = {{EventId{1}, 1, Outcome{}}};
  EXPECT_EQ(connect(server)->next(request).error().code, ErrorCode::internal);
}

TEST(Client, AnEmptyNextIsNotSent) {
  const auto client = Client::connect("http://127.0.0.1:1", options()).value();
  EXPECT_TRUE(client->next({}));
  EXPECT_THAT(client->publish_batch({}).value(), IsEmpty());
}

constexpr std::string_view kStreamHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

TEST(ClientStream, ContinuesAfterTheConnectionBreaks) {
  const auto pushes = [](Peer& peer) {
    peer.read_request();
    peer.send(std::string(kStreamHead) + "retry: 1000\n\nid: 7\nevent: event\ndata: " + kClaim +
              "\n\nid: 8\ndata: ha");
  };
  const ScriptedServer server({pushes, answers("503 Service Unavailable", problem("overloaded")), pushes});
  std::stop_source stop;
  int claims = 0;
  StreamRequest request;
  request.tags = {"a", "b"};
  request.queue = "x/y";
  request.prefetch = 3;
  const auto ended = connect(server)->stream(
      request,
      [&](const Claim& claim) {
        EXPECT_EQ(claim.event.id, EventId{7});
        if (++claims == 2) stop.request_stop();
      },
      stop.get_token());
  EXPECT_TRUE(ended);
  EXPECT_EQ(claims, 2);
  const auto seen = server.requests();
  ASSERT_THAT(seen, SizeIs(3));
  EXPECT_THAT(seen[0],
              HasSubstr("GET /events/stream?worker_id=host%3A1&queue=x%2Fy&prefetch=3&tags=a%2Cb HTTP/1.1"));
}

TEST(ClientStream, ReturnsTheServersRefusal) {
  const ScriptedServer server({answers("400 Bad Request", problem("invalid-request"))});
  const auto refused = connect(server)->stream({}, [](const Claim&) {}, {});
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
}

TEST(ClientStream, ReturnsAnErrorForAnEventThatCannotBeRead) {
  const ScriptedServer server({[](Peer& peer) {
    peer.read_request();
    peer.send(std::string(kStreamHead) + "event: event\ndata: {\n\n");
    peer.await_close();
  }});
  EXPECT_EQ(connect(server)->stream({}, [](const Claim&) {}, {}).error().code, ErrorCode::internal);
}

TEST(ClientStream, StopsWhileNoServerListens) {
  std::string url;
  { url = ScriptedServer({}).url(); }
  std::stop_source stop;
  ClientOptions with = options();
  with.logger = [&](LogLevel, std::string_view) { stop.request_stop(); };
  EXPECT_TRUE(Client::connect(url, with).value()->stream(
      {}, [](const Claim&) {}, stop.get_token()));
}

}  // namespace
}  // namespace eventq::client
