// rows.cc: see rows.h.
#include "store/sqlite/rows.h"

#include "model/names.h"
#include "store/columns.h"

namespace eventq::sqlite {

Result<Stored> read_event(const Statement& row, Transaction::EventFields fields) {
  return read_event_row(row, fields);
}

Result<QueueRow> read_queue_row(const Statement& row) { return read_queue_columns(row); }

Totals read_totals(const Statement& row) {
  return {row.integer(0),  row.integer(1),  row.integer(2), row.integer(3), row.integer(4),
          row.integer(5),  row.integer(6),  row.integer(7), row.integer(8), row.integer(9),
          row.integer(10), row.integer(11), row.integer(12)};
}

Checkpoint read_checkpoint(const Statement& row) {
  return {std::string(row.text(0)), std::string(row.text(1)), std::string(row.text(2)), row.integer(3),
          time_point(row.integer(4))};
}

WorkerRow read_worker(const Statement& row) {
  return {std::string(row.text(0)), time_point(row.integer(1)), time_point(row.integer(2)), row.integer(3),
          row.integer(4)};
}

Result<Counts> counts_of(Statement& read_counts, std::string_view queue) {
  Counts counts{};
  read_counts.reset().bind(queue);
  for (;;) {
    const auto row = read_counts.step();
    if (!row) return row.error();
    if (!*row) return counts;
    if (const auto status = status_named(read_counts.text(0))) {
      counts.at(static_cast<std::size_t>(*status)) = read_counts.integer(1);
    }
  }
}

Result<std::pair<Totals, std::string>> totals_of(Statement& statement, std::string_view queue) {
  std::pair<Totals, std::string> found;
  const auto row = statement.reset().bind(queue).step();
  if (!row) return row.error();
  if (*row) found = {read_totals(statement), std::string(statement.text(13))};
  statement.reset();
  return found;
}

Result<LogEntry> read_entry(const Statement& row) { return read_entry_row(row); }

Result<std::vector<LogEntry>> read_log(Statement& event_log, EventId id) {
  std::vector<LogEntry> entries;
  event_log.reset().bind(number(id));
  for (;;) {
    const auto row = event_log.step();
    if (!row) return row.error();
    if (!*row) return entries;
    auto entry = read_entry(event_log);
    if (!entry) {
      event_log.reset();
      return entry.error();
    }
    entries.push_back(std::move(*entry));
  }
}

void bind_entry(Statement& statement, const LogEntry& entry, std::string& errors) {
  std::optional<std::string_view> errors_json;
  if (!entry.errors.empty()) {
    errors = errors_to_text(entry.errors);
    errors_json = errors;
  }
  std::optional<std::string_view> reason;
  if (!entry.reason.empty()) reason = entry.reason;
  std::optional<std::int64_t> next_retry_at;
  if (entry.next_retry_at) next_retry_at = millis(*entry.next_retry_at);
  statement.reset()
      .bind(static_cast<std::int64_t>(entry.log_id))
      .bind(number(entry.id))
      .bind(entry.attempt)
      .bind(std::string_view(entry.worker_id))
      .bind(name_of(entry.action))
      .bind(entry.status_code)
      .bind(entry.error_message)
      .bind(entry.execution_time_ms)
      .bind(errors_json)
      .bind(reason)
      .bind(entry.retry_count)
      .bind(next_retry_at)
      .bind(millis(entry.created_at));
}

}  // namespace eventq::sqlite
