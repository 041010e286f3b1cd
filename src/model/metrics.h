// metrics.h: figures about queues, workers and the store, as they are at one moment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eventq/event.h"
#include "model/histogram.h"
#include "model/query.h"

namespace eventq {

// A worker as the store keeps it.
struct WorkerRow {
  std::string id;
  TimePoint first_seen;
  TimePoint last_seen;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
};

// What keeps a database from tidying up after us.
struct Upkeep {
  Millis oldest_snapshot{
      0};  // age of the oldest transaction that sees old rows, ours aside; 0: there is none
  std::int64_t dead_rows = 0;  // of live events, as the database estimates
};

struct StoreSizes {
  std::int64_t file_bytes = 0;
  std::int64_t log_bytes = 0;         // of the write-ahead log
  std::optional<Upkeep> upkeep = {};  // of a database that others use, too
};

// One of several databases that make up a queue.
struct ShardMetrics {
  int shard = 0;
  bool up = false;
  std::optional<Upkeep> upkeep = {};
};

// A worker as its actions show it.
struct WorkerState {
  WorkerRow row;
  std::vector<EventId> holding;   // ascending
  std::optional<Selector> asked;  // what it asked for last, since the queue was opened
  bool stale = false;
  std::string stale_because;  // a sentence; empty when it is not
};

struct QueueMetrics {
  std::string queue;
  Counts counts{};
  Totals totals;
  std::optional<Millis> oldest_pending;  // its age
  bool backpressure = false;
  Histogram wait;  // seconds, from due to claimed
  Histogram run;   // seconds, from claimed to reported
};

struct Metrics {
  std::vector<QueueMetrics> queues;
  std::int64_t failed_24h = 0;
  std::int64_t waiting_claims = 0;  // long polls
  std::int64_t waiting_ends = 0;    // waits for an end
  std::int64_t workers = 0;
  std::int64_t stale_workers = 0;
  Histogram commit_seconds;
  Histogram batch_events;
  StoreSizes sizes;
  std::vector<ShardMetrics> shards = {};  // none: the store is a file
};

}  // namespace eventq
