// seed_conversations_test.cc: the example conversations of seed 000, word for word, with a server inside the
// test. Its clock has the seed's times.
//
// Expected bodies are the seed's own JSON: the answer must have each of its members with the same value, and
// may have more. A time may be written with or without milliseconds.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/time_text.h"
#include "support/drawn_numbers.h"
#include "support/http_client.h"
#include "support/json_lines.h"
#include "support/local_server.h"
#include "support/manual_clock.h"
#include "support/test_store.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""s;

constexpr std::string_view kEmail = R"({
  "title": "Send Email Notification",
  "description": "Send welcome email to new user",
  "tags": "email,priority-high,notification",
  "payload": {
    "user_id": 12345,
    "email": "user@example.com",
    "template": "welcome",
    "variables": {
      "name": "Alice",
      "signup_date": "2025-12-24"
    }
  }
})";

constexpr std::string_view kSuccess = R"({
  "worker_id": "worker-02:8742",
  "execution_time_ms": 1250,
  "status_code": 200
})";

constexpr std::string_view kFailure = R"({
  "worker_id": "worker-02:8742",
  "execution_time_ms": 5000,
  "status_code": 500,
  "error_message": "Connection timeout: mail server unreachable. Will retry."
})";

constexpr std::string_view kSubscribe = "/events/subscribe?tags=email,notification&worker_id=worker-02:8742";

JsonLines with_whole_times(JsonLines lines) {
  for (auto& [where, what] : lines) {
    if (what.size() < 2 || what.front() != '"') continue;
    const auto time = parse_iso_time(std::string_view(what).substr(1, what.size() - 2));
    if (!time) continue;
    what = "\"";
    append_iso_time(what, *time);
    what += '"';
  }
  return lines;
}

class SeedConversation : public testing::Test {
 protected:
  // Publishes events to another queue, so that the next event gets this id.
  void let_event_ids_begin_with(int id) {
    std::string batch = R"({"events":[)";
    for (int i = 1; i < id; ++i) {
      batch += (i > 1 ? "," : "") + std::string(R"({"title":"other","tags":"other","queue":"other"})");
    }
    ASSERT_EQ(post("/events/batch", batch + "]}").status, 201);
  }

  // The same for log entries, with 1000 other events. The first claim of an event writes one entry, each
  // later one two: ABANDONED and PICKED.
  void let_log_ids_begin_with_5001() {
    for (int claims = 0; claims < 3; ++claims) {
      ASSERT_EQ(get("/events/subscribe?tags=other&queue=other&worker_id=other:1&limit=1000").status, 200);
      clock_.advance(60s);
    }
  }

  // "10:30:45"
  void set_time(std::string_view time_of_day) {
    clock_.set(parse_iso_time("2025-12-24T" + std::string(time_of_day) + "Z").value());
  }

  HttpResponse get(std::string_view target) {
    numbers_.take_back();
    return client_.get(target).value();
  }
  HttpResponse post(std::string_view target, std::string_view body = {}) {
    numbers_.take_back();
    return client_.post(target, body).value();
  }

  void expect_members(std::string_view seed, const HttpResponse& response) {
    EXPECT_EQ(missing(with_whole_times(json_lines(seed)), with_whole_times(json_lines(response.body))), "")
        << response.status << " " << response.body;
  }

  [[nodiscard]] std::size_t log_size(int id) {
    const HttpResponse event = get("/events/" + std::to_string(id) + "?include_logs=true");
    std::size_t size = 0;
    for (const auto& [where, what] : json_lines(event.body)) size += where.ends_with("].action") ? 1 : 0;
    return size;
  }

  const TestStore store_;
  DrawnNumbers numbers_{store_};
  ManualClock clock_{parse_iso_time("2025-12-24T00:00:00Z").value()};
  LocalServer server_{store_.url(), {.clock = &clock_}};
  HttpClient client_{server_.port()};
};

