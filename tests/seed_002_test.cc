// seed_002_test.cc: seed 002, "Event Queue State", over HTTP: its two example documents, made from published
// events, and a test for each field of an event. seed_002_queue_test.cc tests the fields of the queue, and
// seed_002_disk_test.cc when the state reaches the disk.
//
// Expected JSON is the seed's own: the answer must have each of its members with the same value, and may have
// more.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "seed_002.h"

namespace eventq {
namespace {

// The seed's two events as publish requests. The payloads have the seed's bytes.
constexpr std::string_view kInvoice = R"({
      "title": "Book invoice", "tags": "invoice", "queue": "main-queue",
      "event_id": "evt_123abc456def789",
      "pattern": "invoice.created",
      "version": "1.0.0",
      "source": {
        "type": "integration",
        "id": "xero_main",
        "name": "Xero Accounting"
      },
      "timestamp": "2024-03-15T10:00:00.123Z",
      "payload": {
        "invoice_id": "INV-001",
        "amount": 1500.00
      },
      "correlation_id": "corr_xyz789"
    })";
constexpr std::string_view kPayment = R"({
      "title": "Book payment", "tags": "payment", "queue": "main-queue",
      "event_id": "evt_456def789ghi012",
      "pattern": "payment.received",
      "version": "1.0.0",
      "source": {
        "type": "integration",
        "id": "stripe_payments",
        "name": "Stripe Payments"
      },
      "timestamp": "2024-03-15T10:05:00.456Z",
      "payload": {
        "payment_id": "PAY-002",
        "amount": 750.00
      },
      "correlation_id": "corr_xyz789",
      "retry": {"kind": "fixed", "baseMs": 30000}
    })";

constexpr std::string_view kPersistedState = R"({
  "id": "main-queue",
  "events": [
    {
      "eventId": "evt_123abc456def789",
      "pattern": "invoice.created",
      "version": "1.0.0",
      "source": {
        "type": "integration",
        "id": "xero_main",
        "name": "Xero Accounting"
      },
      "timestamp": "2024-03-15T10:00:00.123Z",
      "payload": {
        "invoice_id": "INV-001",
        "amount": 1500.00
      },
      "metadata": {
        "correlationId": "corr_xyz789",
        "retryCount": 0
      }
    },
    {
      "eventId": "evt_456def789ghi012",
      "pattern": "payment.received",
      "version": "1.0.0",
      "source": {
        "type": "integration",
        "id": "stripe_payments",
        "name": "Stripe Payments"
      },
      "timestamp": "2024-03-15T10:05:00.456Z",
      "payload": {
        "payment_id": "PAY-002",
        "amount": 750.00
      },
      "metadata": {
        "correlationId": "corr_xyz789",
        "retryCount": 2,
        "lastError": "Connection timeout",
        "lastErrorTime": "2024-03-15T10:06:00.123Z"
      }
    }
  ],
  "checkpointId": "evt_111aaa222bbb333",
  "queueMetrics": {
    "totalProcessed": 1053,
    "totalErrors": 17,
    "avgProcessingTimeMs": 42
  },
  "config": {
    "maxQueueDepth": 10000,
    "batchSize": 100,
    "processingInterval": 1000,
    "persistenceThreshold": 500,
    "highWatermark": 8000
  },
  "status": "active",
  "created_at": "2024-03-15T00:00:00.000Z",
  "updated_at": "2024-03-15T10:07:00.000Z"
})";

// `id` is omitted, because ours is a UUID.
constexpr std::string_view kRecovery = R"({
  "checkpointId": "evt_111aaa222bbb333",
  "eventsRecovered": 42,
  "recoveryStartTime": "2024-03-15T10:15:00.000Z",
  "recoveryCompleteTime": "2024-03-15T10:15:00.500Z",
  "status": "completed"
})";

// The two example documents.

class Seed002Documents : public Seed002 {
 protected:
  // Completes `events` events, of which the first 15 fail once, and then the event of the seed's checkpoint.
  void process(int events) {
    publish_many(events);
    const auto first = claim(15);
    ASSERT_EQ(first.size(), 15U);
    fail(first);
    clock_.set("2024-03-15T01:00:00Z");
    for (auto ids = claim(100); !ids.empty(); ids = claim(100)) complete(ids);
    publish(R"(,"event_id":"evt_111aaa222bbb333")");
    complete(claim(1));
  }

  // Fails the payment twice; the second failure has the seed's time and message.
  void fail_payment_twice() {
    clock_.set("2024-03-15T10:05:20.000Z");
    fail(claim(1, "payment"));
    clock_.set("2024-03-15T10:06:00.123Z");
    fail(claim(1, "payment"));
  }
};

