// columns.h: rows to values. The statements of every database return columns in the order given here.
//
// A Row has is_null(), integer(), text(), optional_text() and optional_integer(), each with a column number.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "eventq/event.h"
#include "model/names.h"
#include "model/tags.h"
#include "store/row_text.h"
#include "store/store.h"
#include "store/stored_event.h"

namespace eventq {

inline std::int64_t millis(TimePoint time) { return time.time_since_epoch().count(); }
inline TimePoint time_point(std::int64_t millis) { return TimePoint(Millis(millis)); }
inline std::int64_t number(EventId id) { return static_cast<std::int64_t>(id); }

// Values of event_queue.ready: waits for due_at; in the ready index; behind the head of its line.
inline constexpr std::int64_t kWaiting = 0;
inline constexpr std::int64_t kReady = 1;
inline constexpr std::int64_t kBehind = 2;

// The value of event_queue.ready for a live event.
inline std::int64_t readiness(const Stored& stored, TimePoint now) {
  if (stored.line == Line::behind) return kBehind;
  return stored.event.due_at <= now ? kReady : kWaiting;
}

// The position of each column in an event row. Every statement that returns event rows takes its columns from
// event_columns.sql of its store; tests compare the names there with these.
struct EventColumn {
  enum Position : int {
    // EventFields::state ends with event_id.
    id,
    queue,
    tags,
    priority,
    max_retries,
    created_at,
    status,
    attempts,
    retry_count,
    unreported,
    worker_id,
    due_at,
    updated_at,
    ready,
    correlation_id,
    ordering_key,
    supersede_key,
    retry,
    turn,
    picked_at,
    superseded_by,
    cause,
    holds_line,
    event_id,
    title,
    sequence,
    timestamp,
    causation_id,
    trace_id,
    pattern,
    version,
    source_type,
    source_id,
    source_name,
    attributes,
    description,
    payload
  };
};

// The names of the columns by position.
inline constexpr std::string_view kEventColumns[] = {
    "id",         "queue",       "tags",           "priority",     "max_retries",   "created_at",
    "status",     "attempts",    "retry_count",    "unreported",   "worker_id",     "due_at",
    "updated_at", "ready",       "correlation_id", "ordering_key", "supersede_key", "retry",
    "turn",       "picked_at",   "superseded_by",  "cause",        "holds_line",    "event_id",
    "title",      "sequence",    "timestamp",      "causation_id", "trace_id",      "pattern",
    "version",    "source_type", "source_id",      "source_name",  "attributes",    "description",
    "payload"};
static_assert(std::size(kEventColumns) == EventColumn::payload + 1);
static_assert(kEventColumns[EventColumn::ready] == "ready");
static_assert(kEventColumns[EventColumn::event_id] == "event_id");
static_assert(kEventColumns[EventColumn::payload] == "payload");

// Reads the columns after the state; see EventFields.
template <typename Row>
void read_envelope(const Row& row, Event& event) {
  event.title = row.text(EventColumn::title);
  if (!row.is_null(EventColumn::sequence))
    event.sequence = static_cast<int>(row.integer(EventColumn::sequence));
  event.timestamp = row.is_null(EventColumn::timestamp) ? event.created_at
                                                        : time_point(row.integer(EventColumn::timestamp));
  event.causation_id = row.text(EventColumn::causation_id);
  event.trace_id = row.text(EventColumn::trace_id);
  event.pattern = row.text(EventColumn::pattern);
  event.version = row.text(EventColumn::version);
  event.source.type = row.text(EventColumn::source_type);
  event.source.id = row.text(EventColumn::source_id);
  event.source.name = row.text(EventColumn::source_name);
  event.attributes = row.text(EventColumn::attributes);
  event.description = row.optional_text(EventColumn::description);
  event.payload = row.text(EventColumn::payload);
}

// An event row: all columns of EventColumn, or only the state (see Transaction::EventFields).
// Errors: corrupt when a column has a value that no version of eventq writes.
template <typename Row>
Result<Stored> read_event_row(const Row& row, Transaction::EventFields fields) {
  const auto status = status_named(row.text(EventColumn::status));
  if (!status)
    return corrupt_row("an event with the unknown status " + std::string(row.text(EventColumn::status)));
  Stored stored;
  Event& event = stored.event;
  event.id = static_cast<EventId>(row.integer(EventColumn::id));
  event.queue = row.text(EventColumn::queue);
  if (!row.text(EventColumn::tags).empty()) event.tags = split_tags(row.text(EventColumn::tags));
  event.priority = static_cast<int>(row.integer(EventColumn::priority));
  event.max_retries = static_cast<int>(row.integer(EventColumn::max_retries));
  event.created_at = time_point(row.integer(EventColumn::created_at));
  event.status = *status;
  event.attempts = static_cast<int>(row.integer(EventColumn::attempts));
  event.retry_count = static_cast<int>(row.integer(EventColumn::retry_count));
  event.unreported = static_cast<int>(row.integer(EventColumn::unreported));
  event.worker_id = row.text(EventColumn::worker_id);
  event.due_at = time_point(row.integer(EventColumn::due_at));
  event.updated_at = time_point(row.integer(EventColumn::updated_at));
  event.correlation_id = row.text(EventColumn::correlation_id);
  event.ordering_key = row.text(EventColumn::ordering_key);
  event.supersede_key = row.text(EventColumn::supersede_key);
  if (!row.is_null(EventColumn::retry)) {
    auto rules = retry_from_text(row.text(EventColumn::retry));
    if (!rules) return rules.error();
    event.retry = rules->retry;
    event.max_attempts = rules->max_attempts;
  }
  event.picked_at = time_point(row.integer(EventColumn::picked_at));
  event.event_id = row.text(EventColumn::event_id);
  stored.archived = has_ended(event.status);
  if (stored.archived) {
    if (!row.is_null(EventColumn::superseded_by))
      event.superseded_by = static_cast<EventId>(row.integer(EventColumn::superseded_by));
    stored.cause = row.text(EventColumn::cause);
  }
  const std::int64_t ready = row.integer(EventColumn::ready);
  stored.ready = ready == kReady;
  stored.turn = row.integer(EventColumn::turn);
  if (!event.ordering_key.empty()) {
    const bool head = stored.archived ? row.integer(EventColumn::holds_line) != 0 : ready != kBehind;
    stored.line = head ? Line::head : stored.archived ? Line::none : Line::behind;
    stored.line_before = stored.line;
  }
  stored.guard = guard_of(event);
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

// A row of event_log, in the order of its columns.
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

// A row in the columns of event_log.sql: those of event_log, the person that caused the entry, and the detail
// of a failure.
template <typename Row>
Result<LogEntry> read_whole_entry(const Row& row) {
  auto entry = read_entry_row(row);
  if (entry && !row.is_null(13)) entry->by = row.text(13);
  if (entry && !row.is_null(14)) entry->error_detail = row.text(14);
  return entry;
}

// A row in the columns of read_totals.sql, from `column` on.
template <typename Row>
Totals read_totals(const Row& row, int column) {
  const auto next = [&] { return row.integer(column++); };
  // C++ evaluates the elements of a braced list in order, so each next() reads the next column.
  return {next(), next(), next(), next(), next(), next(), next(),
          next(), next(), next(), next(), next(), next()};
}

// A row in the columns of find_checkpoint.sql.
template <typename Row>
Checkpoint read_checkpoint(const Row& row) {
  return {std::string(row.text(0)), std::string(row.text(1)),   std::string(row.text(2)),
          row.integer(3),           time_point(row.integer(4)), row.integer(5) != 0};
}

// A row in the columns of read_workers.sql.
template <typename Row>
WorkerRow read_worker(const Row& row) {
  return {std::string(row.text(0)), time_point(row.integer(1)), time_point(row.integer(2)), row.integer(3),
          row.integer(4)};
}

// A row in the columns of read_asks.sql.
template <typename Row>
WorkerAsk read_ask(const Row& row) {
  return {std::string(row.text(0)),
          {std::string(row.text(1)), split_tags(row.text(2))},
          time_point(row.integer(3))};
}

// The columns of correlation after its id, from `column` on.
template <typename Row>
CorrelationRow read_correlation(const Row& row, std::string_view id, int column) {
  return {std::string(id),
          row.integer(column),
          row.integer(column + 1),
          row.integer(column + 2),
          row.integer(column + 3),
          row.integer(column + 4),
          std::string(row.text(column + 5)),
          std::string(row.text(column + 6))};
}

// A row in the columns of correlated_ends.sql.
template <typename Row>
Result<CorrelatedEnd> read_correlated_end(const Row& row) {
  const auto status = status_named(row.text(2));
  if (!status) return corrupt_row("an event with the unknown status " + std::string(row.text(2)));
  return CorrelatedEnd{static_cast<EventId>(row.integer(0)), std::string(row.text(1)), *status,
                       std::string(row.text(3))};
}

// A row in the columns of read_recovery.sql.
template <typename Row>
Recovery read_recovery_row(const Row& row) {
  return {.id = std::string(row.text(1)),
          .queue = std::string(row.text(0)),
          .checkpoint_id = std::string(row.text(2)),
          .events_recovered = row.integer(3),
          .started_at = time_point(row.integer(4)),
          .completed_at = time_point(row.integer(5)),
          .status = std::string(row.text(6))};
}

// A row in the columns of read_queue_log.sql.
template <typename Row>
Result<QueueLogEntry> read_queue_log_entry(const Row& row) {
  const auto action = queue_action_named(row.text(2));
  if (!action) return corrupt_row("a change of a queue with the unknown action " + std::string(row.text(2)));
  return QueueLogEntry{.id = std::string(row.text(0)),
                       .queue = std::string(row.text(1)),
                       .action = *action,
                       .by = std::string(row.text(3)),
                       .reason = std::string(row.text(4)),
                       .detail = std::string(row.text(5)),
                       .created_at = time_point(row.integer(6))};
}

// The id before which a list of a queue's log begins.
inline std::string_view log_end(const QueueLogFilter& filter) {
  constexpr std::string_view kAfterAll = "~";  // greater than every UUID
  return filter.before.empty() ? kAfterAll : std::string_view(filter.before);
}

// A row in the columns of read_failures.sql.
template <typename Row>
FailureGroup read_failure_group(const Row& row) {
  return {std::string(row.text(0)),
          std::string(row.text(1)),
          row.integer(2),
          time_point(row.integer(3)),
          time_point(row.integer(4)),
          static_cast<EventId>(row.integer(5)),
          ""};
}

// Rows of one id, one time, and the name and bytes of an archive file.
template <typename Row>
EventId read_id(const Row& row) {
  return static_cast<EventId>(row.integer(0));
}
template <typename Row>
TimePoint read_time(const Row& row) {
  return time_point(row.integer(0));
}
template <typename Row>
ArchiveFile read_archive_file(const Row& row) {
  return {std::string(row.text(0)), row.integer(1)};
}

}  // namespace eventq
