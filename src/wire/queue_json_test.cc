// queue_json_test.cc: the exact bytes of answers about queues.
#include "wire/queue_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "model/cause.h"
#include "model/policy.h"
#include "support/written.h"

namespace eventq::wire {
namespace {

LogEntry entry(Action action, TimePoint at) {
  LogEntry entry;
  entry.action = action;
  entry.created_at = at;
  return entry;
}

QueueDocument document() {
  QueueDocument queue;
  queue.row.id = "mail";
  queue.row.created_at = kNoon;
  queue.row.updated_at = kNoon + Millis(1);
  queue.counts = {3, 1, 1053, 2, 5, 6, 7};
  queue.totals.completed = 1055;
  queue.totals.failed = 17;
  queue.totals.run_ms = 425;
  queue.totals.runs = 10;
  return queue;
}

std::string shown(const QueueDocument& queue, QueueEvents events) {
  const Policy policy = resolve(queue.row.id, {}, default_policy(Options{}));
  return written([&](JsonWriter& json) { write_queue(json, queue, policy, events); });
}

constexpr std::string_view kConfig =
    R"("config":{"maxQueueDepth":10000,"batchSize":100,"processingInterval":1000,"persistenceThreshold":500,)"
    R"("highWatermark":8000,"leaseMs":60000,"maxAttempts":20,"maxRetries":3,)"
    R"("retry":{"kind":"fixed","baseMs":300000,"capMs":3600000,"jitter":0},"durability":"strict",)"
    R"("onFailure":"skip","retention":{"completedSeconds":86400,"failedSeconds":604800}},)";

constexpr std::string_view kCounts =
    R"("depth":4,"counts":{"PENDING":3,"PROCESSING":1,"COMPLETED":1053,"COMPLETED_WITH_ERRORS":2,"FAILED":5,)"
    R"("SUPERSEDED":6,"CANCELLED":7})";

TEST(QueueJson, AQueueIsShownWithTheSettingsInForce) {
  EXPECT_EQ(shown(document(), QueueEvents::left_out),
            std::string(
                R"({"id":"mail","checkpointId":null,"queueMetrics":{"totalProcessed":1055,"totalErrors":17,)"
                R"("avgProcessingTimeMs":43},)") +
                std::string(kConfig) +
                R"("status":"active","created_at":"2025-12-24T10:30:00.000Z",)"
                R"("updated_at":"2025-12-24T10:30:00.001Z",)" +
                std::string(kCounts) + "}");
}

TEST(QueueJson, AChangedStatusShowsItsAuthorAndReason) {
  QueueDocument queue = document();
  queue.checkpoint_id = "evt_1";
  queue.row.status = QueueStatus::paused;
  queue.row.status_reason = "deploy";
  queue.row.status_by = "alice";
  queue.row.status_at = kNoon;
  queue.totals = {};

  const std::string json = shown(queue, QueueEvents::left_out);

  EXPECT_TRUE(json.starts_with(
      R"({"id":"mail","checkpointId":"evt_1","queueMetrics":{"totalProcessed":0,"totalErrors":0,"avgProcessingTimeMs":0},)"))
      << json;
  EXPECT_NE(json.find(R"("status":"paused")"), std::string::npos) << json;
  EXPECT_TRUE(json.ends_with(
      R"("CANCELLED":7},"statusReason":"deploy","statusBy":"alice","statusAt":"2025-12-24T10:30:00.000Z"})"))
      << json;
}

TEST(QueueJson, AQueueShowsItsFirstEvents) {
  Details failed;
  failed.event.id = EventId{1};
  failed.event.event_id = "evt_1";
  failed.event.pattern = "invoice.created";
  failed.event.version = "1.0.0";
  failed.event.source = {"integration", "xero_main", "Xero Accounting"};
  failed.event.timestamp = kNoon;
  failed.event.payload = R"({"amount": 1500.00})";
  failed.event.correlation_id = "c";
  failed.event.causation_id = "x";
  failed.event.trace_id = "t1";
  failed.event.retry_count = 2;
  failed.event.status = Status::processing;
  failed.log = {entry(Action::picked, kNoon), entry(Action::failed, kNoon + Millis(1)),
                entry(Action::picked, kNoon + Millis(2)), entry(Action::started, kNoon + Millis(3))};
  failed.log[1].error_message = "Connection timeout";
  Details plain;
  plain.event.id = EventId{2};
  plain.event.event_id = "evt_2";
  plain.event.timestamp = kNoon;
  plain.event.payload = "null";
  plain.log = {entry(Action::picked, kNoon)};
  QueueDocument queue = document();
  queue.events = {failed, plain};

  const std::string json = shown(queue, QueueEvents::shown);

  EXPECT_TRUE(json.starts_with(
      R"({"id":"mail","events":[{"id":1,"eventId":"evt_1","pattern":"invoice.created","version":"1.0.0",)"
      R"("source":{"type":"integration","id":"xero_main","name":"Xero Accounting"},)"
      R"("timestamp":"2025-12-24T10:30:00.000Z","payload":{"amount": 1500.00},)"
      R"("metadata":{"correlationId":"c","causationId":"x","traceId":"t1","retryCount":2,)"
      R"("lastError":"Connection timeout","lastErrorTime":"2025-12-24T10:30:00.001Z",)"
      R"("processingStartTime":"2025-12-24T10:30:00.002Z"}},)"
      R"({"id":2,"eventId":"evt_2","timestamp":"2025-12-24T10:30:00.000Z","payload":null,"metadata":{"retryCount":0}}],)"
      R"("checkpointId":null,)"))
      << json;
}

TEST(QueueJson, AQueueWithoutEventsShowsAnEmptyList) {
  EXPECT_TRUE(
      shown(document(), QueueEvents::shown).starts_with(R"({"id":"mail","events":[],"checkpointId")"));
}

TEST(QueueJson, CheckpointsComeInTheirOrder) {
  const Checkpoint first{"0192f0c1-7c1e-7abc-8def-0123456789ab", "mail", "evt_9", 1053, kNoon, true};
  const Checkpoint second{"0192f0c1-7c1e-7abc-8def-0123456789aa", "mail", "", 0, kNoon};
  const std::string first_json =
      R"({"id":"0192f0c1-7c1e-7abc-8def-0123456789ab","queueId":"mail","checkpointId":"evt_9","eventCount":1053,)"
      R"("created_at":"2025-12-24T10:30:00.000Z","requested":true})";
  const std::string second_json =
      R"({"id":"0192f0c1-7c1e-7abc-8def-0123456789aa","queueId":"mail","checkpointId":null,"eventCount":0,)"
      R"("created_at":"2025-12-24T10:30:00.000Z","requested":false})";

  EXPECT_EQ(written([&](JsonWriter& json) { write_checkpoint(json, first); }), first_json);
  EXPECT_EQ(written([&](JsonWriter& json) {
              write_checkpoints(json, {first, second});
            }),
            R"({"checkpoints":[)" + first_json + "," + second_json + "]}");
  EXPECT_EQ(written([&](JsonWriter& json) { write_checkpoints(json, {}); }), R"({"checkpoints":[]})");
}

TEST(QueueJson, ARecoveryShowsItsResult) {
  const Recovery recovery{"r1", "mail", "", 42, kNoon, kNoon + Millis(500), "completed"};

  EXPECT_EQ(
      written([&](JsonWriter& json) { write_recovery(json, recovery); }),
      R"({"id":"r1","checkpointId":null,"eventsRecovered":42,"recoveryStartTime":"2025-12-24T10:30:00.000Z",)"
      R"("recoveryCompleteTime":"2025-12-24T10:30:00.500Z","status":"completed"})");
}

TEST(QueueJson, SupersededEventsAreCountedAndNamed) {
  EXPECT_EQ(written([](JsonWriter& json) {
              write_superseded(json, {EventId{3}, EventId{5}});
            }),
            R"({"superseded":2,"events":[3,5]})");
  EXPECT_EQ(written([](JsonWriter& json) { write_superseded(json, {}); }), R"({"superseded":0,"events":[]})");
}

TEST(QueueJson, AReplayNamesTheNewEventOfEachEvent) {
  const std::vector<EventId> matched = {EventId{3}, EventId{5}};
  const std::vector<EventId> events = {EventId{13}, EventId{14}};

  EXPECT_EQ(
      written([&](JsonWriter& json) {
        write_replay(json, {matched, events, false, true});
      }),
      R"({"dry_run":false,"matched":2,"events":[{"id":3,"replayed_as":13},{"id":5,"replayed_as":14}],"more":true})");
  EXPECT_EQ(written([&](JsonWriter& json) {
              write_replay(json, {matched, {}, true, false});
            }),
            R"({"dry_run":true,"matched":2,"events":[{"id":3},{"id":5}],"more":false})");
}

TEST(QueueJson, AnEntryOfAQueuesLogHasAllMembersAndAFullPageNamesTheNextOne) {
  const std::vector<QueueLogEntry> log = {{.id = "0192f0c1-7c1e-7abc-8def-0123456789ab",
                                           .queue = "mail",
                                           .action = QueueAction::retried,
                                           .by = "ann \"a\"",
                                           .reason = "",
                                           .detail = R"({"events":3})",
                                           .created_at = kNoon}};

  EXPECT_EQ(
      written([&](JsonWriter& json) { write_queue_log(json, log, 2); }),
      R"({"entries":[{"id":"0192f0c1-7c1e-7abc-8def-0123456789ab","queue":"mail","action":"retried",)"
      R"("by":"ann \"a\"","reason":null,"detail":{"events":3},"created_at":"2025-12-24T10:30:00.000Z"}],)"
      R"("next":null})");
  EXPECT_THAT(written([&](JsonWriter& json) { write_queue_log(json, log, 1); }),
              testing::EndsWith(R"("next":"0192f0c1-7c1e-7abc-8def-0123456789ab"})"));
}

