// seed_002_test.cc: seed 002, "Event Queue State", over HTTP: its two example documents, made from published
// events, and a test for each field and status. seed_002_disk_test.cc tests when the state reaches the disk.
//
// Expected JSON is the seed's own: the answer must have each of its members with the same value, and may have
// more.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/local_api.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kConfig = R"({
    "maxQueueDepth": 10000,
    "batchSize": 100,
    "processingInterval": 1000,
    "persistenceThreshold": 500,
    "highWatermark": 8000
  })";

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

// Returns the same time until it is set again; with `later`, returns that from the second call on.
class SeedClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override {
    const Millis::rep later = later_.load();
    return TimePoint(Millis(later == 0 ? now_.load() : now_.exchange(later)));
  }
  void set(std::string_view iso) {
    later_ = 0;
    now_ = count(iso);
  }
  void set(std::string_view iso, std::string_view later) {
    now_ = count(iso);
    later_ = count(later);
  }

 private:
  static Millis::rep count(std::string_view iso) { return time_at(iso).time_since_epoch().count(); }

  mutable std::atomic<Millis::rep> now_ = count("2024-03-15T00:00:00Z");
  std::atomic<Millis::rep> later_ = 0;  // 0: none
};

// The queue main-queue of the seed's first example, configured at midnight.
class Seed002 : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(request("PUT", "/queues/main-queue", kConfig).status, 201); }

  std::unique_ptr<LocalServer> serve() {
    return std::make_unique<LocalServer>(store_.url(), Options{.clock = &clock_});
  }

  HttpResponse request(std::string_view method, std::string_view target, std::string_view body = {}) {
    HttpClient client(server_->port());
    return client.request(method, target, body).value();
  }
  HttpResponse post(std::string_view target, std::string_view body = {}) {
    return request("POST", target, body);
  }
  HttpResponse get(std::string_view target) { return request("GET", target); }

  // A value in GET /queues/main-queue.
  std::string shown(const std::string& where) { return at(get("/queues/main-queue"), where); }

  // Publishes an event into main-queue, with `more` members. Returns its id.
  std::string publish(const std::string& more = {}) {
    const HttpResponse response =
        post("/events", R"({"title":"event","tags":"t","queue":"main-queue")" + more + "}");
    EXPECT_EQ(response.status, 201) << response.body;
    return at(response, "id");
  }
  void publish_many(int count) {
    std::string batch = R"({"events":[)";
    for (int i = 0; i < count; ++i) {
      batch += (i > 0 ? "," : "") + std::string(R"({"title":"event","tags":"t","queue":"main-queue"})");
    }
    ASSERT_EQ(post("/events/batch", batch + "]}").status, 201);
  }

  // Claims up to `limit` events. Returns their ids.
  std::vector<std::string> claim(int limit, const std::string& tag = "t") {
    const HttpResponse taken = get("/events/subscribe?tags=" + tag +
                                   "&queue=main-queue&worker_id=w:1&limit=" + std::to_string(limit));
    std::vector<std::string> ids;
    if (taken.status == 204) return ids;
    for (const auto& [where, what] : json_lines(taken.body)) {
      if (where.ends_with("].id")) ids.push_back(what);
    }
    return ids;
  }
  // Reports on these events with an execution time of 42 ms each.
  void report(const std::string& how, const std::vector<std::string>& ids, const std::string& more = {}) {
    std::string body = R"({"worker_id":"w:1","events":[)";
    for (const std::string& id : ids) {
      body += (id == ids.front() ? "" : ",") + std::string(R"({"id":)") + id + R"(,"execution_time_ms":42)" +
              more + "}";
    }
    ASSERT_EQ(post("/events/" + how, body + "]}").status, 200);
  }
  void complete(const std::vector<std::string>& ids) { report("complete", ids); }
  void fail(const std::vector<std::string>& ids) {
    report("fail", ids, R"(,"error_message":"Connection timeout")");
  }

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

  TestStore store_;
  SeedClock clock_;
  std::unique_ptr<LocalServer> server_ = serve();
};

// The two example documents.