TEST_F(Seed002Documents, ThePersistedStateIsTheSeedsDocument) {
  ASSERT_NO_FATAL_FAILURE(process(1052));
  clock_.set("2024-03-15T10:00:00.123Z");
  ASSERT_EQ(post("/events", kInvoice).status, 201);
  clock_.set("2024-03-15T10:05:00.456Z");
  ASSERT_EQ(post("/events", kPayment).status, 201);
  ASSERT_NO_FATAL_FAILURE(fail_payment_twice());
  clock_.set("2024-03-15T10:07:00.000Z");
  ASSERT_EQ(post("/queues/main-queue/resume").status, 200);

  const HttpResponse state = get("/queues/main-queue");

  EXPECT_EQ(missing(json_lines(kPersistedState), json_lines(state.body)), "") << state.body;
  EXPECT_EQ(at(state, "events[2].eventId"), "");
  EXPECT_EQ(at(state, "events[0].metadata.lastError"), "");
}

TEST_F(Seed002Documents, ThePersistedStateIsTheSameAfterARestart) {
  ASSERT_EQ(post("/events", kInvoice).status, 201);
  ASSERT_EQ(post("/events", kPayment).status, 201);
  ASSERT_NO_FATAL_FAILURE(fail_payment_twice());
  const std::string before = get("/queues/main-queue").body;

  server_->restart();

  EXPECT_EQ(get("/queues/main-queue").body, before);
}

TEST_F(Seed002Documents, TheRecoveryIsTheSeedsDocument) {
  ASSERT_NO_FATAL_FAILURE(process(20));
  publish_many(40);
  ASSERT_EQ(post("/events", kInvoice).status, 201);
  ASSERT_EQ(post("/events", kPayment).status, 201);
  ASSERT_EQ(claim(3).size(), 3U);  // claimed events are live too

  server_.reset();
  clock_.set("2024-03-15T10:15:00.000Z", "2024-03-15T10:15:00.500Z");
  server_ = serve();

  const HttpResponse recovery = get("/queues/main-queue/recovery");
  EXPECT_EQ(missing(json_lines(kRecovery), json_lines(recovery.body)), "") << recovery.body;
  EXPECT_EQ(at(recovery, "id").size(), 38U) << "a UUID in quotes";
}

TEST_F(Seed002Documents, ARecoveryRestoresEveryLiveEventAndNoEndedOne) {
  publish_many(10);
  complete(claim(4));

  server_->restart();

  EXPECT_EQ(at(get("/queues/main-queue/recovery"), "eventsRecovered"), "6");
  EXPECT_EQ(claim(100), (std::vector<std::string>{"5", "6", "7", "8", "9", "10"}));
}

TEST_F(Seed002Documents, ProcessingContinuesFromTheCheckpointedPosition) {
  publish(R"(,"event_id":"first")");
  publish(R"(,"event_id":"second")");
  complete(claim(1));

  server_->restart();

  EXPECT_EQ(at(get("/queues/main-queue/recovery"), "checkpointId"), R"("first")");
  EXPECT_EQ(shown("checkpointId"), R"("first")");
  EXPECT_EQ(shown("events[0].eventId"), R"("second")");
}

// The fields of an event.

TEST_F(Seed002, EventIdIsThePublishersOrAGeneratedOne) {
  publish(R"(,"event_id":"evt_123abc456def789")");
  publish();

  EXPECT_EQ(shown("events[0].eventId"), R"("evt_123abc456def789")");
  EXPECT_EQ(shown("events[1].eventId").substr(0, 5), R"("evt_)");
}

struct PublishedField {
  const char* name;
  std::string member;  // of the publish request
  std::string where;   // in the event's document
  std::string value;
};

class Seed002PublishedField : public Seed002, public testing::WithParamInterface<PublishedField> {};

TEST_P(Seed002PublishedField, IsAsPublishedAndAbsentOtherwise) {
  publish("," + GetParam().member);
  publish();

  EXPECT_EQ(shown("events[0]." + GetParam().where), GetParam().value);
  EXPECT_EQ(shown("events[1]." + GetParam().where), "");
}

INSTANTIATE_TEST_SUITE_P(
    Each, Seed002PublishedField,
    testing::Values(PublishedField{"Pattern", R"("pattern":"invoice.created")", "pattern",
                                   R"("invoice.created")"},
                    PublishedField{"Version", R"("version":"1.0.0")", "version", R"("1.0.0")"},
                    PublishedField{"CausationId", R"("causation_id":"evt_cause")", "metadata.causationId",
                                   R"("evt_cause")"},
                    PublishedField{"TraceId", R"("trace_id":"4bf92f3577b34da6a3ce929d0e0e4736")",
                                   "metadata.traceId", R"("4bf92f3577b34da6a3ce929d0e0e4736")"}),
    [](const testing::TestParamInfo<PublishedField>& field) { return std::string(field.param.name); });

