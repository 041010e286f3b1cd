// table.cc: see table.h.
#include "tools/move/table.h"

#include <limits>

#include "generated/move_sql.h"

namespace eventq::move {
namespace {

constexpr ColumnSpec key_number(std::string_view name) {
  return {name, ColumnSpec::ColumnKind::number, true};
}
constexpr ColumnSpec key_text(std::string_view name) { return {name, ColumnSpec::ColumnKind::text, true}; }
constexpr ColumnSpec number(std::string_view name) { return {name, ColumnSpec::ColumnKind::number, false}; }
constexpr ColumnSpec newest(std::string_view name) {
  return {name, ColumnSpec::ColumnKind::number, false, true};
}
constexpr ColumnSpec text(std::string_view name) { return {name, ColumnSpec::ColumnKind::text, false}; }

// Bodies come before live events, because PostgreSQL reads the priority of a live event from its body. Queues
// come before their checkpoints, which refer to them. queue_default is not copied: a server writes it when it
// starts.
std::vector<TableSpec> make_tables() {
  static const std::string priority = ", " + fill(sql::postgres_priority, {});
  return {
      {"stored_queue",
       {key_text("id"), text("config"), text("status"), text("status_by"), text("status_reason"),
        number("status_at"), number("created_at"), number("updated_at")}},
      {"event_body",
       {key_number("id"),    text("event_id"),       text("queue"),        text("title"),
        text("tags"),        text("correlation_id"), text("ordering_key"), text("supersede_key"),
        number("priority"),  number("max_retries"),  text("retry"),        number("created_at"),
        number("sequence"),  number("timestamp"),    text("causation_id"), text("trace_id"),
        text("pattern"),     text("version"),        text("source_type"),  text("source_id"),
        text("source_name"), text("attributes"),     text("description"),  text("payload")}},
      {kLive,
       {key_number("id"), text("queue"), text("status"), number("attempts"), number("retry_count"),
        number("unreported"), text("worker_id"), number("due_at"), number("ready"), number("turn"),
        number("picked_at"), number("updated_at")},
       false,
       ", priority",
       priority},
      {"event_archive",
       {key_number("id"), text("queue"), text("status"), number("attempts"), number("retry_count"),
        number("unreported"), text("worker_id"), number("picked_at"), number("updated_at"),
        number("holds_line"), number("superseded_by"), text("cause")}},
      {"event_log",
       {key_number("event_id"), key_number("id"), number("attempt"), text("worker_id"), text("action"),
        number("status_code"), text("error_message"), number("execution_time_ms"), text("errors"),
        text("reason"), number("retry_count"), number("next_retry_at"), number("created_at")}},
      {"event_log_author", {key_number("event_id"), key_number("id"), text("author")}},
      {"event_log_detail", {key_number("event_id"), key_number("id"), text("detail")}},
      {"event_result", {key_number("id"), text("result")}},
      {"event_line", {key_text("queue"), key_text("ordering_key"), key_number("id"), number("head")}},
      {"event_supersede", {key_text("queue"), key_text("supersede_key"), key_number("id")}},
      {"correlation",
       {key_text("id"), number("total"), number("pending"), number("completed"), number("failed"),
        number("kept"), text("on_complete"), text("queue")}},
      {"idempotency_key", {key_text("key"), text("fingerprint"), text("events"), number("created_at")}},
      {"event_count", {key_text("queue"), key_text("status"), number("n")}, true, ", slot", ", 0"},
      {"queue_total",
       {key_text("queue"), number("published"), number("deduplicated"), number("claimed"),
        number("completed"), number("failed"), number("failed_for_good"), number("retried"),
        number("abandoned"), number("superseded"), number("cancelled"), number("run_ms"), number("runs"),
        number("removed"), text("checkpoint_id"), newest("changed_at")},
       true,
       ", slot, checkpoint_at",
       ", 0, 0"},
      {"failure_cause",
       {key_text("queue"), key_text("cause"), number("n")},
       true,
       ", slot",
       ", 0",
       " HAVING sum(n) <> 0"},
      {"failed_hour", {key_number("hour"), number("n")}, true, ", slot", ", 0"},
      {"stored_checkpoint",
       {key_text("id"), text("queue_id"), text("checkpoint_id"), number("event_count"), number("created_at"),
        number("requested")}},
      {"queue_log",
       {key_text("queue"), key_text("id"), text("action"), text("author"), text("reason"), text("detail"),
        number("created_at")}},
      {"queue_recovery",
       {key_text("queue"), text("id"), text("checkpoint_id"), number("events_recovered"),
        number("started_at"), number("completed_at"), text("status")}},
      {"worker",
       {key_text("id"), number("first_seen"), number("last_seen"), number("completed"), number("failed")}},
      {"worker_ask", {key_text("worker_id"), key_text("queue"), key_text("tags"), number("asked_at")}},
      {"worker_sign_off", {key_text("worker_id"), number("signed_off_at")}},
      {"archive_file", {key_text("name"), number("bytes")}},
  };
}

std::string join(const std::vector<ColumnSpec>& columns) {
  std::string list;
  for (const ColumnSpec& column : columns) list += (list.empty() ? "" : ", ") + std::string(column.name);
  return list;
}

}  // namespace

std::span<const TableSpec> all_tables() {
  static const std::vector<TableSpec> tables = make_tables();
  return tables;
}

std::string column_list(const TableSpec& table) { return join(table.columns); }
std::string key_list(const TableSpec& table) { return join(key_columns(table)); }

std::vector<ColumnSpec> key_columns(const TableSpec& table) {
  std::vector<ColumnSpec> keys;
  for (const ColumnSpec& column : table.columns) {
    if (column.key) keys.push_back(column);
  }
  return keys;
}

// No row has this key: ids and hours are positive, and the text of a key is not empty in all columns.
Row first_key(const TableSpec& table) {
  Row key;
  for (const ColumnSpec& column : key_columns(table)) {
    if (column.kind == ColumnSpec::ColumnKind::number) {
      key.emplace_back(std::numeric_limits<std::int64_t>::min());
    } else {
      key.emplace_back(std::string());
    }
  }
  return key;
}

// Each search continues after the inserted value, so a value that contains its own {name} cannot loop.
std::string fill(std::string_view sql, const std::vector<std::pair<std::string_view, std::string>>& names) {
  while (sql.starts_with("--")) sql.remove_prefix(sql.find('\n') + 1);
  if (sql.ends_with('\n')) sql.remove_suffix(1);
  std::string filled(sql);
  for (const auto& [name, value] : names) {
    const std::string written = "{" + std::string(name) + "}";
    for (std::size_t at = filled.find(written); at != std::string::npos;
         at = filled.find(written, at + value.size())) {
      filled.replace(at, written.size(), value);
    }
  }
  return filled;
}

}  // namespace eventq::move
