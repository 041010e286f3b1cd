// observe_json.cc: see observe_json.h.
#include "wire/observe_json.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "model/names.h"
#include "model/tags.h"
#include "wire/event_fields.h"
#include "wire/queue_json.h"

namespace eventq::wire {
namespace {

// Rounded to three decimal places, for readability.
double rounded(double value) { return std::round(value * 1000) / 1000; }

double seconds_of(Millis duration) { return static_cast<double>(duration.count()) / 1000; }

double ratio(double part, std::int64_t whole) {
  return whole > 0 ? rounded(part / static_cast<double>(whole)) : 0;
}

void write_totals(JsonWriter& json, const Totals& totals) {
  json.key("published").integer(totals.published).key("deduplicated").integer(totals.deduplicated);
  json.key("claimed").integer(totals.claimed).key("completed").integer(totals.completed);
  json.key("failed").integer(totals.failed).key("failed_for_good").integer(totals.failed_for_good);
  json.key("retried").integer(totals.retried).key("abandoned").integer(totals.abandoned);
  json.key("superseded").integer(totals.superseded).key("cancelled").integer(totals.cancelled);
}

void write_queue_metrics(JsonWriter& json, const QueueMetrics& queue) {
  const Totals& totals = queue.totals;
  json.begin_object().key("queue").string(queue.queue).key("depth").integer(depth_of(queue.counts));
  write_counts(json, queue.counts);
  json.key("oldest_pending_seconds");
  if (queue.oldest_pending) {
    json.number(seconds_of(*queue.oldest_pending));
  } else {
    json.null();
  }
  json.key("backpressure").boolean(queue.backpressure);
  json.key("subscribers").integer(queue.subscribers).key("unattended").integer(queue.unattended);
  write_totals(json, totals);
  json.key("avg_wait_ms").number(ratio(queue.wait.sum() * 1000, queue.wait.total()));
  json.key("avg_run_ms").number(ratio(static_cast<double>(totals.run_ms), totals.runs));
  // Failures per ended attempt. `failed` includes events that ran out of attempts.
  json.key("failure_rate")
      .number(ratio(static_cast<double>(totals.failed), totals.completed + totals.failed));
  json.end_object();
}

void write_shards(JsonWriter& json, const std::vector<ShardMetrics>& shards) {
  json.key("shards").begin_array();
  for (const ShardMetrics& shard : shards) {
    json.begin_object().key("shard").integer(shard.shard).key("up").boolean(shard.up);
    if (shard.upkeep) {
      json.key("oldest_snapshot_seconds").number(seconds_of(shard.upkeep->oldest_snapshot));
      json.key("dead_rows").integer(shard.upkeep->dead_rows);
    }
    json.end_object();
  }
  json.end_array();
}

std::int64_t sum_of(const Metrics& metrics, Status status) {
  std::int64_t sum = 0;
  for (const QueueMetrics& queue : metrics.queues) sum += queue.counts.at(static_cast<std::size_t>(status));
  return sum;
}

// `workers` leaves out those that are gone.
void write_worker_counts(JsonWriter& json, const std::array<std::int64_t, kWorkerStates>& counts) {
  const auto count_of = [&](WorkerState state) { return counts.at(static_cast<std::size_t>(state)); };
  const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  json.key("workers").integer(all - count_of(WorkerState::gone));
  json.key("stale_workers").integer(count_of(WorkerState::stale)).key("worker_states").begin_object();
  using enum WorkerState;
  for (const WorkerState state : {active, idle, stale, gone}) {
    json.key(name_of(state)).integer(count_of(state));
  }
  json.end_object();
}

}  // namespace

void write_worker(JsonWriter& json, const ListedWorker& worker) {
  json.begin_object().key("worker_id").string(worker.row.id);
  json.key("first_seen").time(worker.row.first_seen).key("last_seen").time(worker.row.last_seen);
  json.key("completed").integer(worker.row.completed).key("failed").integer(worker.row.failed);
  json.key("holding").begin_array();
  for (const EventId id : worker.holding) json.integer(id_number(id));
  json.end_array();
  if (worker.asked) {
    json.key("queue").string(worker.asked->queue).key("tags").string(join_tags(worker.asked->tags));
  }
  json.key("state").string(name_of(worker.state)).key("asks").begin_array();
  if (is_asking(worker)) {
    for (const Selector& it : worker.asks) {
      json.begin_object().key("queue").string(it.queue).key("tags").string(join_tags(it.tags)).end_object();
    }
  }
  json.end_array().key("stale").boolean(worker.state == WorkerState::stale);
  write_set(json, "stale_because", worker.stale_because);
  json.end_object();
}

void write_workers(JsonWriter& json, const std::vector<ListedWorker>& workers) {
  json.begin_object().key("workers").begin_array();
  for (const ListedWorker& worker : workers) write_worker(json, worker);
  json.end_array().end_object();
}

void write_metrics(JsonWriter& json, const Metrics& metrics) {
  json.begin_object().key("pending").integer(sum_of(metrics, Status::pending));
  json.key("processing").integer(sum_of(metrics, Status::processing));
  json.key("failed_24h").integer(metrics.failed_24h).key("queues").begin_array();
  for (const QueueMetrics& queue : metrics.queues) write_queue_metrics(json, queue);
  json.end_array();
  json.key("waiting_claims").integer(metrics.waiting_claims);
  json.key("waiting_ends").integer(metrics.waiting_ends);
  write_worker_counts(json, count_by_state(metrics.workers));
  const std::int64_t commits = metrics.commit_seconds.total();
  json.key("store").begin_object().key("file_bytes").integer(metrics.sizes.file_bytes);
  json.key("log_bytes").integer(metrics.sizes.log_bytes).key("commits").integer(commits);
  json.key("avg_commit_ms").number(ratio(metrics.commit_seconds.sum() * 1000, commits));
  json.key("avg_batch_events").number(ratio(metrics.batch_events.sum(), metrics.batch_events.total()));
  json.end_object();
  if (!metrics.shards.empty()) write_shards(json, metrics.shards);
  json.end_object();
}

}  // namespace eventq::wire
