// admin_reader.cc: see admin_reader.h.
#include "wire/admin_reader.h"

#include <cmath>
#include <string>
#include <utility>

#include "model/names.h"
#include "model/query.h"
#include "model/tags.h"
#include "model/worker_state.h"
#include "wire/answer_fields.h"
#include "wire/fields.h"

namespace eventq::wire {
namespace {

EventId event_id_in(Fields& fields, std::string_view name) {
  return EventId{need(fields, name, fields.integer(name))};
}

std::vector<std::string> tags_in(Fields& fields) {
  const std::string tags = text_in(fields, "tags");
  return tags.empty() ? std::vector<std::string>() : split_tags(tags);
}

std::vector<int> missing_shards_in(Fields& fields) {
  std::vector<int> missing;
  for (const JsonValue& shard : fields.array("missing_shards").value_or(std::vector<JsonValue>())) {
    const auto number = shard.integer();
    if (!number) fields.refuse("missing_shards", "missing_shards has a member that is no integer.");
    missing.push_back(static_cast<int>(number.value_or(0)));
  }
  return missing;
}

Result<EventSummary> read_summary(const JsonValue& value, const std::string& where) {
  Fields fields(value, where, UnknownMembers::ignored);
  EventSummary event;
  event.id = event_id_in(fields, "id");
  event.event_id = need(fields, "event_id", fields.text("event_id"));
  event.queue = need(fields, "queue", fields.text("queue"));
  event.title = need(fields, "title", fields.text("title"));
  event.tags = tags_in(fields);
  event.status = need_named(fields, "status", status_named);
  event.priority = need(fields, "priority", fields.small_integer("priority"));
  event.attempts = need(fields, "attempts", fields.small_integer("attempts"));
  event.retry_count = need(fields, "retry_count", fields.small_integer("retry_count"));
  event.worker_id = text_in(fields, "worker_id");
  event.correlation_id = text_in(fields, "correlation_id");
  event.pattern = text_in(fields, "pattern");
  event.last_error = text_in(fields, "error_message");
  event.created_at = need(fields, "created_at", fields.time("created_at"));
  event.updated_at = need(fields, "updated_at", fields.time("updated_at"));
  if (auto fault = fields.fault()) return unreadable(*fault);
  return event;
}

Result<FailureSummary> read_failure(const JsonValue& value, const std::string& where) {
  Fields fields(value, where, UnknownMembers::ignored);
  FailureSummary failure;
  failure.queue = need(fields, "queue", fields.text("queue"));
  failure.cause = need(fields, "cause", fields.text("cause"));
  failure.sample = need(fields, "sample", fields.text("sample"));
  failure.events = need(fields, "events", fields.integer("events"));
  failure.first_at = need(fields, "first_at", fields.time("first_at"));
  failure.last_at = need(fields, "last_at", fields.time("last_at"));
  failure.last_event = event_id_in(fields, "last_event_id");
  if (auto fault = fields.fault()) return unreadable(*fault);
  return failure;
}

Result<WorkerInfo> read_worker(const JsonValue& value, const std::string& where) {
  Fields fields(value, where, UnknownMembers::ignored);
  WorkerInfo worker;
  worker.worker_id = need(fields, "worker_id", fields.text("worker_id"));
  worker.first_seen = need(fields, "first_seen", fields.time("first_seen"));
  worker.last_seen = need(fields, "last_seen", fields.time("last_seen"));
  worker.completed = need(fields, "completed", fields.integer("completed"));
  worker.failed = need(fields, "failed", fields.integer("failed"));
  for (const JsonValue& id : need(fields, "holding", fields.array("holding")))
    worker.holding.push_back(EventId{id.integer().value_or(0)});
  worker.queue = text_in(fields, "queue");
  worker.tags = tags_in(fields);
  worker.state = need_named(fields, "state", worker_state_named);
  worker.stale_because = text_in(fields, "stale_because");
  if (auto fault = fields.fault()) return unreadable(*fault);
  return worker;
}

void read_counts(Fields& fields, QueueFigures& figures) {
  const auto value = fields.object("counts");
  if (!value) return fields.refuse("counts", "counts is missing.");
  Fields counts(*value, fields.path("counts."), UnknownMembers::ignored);
  for (std::size_t i = 0; i < kStatuses; ++i) {
    const auto status = static_cast<Status>(i);
    figures.events[status] = need(counts, name_of(status), counts.integer(name_of(status)));
  }
  if (auto fault = counts.fault()) fields.refuse(*fault);
}

Result<QueueFigures> read_queue_figures(const JsonValue& value, const std::string& where) {
  Fields fields(value, where, UnknownMembers::ignored);
  QueueFigures figures;
  figures.queue = need(fields, "queue", fields.text("queue"));
  read_counts(fields, figures);
  if (const auto seconds = fields.number("oldest_pending_seconds"))
    figures.oldest_pending = Millis(std::llround(*seconds * 1000));
  figures.backpressure = need(fields, "backpressure", fields.boolean("backpressure"));
  const auto total = [&](std::string_view name) { return need(fields, name, fields.integer(name)); };
  figures.published = total("published");
  figures.claimed = total("claimed");
  figures.completed = total("completed");
  figures.failed = total("failed");
  figures.retried = total("retried");
  figures.abandoned = total("abandoned");
  if (auto fault = fields.fault()) return unreadable(*fault);
  return figures;
}

}  // namespace

Result<EventList> read_event_list(const JsonValue& body) {
  auto events = read_list(body, "events", read_summary);
  if (!events) return events.error();
  Fields fields(body, "", UnknownMembers::ignored);
  EventList list{.events = std::move(*events)};
  list.total = need(fields, "total", fields.integer("total"));
  list.total_exact = need(fields, "total_exact", fields.boolean("total_exact"));
  // `next` is a cursor for the API. Here the number of the event is enough, because the query has the order.
  const auto scanned_to = fields.integer("scanned_to");
  if (fields.text("next") && (scanned_to || !list.events.empty()))
    list.next = scanned_to ? EventId{*scanned_to} : list.events.back().id;
  list.missing_shards = missing_shards_in(fields);
  if (auto fault = fields.fault()) return unreadable(*fault);
  return list;
}

Result<FailureList> read_failures(const JsonValue& body) {
  auto failures = read_list(body, "failures", read_failure);
  if (!failures) return failures.error();
  Fields fields(body, "", UnknownMembers::ignored);
  FailureList list{.failures = std::move(*failures), .missing_shards = missing_shards_in(fields)};
  if (auto fault = fields.fault()) return unreadable(*fault);
  return list;
}

Result<WorkerList> read_workers(const JsonValue& body) {
  auto workers = read_list(body, "workers", read_worker);
  if (!workers) return workers.error();
  Fields fields(body, "", UnknownMembers::ignored);
  WorkerList list{.workers = std::move(*workers), .missing_shards = missing_shards_in(fields)};
  if (auto fault = fields.fault()) return unreadable(*fault);
  return list;
}

Result<Figures> read_figures(const JsonValue& body) {
  auto queues = read_list(body, "queues", read_queue_figures);
  if (!queues) return queues.error();
  Fields fields(body, "", UnknownMembers::ignored);
  Figures figures{.queues = std::move(*queues)};
  figures.failed_24h = need(fields, "failed_24h", fields.integer("failed_24h"));
  figures.waiting_claims = need(fields, "waiting_claims", fields.integer("waiting_claims"));
  figures.waiting_ends = need(fields, "waiting_ends", fields.integer("waiting_ends"));
  figures.workers = need(fields, "workers", fields.integer("workers"));
  figures.stale_workers = need(fields, "stale_workers", fields.integer("stale_workers"));
  figures.missing_shards = missing_shards_in(fields);
  if (auto fault = fields.fault()) return unreadable(*fault);
  return figures;
}

}  // namespace eventq::wire
