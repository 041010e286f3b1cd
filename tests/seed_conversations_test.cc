// seed_conversations_test.cc: the calls of seed 000 with their example answers, word for word.
#include <gtest/gtest.h>

#include <optional>

#include "seed_conversation.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;

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

TEST_F(SeedEvent1001, GetOmitsTheLogUnlessItIsRequested) {
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

}  // namespace
}  // namespace eventq
