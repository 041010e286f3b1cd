// observe_json_test.cc: the exact bytes of workers and metrics as JSON.
#include "wire/observe_json.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "support/written.h"

namespace eventq::wire {
namespace {

TEST(ObserveJson, AWorkerShowsItsEventsAndWhyItIsStale) {
  ListedWorker working;
  working.row.id = "w:1";
  working.row.first_seen = kNoon;
  working.row.last_seen = kNoon + Millis(1);
  working.row.completed = 5;
  working.row.failed = 2;
  working.holding = {EventId{3}, EventId{9}};
  working.state = WorkerState::active;
  working.asked = {"mail", {"b"}};
  working.asks = {{"mail", {"a"}}, {"mail", {"b", "c"}}};
  ListedWorker stale;
  stale.row.id = "w:2";
  stale.row.first_seen = stale.row.last_seen = kNoon;
  stale.state = WorkerState::stale;
  stale.asks = {{"mail", {"a"}}};
  stale.stale_because = "It gave no sign of life for 31 s.";
  const ListedWorker silent = stale;
  stale.asked_lately = true;

  EXPECT_EQ(
      written([&](JsonWriter& json) {
        write_workers(json, {working, stale, silent});
      }),
      R"({"workers":[{"worker_id":"w:1","first_seen":"2025-12-24T10:30:00.000Z",)"
      R"("last_seen":"2025-12-24T10:30:00.001Z","completed":5,"failed":2,"holding":[3,9],"queue":"mail","tags":"b",)"
      R"("state":"active","asks":[{"queue":"mail","tags":"a"},{"queue":"mail","tags":"b,c"}],"stale":false},)"
      R"({"worker_id":"w:2","first_seen":"2025-12-24T10:30:00.000Z","last_seen":"2025-12-24T10:30:00.000Z",)"
      R"("completed":0,"failed":0,"holding":[],"state":"stale","asks":[{"queue":"mail","tags":"a"}],"stale":true,)"
      R"("stale_because":"It gave no sign of life for 31 s."},)"
      R"({"worker_id":"w:2","first_seen":"2025-12-24T10:30:00.000Z","last_seen":"2025-12-24T10:30:00.000Z",)"
      R"("completed":0,"failed":0,"holding":[],"state":"stale","asks":[],"stale":true,)"
      R"("stale_because":"It gave no sign of life for 31 s."}]})");
}

TEST(ObserveJson, MetricsOfNothingAreZeros) {
  EXPECT_EQ(written([](JsonWriter& json) { write_metrics(json, {}); }),
            R"({"pending":0,"processing":0,"failed_24h":0,"queues":[],"waiting_claims":0,"waiting_ends":0,)"
            R"("workers":0,"stale_workers":0,"worker_states":{"active":0,"idle":0,"stale":0,"gone":0},)"
            R"("store":{"file_bytes":0,"log_bytes":0,"commits":0,"avg_commit_ms":0,)"
            R"("avg_batch_events":0}})");
}

TEST(ObserveJson, MetricsAddUpAndAreAveraged) {
  const std::array bounds = {0.1, 1.0};
  QueueMetrics mail;
  mail.queue = "mail";
  mail.counts = {3, 1, 5, 0, 2, 0, 0};
  mail.totals = {11, 1, 9, 5, 3, 2, 1, 4, 6, 7, 425, 10};
  mail.oldest_pending = Millis(1500);
  mail.backpressure = true;
  mail.subscribers = 2;
  mail.wait = Histogram(bounds);
  mail.wait.add(0.25);
  mail.wait.add(0.5);
  QueueMetrics idle;
  idle.queue = "idle";
  idle.counts = {2, 0, 0, 0, 0, 0, 0};
  idle.unattended = 2;
  Metrics metrics;
  metrics.queues = {mail, idle};
  metrics.failed_24h = 8;
  metrics.waiting_claims = 2;
  metrics.waiting_ends = 1;
  for (const WorkerState state :
       {WorkerState::active, WorkerState::active, WorkerState::stale, WorkerState::idle, WorkerState::gone}) {
    metrics.workers.push_back({.state = state});
  }
  metrics.commit_seconds = Histogram(bounds);
  metrics.commit_seconds.add(0.002);
  metrics.batch_events = Histogram(bounds);
  metrics.batch_events.add(7);
  metrics.batch_events.add(8);
  metrics.sizes = {4096, 512};

  EXPECT_EQ(
      written([&](JsonWriter& json) { write_metrics(json, metrics); }),
      R"({"pending":5,"processing":1,"failed_24h":8,"queues":[{"queue":"mail","depth":4,)"
      R"("counts":{"PENDING":3,"PROCESSING":1,"COMPLETED":5,"COMPLETED_WITH_ERRORS":0,"FAILED":2,"SUPERSEDED":0,)"
      R"("CANCELLED":0},"oldest_pending_seconds":1.5,"backpressure":true,"subscribers":2,)"
      R"("unattended":0,"published":11,"deduplicated":1,)"
      R"("claimed":9,"completed":5,"failed":3,"failed_for_good":2,"retried":1,"abandoned":4,"superseded":6,)"
      R"("cancelled":7,"avg_wait_ms":375,"avg_run_ms":42.5,"failure_rate":0.375},)"
      R"({"queue":"idle","depth":2,)"
      R"("counts":{"PENDING":2,"PROCESSING":0,"COMPLETED":0,"COMPLETED_WITH_ERRORS":0,"FAILED":0,"SUPERSEDED":0,)"
      R"("CANCELLED":0},"oldest_pending_seconds":null,"backpressure":false,"subscribers":0,)"
      R"("unattended":2,"published":0,"deduplicated":0,)"
      R"("claimed":0,"completed":0,"failed":0,"failed_for_good":0,"retried":0,"abandoned":0,"superseded":0,)"
      R"("cancelled":0,"avg_wait_ms":0,"avg_run_ms":0,"failure_rate":0}],)"
      R"("waiting_claims":2,"waiting_ends":1,"workers":4,"stale_workers":1,)"
      R"("worker_states":{"active":2,"idle":1,"stale":1,"gone":1},)"
      R"("store":{"file_bytes":4096,"log_bytes":512,"commits":1,"avg_commit_ms":2,"avg_batch_events":7.5}})");
}

}  // namespace
}  // namespace eventq::wire
