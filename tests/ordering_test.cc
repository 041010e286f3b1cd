// ordering_test.cc: events with an ordering_key over HTTP are delivered one at a time in the order published,
// whatever their outcome and however many workers claim.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/local_api.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class OrderingTest : public LocalApiTest {
 protected:
  std::string publish_keyed(std::string_view key, std::string_view more = {}) {
    return publish("lines", R"(,"ordering_key":")" + std::string(key) + '"' + std::string(more));
  }
  std::string why(std::string_view id) { return at(get("/events/" + std::string(id) + "/why"), "reason"); }

  // Publishes events 1 and 2 of one line. Event 1 fails for good, and its queue blocks on failure.
  void make_blocked_line() {
    put("/queues/lines", R"({"onFailure":"block"})");
    publish_keyed("a", R"(,"max_retries":1)");
    publish_keyed("a");
    fail(claim("lines"));
  }
};

TEST_F(OrderingTest, OneEventOfAKeyIsDeliveredAtATime) {
  publish_keyed("a");
  publish_keyed("a");

  EXPECT_EQ(claim("lines", "w:1"), "1");
  EXPECT_EQ(claim("lines", "w:2"), "");

  complete("1");
  EXPECT_EQ(claim("lines", "w:2"), "2");
}

TEST_F(OrderingTest, AClaimOfManyGetsOneOfEachKey) {
  for (const char* key : {"a", "a", "b", "b"}) publish_keyed(key);

  const HttpResponse taken = get("/events/subscribe?tags=t&queue=lines&worker_id=w:1&limit=10");

  EXPECT_EQ(at(taken, "events[0].id"), "1");
  EXPECT_EQ(at(taken, "events[1].id"), "3");
  EXPECT_EQ(at(taken, "events[2].id"), "");
}

TEST_F(OrderingTest, AHigherPriorityDoesNotOvertakeEventsOfItsKey) {
  publish_keyed("a");
  publish_keyed("a", R"(,"priority":100)");

  EXPECT_EQ(claim("lines"), "1");
}

TEST_F(OrderingTest, AnEventThatWaitsForItsRetryBlocksLaterEventsOfItsKey) {
  publish_keyed("a", R"(,"retry":{"baseMs":60000})");
  publish_keyed("a");
  EXPECT_EQ(fail(claim("lines")), 200);

  EXPECT_EQ(claim("lines"), "");
  EXPECT_EQ(why("2"), R"("behind_in_line")");

  advance(60s);
  EXPECT_EQ(claim("lines"), "1");
  complete("1");
  EXPECT_EQ(claim("lines"), "2");
}

TEST_F(OrderingTest, AnEventThatWaitsForItsTimeBlocksLaterEventsOfItsKey) {
  publish_keyed("a", R"(,"delay":10)");
  publish_keyed("a");
  EXPECT_EQ(claim("lines"), "");

  advance(10s);

  EXPECT_EQ(claim("lines"), "1");
}

TEST_F(OrderingTest, AnAbandonedEventIsDeliveredAgainBeforeTheNextOne) {
  publish_keyed("a");
  publish_keyed("a");
  claim("lines", "lost:1");

  advance(61s);

  EXPECT_EQ(claim("lines", "w:2"), "1");
  EXPECT_EQ(claim("lines", "w:3"), "");
  EXPECT_EQ(complete("1", "lost:1"), 409);
  EXPECT_EQ(claim("lines", "w:3"), "") << "the worker that lost the lease cannot end the event";
  complete("1", "w:2");
  EXPECT_EQ(claim("lines", "w:3"), "2");
}

TEST_F(OrderingTest, ASupersededEventLetsTheNextOneRun) {
  const std::string first = publish_keyed("a", R"(,"supersede_key":"s")");
  const std::string second = publish_keyed("a", R"(,"supersede_key":"s")");
  const std::string third = publish_keyed("a");

  EXPECT_EQ(status_of(first), R"("SUPERSEDED")");
  EXPECT_EQ(claim("lines"), second);
  complete(second);
  EXPECT_EQ(claim("lines"), third);
}

TEST_F(OrderingTest, ASupersededEventInTheMiddleOfALineIsSkipped) {
  publish_keyed("a");
  publish_keyed("a", R"(,"supersede_key":"s")");
  publish_keyed("a");

  EXPECT_EQ(at(post("/queues/lines/supersede", R"({"supersede_key":"s"})"), "events[0]"), "2");

  EXPECT_EQ(claim("lines"), "1");
  complete("1");
  EXPECT_EQ(claim("lines"), "3");
}

