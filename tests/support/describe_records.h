// describe_records.h: the records of a store other than events and log entries, as one line of text each.
// support/describe.h describes those two.
#pragma once

#include <sstream>
#include <string>

#include "model/tags.h"
#include "store/row_text.h"
#include "store/store.h"
#include "support/describe.h"

namespace eventq {

template <typename T>
std::string describe(const std::optional<T>& maybe) {
  return maybe ? describe(*maybe) : "(none)";
}

template <typename T>
std::string describe(const std::vector<T>& all) {
  std::string text;
  for (const T& one : all) text += (text.empty() ? "" : "\n") + describe(one);
  return text;
}

inline std::string describe(EventId id) { return std::to_string(static_cast<std::int64_t>(id)); }

inline std::string describe(const RetryPolicy& retry) {
  std::ostringstream out;
  out << (retry.kind == RetryPolicy::Kind::fixed ? "fixed," : "exponential,") << retry.base.count() << ','
      << retry.cap.count() << ',' << retry.jitter;
  return out.str();
}

// The fields of an event that describe() leaves out.
inline std::string describe_more(const Event& event) {
  return "causation_id=" + event.causation_id + " trace_id=" + event.trace_id + " pattern=" + event.pattern +
         " version=" + event.version + " source=" + event.source.type + "/" + event.source.id + "/" +
         event.source.name + " ordering_key=" + event.ordering_key + " supersede_key=" + event.supersede_key +
         " attributes=" + event.attributes +
         " sequence=" + (event.sequence ? std::to_string(*event.sequence) : "(none)") +
         " retry=" + describe(event.retry) +
         (event.max_attempts ? " max_attempts=" + std::to_string(*event.max_attempts) : "") +
         " timestamp=" + describe(event.timestamp) + " picked_at=" + describe(event.picked_at) +
         " superseded_by=" + describe(event.superseded_by);
}

inline std::string describe(Line line) {
  switch (line) {
    case Line::none: return "none";
    case Line::head: return "head";
    case Line::behind: return "behind";
  }
  return "no line";
}

// "PENDING=2 FAILED=1"
inline std::string describe(const Counts& counts) {
  std::string text;
  for (std::size_t i = 0; i < kStatuses; ++i) {
    if (counts.at(i) == 0) continue;
    text += (text.empty() ? "" : " ") + std::string(name_of(static_cast<Status>(i))) + "=" +
            std::to_string(counts.at(i));
  }
  return text;
}

// In the order of Totals.
inline std::string describe(const Totals& totals) {
  std::string text;
  for (const std::int64_t number :
       {totals.published, totals.deduplicated, totals.claimed, totals.completed, totals.failed,
        totals.failed_for_good, totals.retried, totals.abandoned, totals.superseded, totals.cancelled,
        totals.run_ms, totals.runs, totals.removed}) {
    text += (text.empty() ? "" : ",") + std::to_string(number);
  }
  return text;
}

inline std::string describe(const QueueRow& row) {
  return row.id + " " + std::string(name_of(row.status)) + " config=" + config_to_text(row.config) +
         " by=" + row.status_by + " reason=" + row.status_reason + " at=" + describe(row.status_at) +
         " created_at=" + describe(row.created_at) + " updated_at=" + describe(row.updated_at);
}

inline std::string describe(const Details& details) {
  return describe(details.event) + " " + describe_more(details.event) + " log=[" + describe(details.log) +
         "]";
}

inline std::string describe(const QueueDocument& document) {
  return describe(document.row) + " counts=[" + describe(document.counts) +
         "] totals=" + describe(document.totals) + " checkpoint_id=" + document.checkpoint_id + " events=[" +
         describe(document.events) + "]" +
         (document.changed_at == TimePoint() ? "" : " changed_at=" + describe(document.changed_at));
}

inline std::string describe(const QueueRecord& record) {
  return describe(
      QueueDocument{record.row, record.counts, record.totals, record.checkpoint_id, {}, record.changed_at});
}

inline std::string describe(const Checkpoint& checkpoint) {
  return checkpoint.id + " queue=" + checkpoint.queue + " checkpoint_id=" + checkpoint.checkpoint_id +
         " event_count=" + std::to_string(checkpoint.event_count) +
         " created_at=" + describe(checkpoint.created_at) + (checkpoint.requested ? " requested" : "");
}

inline std::string describe(const QueueLogEntry& entry) {
  return entry.id + " " + std::string(name_of(entry.action)) + " queue=" + entry.queue + " by=" + entry.by +
         " reason=" + entry.reason + " detail=" + entry.detail + " created_at=" + describe(entry.created_at);
}

inline std::string describe(const Recovery& recovery) {
  return recovery.id + " " + recovery.status + " queue=" + recovery.queue +
         " checkpoint_id=" + recovery.checkpoint_id +
         " events_recovered=" + std::to_string(recovery.events_recovered) +
         " started_at=" + describe(recovery.started_at) + " completed_at=" + describe(recovery.completed_at);
}

inline std::string describe(const CorrelationRow& row) {
  return row.id + " total=" + std::to_string(row.total) + " pending=" + std::to_string(row.pending) +
         " completed=" + std::to_string(row.completed) + " failed=" + std::to_string(row.failed) +
         " kept=" + std::to_string(row.kept) + " on_complete=" + row.on_complete + " queue=" + row.queue;
}

// With the ids of its events.
inline std::string describe(const Correlation& correlation) {
  std::string text = correlation.id + " total=" + std::to_string(correlation.total) +
                     " pending=" + std::to_string(correlation.pending) +
                     " completed=" + std::to_string(correlation.completed) +
                     " failed=" + std::to_string(correlation.failed) + " events=";
  for (const Event& event : correlation.events) text += describe(event.id) + ",";
  return text;
}

inline std::string describe(const WorkerRow& row) {
  return row.id + " first_seen=" + describe(row.first_seen) + " last_seen=" + describe(row.last_seen) +
         " completed=" + std::to_string(row.completed) + " failed=" + std::to_string(row.failed);
}

inline std::string describe(const WorkerAsk& ask) {
  return ask.worker_id + " queue=" + ask.selector.queue + " tags=" + join_tags(ask.selector.tags) +
         " asked_at=" + describe(ask.asked_at);
}

inline std::string describe(const FailureGroup& group) {
  return group.queue + " <" + group.cause + "> events=" + std::to_string(group.events) +
         " first_at=" + describe(group.first_at) + " last_at=" + describe(group.last_at) +
         " last_event=" + describe(group.last_event) +
         (group.sample.empty() ? "" : " sample=<" + group.sample + ">");
}

inline std::string describe(const ArchiveFile& file) {
  return file.name + " bytes=" + std::to_string(file.bytes);
}

inline std::string describe(const Stored& stored) {
  return describe(stored.event) + (stored.ready ? " ready" : "");
}

inline std::string describe(const Recalled& recalled) {
  std::string text = "queues=[" + describe(recalled.queues) + "] workers=[" + describe(recalled.workers) +
                     "] asks=[" + describe(recalled.asks) + "] processing=[" + describe(recalled.processing) +
                     "] checkpoints=[" + describe(recalled.checkpoints) + "] failed=";
  for (const auto& [hour, events] : recalled.failed_by_hour) {
    text += std::to_string(hour) + ":" + std::to_string(events) + ",";
  }
  return text;
}

}  // namespace eventq