// Event 1001 of the seed, published at 10:30:00 and, where a test says so, claimed at 10:30:45.
class SeedEvent1001 : public SeedConversation {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(let_event_ids_begin_with(1001));
    ASSERT_NO_FATAL_FAILURE(let_log_ids_begin_with_5001());
    set_time("10:30:00");
    created_.emplace(post("/events", kEmail));
  }

  HttpResponse pick() {
    set_time("10:30:45");
    return get(kSubscribe);
  }

  std::optional<HttpResponse> created_;
};

// 1. POST /events - Create Job

TEST_F(SeedEvent1001, CreateAnswers201WithThePendingEvent) {
  EXPECT_EQ(created_->status, 201);
  expect_members(R"({
  "id": 1001,
  "title": "Send Email Notification",
  "description": "Send welcome email to new user",
  "tags": "email,priority-high,notification",
  "status": "PENDING",
  "payload": {
    "user_id": 12345,
    "email": "user@example.com",
    "template": "welcome",
    "variables": {
      "name": "Alice",
      "signup_date": "2025-12-24"
    }
  },
  "retry_count": 0,
  "max_retries": 3,
  "next_retry_at": null,
  "created_at": "2025-12-24T10:30:00Z",
  "updated_at": "2025-12-24T10:30:00Z"
})",
                 *created_);
}

TEST_F(SeedEvent1001, TimesAreInUtcWithMilliseconds) {
  EXPECT_EQ(json_lines(created_->body)["created_at"], "\"2025-12-24T10:30:00.000Z\"");
}

// 2. GET /events/subscribe - Poll for Jobs

TEST_F(SeedEvent1001, SubscribeAnswers200WithTheEventInProcessing) {
  const HttpResponse response = pick();

  EXPECT_EQ(response.status, 200);
  expect_members(R"({
  "id": 1001,
  "title": "Send Email Notification",
  "tags": "email,priority-high,notification",
  "status": "PROCESSING",
  "payload": {
    "user_id": 12345,
    "email": "user@example.com",
    "template": "welcome",
    "variables": {
      "name": "Alice",
      "signup_date": "2025-12-24"
    }
  },
  "retry_count": 0,
  "max_retries": 3,
  "created_at": "2025-12-24T10:30:00Z"
})",
                 response);
}

TEST_F(SeedEvent1001, SubscribeAnswers204WithAnEmptyBodyWhenNoTagMatches) {
  const HttpResponse response = get("/events/subscribe?tags=payment&worker_id=worker-02:8742");

  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.body, "");
}

TEST_F(SeedEvent1001, SubscribeGivesTheEventToOneWorkerOnly) {
  pick();

  EXPECT_EQ(get("/events/subscribe?tags=email&worker_id=worker-03:9100").status, 204);
}

TEST_F(SeedEvent1001, SubscribeNeedsTagsAndAWorker) {
  EXPECT_EQ(get("/events/subscribe?worker_id=worker-02:8742").status, 400);
  EXPECT_EQ(get("/events/subscribe?tags=email").status, 400);
}

// 3. POST /events/{id}/complete - Mark Success

TEST_F(SeedEvent1001, CompleteAnswers200WithTheEntry) {
  pick();
  set_time("10:31:15");

  const HttpResponse response = post("/events/1001/complete", kSuccess);

  EXPECT_EQ(response.status, 200);
  expect_members(R"({
  "event_id": 1001,
  "worker_id": "worker-02:8742",
  "action": "COMPLETED",
  "status_code": 200,
  "execution_time_ms": 1250,
  "created_at": "2025-12-24T10:31:15Z"
})",
                 response);
}

// 4. POST /events/{id}/fail - Report Failure & Retry