TEST_F(OrderingTest, LinesTakeTurnsSoThatALongLineDelaysNoOther) {
  for (const char* key : {"a", "a", "a", "b", "b", "b", "c", "c", "c"}) publish_keyed(key);

  std::vector<std::string> order;
  for (std::string id = claim("lines"); !id.empty(); id = claim("lines")) {
    order.push_back(id);
    complete(id);
  }

  EXPECT_EQ(order, (std::vector<std::string>{"1", "4", "7", "2", "5", "8", "3", "6", "9"}));
}

TEST_F(OrderingTest, TheNextEventOfALineGetsItsTurnBehindEventsWithoutAKey) {
  publish_keyed("a");
  publish_keyed("a");
  publish("lines");

  EXPECT_EQ(claim("lines"), "1");
  complete("1");
  EXPECT_EQ(claim("lines"), "3");
  EXPECT_EQ(claim("lines"), "2");
}

TEST_F(OrderingTest, APermanentlyFailedEventLetsTheNextOneRunByDefault) {
  publish_keyed("a", R"(,"max_retries":1)");
  publish_keyed("a");

  EXPECT_EQ(fail(claim("lines")), 400) << "the last failure";

  EXPECT_EQ(claim("lines"), "2");
}

TEST_F(OrderingTest, ABlockedLineNamesTheReasonAndTheBlockingEvent) {
  put("/queues/lines", R"({"onFailure":"block"})");
  publish_keyed("order 17", R"(,"max_retries":1)");
  publish_keyed("order 17");
  publish_keyed("other");
  EXPECT_EQ(why("2"), R"("behind_in_line")");
  fail(claim("lines"));

  const HttpResponse blocked = get("/events/2/why");

  EXPECT_EQ(at(blocked, "reason"), R"("line_blocked")");
  EXPECT_THAT(at(blocked, "explanation"),
              HasSubstr("behind event 1 with the same ordering_key \"order 17\""));
  EXPECT_EQ(claim("lines"), "3") << "events with other keys are delivered";
  EXPECT_EQ(claim("lines"), "");
}

TEST_F(OrderingTest, AResetOfTheFailedEventUnblocksTheLineAndRunsIt) {
  make_blocked_line();

  EXPECT_EQ(post("/events/1/reset").status, 200);

  EXPECT_EQ(claim("lines"), "1");
  EXPECT_EQ(claim("lines"), "");
  complete("1");
  EXPECT_EQ(claim("lines"), "2");
}

TEST_F(OrderingTest, ACancelOfTheFailedEventUnblocksTheLineWithoutIt) {
  make_blocked_line();

  EXPECT_EQ(post("/events/1/cancel").status, 200);

  EXPECT_EQ(claim("lines"), "2");
}

TEST_F(OrderingTest, ABlockedLineStaysBlockedAfterARestart) {
  make_blocked_line();

  server_.restart();

  EXPECT_EQ(claim("lines"), "");
  EXPECT_EQ(why("2"), R"("line_blocked")");
}

TEST_F(OrderingTest, AWaitingWorkerGetsTheNextOfALineWhenTheOneBeforeEnds) {
  publish_keyed("a");
  publish_keyed("a");
  claim("lines");
  HttpClient worker = waiting("GET", "/events/subscribe?tags=t&queue=lines&worker_id=w:2&wait=20");

  complete("1");

  EXPECT_EQ(at(worker.receive().value(), "id"), "2");
}

TEST_F(OrderingTest, AnOrderedBatchIsOneLine) {
  const std::string event = R"({"title":"event","tags":"t","queue":"lines"})";
  const HttpResponse batch = post(
      "/events/batch", R"({"ordered":true,"correlation_id":"c","events":[)" + event + "," + event + "]}");

  EXPECT_EQ(at(batch, "events[0].ordering_key"), R"("c")");
  EXPECT_EQ(at(batch, "events[1].sequence"), "1");
  EXPECT_EQ(claim("lines"), "1");
  EXPECT_EQ(claim("lines"), "");
}

TEST_F(OrderingTest, TheSameKeyInTwoQueuesIsTwoLines) {
  publish("lines", R"(,"ordering_key":"a")");
  publish("others", R"(,"ordering_key":"a")");

  EXPECT_EQ(claim("lines"), "1");
  EXPECT_EQ(claim("others"), "2");
}