TEST_F(Seed002, ThePersistedStateIsTheSeedsDocument) {
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

TEST_F(Seed002, ThePersistedStateIsTheSameAfterARestart) {
  ASSERT_EQ(post("/events", kInvoice).status, 201);
  ASSERT_EQ(post("/events", kPayment).status, 201);
  ASSERT_NO_FATAL_FAILURE(fail_payment_twice());
  const std::string before = get("/queues/main-queue").body;

  server_->restart();

  EXPECT_EQ(get("/queues/main-queue").body, before);
}

TEST_F(Seed002, TheRecoveryIsTheSeedsDocument) {
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

TEST_F(Seed002, ARecoveryRestoresEveryLiveEventAndNoEndedOne) {
  publish_many(10);
  complete(claim(4));

  server_->restart();

  EXPECT_EQ(at(get("/queues/main-queue/recovery"), "eventsRecovered"), "6");
  EXPECT_EQ(claim(100), (std::vector<std::string>{"5", "6", "7", "8", "9", "10"}));
}

TEST_F(Seed002, ProcessingContinuesFromTheCheckpointedPosition) {
  publish(R"(,"event_id":"first")");
  publish(R"(,"event_id":"second")");
  complete(claim(1));

  server_->restart();

  EXPECT_EQ(at(get("/queues/main-queue/recovery"), "checkpointId"), R"("first")");
  EXPECT_EQ(shown("checkpointId"), R"("first")");
  EXPECT_EQ(shown("events[0].eventId"), R"("second")");
}

// The fields of an event.

TEST_F(Seed002, EventIdIsThePublishersOrOneMadeForIt) {
  publish(R"(,"event_id":"evt_123abc456def789")");
  publish();

  EXPECT_EQ(shown("events[0].eventId"), R"("evt_123abc456def789")");
  EXPECT_EQ(shown("events[1].eventId").substr(0, 5), R"("evt_)");
}

TEST_F(Seed002, PatternIsAsPublishedAndAbsentOtherwise) {
  publish(R"(,"pattern":"invoice.created")");
  publish();

  EXPECT_EQ(shown("events[0].pattern"), R"("invoice.created")");
  EXPECT_EQ(shown("events[1].pattern"), "");
}

TEST_F(Seed002, VersionIsAsPublishedAndAbsentOtherwise) {
  publish(R"(,"version":"1.0.0")");
  publish();

  EXPECT_EQ(shown("events[0].version"), R"("1.0.0")");
  EXPECT_EQ(shown("events[1].version"), "");
}

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

TEST_F(Seed002, CausationIdIsAsPublishedAndAbsentOtherwise) {
  publish(R"(,"causation_id":"evt_cause")");
  publish();

  EXPECT_EQ(shown("events[0].metadata.causationId"), R"("evt_cause")");
  EXPECT_EQ(shown("events[1].metadata.causationId"), "");
}

TEST_F(Seed002, TraceIdIsAsPublishedAndAbsentOtherwise) {
  publish(R"(,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736")");
  publish();

  EXPECT_EQ(shown("events[0].metadata.traceId"), R"("4bf92f3577b34da6a3ce929d0e0e4736")");
  EXPECT_EQ(shown("events[1].metadata.traceId"), "");
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

TEST_F(Seed002, ProcessingStartTimeIsTheClaimsAndThereWhileTheEventIsHeld) {
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

// The fields of a queue.

TEST_F(Seed002, IdIsTheQueuesName) { EXPECT_EQ(shown("id"), R"("main-queue")"); }

TEST_F(Seed002, CheckpointIdIsTheLastEventCompletedAndNullBefore) {
  publish(R"(,"event_id":"a")");
  publish(R"(,"event_id":"b")");
  EXPECT_EQ(shown("checkpointId"), "null");

  const auto ids = claim(2);
  complete({ids[1]});
  EXPECT_EQ(shown("checkpointId"), R"("b")");
  fail({ids[0]});
  EXPECT_EQ(shown("checkpointId"), R"("b")");
}

TEST_F(Seed002, TotalProcessedCountsCompletions) {
  publish_many(3);
  EXPECT_EQ(shown("queueMetrics.totalProcessed"), "0");

  const auto ids = claim(3);
  complete({ids[0], ids[1]});
  fail({ids[2]});

  EXPECT_EQ(shown("queueMetrics.totalProcessed"), "2");
}

TEST_F(Seed002, TotalErrorsCountsFailuresAlsoThoseThatAreRetried) {
  publish(R"(,"retry":{"baseMs":0},"max_retries":2)");
  EXPECT_EQ(shown("queueMetrics.totalErrors"), "0");

  fail(claim(1));
  fail(claim(1));

  EXPECT_EQ(shown("queueMetrics.totalErrors"), "2");
}

TEST_F(Seed002, AvgProcessingTimeMsIsThatOfTheRunsRounded) {
  publish_many(3);
  EXPECT_EQ(shown("queueMetrics.avgProcessingTimeMs"), "0");

  const auto ids = claim(3);
  for (int i = 0; i < 3; ++i) {
    post("/events/" + ids[static_cast<std::size_t>(i)] + "/complete",
         R"({"worker_id":"w:1","execution_time_ms":)" + std::to_string(41 + i / 2 * 3) + "}");
  }

  // 41, 41 and 44.
  EXPECT_EQ(shown("queueMetrics.avgProcessingTimeMs"), "42");
}

TEST_F(Seed002, AvgProcessingTimeMsIsMeasuredWhereAWorkerDoesNotSay) {
  publish();
  const auto ids = claim(1);
  clock_.set("2024-03-15T00:00:00.250Z");
  post("/events/" + ids[0] + "/complete", R"({"worker_id":"w:1"})");

  EXPECT_EQ(shown("queueMetrics.avgProcessingTimeMs"), "250");
}

TEST_F(Seed002, MaxQueueDepthIsTheMostEventsTheQueueTakes) {
  request("PUT", "/queues/main-queue", R"({"maxQueueDepth":2})");
  publish_many(2);

  EXPECT_EQ(shown("config.maxQueueDepth"), "2");
  EXPECT_EQ(post("/events", R"({"title":"event","tags":"t","queue":"main-queue"})").status, 429);
}

TEST_F(Seed002, BatchSizeIsTheMostEventsOneClaimGets) {
  request("PUT", "/queues/main-queue", R"({"batchSize":2})");
  publish_many(5);

  EXPECT_EQ(shown("config.batchSize"), "2");
  EXPECT_EQ(claim(100).size(), 2U);
}

TEST_F(Seed002, BatchSizeUnlessConfiguredIsOnlyARecommendation) {
  request("PUT", "/queues/main-queue", "{}");
  publish_many(150);

  EXPECT_EQ(shown("config.batchSize"), "100");
  EXPECT_EQ(claim(1000).size(), 150U);
}

// seed_002_disk_test.cc tests their effect on the disk.
TEST_F(Seed002, ProcessingIntervalIsInMillisecondsAndOneSecondUnlessConfigured) {
  request("PUT", "/queues/main-queue", R"({"processingInterval":250})");
  EXPECT_EQ(shown("config.processingInterval"), "250");
  request("PUT", "/queues/main-queue", "{}");
  EXPECT_EQ(shown("config.processingInterval"), "1000");
}

TEST_F(Seed002, PersistenceThresholdIsInEventsAnd500UnlessConfigured) {
  request("PUT", "/queues/main-queue", R"({"persistenceThreshold":7})");
  EXPECT_EQ(shown("config.persistenceThreshold"), "7");
  request("PUT", "/queues/main-queue", "{}");
  EXPECT_EQ(shown("config.persistenceThreshold"), "500");
}

TEST_F(Seed002, HighWatermarkIsTheDepthAboveWhichBackpressureIsOn) {
  request("PUT", "/queues/main-queue", R"({"highWatermark":1})");
  const std::string event = R"({"title":"event","tags":"t","queue":"main-queue"})";

  EXPECT_EQ(shown("config.highWatermark"), "1");
  EXPECT_EQ(post("/events", event).header("Eventq-Backpressure"), "");
  EXPECT_EQ(post("/events", event).header("Eventq-Backpressure"), "on");
}

TEST_F(Seed002, CreatedAtIsWhenTheQueueWasCreated) {
  clock_.set("2024-03-15T11:00:00Z");
  request("PUT", "/queues/main-queue", "{}");
  publish();

  EXPECT_EQ(shown("created_at"), R"("2024-03-15T00:00:00.000Z")");
}

TEST_F(Seed002, UpdatedAtIsWhenSettingsOrStatusWereLastChanged) {
  EXPECT_EQ(shown("updated_at"), R"("2024-03-15T00:00:00.000Z")");
  clock_.set("2024-03-15T10:07:00Z");
  request("PUT", "/queues/main-queue", "{}");
  EXPECT_EQ(shown("updated_at"), R"("2024-03-15T10:07:00.000Z")");
  clock_.set("2024-03-15T10:08:00Z");
  post("/queues/main-queue/pause");
  EXPECT_EQ(shown("updated_at"), R"("2024-03-15T10:08:00.000Z")");
}

// The statuses.

TEST_F(Seed002, ActiveAcceptsAndDeliversEvents) {
  EXPECT_EQ(shown("status"), R"("active")");
  publish();
  EXPECT_EQ(claim(1).size(), 1U);
}

TEST_F(Seed002, PausedAcceptsEventsAndDeliversNone) {
  publish();
  EXPECT_EQ(post("/queues/main-queue/pause").status, 200);

  EXPECT_EQ(shown("status"), R"("paused")");
  publish();
  EXPECT_EQ(claim(1).size(), 0U);

  post("/queues/main-queue/resume");
  EXPECT_EQ(claim(2).size(), 2U);
}

TEST_F(Seed002, DrainingDeliversEventsAndAcceptsNone) {
  publish();
  EXPECT_EQ(post("/queues/main-queue/drain").status, 200);

  EXPECT_EQ(shown("status"), R"("draining")");
  EXPECT_EQ(post("/events", R"({"title":"event","tags":"t","queue":"main-queue"})").status, 409);
  EXPECT_EQ(claim(1).size(), 1U);

  post("/queues/main-queue/resume");
  publish();
}

TEST_F(Seed002, AStatusSurvivesARestart) {
  post("/queues/main-queue/pause");

  server_->restart();

  EXPECT_EQ(shown("status"), R"("paused")");
}

}  // namespace
}  // namespace eventq
