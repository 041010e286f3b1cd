// memory_state.h: all that the store in memory holds, and the questions that its transaction and its
// reader both ask of it. Whoever looks at a MemoryState holds the store's mutex.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/store.h"

namespace eventq::memory {

// What became of a queue's events.
struct QueueTotals {
  Totals totals;
  std::string checkpoint_id;
};

// What is kept beside the events: little, so that a transaction that changes any of it copies it all.
struct MemoryRecords {
  std::map<std::string, CorrelationRow, std::less<>> correlations;
  std::map<std::string, QueueRow, std::less<>> queues;
  std::map<std::string, QueueTotals, std::less<>> totals;  // by queue
  std::map<std::int64_t, std::int64_t> failed_by_hour;
  std::vector<Checkpoint> checkpoints;                      // the oldest first
  std::map<std::string, Recovery, std::less<>> recoveries;  // by queue
  std::map<std::string, WorkerRow, std::less<>> workers;
  std::map<std::string, ArchiveFile, std::less<>> archive_files;
};

struct MemoryState {
  std::map<EventId, Stored> events;
  std::map<std::pair<EventId, LogId>, LogEntry> log;
  std::map<std::string, KeyRecord, std::less<>> keys;
  MemoryRecords records;
  // The last ids given. They never go back, not even when the transaction does.
  std::int64_t last_event_id = 0;
  std::int64_t last_log_id = 0;
  // Of the events' ids: id % shard_count == shard_index.
  int shard_index = 0;
  int shard_count = 1;
};

std::vector<LogEntry> log_of(const MemoryState& state, EventId id);

Counts counts_of(const MemoryState& state, std::string_view queue);

Working working_of(const MemoryState& state);

QueueTotals totals_of(const MemoryState& state, std::string_view queue);

// The ended ones, the first to end first, then by id.
std::vector<const Stored*> in_order_of_end(const MemoryState& state);

Event without_payload(Event event);

// What a transaction's EventFields::state leaves of an event.
Stored state_of(Stored stored);

}  // namespace eventq::memory
