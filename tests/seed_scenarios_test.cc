// seed_scenarios_test.cc: the scenarios of seed 000: the log of a retried event, two processes, repeated
// reports, orphaned events, and the largest payload.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "seed_conversation.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""min;
using std::chrono_literals::operator""s;

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

class SeedIdempotency : public SeedEvent1001 {
 protected:
  // Sends the report, and again nine minutes later.
  void expect_same_answer_again(std::string_view target, std::string_view report) {
    set_time("10:31:15");
    const HttpResponse first = post(target, report);
    set_time("10:40:00");

    const HttpResponse second = post(target, report);

    EXPECT_EQ(second.status, 200);
    EXPECT_EQ(second.body, first.body);
  }
};

TEST_F(SeedIdempotency, ARepeatedCompletionGetsTheSameBytesAndNoSecondEntry) {
  pick();
  expect_same_answer_again("/events/1001/complete", kSuccess);
  EXPECT_EQ(log_size(1001), 2U);
}

TEST_F(SeedIdempotency, ARepeatedFailureGetsTheSameBytesAndNoSecondEntry) {
  pick();
  expect_same_answer_again("/events/1001/fail", kFailure);
  EXPECT_EQ(log_size(1001), 2U);
  expect_members(R"({"retry_count": 1})", get("/events/1001"));
}

TEST_F(SeedIdempotency, TheSameWorkerFailingALaterAttemptIsANewReport) {
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
  void expect_kept(const std::string& payload) {
    EXPECT_EQ(publish(payload).status, 201);
    EXPECT_EQ(json_lines(get("/events/1").body)["payload"], payload);
  }
};

TEST_F(SeedPayload, OfOneByteLessThanAMegabyteIsKept) { expect_kept(payload_of(1'048'575)); }

TEST_F(SeedPayload, OfAMegabyteIsKept) { expect_kept(payload_of(1'048'576)); }

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