TEST_F(SeedEvent1001, FailAnswers200WithARetryExactlyFiveMinutesLater) {
  pick();
  set_time("10:31:15");

  const HttpResponse response = post("/events/1001/fail", kFailure);

  EXPECT_EQ(response.status, 200);
  expect_members(R"({
  "event_id": 1001,
  "worker_id": "worker-02:8742",
  "action": "FAILED",
  "status_code": 500,
  "error_message": "Connection timeout: mail server unreachable. Will retry.",
  "execution_time_ms": 5000,
  "retry_scheduled": true,
  "next_retry_at": "2025-12-24T10:36:15Z",
  "created_at": "2025-12-24T10:31:15Z"
})",
                 response);
}

TEST_F(SeedEvent1001, AFailedEventIsPendingAgainAndWaitsForItsRetry) {
  pick();
  set_time("10:31:15");
  post("/events/1001/fail", kFailure);

  expect_members(R"({"status": "PENDING", "retry_count": 1, "next_retry_at": "2025-12-24T10:36:15Z",
                     "updated_at": "2025-12-24T10:31:15Z"})",
                 get("/events/1001"));
  set_time("10:36:14.999");
  EXPECT_EQ(get(kSubscribe).status, 204);
  set_time("10:36:15");
  EXPECT_EQ(get(kSubscribe).status, 200);
}

// Three failures, five minutes apart.
class SeedMaxRetries : public SeedEvent1001 {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(SeedEvent1001::SetUp());
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(get(kSubscribe).status, 200);
      ASSERT_EQ(post("/events/1001/fail", kFailure).status, 200);
      clock_.advance(5min);
    }
    ASSERT_EQ(get(kSubscribe).status, 200);
    last_.emplace(post("/events/1001/fail", kFailure));
  }

  std::optional<HttpResponse> last_;
};

TEST_F(SeedMaxRetries, TheThirdFailureAnswers400MaxRetriesExceeded) {
  EXPECT_EQ(last_->status, 400);
  expect_members(R"({
  "error": "Max retries exceeded",
  "retry_count": 3,
  "max_retries": 3
})",
                 *last_);
}

TEST_F(SeedMaxRetries, TheEventIsFailedForGood) {
  expect_members(R"({"status": "FAILED", "retry_count": 3, "next_retry_at": null})", get("/events/1001"));
  clock_.advance(24h * 365);
  EXPECT_EQ(get(kSubscribe).status, 204);
}

TEST_F(SeedMaxRetries, TheLastFailureIsInTheLogAsTheOthersAre) {
  expect_members(R"({"logs": [{"action": "PICKED"}, {"action": "FAILED"},
                              {"action": "PICKED"}, {"action": "FAILED"},
                              {"action": "PICKED"}, {"action": "FAILED", "status_code": 500}]})",
                 get("/events/1001?include_logs=true"));
  EXPECT_EQ(log_size(1001), 6U);
}

TEST_F(SeedMaxRetries, ARepeatedLastFailureGetsTheSame400AndNoSecondEntry) {
  const HttpResponse again = post("/events/1001/fail", kFailure);

  EXPECT_EQ(again.status, 400);
  EXPECT_EQ(again.body, last_->body);
  EXPECT_EQ(log_size(1001), 6U);
}

// 5. GET /events/{id} - Get Event Details

TEST_F(SeedEvent1001, GetShowsTheCompletedEventWithItsLog) {
  pick();
  set_time("10:31:15");
  post("/events/1001/complete", kSuccess);

  const HttpResponse response = get("/events/1001?include_logs=true");

  EXPECT_EQ(response.status, 200);
  expect_members(R"({
  "id": 1001,
  "title": "Send Email Notification",
  "description": "Send welcome email to new user",
  "tags": "email,priority-high,notification",
  "status": "COMPLETED",
  "retry_count": 0,
  "max_retries": 3,
  "next_retry_at": null,
  "created_at": "2025-12-24T10:30:00Z",
  "updated_at": "2025-12-24T10:31:15Z",
  "logs": [
    {
      "id": 5001,
      "worker_id": "worker-02:8742",
      "action": "PICKED",
      "created_at": "2025-12-24T10:30:45Z"
    },
    {
      "id": 5002,
      "worker_id": "worker-02:8742",
      "action": "COMPLETED",
      "status_code": 200,
      "execution_time_ms": 1250,
      "created_at": "2025-12-24T10:31:15Z"
    }
  ]
})",
                 response);
  EXPECT_EQ(log_size(1001), 2U);
}

