// rows.cc: see rows.h.
#include "store/sqlite/rows.h"

#include "base/json.h"
#include "base/json_writer.h"
#include "model/names.h"
#include "model/tags.h"

namespace eventq::sqlite {
namespace {

Error corrupt(std::string what) {
  return {ErrorCode::corrupt, "The store holds " + std::move(what) + "; restore it from a backup.", ""};
}

std::string errors_to_json(const std::vector<std::string>& errors) {
  std::string json;
  JsonWriter writer(json);
  writer.begin_array();
  for (const std::string& error : errors) writer.string(error);
  writer.end_array();
  return json;
}

Result<std::vector<std::string>> errors_from_json(std::string_view json) {
  JsonParser parser;
  const auto value = parser.parse(json);
  if (!value || value->type() != JsonType::array)
    return corrupt("a log entry whose errors are not a JSON array");
  std::vector<std::string> errors;
  for (const JsonValue& element : value->elements()) {
    errors.emplace_back(element.string().value_or(""));
  }
  return errors;
}

}  // namespace

Result<Stored> read_event(const Statement& row, Transaction::Part part) {
  const auto status = status_named(row.text(6));
  if (!status) return corrupt("an event with the unknown status " + std::string(row.text(6)));
  Stored stored;
  Event& event = stored.event;
  event.id = static_cast<EventId>(row.integer(0));
  event.queue = row.text(1);
  event.tags = split_tags(row.text(2));
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
  if (part == Transaction::Part::whole) {
    event.event_id = row.text(14);
    event.title = row.text(15);
    event.correlation_id = row.text(16);
    event.description = row.optional_text(17);
    event.payload = row.text(18);
  }
  stored.ready = row.integer(13) != 0;
  stored.archived = has_ended(event.status);
  stored.guard = {event.status, event.attempts, event.worker_id};
  return stored;
}

Result<LogEntry> read_entry(const Statement& row) {
  const auto action = action_named(row.text(4));
  if (!action) return corrupt("a log entry with the unknown action " + std::string(row.text(4)));
  LogEntry entry;
  entry.id = static_cast<LogId>(row.integer(0));
  entry.event_id = static_cast<EventId>(row.integer(1));
  entry.attempt = static_cast<int>(row.integer(2));
  entry.worker_id = row.text(3);
  entry.action = *action;
  if (!row.is_null(5)) entry.status_code = static_cast<int>(row.integer(5));
  entry.error_message = row.optional_text(6);
  entry.execution_time_ms = row.optional_integer(7);
  if (!row.is_null(8)) {
    auto errors = errors_from_json(row.text(8));
    if (!errors) return errors.error();
    entry.errors = std::move(*errors);
  }
  entry.reason = row.text(9);
  entry.retry_count = static_cast<int>(row.integer(10));
  if (!row.is_null(11)) entry.next_retry_at = time_point(row.integer(11));
  entry.created_at = time_point(row.integer(12));
  return entry;
}

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
    errors = errors_to_json(entry.errors);
    errors_json = errors;
  }
  std::optional<std::string_view> reason;
  if (!entry.reason.empty()) reason = entry.reason;
  std::optional<std::int64_t> next_retry_at;
  if (entry.next_retry_at) next_retry_at = millis(*entry.next_retry_at);
  statement.reset()
      .bind(static_cast<std::int64_t>(entry.id))
      .bind(number(entry.event_id))
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
