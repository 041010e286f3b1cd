// columns.h: rows to values, by the order of columns that the statements of every database keep.
//
// A Row has is_null(), integer(), text(), optional_text() and optional_integer() of a column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "eventq/event.h"
#include "model/names.h"
#include "model/tags.h"
#include "store/row_text.h"
#include "store/store.h"

namespace eventq {

inline std::int64_t millis(TimePoint time) { return time.time_since_epoch().count(); }
inline TimePoint time_point(std::int64_t millis) { return TimePoint(Millis(millis)); }
inline std::int64_t number(EventId id) { return static_cast<std::int64_t>(id); }

// event_queue.ready: waits for a time, may be claimed, waits behind another of its line.
inline constexpr std::int64_t kWaiting = 0;
inline constexpr std::int64_t kReady = 1;
inline constexpr std::int64_t kBehind = 2;

// The columns of load_live.sql that no rule looks at.
template <typename Row>
void read_envelope(const Row& row, Event& event) {
  event.title = row.text(24);
  if (!row.is_null(25)) event.sequence = static_cast<int>(row.integer(25));
  event.timestamp = row.is_null(26) ? event.created_at : time_point(row.integer(26));
  event.causation_id = row.text(27);
  event.trace_id = row.text(28);
  event.pattern = row.text(29);
  event.version = row.text(30);
  event.source.type = row.text(31);
  event.source.id = row.text(32);
  event.source.name = row.text(33);
  event.attributes = row.text(34);
  event.description = row.optional_text(35);
  event.payload = row.text(36);
}

// A row in the columns of load_live.sql, all of it or only the head (see Transaction::load).
// Errors: corrupt when it holds what no version of eventq writes.
template <typename Row>
Result<Stored> read_event_row(const Row& row, Transaction::EventFields fields) {
  const auto status = status_named(row.text(6));
  if (!status) return corrupt_row("an event with the unknown status " + std::string(row.text(6)));
  Stored stored;
  Event& event = stored.event;
  event.id = static_cast<EventId>(row.integer(0));
  event.queue = row.text(1);
  if (!row.text(2).empty()) event.tags = split_tags(row.text(2));
  event.priority = static_cast<int>(row.integer(3));
  event.max_retries = static_cast<int>(row.integer(4));
  event.created_at = time_point(row.integer(5));
  event.status = *status;
  event.attempts = static_cast<int>(row.integer(7));
  event.retry_count = static_cast<int>(row.integer(8));
  event.unreported = static_cast<int>(row.integer(9));
  event.worker_id = row.text(10);
  event.due_at = time_point(row.integer(11));
  event.updated_at = time_point(row.integer(12));
  event.correlation_id = row.text(14);
  event.ordering_key = row.text(15);
  event.supersede_key = row.text(16);
  if (!row.is_null(17)) {
    auto retry = retry_from_text(row.text(17));
    if (!retry) return retry.error();
    event.retry = *retry;
  }
  event.picked_at = time_point(row.integer(19));
  event.event_id = row.text(23);
  stored.archived = has_ended(event.status);
  if (stored.archived) {
    if (!row.is_null(20)) event.superseded_by = static_cast<EventId>(row.integer(20));
    stored.cause = row.text(21);
  }
  const std::int64_t ready = row.integer(13);
  stored.ready = ready == kReady;
  stored.turn = row.integer(18);
  if (!event.ordering_key.empty()) {
    const bool head = stored.archived ? row.integer(22) != 0 : ready != kBehind;
    stored.line = head ? Line::head : stored.archived ? Line::none : Line::behind;
    stored.line_before = stored.line;
  }
  stored.guard = {event.status, event.attempts, event.worker_id};
  if (fields == Transaction::EventFields::all) read_envelope(row, event);
  return stored;
}

// A row in the columns of read_queue.sql.
template <typename Row>
Result<QueueRow> read_queue_columns(const Row& row) {
  const auto status = queue_status_named(row.text(2));
  if (!status) return corrupt_row("a queue with the unknown status " + std::string(row.text(2)));
  QueueRow queue;
  queue.id = row.text(0);
  if (auto config = config_from_text(row.text(1))) {
    queue.config = *config;
  } else {
    queue.config_fault = config.error().message;
  }
  queue.status = *status;
  queue.status_by = row.text(3);
  queue.status_reason = row.text(4);
  if (!row.is_null(5)) queue.status_at = time_point(row.integer(5));
  queue.created_at = time_point(row.integer(6));
  queue.updated_at = time_point(row.integer(7));
  return queue;
}

// A row in the columns of event_log.sql.
template <typename Row>
Result<LogEntry> read_entry_row(const Row& row) {
  const auto action = action_named(row.text(4));
  if (!action) return corrupt_row("a log entry with the unknown action " + std::string(row.text(4)));
  LogEntry entry;
  entry.log_id = static_cast<LogId>(row.integer(0));
  entry.id = static_cast<EventId>(row.integer(1));
  entry.attempt = static_cast<int>(row.integer(2));
  entry.worker_id = row.text(3);
  entry.action = *action;
  if (!row.is_null(5)) entry.status_code = static_cast<int>(row.integer(5));
  entry.error_message = row.optional_text(6);
  entry.execution_time_ms = row.optional_integer(7);
  if (!row.is_null(8)) {
    auto errors = errors_from_text(row.text(8));
    if (!errors) return errors.error();
    entry.errors = std::move(*errors);
  }
  entry.reason = row.text(9);
  entry.retry_count = static_cast<int>(row.integer(10));
  if (!row.is_null(11)) entry.next_retry_at = time_point(row.integer(11));
  entry.created_at = time_point(row.integer(12));
  return entry;
}

}  // namespace eventq
