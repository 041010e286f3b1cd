// memory_state.h: the data of the store in memory, and the queries that its transaction and reader share.
//
// Threads: the caller of every function holds the store's mutex, except of the last two.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "store/store.h"

namespace eventq::memory {

// The totals of a queue, the global id of its last completed event, and when the totals last changed.
struct QueueTotals {
  Totals totals;
  std::string checkpoint_id;
  TimePoint changed_at;
};

// The data beside events. It is small, so a transaction copies all of it before its first change.
struct MemoryRecords {
  std::map<std::string, CorrelationRow, std::less<>> correlations;
  std::map<std::string, QueueRow, std::less<>> queues;
  std::map<std::string, QueueTotals, std::less<>> totals;  // by queue
  std::map<std::int64_t, std::int64_t> failed_by_hour;
  std::vector<Checkpoint> checkpoints;                                     // the oldest first
  std::map<std::string, Recovery, std::less<>> recoveries;                 // by queue
  std::map<std::pair<std::string, std::string>, QueueLogEntry> queue_log;  // by queue and id
  std::map<std::string, WorkerRow, std::less<>> workers;
  std::map<std::tuple<std::string, std::string, std::string>, TimePoint> asks;  // worker, queue, joined tags
  std::map<std::string, TimePoint, std::less<>> sign_offs;                      // by worker
  std::map<std::string, ArchiveFile, std::less<>> archive_files;
};

struct MemoryState {
  std::map<EventId, Stored> events;
  std::map<EventId, std::string> results;  // of events that have one
  std::map<std::pair<EventId, LogId>, LogEntry> log;
  std::map<std::string, KeyRecord, std::less<>> keys;
  MemoryRecords records;
  // The last ids assigned. A rollback does not lower them, so ids are never reused.
  std::int64_t last_event_id = 0;
  std::int64_t last_log_id = 0;
  // Every event id has id % shard_count == shard_index.
  int shard_index = 0;
  int shard_count = 1;
};

std::vector<LogEntry> log_of(const MemoryState& state, EventId id);

Working working_of(const MemoryState& state);
std::vector<WorkerAsk> asks_of(const MemoryState& state);

QueueRecord record_of(const MemoryState& state, const QueueRow& row);

// The ended events, ordered by the time of their end, then by id.
std::vector<const Stored*> in_order_of_end(const MemoryState& state);

Event without_payload(Event event);

// The event with its result.
Event with_result(const MemoryState& state, Event event);

// The event with only the fields of Transaction::EventFields::state.
Stored state_of(Stored stored);

// memory_transaction.cc and memory_reader.cc. The transaction holds the mutex until its destructor; each call
// of the reader holds it until it returns.
std::unique_ptr<Transaction> make_transaction(MemoryState& state, std::mutex& mutex, TimePoint now);
std::unique_ptr<Reader> make_reader(const MemoryState& state, std::mutex& mutex);

}  // namespace eventq::memory
