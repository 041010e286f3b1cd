// queue_json.cc: see queue_json.h.
#include "wire/queue_json.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "model/cause.h"
#include "model/names.h"
#include "wire/answer_json.h"
#include "wire/config_json.h"
#include "wire/event_fields.h"

namespace eventq::wire {
namespace {

void write_metadata(JsonWriter& json, const Details& details) {
  const Event& event = details.event;
  json.key("metadata").begin_object();
  write_set(json, "correlationId", event.correlation_id);
  write_set(json, "causationId", event.causation_id);
  write_set(json, "traceId", event.trace_id);
  json.key("retryCount").integer(event.retry_count);
  if (const auto failure = last_failure(details.log)) {
    json.key("lastError").string(failure->message).key("lastErrorTime").time(failure->at);
  }
  // The newest PICKED entry is that of the current attempt.
  const auto picked = std::find_if(details.log.rbegin(), details.log.rend(),
                                   [](const LogEntry& entry) { return entry.action == Action::picked; });
  if (event.status == Status::processing && picked != details.log.rend()) {
    json.key("processingStartTime").time(picked->created_at);
  }
  json.end_object();
}

// A live event in the `events` of its queue: it waits for a worker, or a worker holds it.
void write_waiting(JsonWriter& json, const Details& details) {
  const Event& event = details.event;
  json.begin_object().key("id").integer(id_number(event.id)).key("eventId").string(event.event_id);
  write_set(json, "pattern", event.pattern);
  write_set(json, "version", event.version);
  write_source(json, event.source);
  json.key("timestamp").time(event.timestamp).key("payload").raw(event.payload);
  write_metadata(json, details);
  json.end_object();
}

void write_queue_metrics(JsonWriter& json, const Totals& totals) {
  const double average =
      totals.runs > 0 ? static_cast<double>(totals.run_ms) / static_cast<double>(totals.runs) : 0;
  json.key("queueMetrics").begin_object().key("totalProcessed").integer(totals.completed);
  json.key("totalErrors").integer(totals.failed);
  json.key("avgProcessingTimeMs").integer(std::llround(average)).end_object();
}

void write_ids(JsonWriter& json, const std::vector<EventId>& ids) {
  json.key("events").begin_array();
  for (const EventId id : ids) json.integer(id_number(id));
  json.end_array();
}

void write_matched(JsonWriter& json, const RevivalResult& revival) {
  json.begin_object().key("dry_run").boolean(revival.dry_run);
  json.key("matched").integer(static_cast<std::int64_t>(revival.matched.size()));
}

// Writes whether there is more, and the value of `after` with which the next request continues.
void write_more(JsonWriter& json, const RevivalResult& revival) {
  json.key("more").boolean(revival.more);
  // A cursor without an id says only that there is more, because one cursor cannot name several queues.
  if (revival.next && id_number(revival.next->id) > 0) {
    // parse_replay() and parse_retry() read this text as `after`.
    const std::int64_t ended_at = revival.next->ended_at.time_since_epoch().count();
    json.key("next").string(std::to_string(ended_at) + "-" + id_text(revival.next->id));
  }
  json.end_object();
}

}  // namespace

std::int64_t depth_of(const Counts& counts) {
  return counts[static_cast<std::size_t>(Status::pending)] +
         counts[static_cast<std::size_t>(Status::processing)];
}

void write_counts(JsonWriter& json, const Counts& counts) {
  json.key("counts").begin_object();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    json.key(name_of(static_cast<Status>(i))).integer(counts.at(i));
  }
  json.end_object();
}