// Six workers fail, abandon and complete events of five keys, while other events are superseded.
class OrderingRaceTest : public OrderingTest {
 protected:
  static constexpr int kKeys = 5;
  static constexpr int kEach = 30;
  static constexpr int kWorkers = 6;

  struct Claim {
    std::string id, attempt, payload;
  };

  // The outcome of the n-th event of a key, which its payload names.
  static std::string payload_of(int n) {
    if (n % 5 == 1) return "\"fail once\"";
    if (n % 5 == 2) return "\"abandon once\"";
    if (n % 5 == 3) return "\"fail for good\"";
    return "\"complete\"";
  }

  void publish_all() {
    put("/queues/lines", R"({"retry":{"baseMs":0},"maxRetries":2})");
    for (int n = 0; n < kEach; ++n) {
      for (int key = 0; key < kKeys; ++key) {
        const std::string superseded = R"(,"supersede_key":"s)" + std::to_string(n) + '"';
        publish_keyed("key" + std::to_string(key),
                      R"(,"payload":)" + payload_of(n) + (n % 5 == 4 ? superseded : std::string()));
      }
    }
  }

  std::optional<Claim> take(HttpClient& client, const std::string& worker) {
    const HttpResponse taken = client.get("/events/subscribe?tags=t&queue=lines&worker_id=" + worker).value();
    if (taken.status != 200) return std::nullopt;
    JsonLines lines = json_lines(taken.body);
    return Claim{lines["id"], lines["attempt"], lines["payload"]};
  }

  void handle(HttpClient& client, const std::string& worker, const Claim& claim) {
    const bool first = claim.attempt == "1";
    if (first && claim.payload == "\"abandon once\"") {
      // The clock passes every lease, so other workers lose theirs too.
      clock_.advance(61s);
      return;
    }
    const bool fails = claim.payload == "\"fail for good\"" || (first && claim.payload == "\"fail once\"");
    const std::string body = worker_body(worker, R"(,"attempt":)" + claim.attempt);
    (void)client.post("/events/" + claim.id + (fails ? "/fail" : "/complete"), body).value();
  }

  // Claims and reports until no event is live.
  void work(const std::string& worker) {
    HttpClient client(server_.port(), 60s);
    for (;;) {
      if (const auto claim = take(client, worker)) {
        handle(client, worker, *claim);
      } else if (at(client.get("/queues/lines?events=0").value(), "depth") == "0") {
        return;
      }
    }
  }

  // The log entry ids of the event's first claim (0: never claimed) and of its end.
  struct Span {
    int first_picked = 0, end = 0;
    std::string key, status;
  };
  Span span_of(int id) {
    JsonLines lines = json_lines(get("/events/" + std::to_string(id) + "?include_logs=true").body);
    Span span{.key = lines["ordering_key"], .status = lines["status"]};
    for (int i = 0;; ++i) {
      const std::string entry = "logs[" + std::to_string(i) + "].";
      if (!lines.contains(entry + "id")) return span;
      span.end = std::stoi(lines[entry + "id"]);
      if (span.first_picked == 0 && lines[entry + "action"] == "\"PICKED\"") span.first_picked = span.end;
    }
  }
};

TEST_F(OrderingRaceTest, NoEventIsClaimedBeforeAllEarlierOnesOfItsKeyHaveEnded) {
  publish_all();
  std::vector<std::thread> workers;
  for (int i = 0; i < kWorkers; ++i) {
    workers.emplace_back([this, i] { work("w:" + std::to_string(i)); });
  }
  for (int n = kEach - 1; n >= 0; --n) {
    post("/queues/lines/supersede", R"({"supersede_key":"s)" + std::to_string(n) + "\"}");
  }
  for (std::thread& worker : workers) worker.join();

  std::map<std::string, int> last_end;  // of the key's events so far
  std::map<std::string, int> statuses;
  for (int id = 1; id <= kKeys * kEach; ++id) {
    const Span span = span_of(id);
    ++statuses[span.status];
    if (span.first_picked != 0) {
      EXPECT_GT(span.first_picked, last_end[span.key]) << "event " << id;
    }
    last_end[span.key] = std::max(last_end[span.key], span.end);
  }
  EXPECT_EQ(statuses["\"PENDING\""] + statuses["\"PROCESSING\""], 0);
  EXPECT_EQ(statuses["\"FAILED\""], kKeys * kEach / 5);
  EXPECT_GT(statuses["\"SUPERSEDED\""], 0);
  EXPECT_GT(statuses["\"COMPLETED\""], kKeys * kEach / 2);
}

}  // namespace
}  // namespace eventq
