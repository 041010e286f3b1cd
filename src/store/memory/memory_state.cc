// memory_state.cc: see memory_state.h.
#include "store/memory/memory_state.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "model/tags.h"
#include "store/stored_event.h"

namespace eventq::memory {

std::vector<LogEntry> log_of(const MemoryState& state, EventId id) {
  std::vector<LogEntry> entries;
  // The key begins with the event, so its entries are one range.
  for (auto at = state.log.lower_bound({id, LogId{}}); at != state.log.end() && at->first.first == id; ++at) {
    entries.push_back(at->second);
  }
  return entries;
}

Working working_of(const MemoryState& state) {
  Working working;
  for (const auto& [id, row] : state.records.workers) working.workers.push_back(row);
  for (const auto& [id, stored] : state.events) {
    if (stored.event.status == Status::processing) working.processing.push_back(state_of(stored));
  }
  return working;
}

std::vector<WorkerAsk> asks_of(const MemoryState& state) {
  std::vector<WorkerAsk> asks;
  for (const auto& [key, asked_at] : state.records.asks) {
    const auto& [worker_id, queue, tags] = key;
    const auto signed_off = state.records.sign_offs.find(worker_id);
    if (signed_off != state.records.sign_offs.end() && asked_at <= signed_off->second) continue;
    asks.push_back({worker_id, {queue, split_tags(tags)}, asked_at});
  }
  return asks;
}

QueueRecord record_of(const MemoryState& state, const QueueRow& row) {
  QueueRecord record{row, {}, {}, {}};
  for (const auto& [id, stored] : state.events) {
    if (stored.event.queue == row.id) ++record.counts.at(static_cast<std::size_t>(stored.event.status));
  }
  if (const auto found = state.records.totals.find(row.id); found != state.records.totals.end()) {
    record.totals = found->second.totals;
    record.checkpoint_id = found->second.checkpoint_id;
    record.changed_at = found->second.changed_at;
  }
  return record;
}

std::vector<const Stored*> in_order_of_end(const MemoryState& state) {
  std::vector<const Stored*> ended;
  for (const auto& [id, stored] : state.events) {
    if (stored.archived) ended.push_back(&stored);
  }
  // The map is ordered by id, and a stable sort keeps that order among equal times.
  std::stable_sort(ended.begin(), ended.end(), [](const Stored* a, const Stored* b) {
    return a->event.updated_at < b->event.updated_at;
  });
  return ended;
}

Event without_payload(Event event) {
  event.payload.clear();
  event.description.reset();
  return event;
}

Event with_result(const MemoryState& state, Event event) {
  const auto found = state.results.find(event.id);
  if (found != state.results.end()) event.result = found->second;
  return event;
}

Stored state_of(Stored stored) {
  move_envelope({}, stored.event);
  return stored;
}

}  // namespace eventq::memory
