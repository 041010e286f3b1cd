// rows.cc: see rows.h.
#include "store/sqlite/rows.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/numbers.h"
#include "model/names.h"
#include "model/tags.h"

namespace eventq::sqlite {
namespace {

// Jitter is stored in millionths.
constexpr double kJitterUnit = 1'000'000;

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

// The columns of load_live.sql that no rule looks at.
void read_envelope(const Statement& row, Event& event) {
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

}  // namespace

std::string retry_to_text(const std::optional<RetryPolicy>& retry) {
  if (!retry) return {};
  const bool fixed = retry->kind == RetryPolicy::Kind::fixed;
  return std::string(fixed ? "fixed " : "exponential ") + std::to_string(retry->base.count()) + " " +
         std::to_string(retry->cap.count()) + " " + std::to_string(std::llround(retry->jitter * kJitterUnit));
}

Result<std::optional<RetryPolicy>> retry_from_text(std::string_view text) {
  if (text.empty()) return std::optional<RetryPolicy>();
  std::array<std::string_view, 4> parts;
  for (std::string_view& part : parts) {
    const std::size_t end = std::min(text.find(' '), text.size());
    part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto base = parse_whole<std::int64_t>(parts[1]);
  const auto cap = parse_whole<std::int64_t>(parts[2]);
  const auto jitter = parse_whole<std::int64_t>(parts[3]);
  if (!base || !cap || !jitter || (parts[0] != "fixed" && parts[0] != "exponential")) {
    return corrupt("an event whose retry policy is none");
  }
  return std::optional(
      RetryPolicy{parts[0] == "fixed" ? RetryPolicy::Kind::fixed : RetryPolicy::Kind::exponential,
                  Millis(*base), Millis(*cap), static_cast<double>(*jitter) / kJitterUnit});
}

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
  if (part == Transaction::Part::whole) read_envelope(row, event);
  return stored;
}

Result<QueueRow> read_queue_row(const Statement& row) {
  const auto status = queue_status_named(row.text(2));
  if (!status) return corrupt("a queue with the unknown status " + std::string(row.text(2)));
  QueueRow queue;
  queue.id = row.text(0);
  queue.config = row.text(1);
  queue.status = *status;
  queue.status_by = row.text(3);
  queue.status_reason = row.text(4);
  if (!row.is_null(5)) queue.status_at = time_point(row.integer(5));
  queue.created_at = time_point(row.integer(6));
  queue.updated_at = time_point(row.integer(7));
  return queue;
}

Totals read_totals(const Statement& row) {
  return {row.integer(0),  row.integer(1),  row.integer(2), row.integer(3), row.integer(4),
          row.integer(5),  row.integer(6),  row.integer(7), row.integer(8), row.integer(9),
          row.integer(10), row.integer(11), row.integer(12)};
}

Checkpoint read_checkpoint(const Statement& row) {
  return {std::string(row.text(0)), std::string(row.text(1)), std::string(row.text(2)), row.integer(3),
          time_point(row.integer(4))};
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