void write_queue(JsonWriter& json, const QueueDocument& queue, const Policy& policy, QueueEvents events) {
  const QueueRow& row = queue.row;
  json.begin_object().key("id").string(row.id);
  if (events == QueueEvents::shown) {
    json.key("events").begin_array();
    for (const Details& details : queue.events) write_waiting(json, details);
    json.end_array();
  }
  json.key("checkpointId").string_or_null(queue.checkpoint_id);
  write_queue_metrics(json, queue.totals);
  write_config(json.key("config"), policy);
  json.key("status").string(name_of(row.status));
  json.key("created_at")
      .time(row.created_at)
      .key("updated_at")
      .time(std::max(row.updated_at, queue.changed_at));
  json.key("depth").integer(depth_of(queue.counts));
  write_counts(json, queue.counts);
  write_set(json, "statusReason", row.status_reason);
  write_set(json, "statusBy", row.status_by);
  if (row.status_at) json.key("statusAt").time(*row.status_at);
  json.end_object();
}

void write_checkpoint(JsonWriter& json, const Checkpoint& checkpoint) {
  json.begin_object().key("id").string(checkpoint.id).key("queueId").string(checkpoint.queue);
  json.key("checkpointId").string_or_null(checkpoint.checkpoint_id);
  json.key("eventCount").integer(checkpoint.event_count);
  json.key("created_at").time(checkpoint.created_at);
  json.key("requested").boolean(checkpoint.requested).end_object();
}

void write_checkpoints(JsonWriter& json, const std::vector<Checkpoint>& checkpoints) {
  json.begin_object().key("checkpoints").begin_array();
  for (const Checkpoint& checkpoint : checkpoints) write_checkpoint(json, checkpoint);
  json.end_array().end_object();
}

void write_recovery(JsonWriter& json, const Recovery& recovery) {
  json.begin_object().key("id").string(recovery.id);
  json.key("checkpointId").string_or_null(recovery.checkpoint_id);
  json.key("eventsRecovered").integer(recovery.events_recovered);
  json.key("recoveryStartTime").time(recovery.started_at);
  json.key("recoveryCompleteTime").time(recovery.completed_at);
  json.key("status").string(recovery.status).end_object();
}

void write_superseded(JsonWriter& json, const std::vector<EventId>& events) {
  json.begin_object().key("superseded").integer(static_cast<std::int64_t>(events.size()));
  write_ids(json, events);
  json.end_object();
}

void write_replay(JsonWriter& json, const RevivalResult& revival) {
  write_matched(json, revival);
  json.key("events").begin_array();
  for (std::size_t i = 0; i < revival.matched.size(); ++i) {
    json.begin_object().key("id").integer(id_number(revival.matched[i]));
    if (i < revival.events.size()) json.key("replayed_as").integer(id_number(revival.events[i]));
    json.end_object();
  }
  json.end_array();
  write_more(json, revival);
}

void write_retried(JsonWriter& json, const RevivalResult& revival, std::string_view count) {
  write_matched(json, revival);
  json.key(count).integer(static_cast<std::int64_t>(revival.events.size()));
  // A dry run retries no event, so it lists those that the call would retry.
  write_ids(json, revival.dry_run ? revival.matched : revival.events);
  write_more(json, revival);
}

void write_queue_log(JsonWriter& json, const std::vector<QueueLogEntry>& entries, std::size_t limit) {
  json.begin_object().key("entries").begin_array();
  for (const QueueLogEntry& entry : entries) {
    json.begin_object().key("id").string(entry.id).key("queue").string(entry.queue);
    json.key("action").string(name_of(entry.action));
    json.key("by").string_or_null(entry.by).key("reason").string_or_null(entry.reason);
    json.key("detail").raw(entry.detail).key("created_at").time(entry.created_at).end_object();
  }
  json.end_array().key("next");
  entries.size() == limit ? json.string(entries.back().id) : json.null();
  json.end_object();
}

void write_failures(JsonWriter& json, const std::vector<FailureGroup>& failures) {
  json.begin_object().key("failures").begin_array();
  for (const FailureGroup& group : failures) {
    json.begin_object().key("id").string(failure_group_id(group.queue, group.cause));
    json.key("queue").string(group.queue).key("cause").string(group.cause);
    json.key("sample").string(sample_of(group));
    json.key("events").integer(group.events).key("first_at").time(group.first_at);
    json.key("last_at").time(group.last_at).key("last_event_id").integer(id_number(group.last_event));
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace eventq::wire