TEST_F(SeedEvent1001, GetLeavesTheLogOutUnlessAskedForIt) {
  const JsonLines lines = json_lines(get("/events/1001").body);

  EXPECT_FALSE(lines.contains("logs"));
}

// 6. GET /events - List Events

TEST_F(SeedEvent1001, ListShowsBothEventsWithTotalLimitAndOffset) {
  set_time("10:25:00");  // the seed's second event is older
  post("/events", R"({"title": "Process Payment", "tags": "payment,priority-high"})");
  set_time("10:31:00");
  get("/events/subscribe?tags=payment&worker_id=worker-03:9100");
  post("/events/1002/fail", R"({"worker_id": "worker-03:9100"})");
  pick();
  set_time("10:31:15");
  post("/events/1001/complete", kSuccess);

  const HttpResponse response = get("/events?tags=priority-high&limit=10");

  EXPECT_EQ(response.status, 200);
  expect_members(R"({
  "events": [
    {
      "id": 1001,
      "title": "Send Email Notification",
      "status": "COMPLETED",
      "tags": "email,priority-high,notification",
      "retry_count": 0,
      "created_at": "2025-12-24T10:30:00Z",
      "updated_at": "2025-12-24T10:31:15Z"
    },
    {
      "id": 1002,
      "title": "Process Payment",
      "status": "PENDING",
      "tags": "payment,priority-high",
      "retry_count": 1,
      "next_retry_at": "2025-12-24T10:36:00Z",
      "created_at": "2025-12-24T10:25:00Z",
      "updated_at": "2025-12-24T10:31:00Z"
    }
  ],
  "total": 2,
  "limit": 10,
  "offset": 0
})",
                 response);
}

TEST_F(SeedEvent1001, ListTakesAStatusAndALimit) {
  expect_members(R"({"events": [{"id": 1001, "status": "PENDING"}], "total": 1, "limit": 10, "offset": 0})",
                 get("/events?status=PENDING&limit=10"));
}

TEST_F(SeedEvent1001, ListShowsTheFirstTwentyEventsByDefault) {
  expect_members(R"({"total": 1001, "limit": 20, "offset": 0})", get("/events"));
  EXPECT_TRUE(json_lines(get("/events").body).contains("events[19].id"));
  EXPECT_FALSE(json_lines(get("/events").body).contains("events[20].id"));
}

TEST_F(SeedEvent1001, ListSkipsAsManyEventsAsTheOffsetSays) {
  expect_members(R"({"events": [{"id": 1001}], "total": 1001, "limit": 20, "offset": 1000})",
                 get("/events?offset=1000"));
}

// Event Log Lifecycle Example