TEST_F(Seed002, SourceTypeIsAsPublished) {
  publish(R"(,"source":{"type":"workflow"})");

  EXPECT_EQ(shown("events[0].source.type"), R"("workflow")");
  EXPECT_EQ(shown("events[0].source.id"), "");
}

TEST_F(Seed002, SourceIdIsAsPublished) {
  publish(R"(,"source":{"id":"xero_main"})");

  EXPECT_EQ(shown("events[0].source.id"), R"("xero_main")");
  EXPECT_EQ(shown("events[0].source.name"), "");
}

TEST_F(Seed002, SourceNameIsAsPublished) {
  publish(R"(,"source":{"name":"Xero Accounting"})");

  EXPECT_EQ(shown("events[0].source.name"), R"("Xero Accounting")");
  EXPECT_EQ(shown("events[0].source.type"), "");
}

TEST_F(Seed002, TimestampIsWhenItHappenedOrElseWhenItWasPublished) {
  publish(R"(,"timestamp":"2024-03-14T23:59:59.999Z")");
  clock_.set("2024-03-15T10:00:00.123Z");
  publish();

  EXPECT_EQ(shown("events[0].timestamp"), R"("2024-03-14T23:59:59.999Z")");
  EXPECT_EQ(shown("events[1].timestamp"), R"("2024-03-15T10:00:00.123Z")");
}

TEST_F(Seed002, PayloadIsByteForByteAsPublished) {
  publish(R"(,"payload":{"amount": 1500.00,  "n":[1e400]})");
  publish();

  EXPECT_EQ(shown("events[0].payload"), R"({"amount": 1500.00,  "n":[1e400]})");
  EXPECT_EQ(shown("events[1].payload"), "null");
}

TEST_F(Seed002, CorrelationIdIsAsPublishedAndThatOfABatchIsShared) {
  publish(R"(,"correlation_id":"corr_xyz789")");
  publish();
  publish_many(2);

  EXPECT_EQ(shown("events[0].metadata.correlationId"), R"("corr_xyz789")");
  EXPECT_EQ(shown("events[1].metadata.correlationId"), "");
  EXPECT_EQ(shown("events[2].metadata.correlationId").substr(0, 6), R"("corr_)");
  EXPECT_EQ(shown("events[2].metadata.correlationId"), shown("events[3].metadata.correlationId"));
}

TEST_F(Seed002, RetryCountIsTheNumberOfFailuresReported) {
  publish(R"(,"retry":{"baseMs":0})");
  EXPECT_EQ(shown("events[0].metadata.retryCount"), "0");

  fail(claim(1));
  EXPECT_EQ(shown("events[0].metadata.retryCount"), "1");
  fail(claim(1));
  EXPECT_EQ(shown("events[0].metadata.retryCount"), "2");
}

TEST_F(Seed002, LastErrorIsTheNewestFailuresMessage) {
  publish(R"(,"retry":{"baseMs":0})");
  EXPECT_EQ(shown("events[0].metadata.lastError"), "");

  report("fail", claim(1), R"(,"error_message":"one")");
  EXPECT_EQ(shown("events[0].metadata.lastError"), R"("one")");
  report("fail", claim(1), R"(,"error_message":"two")");
  EXPECT_EQ(shown("events[0].metadata.lastError"), R"("two")");
}

TEST_F(Seed002, LastErrorTimeIsWhenTheNewestFailureWasReported) {
  publish(R"(,"retry":{"baseMs":0})");
  EXPECT_EQ(shown("events[0].metadata.lastErrorTime"), "");

  clock_.set("2024-03-15T10:05:00.000Z");
  fail(claim(1));
  clock_.set("2024-03-15T10:06:00.123Z");
  fail(claim(1));

  EXPECT_EQ(shown("events[0].metadata.lastErrorTime"), R"("2024-03-15T10:06:00.123Z")");
}

TEST_F(Seed002, ProcessingStartTimeIsTheTimeOfTheClaimWhileTheEventIsHeld) {
  publish();
  EXPECT_EQ(shown("events[0].metadata.processingStartTime"), "");

  clock_.set("2024-03-15T10:00:00.007Z");
  const auto held = claim(1);
  EXPECT_EQ(shown("events[0].metadata.processingStartTime"), R"("2024-03-15T10:00:00.007Z")");

  fail(held);
  EXPECT_EQ(shown("events[0].metadata.processingStartTime"), "");
}

TEST_F(Seed002, EventsAreTheLiveOnesInTheOrderPublished) {
  publish(R"(,"event_id":"a")");
  publish(R"(,"event_id":"b","priority":9)");
  publish(R"(,"event_id":"c")");
  complete(claim(1));  // b

  EXPECT_EQ(shown("events[0].eventId"), R"("a")");
  EXPECT_EQ(shown("events[1].eventId"), R"("c")");
  EXPECT_EQ(shown("events[2].eventId"), "");
}

}  // namespace
}  // namespace eventq
