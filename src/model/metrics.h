// metrics.h: figures about queues, workers and the store at one point in time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eventq/event.h"
#include "model/histogram.h"
#include "model/query.h"
#include "model/worker_state.h"

namespace eventq {

// A worker as the store holds it.
struct WorkerRow {
  std::string id;
  TimePoint first_seen;
  TimePoint last_seen;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
};

// A worker asked for events. A worker may ask for several kinds of events, each with a selector of its own.
struct WorkerAsk {
  std::string worker_id;
  Selector selector;
  TimePoint asked_at;
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
struct ListedWorker {
  WorkerRow row;
  std::vector<EventId> holding;   // ascending
  std::optional<Selector> asked;  // its last request for events
  std::vector<Selector> asks;     // what it asked for last, within `stale_after`
  bool asked_lately = false;      // within `stale_after` before now
  WorkerState state{};
  std::string stale_because;  // a sentence; empty when it is not stale
};

struct QueueMetrics {
  std::string queue;
  bool paused = false;
  Counts counts{};
  Totals totals;
  std::optional<Millis> oldest_pending;  // age of the oldest pending event
  bool backpressure = false;
  std::int64_t subscribers = 0;  // workers that ask for events of the queue
  std::int64_t unattended = 0;   // ready events that no worker asks for; see set_unattended()
  Histogram wait;                // seconds, from due to claimed
  Histogram run;                 // seconds, from claimed to reported
};

struct Metrics {
  std::vector<QueueMetrics> queues;
  std::int64_t failed_24h = 0;
  std::int64_t waiting_claims = 0;  // long polls for an event
  std::int64_t waiting_ends = 0;    // calls that wait for an event to end
  std::vector<ListedWorker> workers;
  Histogram commit_seconds;
  Histogram batch_events;
  StoreSizes sizes;
  std::vector<ShardMetrics> shards = {};  // empty when the store is a file
};

// How many workers are in each state; the index is a WorkerState.
[[nodiscard]] std::array<std::int64_t, kWorkerStates> count_by_state(
    const std::vector<ListedWorker>& workers);

// Whether `asks` holds for the present: a worker that is at work will ask again, and a stale worker with one
// hanging event may go on asking for others.
[[nodiscard]] bool is_asking(const ListedWorker& worker);

// Sets `subscribers` of all queues from the workers.
void count_subscribers(Metrics& metrics);

// The queues that may have ready events which no worker asks for, with the tags that workers do ask for,
// sorted. Leaves out queues without live events, paused queues, and queues of which a worker asks for all
// events.
[[nodiscard]] std::vector<AskedTags> asked_tags(const Metrics& metrics);

// Sets `unattended` of the queues in `asked` to the counts of Reader::unattended() for them. The Core does
// not know this figure, because it needs the ready index: engines add it to the Core's metrics. REQUIRES:
// both have the same size.
void set_unattended(Metrics& metrics, std::span<const AskedTags> asked, std::span<const std::int64_t> counts);

}  // namespace eventq