TEST_F(SeedEvent1001, TheLogOfASuccessWithOneRetryIsTheSeeds) {
  set_time("10:30:45");
  ASSERT_EQ(get("/events/subscribe?tags=email&worker_id=worker-01:7234").status, 200);
  set_time("10:30:46");
  ASSERT_EQ(post("/events/1001/start", R"({"worker_id": "worker-01:7234"})").status, 200);
  set_time("10:30:54");
  ASSERT_EQ(post("/events/1001/fail", R"({
    "worker_id": "worker-01:7234",
    "status_code": 503,
    "error_message": "Service unavailable, will retry",
    "execution_time_ms": 8000})")
                .status,
            200);
  set_time("10:36:10");
  ASSERT_EQ(get(kSubscribe).status, 200);
  set_time("10:36:25");
  ASSERT_EQ(post("/events/1001/complete", kSuccess).status, 200);

  const HttpResponse response = get("/events/1001?include_logs=true");

  expect_members(R"({"logs": [
  {
    "id": 5001,
    "event_id": 1001,
    "worker_id": "worker-01:7234",
    "action": "PICKED",
    "created_at": "2025-12-24T10:30:45Z"
  },
  {
    "id": 5002,
    "event_id": 1001,
    "worker_id": "worker-01:7234",
    "action": "STARTED",
    "created_at": "2025-12-24T10:30:46Z"
  },
  {
    "id": 5003,
    "event_id": 1001,
    "worker_id": "worker-01:7234",
    "action": "FAILED",
    "status_code": 503,
    "error_message": "Service unavailable, will retry",
    "execution_time_ms": 8000,
    "created_at": "2025-12-24T10:30:54Z"
  },
  {
    "id": 5004,
    "event_id": 1001,
    "worker_id": "worker-02:8742",
    "action": "PICKED",
    "created_at": "2025-12-24T10:36:10Z"
  },
  {
    "id": 5005,
    "event_id": 1001,
    "worker_id": "worker-02:8742",
    "action": "COMPLETED",
    "status_code": 200,
    "execution_time_ms": 1250,
    "created_at": "2025-12-24T10:36:25Z"
  }
]})",
                 response);
  EXPECT_EQ(log_size(1001), 5U);
}

// Example: Process A Publishes, Process B Consumes

TEST_F(SeedConversation, ProcessAPublishesAndProcessBConsumes) {
  let_event_ids_begin_with(2001);
  const HttpResponse published = post("/events", R"({
  "title": "Batch Report Generation",
  "tags": "reporting,batch",
  "payload": {
    "report_type": "sales",
    "month": "2025-12"
  }
})");
  EXPECT_EQ(published.status, 201);
  expect_members(R"({"id": 2001, "status": "PENDING", "description": null})", published);

  const HttpResponse picked = get("/events/subscribe?tags=reporting&worker_id=worker-03:9100");
  EXPECT_EQ(picked.status, 200);
  expect_members(R"({"id": 2001, "status": "PROCESSING"})", picked);
  clock_.advance(15s);
  EXPECT_EQ(post("/events/2001/complete", R"({
  "worker_id": "worker-03:9100",
  "execution_time_ms": 15000,
  "status_code": 200
})")
                .status,
            200);
  expect_members(R"({"status": "COMPLETED", "worker_id": "worker-03:9100"})", get("/events/2001"));
}

TEST_F(SeedConversation, AWorkerWithOtherTagsPollsUntilEventsMatch) {
  const std::string poll = "/events/subscribe?tags=payment&worker_id=worker-04:9101";
  post("/events", R"({"title": "Batch Report Generation", "tags": "reporting,batch"})");

  EXPECT_EQ(get(poll).status, 204);
  clock_.advance(5s);
  EXPECT_EQ(get(poll).status, 204);
  post("/events", R"({"title": "Process Payment", "tags": "payment,priority-high"})");
  expect_members(R"({"id": 2, "title": "Process Payment"})", get(poll));
}

// Idempotency

TEST_F(SeedEvent1001, ARepeatedCompletionGetsTheSameBytesAndNoSecondEntry) {
  pick();
  set_time("10:31:15");
  const HttpResponse first = post("/events/1001/complete", kSuccess);
  set_time("10:40:00");

  const HttpResponse second = post("/events/1001/complete", kSuccess);

  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(second.body, first.body);
  EXPECT_EQ(log_size(1001), 2U);
}

TEST_F(SeedEvent1001, ARepeatedFailureGetsTheSameBytesAndNoSecondEntry) {
  pick();
  set_time("10:31:15");
  const HttpResponse first = post("/events/1001/fail", kFailure);
  set_time("10:40:00");

  const HttpResponse second = post("/events/1001/fail", kFailure);

  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(second.body, first.body);
  EXPECT_EQ(log_size(1001), 2U);
  expect_members(R"({"retry_count": 1})", get("/events/1001"));
}