TEST(QueueJson, ARetryNamesTheEvents) {
  const std::vector<EventId> matched = {EventId{3}, EventId{5}};

  EXPECT_EQ(written([&](JsonWriter& json) {
              write_retried(json, {matched, matched, false, false}, "retried");
            }),
            R"({"dry_run":false,"matched":2,"retried":2,"events":[3,5],"more":false})");
  EXPECT_EQ(written([&](JsonWriter& json) {
              write_retried(json, {matched, {}, true, true}, "redriven");
            }),
            R"({"dry_run":true,"matched":2,"redriven":0,"events":[3,5],"more":true})");
}

TEST(QueueJson, FailuresAreGroupedByTheirCause) {
  const FailureGroup group{"mail",      "Timeout after # ms", 12, kNoon, kNoon + Millis(1),
                           EventId{77}, "Timeout after 31 ms"};

  EXPECT_EQ(
      written([&](JsonWriter& json) { write_failures(json, {group}); }),
      R"({"failures":[{"id":")" + failure_group_id("mail", "Timeout after # ms") +
          R"(","queue":"mail","cause":"Timeout after # ms","sample":"Timeout after 31 ms","events":12,)"
          R"("first_at":"2025-12-24T10:30:00.000Z","last_at":"2025-12-24T10:30:00.001Z","last_event_id":77}]})");
}

}  // namespace
}  // namespace eventq::wire
