// event_reader.cc: see event_reader.h.
#include "wire/event_reader.h"

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/numbers.h"
#include "model/event_context.h"
#include "model/names.h"
#include "model/tags.h"
#include "wire/answer_fields.h"
#include "wire/answer_json.h"
#include "wire/config_json.h"
#include "wire/event_fields.h"
#include "wire/fields.h"

namespace eventq::wire {
namespace {

// Members that every event has.
void read_members(Fields& fields, Event& event) {
  event.id = EventId{need(fields, "id", fields.integer("id"))};
  event.event_id = need(fields, "event_id", fields.text("event_id"));
  event.queue = need(fields, "queue", fields.text("queue"));
  event.title = need(fields, "title", fields.text("title"));
  event.description = fields.text("description");
  const std::string tags = need(fields, "tags", fields.text("tags"));
  if (!tags.empty()) event.tags = split_tags(tags);
  event.payload = need(fields, "payload", fields.any("payload")).raw();
  event.status = need_named(fields, "status", status_named);
  event.priority = need(fields, "priority", fields.small_integer("priority"));
  event.attempts = need(fields, "attempts", fields.small_integer("attempts"));
  event.retry_count = need(fields, "retry_count", fields.small_integer("retry_count"));
  event.max_retries = need(fields, "max_retries", fields.small_integer("max_retries"));
  event.worker_id = text_in(fields, "worker_id");
  event.correlation_id = text_in(fields, "correlation_id");
  event.created_at = need(fields, "created_at", fields.time("created_at"));
  event.updated_at = need(fields, "updated_at", fields.time("updated_at"));
}

// Members that only some events have.
void read_rest(Fields& fields, Event& event) {
  read_origin(fields, event, "", UnknownMembers::ignored);
  event.attributes = attributes_of(
      {text_in(fields, "traceparent"), text_in(fields, "tracestate"), text_in(fields, "published_by")});
  event.timestamp = fields.time("timestamp").value_or(event.created_at);
  event.ordering_key = text_in(fields, "ordering_key");
  event.supersede_key = text_in(fields, "supersede_key");
  if (const auto id = fields.integer("superseded_by")) event.superseded_by = EventId{*id};
  event.sequence = fields.small_integer("sequence");
  event.retry = read_retry(fields, "", UnknownMembers::ignored);
  event.max_attempts = fields.small_integer("max_attempts");
  const auto result = fields.any("result");
  if (result && result->type() != JsonType::null) event.result = result->raw();
  // An answer has no due_at: it is the time of the retry, the time to run at, or the time of the last change.
  const auto next_retry_at = fields.time("next_retry_at");
  const auto run_at = fields.time("run_at");
  event.due_at = next_retry_at.value_or(run_at.value_or(event.updated_at));
}

Result<Claim> read_claim_at(const JsonValue& value, const std::string& where) {
  Fields fields(value, where, UnknownMembers::ignored);
  Claim claim;
  read_members(fields, claim.event);
  read_rest(fields, claim.event);
  claim.lease_until = need(fields, "lease_until", fields.time("lease_until"));
  // A claim sets these times together, so the answer has each only once.
  claim.event.due_at = claim.lease_until;
  claim.event.picked_at = claim.event.updated_at;
  if (auto fault = fields.fault()) return unreadable(*fault);
  return claim;
}

Result<Event> read_event_at(const JsonValue& value, const std::string& where) {
  Fields fields(value, where, UnknownMembers::ignored);
  Event event;
  read_members(fields, event);
  read_rest(fields, event);
  if (auto fault = fields.fault()) return unreadable(*fault);
  return event;
}

Result<LogEntry> read_entry(const JsonValue& value, const std::string& where) {
  Fields fields(value, where, UnknownMembers::ignored);
  LogEntry entry;
  entry.log_id = LogId{fields.integer("id").value_or(0)};
  entry.id = EventId{need(fields, "event_id", fields.integer("event_id"))};
  entry.worker_id = text_in(fields, "worker_id");
  entry.action = need_named(fields, "action", action_named);
  entry.attempt = need(fields, "attempt", fields.small_integer("attempt"));
  entry.status_code = fields.small_integer("status_code");
  entry.error_message = fields.text("error_message");
  entry.error_detail = text_in(fields, "error_detail");
  entry.execution_time_ms = fields.integer("execution_time_ms");
  entry.errors = fields.texts("errors").value_or(std::vector<std::string>());
  entry.reason = text_in(fields, "reason");
  entry.by = text_in(fields, "by");
  entry.retry_count = fields.small_integer("retry_count").value_or(0);
  entry.next_retry_at = fields.time("next_retry_at");
  entry.created_at = need(fields, "created_at", fields.time("created_at"));
  if (auto fault = fields.fault()) return unreadable(*fault);
  return entry;
}

// The kinds of last_failure_problem().
bool is_last_failure(std::string_view kind) {
  return kind == kMaxRetriesExceeded || kind == kFailedPermanently;
}

// The last part of a problem's type; empty when the body is not a problem of eventq.
std::string kind_of(Fields& problem) {
  constexpr std::string_view kType = "urn:eventq:problem:";
  const std::string type = text_in(problem, "type");
  return type.starts_with(kType) ? type.substr(kType.size()) : "";
}

std::optional<ErrorCode> code_of(std::string_view kind) {
  constexpr std::pair<std::string_view, ErrorCode> kCodes[] = {
      {"invalid-request", ErrorCode::invalid_argument},
      {"too-large", ErrorCode::too_large},
      {"head-too-large", ErrorCode::too_large},
      {"not-found", ErrorCode::not_found},
      {"conflict", ErrorCode::conflict},
      {"lease-lost", ErrorCode::lease_lost},
      {"queue-full", ErrorCode::queue_full},
      {"timeout", ErrorCode::timeout},
      {"store-unavailable", ErrorCode::unavailable},
      {"overloaded", ErrorCode::unavailable},
      {"outcome-unknown", ErrorCode::unknown_outcome},
      {"disk-full", ErrorCode::no_space},
      {"store-corrupt", ErrorCode::corrupt},
      {"internal-error", ErrorCode::internal},
  };
  for (const auto& [name, code] : kCodes) {
    if (name == kind) return code;
  }
  return std::nullopt;
}

// For an answer of a gateway, or a kind of problem that only a newer server knows.
ErrorCode code_of(int status) {
  switch (status) {
    case 404: return ErrorCode::not_found;
    case 408: return ErrorCode::timeout;
    case 409: return ErrorCode::conflict;
    case 413: return ErrorCode::too_large;
    case 429: return ErrorCode::queue_full;
    case 502:  // a gateway cannot say whether the server has handled the request
    case 504: return ErrorCode::unknown_outcome;
    case 503: return ErrorCode::unavailable;
    case 507: return ErrorCode::no_space;
    default: return status >= 400 && status < 500 ? ErrorCode::invalid_argument : ErrorCode::internal;
  }
}

Error problem_of(int status, Fields& fields) {
  Error error;
  error.code = code_of(kind_of(fields)).value_or(code_of(status));
  // `detail` first, because `error` is only the title of a final failure; see write_problem().
  error.message = fields.text("detail").value_or(text_in(fields, "error"));
  error.field = text_in(fields, "field");
  return error;
}

// One result of a list: an entry, or a problem with its HTTP status.
Result<LogEntry> read_result(const JsonValue& value, const std::string& where) {
  Fields fields(value, where, UnknownMembers::ignored);
  const std::string kind = kind_of(fields);
  if (kind.empty()) return read_entry(value, where);
  if (!is_last_failure(kind)) return problem_of(fields.small_integer("status").value_or(500), fields);
  LogEntry entry;
  entry.action = Action::failed;
  entry.retry_count = need(fields, "retry_count", fields.small_integer("retry_count"));
  if (auto fault = fields.fault()) return unreadable(*fault);
  return entry;
}

Result<TimePoint> read_kept(const JsonValue& value, const std::string& where) {
  Fields fields(value, where, UnknownMembers::ignored);
  if (!kind_of(fields).empty()) return problem_of(fields.small_integer("status").value_or(500), fields);
  const TimePoint lease_until = need(fields, "lease_until", fields.time("lease_until"));
  if (auto fault = fields.fault()) return unreadable(*fault);
  return lease_until;
}

}  // namespace

Result<Event> read_event(const JsonValue& body) { return read_event_at(body, ""); }

Result<std::vector<Event>> read_batch(const JsonValue& body) {
  return read_list(body, "events", read_event_at);
}

Result<Claim> read_claim(const JsonValue& body) { return read_claim_at(body, ""); }

Result<std::vector<LogEntry>> read_log(const JsonValue& details) {
  return read_list(details, "logs", read_entry);
}

Result<TimePoint> read_lease_end(const JsonValue& heartbeat) { return read_kept(heartbeat, ""); }

Result<QueueConfig> read_settings(const JsonValue& queue) {
  Fields fields(queue, "", UnknownMembers::ignored);
  const auto value = need(fields, "config", fields.object("config"));
  if (auto fault = fields.fault()) return unreadable(*fault);
  auto config = parse_config(value, "config.", UnknownMembers::ignored);
  if (!config) return unreadable(config.error());
  return config;
}

Result<LogEntry> read_report(const JsonValue& body) { return read_result(body, ""); }

Result<NextResult> read_next(const JsonValue& body, std::size_t alive) {
  Fields fields(body, "", UnknownMembers::ignored);
  const auto results = need(fields, "results", fields.array("results"));
  const auto claims = need(fields, "events", fields.array("events"));
  // Otherwise the subtraction below would wrap around.
  if (results.size() < alive)
    fields.refuse("results", "results must have one entry for each event in alive.");
  if (auto fault = fields.fault()) return unreadable(*fault);
  NextResult result;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string where = "results[" + std::to_string(i) + "].";
    if (i < results.size() - alive) {
      result.results.push_back(read_result(results[i], where));
    } else {
      result.leases.push_back(read_kept(results[i], where));
    }
  }
  // The queue has leased every claim to the worker. Returning an error for one bad claim would leave the
  // others unhandled until their leases expire.
  std::optional<Error> unread;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    auto claim = read_claim_at(claims[i], "events[" + std::to_string(i) + "].");
    if (claim) {
      result.claims.push_back(std::move(*claim));
    } else {
      unread = claim.error();
    }
  }
  if (unread && result.claims.empty()) return *unread;
  return result;
}

Error read_problem(int status, std::string_view body, std::string_view retry_after) {
  JsonParser parser;
  const auto value = parser.parse(body);
  Error error{code_of(status), "", ""};
  if (value && value->type() == JsonType::object) {
    Fields fields(*value, "", UnknownMembers::ignored);
    error = problem_of(status, fields);
  }
  if (error.message.empty()) error.message = "The server answered " + std::to_string(status) + ".";
  error.retry_after = std::chrono::seconds(parse_whole<std::uint32_t>(retry_after).value_or(0));
  return error;
}

Result<std::vector<EventId>> read_event_numbers(const JsonValue& list) {
  Fields fields(list, "", UnknownMembers::ignored);
  std::vector<EventId> numbers;
  for (const JsonValue& event : fields.array("events").value_or(std::vector<JsonValue>())) {
    Fields inner(event, "events.", UnknownMembers::ignored);
    numbers.push_back(static_cast<EventId>(inner.integer("id").value_or(0)));
    if (auto fault = inner.fault()) fields.refuse(*fault);
  }
  if (auto fault = fields.fault()) return *fault;
  return numbers;
}

}  // namespace eventq::wire