TEST_F(SeedEvent1001, TheSameWorkerFailingALaterAttemptIsANewReport) {
  pick();
  post("/events/1001/fail", kFailure);
  clock_.advance(5min);
  get(kSubscribe);

  const HttpResponse second = post("/events/1001/fail", kFailure);

  EXPECT_EQ(second.status, 200);
  expect_members(R"({"retry_count": 2, "attempt": 2})", second);
  EXPECT_EQ(log_size(1001), 4U);
}

// Orphaned Events

TEST_F(SeedEvent1001, AnEventWhoseWorkerCrashedIsFoundInProcessingWithoutAnUpdateForThirtySeconds) {
  pick();
  set_time("10:31:16");

  expect_members(R"({"events": [{"id": 1001, "status": "PROCESSING", "worker_id": "worker-02:8742",
                                 "updated_at": "2025-12-24T10:30:45Z"}], "total": 1})",
                 get("/events?status=PROCESSING&tags=email"));
}

TEST_F(SeedEvent1001, ResetGivesAnOrphanedEventToTheNextWorkerAtOnce) {
  pick();
  set_time("10:31:16");

  const HttpResponse reset = post("/events/1001/reset?reason=worker_timeout");

  EXPECT_EQ(reset.status, 200);
  expect_members(R"({"event_id": 1001, "action": "RESET", "reason": "worker_timeout", "worker_id": null,
                     "created_at": "2025-12-24T10:31:16Z"})",
                 reset);
  expect_members(R"({"status": "PENDING", "worker_id": null})", get("/events/1001"));
  EXPECT_EQ(get("/events/subscribe?tags=email&worker_id=worker-03:9100").status, 200);
}

TEST_F(SeedEvent1001, TheCrashedWorkerCannotCompleteWhatWasReset) {
  pick();
  set_time("10:31:16");
  post("/events/1001/reset?reason=worker_timeout");
  const HttpResponse before = get("/events/1001?include_logs=true");

  EXPECT_EQ(post("/events/1001/complete", kSuccess).status, 409);
  EXPECT_EQ(get("/events/1001?include_logs=true").body, before.body);
}

// Payload Size

class SeedPayload : public SeedConversation {
 protected:
  // A JSON string of this many bytes.
  static std::string payload_of(std::size_t bytes) { return '"' + std::string(bytes - 2, 'x') + '"'; }

  HttpResponse publish(const std::string& payload) {
    return post("/events", R"({"title":"big","tags":"big","payload":)" + payload + "}");
  }
};

TEST_F(SeedPayload, OfOneByteLessThanAMegabyteIsKept) {
  const std::string payload = payload_of(1'048'575);

  EXPECT_EQ(publish(payload).status, 201);
  EXPECT_EQ(json_lines(get("/events/1").body)["payload"], payload);
}

TEST_F(SeedPayload, OfAMegabyteIsKept) {
  const std::string payload = payload_of(1'048'576);

  EXPECT_EQ(publish(payload).status, 201);
  EXPECT_EQ(json_lines(get("/events/1").body)["payload"], payload);
}

TEST_F(SeedPayload, OfOneByteMoreIsRefusedWith413) {
  const HttpResponse response = publish(payload_of(1'048'577));

  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(json_lines(response.body)["field"], "\"payload\"");
  EXPECT_EQ(get("/events/1").status, 404);
}

TEST_F(SeedPayload, OfAMegabyteIsKeptBesideTheLongestOfEverythingElse) {
  std::string body =
      R"({"title":")" + std::string(200, 't') + R"(","description":")" + std::string(16 * 1024, 'd');
  body += R"(","tags":"big","payload":)" + payload_of(1'048'576) + "}";

  EXPECT_EQ(post("/events", body).status, 201);
}

}  // namespace
}  // namespace eventq
