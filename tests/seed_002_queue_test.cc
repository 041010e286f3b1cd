// seed_002_queue_test.cc: seed 002, "Event Queue State", over HTTP: a test for each field and status of a
// queue.
#include <gtest/gtest.h>

#include <string>

#include "seed_002.h"

namespace eventq {
namespace {

class Seed002Queue : public Seed002 {};

TEST_F(Seed002Queue, IdIsTheQueuesName) { EXPECT_EQ(shown("id"), R"("main-queue")"); }

TEST_F(Seed002Queue, CheckpointIdIsTheLastEventCompletedAndNullBefore) {
  publish(R"(,"event_id":"a")");
  publish(R"(,"event_id":"b")");
  EXPECT_EQ(shown("checkpointId"), "null");

  const auto ids = claim(2);
  complete({ids[1]});
  EXPECT_EQ(shown("checkpointId"), R"("b")");
  fail({ids[0]});
  EXPECT_EQ(shown("checkpointId"), R"("b")");
}

TEST_F(Seed002Queue, TotalProcessedCountsCompletions) {
  publish_many(3);
  EXPECT_EQ(shown("queueMetrics.totalProcessed"), "0");

  const auto ids = claim(3);
  complete({ids[0], ids[1]});
  fail({ids[2]});

  EXPECT_EQ(shown("queueMetrics.totalProcessed"), "2");
}

TEST_F(Seed002Queue, TotalErrorsCountsFailuresAlsoThoseThatAreRetried) {
  publish(R"(,"retry":{"baseMs":0},"max_retries":2)");
  EXPECT_EQ(shown("queueMetrics.totalErrors"), "0");

  fail(claim(1));
  fail(claim(1));

  EXPECT_EQ(shown("queueMetrics.totalErrors"), "2");
}

TEST_F(Seed002Queue, AvgProcessingTimeMsIsTheRoundedMeanOfTheReportedTimes) {
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

TEST_F(Seed002Queue, AvgProcessingTimeMsIsMeasuredWhenAWorkerReportsNoTime) {
  publish();
  const auto ids = claim(1);
  clock_.set("2024-03-15T00:00:00.250Z");
  post("/events/" + ids[0] + "/complete", R"({"worker_id":"w:1"})");

  EXPECT_EQ(shown("queueMetrics.avgProcessingTimeMs"), "250");
}

TEST_F(Seed002Queue, MaxQueueDepthIsTheMostEventsTheQueueAccepts) {
  request("PUT", "/queues/main-queue", R"({"maxQueueDepth":2})");
  publish_many(2);

  EXPECT_EQ(shown("config.maxQueueDepth"), "2");
  EXPECT_EQ(post("/events", R"({"title":"event","tags":"t","queue":"main-queue"})").status, 429);
}

TEST_F(Seed002Queue, BatchSizeIsTheMostEventsOneClaimGets) {
  request("PUT", "/queues/main-queue", R"({"batchSize":2})");
  publish_many(5);

  EXPECT_EQ(shown("config.batchSize"), "2");
  EXPECT_EQ(claim(100).size(), 2U);
}

TEST_F(Seed002Queue, BatchSizeUnlessConfiguredIsOnlyARecommendation) {
  request("PUT", "/queues/main-queue", "{}");
  publish_many(150);

  EXPECT_EQ(shown("config.batchSize"), "100");
  EXPECT_EQ(claim(1000).size(), 150U);
}

// seed_002_disk_test.cc tests their effect on the disk.
TEST_F(Seed002Queue, ProcessingIntervalIsInMillisecondsAndOneSecondUnlessConfigured) {
  request("PUT", "/queues/main-queue", R"({"processingInterval":250})");
  EXPECT_EQ(shown("config.processingInterval"), "250");
  request("PUT", "/queues/main-queue", "{}");
  EXPECT_EQ(shown("config.processingInterval"), "1000");
}

TEST_F(Seed002Queue, PersistenceThresholdIsInEventsAnd500UnlessConfigured) {
  request("PUT", "/queues/main-queue", R"({"persistenceThreshold":7})");
  EXPECT_EQ(shown("config.persistenceThreshold"), "7");
  request("PUT", "/queues/main-queue", "{}");
  EXPECT_EQ(shown("config.persistenceThreshold"), "500");
}

TEST_F(Seed002Queue, HighWatermarkIsTheDepthAboveWhichBackpressureIsOn) {
  request("PUT", "/queues/main-queue", R"({"highWatermark":1})");
  const std::string event = R"({"title":"event","tags":"t","queue":"main-queue"})";

  EXPECT_EQ(shown("config.highWatermark"), "1");
  EXPECT_EQ(post("/events", event).header("Eventq-Backpressure"), "");
  EXPECT_EQ(post("/events", event).header("Eventq-Backpressure"), "on");
}

TEST_F(Seed002Queue, CreatedAtIsWhenTheQueueWasCreated) {
  clock_.set("2024-03-15T11:00:00Z");
  request("PUT", "/queues/main-queue", "{}");
  publish();

  EXPECT_EQ(shown("created_at"), R"("2024-03-15T00:00:00.000Z")");
}

TEST_F(Seed002Queue, UpdatedAtIsWhenSettingsStatusOrEventsLastChanged) {
  EXPECT_EQ(shown("updated_at"), R"("2024-03-15T00:00:00.000Z")");
  clock_.set("2024-03-15T10:07:00Z");
  request("PUT", "/queues/main-queue", "{}");
  EXPECT_EQ(shown("updated_at"), R"("2024-03-15T10:07:00.000Z")");
  clock_.set("2024-03-15T10:08:00Z");
  post("/queues/main-queue/pause");
  EXPECT_EQ(shown("updated_at"), R"("2024-03-15T10:08:00.000Z")");
  clock_.set("2024-03-15T10:09:00Z");
  publish();
  EXPECT_EQ(shown("updated_at"), R"("2024-03-15T10:09:00.000Z")");
}

// The statuses.

TEST_F(Seed002Queue, ActiveAcceptsAndDeliversEvents) {
  EXPECT_EQ(shown("status"), R"("active")");
  publish();
  EXPECT_EQ(claim(1).size(), 1U);
}

TEST_F(Seed002Queue, PausedAcceptsEventsAndDeliversNone) {
  publish();
  EXPECT_EQ(post("/queues/main-queue/pause").status, 200);

  EXPECT_EQ(shown("status"), R"("paused")");
  publish();
  EXPECT_EQ(claim(1).size(), 0U);

  post("/queues/main-queue/resume");
  EXPECT_EQ(claim(2).size(), 2U);
}

TEST_F(Seed002Queue, DrainingDeliversEventsAndAcceptsNone) {
  publish();
  EXPECT_EQ(post("/queues/main-queue/drain").status, 200);

  EXPECT_EQ(shown("status"), R"("draining")");
  EXPECT_EQ(post("/events", R"({"title":"event","tags":"t","queue":"main-queue"})").status, 409);
  EXPECT_EQ(claim(1).size(), 1U);

  post("/queues/main-queue/resume");
  publish();
}

TEST_F(Seed002Queue, AStatusSurvivesARestart) {
  post("/queues/main-queue/pause");

  server_->restart();

  EXPECT_EQ(shown("status"), R"("paused")");
}

}  // namespace
}  // namespace eventq
