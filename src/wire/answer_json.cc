// answer_json.cc: see answer_json.h.
#include "wire/answer_json.h"

#include <algorithm>
#include <utility>

#include "eventq/event_context.h"
#include "model/lifecycle.h"
#include "model/names.h"
#include "model/tags.h"
#include "wire/config_json.h"
#include "wire/event_fields.h"
#include "wire/list_query.h"

namespace eventq::wire {
namespace {

void write_id_and_title(JsonWriter& json, const Event& event) {
  json.key("id").integer(id_number(event.id)).key("title").string(event.title);
}

void write_tags_and_status(JsonWriter& json, const Event& event) {
  json.key("tags").string(join_tags(event.tags)).key("status").string(name_of(event.status));
}

// Members of every event that the first version of the API did not have. They follow its members, because
// clients may depend on the order of those.
void write_more(JsonWriter& json, const Event& event) {
  json.key("event_id").string(event.event_id).key("queue").string(event.queue);
  json.key("priority").integer(event.priority).key("attempts").integer(event.attempts);
  json.key("worker_id").string_or_null(event.worker_id);
  json.key("correlation_id").string_or_null(event.correlation_id);
}

void write_members(JsonWriter& json, const Event& event) {
  write_id_and_title(json, event);
  json.key("description");
  if (event.description) {
    json.string(*event.description);
  } else {
    json.null();
  }
  write_tags_and_status(json, event);
  json.key("payload").raw(event.payload);
  json.key("retry_count").integer(event.retry_count).key("max_retries").integer(event.max_retries);
  json.key("next_retry_at").time_or_null(next_retry_at(event));
  json.key("created_at").time(event.created_at).key("updated_at").time(event.updated_at);
  write_more(json, event);
}

void write_context(JsonWriter& json, const Event& event) {
  if (event.attributes.empty()) return;  // most events have none
  const EventContext context = context_of(event);
  write_set(json, "traceparent", context.traceparent);
  write_set(json, "tracestate", context.tracestate);
  write_set(json, "published_by", context.published_by);
}

// Members that only some events have. They come last.
void write_rest(JsonWriter& json, const Event& event) {
  write_origin(json, event);
  write_context(json, event);
  // Without a timestamp of the publisher, both are the time of publishing.
  if (event.timestamp != event.created_at) json.key("timestamp").time(event.timestamp);
  write_set(json, "ordering_key", event.ordering_key);
  write_set(json, "supersede_key", event.supersede_key);
  if (event.superseded_by) json.key("superseded_by").integer(id_number(*event.superseded_by));
  if (event.sequence) json.key("sequence").integer(*event.sequence);
  // The due time of an event that failed is its next_retry_at, which write_members() has written.
  const bool never_failed = event.status == Status::pending && event.retry_count == 0;
  if (never_failed && event.due_at > event.updated_at) json.key("run_at").time(event.due_at);
  if (event.retry) write_retry(json.key("retry"), *event.retry);
  if (event.max_attempts) json.key("max_attempts").integer(*event.max_attempts);
  if (const auto time = processed_at(event)) json.key("processed_at").time(*time);
}

void write_result_of(JsonWriter& json, const Event& event) {
  json.key("result");
  if (event.result.empty()) {
    json.null();
  } else {
    json.raw(event.result);
  }
}

std::optional<std::int64_t> superseded_by(const Event& event) {
  return event.superseded_by ? std::optional(id_number(*event.superseded_by)) : std::nullopt;
}

// Writes null for what write_rest() left out.
void write_absent(JsonWriter& json, const Event& event) {
  if (event.pattern.empty()) json.key("pattern").null();
  if (!event.superseded_by) json.key("superseded_by").null();
  if (!processed_at(event)) json.key("processed_at").null();
}

std::string_view error_in(const LastErrors& errors, const Event& event) {
  const auto error = errors.find(event.id);
  return error == errors.end() ? std::string_view() : error->second;
}

// The members of an event in a list. It has no payload, because the store does not read payloads for lists.
void write_summary(JsonWriter& json, const Event& event, const LastErrors& errors) {
  write_id_and_title(json, event);
  json.key("status").string(name_of(event.status)).key("tags").string(join_tags(event.tags));
  json.key("retry_count").integer(event.retry_count);
  if (const auto retry = next_retry_at(event)) json.key("next_retry_at").time(*retry);
  json.key("created_at").time(event.created_at).key("updated_at").time(event.updated_at);
  write_more(json, event);
  json.key("pattern").string_or_null(event.pattern);
  json.key("superseded_by").integer_or_null(superseded_by(event));
  json.key("processed_at").time_or_null(processed_at(event));
  json.key("finished_at").time_or_null(finished_at(event));
  json.key("error_message").string_or_null(error_in(errors, event));
}

// The members of an event as GET /events/{id} shows it.
void write_whole(JsonWriter& json, const Event& event, std::string_view error) {
  write_members(json, event);
  write_rest(json, event);
  write_absent(json, event);
  json.key("finished_at").time_or_null(finished_at(event));
  json.key("error_message").string_or_null(error);
}

// An event of a correlation: as in a list, with its sequence and its result.
void write_member(JsonWriter& json, const Event& event, const Correlation& correlation) {
  json.begin_object();
  write_summary(json, event, correlation.last_errors);
  if (event.sequence) json.key("sequence").integer(*event.sequence);
  if (correlation.left_out.contains(event.id)) {
    json.key("result_left_out").boolean(true);
  } else {
    write_result_of(json, event);
  }
  json.end_object();
}

// The members of a report that the worker set.
void write_result(JsonWriter& json, const LogEntry& entry) {
  if (entry.status_code) json.key("status_code").integer(*entry.status_code);
  if (entry.error_message) json.key("error_message").string(*entry.error_message);
  if (entry.execution_time_ms) json.key("execution_time_ms").integer(*entry.execution_time_ms);
  if (!entry.errors.empty()) json.key("errors").strings(entry.errors);
  write_set(json, "reason", entry.reason);
  write_set(json, "by", entry.by);
}

// The detail of the newest failure; empty: it has none, or there is no failure.
std::string_view last_detail(const std::vector<LogEntry>& log) {
  const auto failed = std::find_if(log.rbegin(), log.rend(),
                                   [](const LogEntry& entry) { return entry.action == Action::failed; });
  return failed == log.rend() ? std::string_view() : failed->error_detail;
}

void write_log_entry(JsonWriter& json, const LogEntry& entry) {
  json.begin_object().key("id").integer(static_cast<std::int64_t>(entry.log_id));
  json.key("event_id").integer(id_number(entry.id));
  json.key("worker_id").string_or_null(entry.worker_id);
  json.key("action").string(name_of(entry.action)).key("attempt").integer(entry.attempt);
  write_result(json, entry);
  write_set(json, "error_detail", entry.error_detail);
  if (entry.next_retry_at) json.key("next_retry_at").time(*entry.next_retry_at);
  json.key("created_at").time(entry.created_at).end_object();
}

void write_logs(JsonWriter& json, const std::vector<LogEntry>& log) {
  json.key("logs").begin_array();
  for (const LogEntry& entry : log) write_log_entry(json, entry);
  json.end_array();
}

}  // namespace

void write_event(JsonWriter& json, const Event& event) {
  json.begin_object();
  write_members(json, event);
  write_rest(json, event);
  json.end_object();
}

void write_details(JsonWriter& json, const Event& event, const std::vector<LogEntry>& log, Logs logs) {
  json.begin_object();
  write_members(json, event);
  if (logs == Logs::shown) write_logs(json, log);
  write_rest(json, event);
  write_absent(json, event);
  json.key("finished_at").time_or_null(finished_at(event));
  const auto failure = last_failure(log);
  json.key("error_message").string_or_null(failure ? failure->message : std::string_view());
  json.key("error_detail").string_or_null(last_detail(log));
  write_result_of(json, event);
  json.end_object();
}

std::optional<LastFailure> last_failure(const std::vector<LogEntry>& log) {
  for (auto entry = log.rbegin(); entry != log.rend(); ++entry) {
    if (entry->action != Action::failed) continue;
    const std::string_view message = entry->error_message ? *entry->error_message : std::string_view();
    if (!message.empty()) return LastFailure{message, entry->created_at};
    // An event that ran out of attempts has a reason in place of a worker's message.
    if (!entry->reason.empty()) return LastFailure{entry->reason, entry->created_at};
  }
  return std::nullopt;
}

void write_claim(JsonWriter& json, const Claim& claim) {
  const Event& event = claim.event;
  json.begin_object();
  write_members(json, event);
  json.key("attempt").integer(event.attempts).key("lease_until").time(claim.lease_until);
  write_rest(json, event);
  json.end_object();
}

void write_claims(JsonWriter& json, const std::vector<Claim>& claims) {
  json.begin_array();
  for (const Claim& claim : claims) write_claim(json, claim);
  json.end_array();
}

void write_page(JsonWriter& json, const EventPage& page, const ListFilter& filter) {
  json.begin_object().key("events").begin_array();
  for (const Event& event : page.events) {
    json.begin_object();
    if (filter.include.payload) {
      write_whole(json, event, error_in(page.last_errors, event));
    } else {
      write_summary(json, event, page.last_errors);
    }
    const auto log = page.logs.find(event.id);
    if (log != page.logs.end()) json.key("error_detail").string_or_null(last_detail(log->second));
    if (filter.include.result) write_result_of(json, event);
    if (log != page.logs.end()) write_logs(json, log->second);
    json.end_object();
  }
  json.end_array().key("total").integer(page.total).key("total_exact").boolean(page.total_exact);
  json.key("limit").integer(static_cast<std::int64_t>(filter.limit));
  json.key("offset").integer(filter.offset);
  if (page.scanned_to) json.key("scanned_to").integer(id_number(*page.scanned_to));
  json.key("next").string_or_null(next_cursor(page, filter).value_or(""));
  json.end_object();
}

void write_correlation(JsonWriter& json, const Correlation& correlation) {
  json.begin_object().key("correlation_id").string(correlation.id);
  json.key("total").integer(correlation.total).key("completed").integer(correlation.completed);
  json.key("failed").integer(correlation.failed).key("pending").integer(correlation.pending);
  json.key("events").begin_array();
  for (const Event& event : correlation.events) write_member(json, event, correlation);
  json.end_array().end_object();
}

void write_worker_log(JsonWriter& json, std::string_view worker_id, const WorkerLogPage& page) {
  std::vector<const LogEntry*> newest_first;
  newest_first.reserve(page.entries.size());
  for (const LogEntry& entry : page.entries) newest_first.push_back(&entry);
  // Entries of one commit have the same time; the numbers of their entries tell their order.
  std::stable_sort(newest_first.begin(), newest_first.end(), [](const LogEntry* a, const LogEntry* b) {
    return std::pair(a->created_at, a->log_id) > std::pair(b->created_at, b->log_id);
  });
  json.begin_object().key("worker_id").string(worker_id).key("entries").begin_array();
  for (const LogEntry* entry : newest_first) write_log_entry(json, *entry);
  json.end_array().key("next");
  if (page.next) {
    json.string(id_text(page.next->event) + "-" +
                std::to_string(static_cast<std::int64_t>(page.next->entry)));
  } else {
    json.null();
  }
  json.key("complete").boolean(page.complete).end_object();
}

void write_batch(JsonWriter& json, std::string_view correlation_id, const std::vector<Event>& events) {
  json.begin_object().key("correlation_id").string_or_null(correlation_id).key("events").begin_array();
  for (const Event& event : events) write_event(json, event);
  json.end_array().end_object();
}

void write_why(JsonWriter& json, EventId id, Status status, const Why& why) {
  json.begin_object().key("id").integer(id_number(id)).key("status").string(name_of(status));
  json.key("reason").string(why.reason).key("explanation").string(why.explanation).end_object();
}

void write_entry(JsonWriter& json, const LogEntry& entry, int max_retries, std::optional<int> result_status) {
  json.begin_object();
  if (result_status) json.key("status").integer(*result_status);
  json.key("event_id").integer(id_number(entry.id));
  json.key("worker_id").string_or_null(entry.worker_id);
  json.key("action").string(name_of(entry.action));
  write_result(json, entry);
  if (entry.action == Action::failed) {
    json.key("retry_scheduled").boolean(entry.next_retry_at.has_value());
    json.key("next_retry_at").time_or_null(entry.next_retry_at);
    json.key("retry_count").integer(entry.retry_count).key("max_retries").integer(max_retries);
  }
  json.key("attempt").integer(entry.attempt).key("created_at").time(entry.created_at).end_object();
}

void write_heartbeat(JsonWriter& json, EventId id, std::string_view worker_id, TimePoint lease_until,
                     std::optional<int> result_status) {
  json.begin_object();
  if (result_status) json.key("status").integer(*result_status);
  json.key("event_id").integer(id_number(id)).key("worker_id").string(worker_id);
  json.key("lease_until").time(lease_until).end_object();
}

// Edits the finished text, because the functions that write answers do not know shards.
void mark_partial(std::string& object, const std::vector<int>& missing) {
  object.pop_back();  // the closing brace
  if (object.size() > 1) object += ',';
  object += R"("partial":true,"missing_shards":[)";
  for (const int shard : missing) object += std::to_string(shard) + ',';
  object.back() = ']';  // replaces the last comma
  object += '}';
}

void write_problem(JsonWriter& json, const Problem& problem) {
  // For a final failure `error` is the title, as in the first version of the API; the message is in `detail`.
  json.begin_object().key("error").string(problem.retry_count ? problem.title : problem.message);
  if (problem.retry_count) json.key("retry_count").integer(*problem.retry_count);
  if (problem.max_retries) json.key("max_retries").integer(*problem.max_retries);
  if (problem.id) json.key("event_id").integer(*problem.id);
  write_set(json, "event_id", problem.event_id);
  write_set(json, "field", problem.field);
  write_set(json, "outcome", problem.outcome);
  json.key("type").string("urn:eventq:problem:" + std::string(problem.kind));
  json.key("title").string(problem.title).key("status").integer(problem.status);
  json.key("detail").string(problem.message);
  write_set(json, "request_id", problem.request_id);
  json.end_object();
}

// The failure was recorded, so the message says what a person can do next instead of what was wrong.
Problem last_failure_problem(EventId id, int retry_count, int max_retries) {
  const std::string text = id_text(id);
  // With retries left, only the worker's `permanent` can have ended the event.
  const bool permanent = retry_count < max_retries;
  Problem problem;
  problem.status = 400;
  problem.kind = permanent ? kFailedPermanently : kMaxRetriesExceeded;
  problem.title = permanent ? "Failed permanently" : "Max retries exceeded";
  problem.message = "The failure was recorded and is " + std::string(permanent ? "permanent" : "the last") +
                    ": event " + text + " stays FAILED. POST /events/" + text +
                    "/retry makes it pending again.";
  problem.retry_count = retry_count;
  problem.max_retries = max_retries;
  return problem;
}

}  // namespace eventq::wire
