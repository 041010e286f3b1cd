// metrics.h: figures about queues, workers and the store at one point in time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eventq/event.h"
#include "model/histogram.h"
#include "model/query.h"

namespace eventq {

// A worker as the store holds it.
struct WorkerRow {
  std::string id;
  TimePoint first_seen;
  TimePoint last_seen;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
};

// What keeps a PostgreSQL database from removing dead rows.
struct Upkeep {
  Millis oldest_snapshot{0};   // age of the oldest snapshot of another program; 0: there is none
  std::int64_t dead_rows = 0;  // in the table of live events, as the database estimates
};

struct StoreSizes {
  std::int64_t file_bytes = 0;
  std::int64_t log_bytes = 0;         // of the write-ahead log
  std::optional<Upkeep> upkeep = {};  // PostgreSQL only
};

// One of the databases of a queue with shards.
struct ShardMetrics {
  int shard = 0;
  bool up = false;
  std::optional<Upkeep> upkeep = {};
};

// A worker with its claims and its state.
struct WorkerState {
  WorkerRow row;
  std::vector<EventId> holding;   // ascending
  std::optional<Selector> asked;  // its last request for events since the queue was opened
  bool stale = false;
  std::string stale_because;  // a sentence; empty when it is not stale
};

struct QueueMetrics {
  std::string queue;
  Counts counts{};
  Totals totals;
  std::optional<Millis> oldest_pending;  // age of the oldest pending event
  bool backpressure = false;
  Histogram wait;  // seconds, from due to claimed
  Histogram run;   // seconds, from claimed to reported
};

struct Metrics {
  std::vector<QueueMetrics> queues;
  std::int64_t failed_24h = 0;
  std::int64_t waiting_claims = 0;  // long polls for an event
  std::int64_t waiting_ends = 0;    // calls that wait for an event to end
  std::int64_t workers = 0;
  std::int64_t stale_workers = 0;
  Histogram commit_seconds;
  Histogram batch_events;
  StoreSizes sizes;
  std::vector<ShardMetrics> shards = {};  // empty when the store is a file
};

}  // namespace eventq
