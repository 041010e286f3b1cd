// prometheus.cc: see prometheus.h.
#include "wire/prometheus.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/names.h"
#include "wire/prometheus_page.h"

namespace eventq::wire {
namespace {

using Page = PrometheusPage;

struct Counter {
  std::string_view name;
  std::string_view help;
  std::int64_t Totals::*value;
};

// Without `failed`, because its samples have the label `final`.
constexpr Counter kCounters[] = {
    {"eventq_events_published_total", "Events published.", &Totals::published},
    {"eventq_events_deduplicated_total", "Publications of events that existed already.",
     &Totals::deduplicated},
    {"eventq_events_claimed_total", "Events given to a worker.", &Totals::claimed},
    {"eventq_events_completed_total", "Events completed, with or without errors.", &Totals::completed},
    {"eventq_events_retried_total", "Failures that were followed by a retry.", &Totals::retried},
    {"eventq_events_reclaimed_total", "Leases that expired without a report.", &Totals::abandoned},
    {"eventq_events_superseded_total", "Events superseded by a newer one.", &Totals::superseded},
    {"eventq_events_cancelled_total", "Events that were cancelled.", &Totals::cancelled},
};

using Queues = std::vector<QueueMetrics>;

void write_states(Page& page, const Queues& queues) {
  page.family("eventq_events", "gauge", "Events by status.");
  for (const QueueMetrics& queue : queues) {
    for (std::size_t i = 0; i < queue.counts.size(); ++i) {
      page.sample({{"queue", queue.queue}, {"state", name_of(static_cast<Status>(i))}}, queue.counts.at(i));
    }
  }
  page.family("eventq_oldest_pending_age_seconds", "gauge",
              "Age of the oldest pending event; 0 if there is none.");
  for (const QueueMetrics& queue : queues) {
    const Millis age = queue.oldest_pending.value_or(Millis(0));
    page.sample({{"queue", queue.queue}}, static_cast<double>(age.count()) / 1000);
  }
  page.family("eventq_queue_backpressure", "gauge", "1 while publishers are asked to slow down.");
  for (const QueueMetrics& queue : queues) {
    page.sample({{"queue", queue.queue}}, std::int64_t{queue.backpressure ? 1 : 0});
  }
}

void write_counters(Page& page, const Queues& queues) {
  for (const Counter& counter : kCounters) {
    page.family(counter.name, "counter", counter.help);
    for (const QueueMetrics& queue : queues)
      page.sample({{"queue", queue.queue}}, queue.totals.*counter.value);
  }
  page.family("eventq_events_failed_total", "counter",
              "Failures; those with final=\"true\" ended their event.");
  for (const QueueMetrics& queue : queues) {
    const Totals& totals = queue.totals;
    // Never negative, which a Prometheus counter must not be.
    const std::int64_t others = std::max<std::int64_t>(0, totals.failed - totals.failed_for_good);
    page.sample({{"queue", queue.queue}, {"final", "false"}}, others);
    page.sample({{"queue", queue.queue}, {"final", "true"}}, totals.failed_for_good);
  }
}

void write_durations(Page& page, const Queues& queues) {
  page.family("eventq_wait_duration_seconds", "histogram", "From due to claimed.");
  for (const QueueMetrics& queue : queues) page.histogram({{"queue", queue.queue}}, queue.wait);
  page.family("eventq_run_duration_seconds", "histogram", "From claimed to reported.");
  for (const QueueMetrics& queue : queues) page.histogram({{"queue", queue.queue}}, queue.run);
}

void write_callers(Page& page, const Metrics& metrics) {
  page.family("eventq_longpoll_waiting", "gauge", "Workers that wait for an event.");
  page.sample({}, metrics.waiting_claims);
  page.family("eventq_end_waiting", "gauge", "Callers that wait for an end.");
  page.sample({}, metrics.waiting_ends);
  page.family("eventq_workers", "gauge", "Workers of the last day, by state.");
  const auto counts = count_by_state(metrics.workers);
  using enum WorkerState;
  for (const WorkerState state : {active, idle, stale, gone}) {
    page.sample({{"state", name_of(state)}}, counts.at(static_cast<std::size_t>(state)));
  }
  page.family("eventq_queue_subscribers", "gauge", "Workers that ask for events of the queue.");
  for (const QueueMetrics& queue : metrics.queues) {
    page.sample({{"queue", queue.queue}}, queue.subscribers);
  }
  page.family("eventq_queue_unattended", "gauge",
              "Events of a queue that can run now and that no worker asks for, up to 1000.");
  for (const QueueMetrics& queue : metrics.queues) {
    page.sample({{"queue", queue.queue}}, queue.unattended);
  }
}

void write_store(Page& page, const Metrics& metrics) {
  page.family("eventq_store_commit_duration_seconds", "histogram", "Time of one commit.");
  page.histogram({}, metrics.commit_seconds);
  page.family("eventq_store_batch_events", "histogram", "Events changed by one commit.");
  page.histogram({}, metrics.batch_events);
  page.family("eventq_store_wal_bytes", "gauge", "Size of the write-ahead log.");
  page.sample({}, metrics.sizes.log_bytes);
  page.family("eventq_store_size_bytes", "gauge", "Size of the store's file.");
  page.sample({}, metrics.sizes.file_bytes);
}

// One sample for each shard that has the value: an unreachable shard reports no upkeep.
void write_shards(Page& page, const std::vector<ShardMetrics>& shards) {
  if (shards.empty()) return;  // the store is a file
  const auto gauge = [&](std::string_view name, std::string_view help, const auto& value_of) {
    page.family(name, "gauge", help);
    for (const ShardMetrics& shard : shards) {
      if (const auto value = value_of(shard)) page.sample({{"shard", std::to_string(shard.shard)}}, *value);
    }
  };
  gauge("eventq_shard_up", "1 while the database answers.",
        [](const ShardMetrics& shard) { return std::optional<std::int64_t>(shard.up ? 1 : 0); });
  gauge("eventq_postgres_oldest_snapshot_seconds",
        "Age of the oldest transaction that keeps dead rows from being removed; 0 if there is none.",
        [](const ShardMetrics& shard) -> std::optional<double> {
          if (!shard.upkeep) return std::nullopt;
          return static_cast<double>(shard.upkeep->oldest_snapshot.count()) / 1000;
        });
  gauge("eventq_postgres_dead_rows", "Dead rows among the live events, as the database estimates.",
        [](const ShardMetrics& shard) -> std::optional<std::int64_t> {
          if (!shard.upkeep) return std::nullopt;
          return shard.upkeep->dead_rows;
        });
}

}  // namespace

std::string write_prometheus(const Metrics& metrics, std::string_view version) {
  std::string out;
  Page page(out);
  page.family("eventq_build_info", "gauge", "The running program; always 1.");
  page.sample({{"version", version}}, std::int64_t{1});
  write_states(page, metrics.queues);
  write_counters(page, metrics.queues);
  write_durations(page, metrics.queues);
  write_callers(page, metrics);
  write_store(page, metrics);
  write_shards(page, metrics.shards);
  return out;
}

}  // namespace eventq::wire
