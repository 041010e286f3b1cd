// view_lines.h: the objects in answers as lines, as clients see them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time_text.h"
#include "command/command.h"
#include "model/cause.h"
#include "model/names.h"
#include "store/row_text.h"
#include "support/json_lines.h"

namespace eventq::view {

// Replaces ids that every system generates itself and that no earlier answer contained.
inline constexpr const char* kSomeUuid = "(a UUID)";

inline std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }
inline std::string text_of(std::int64_t number) { return std::to_string(number); }
inline std::string text_of(EventId id) { return text_of(static_cast<std::int64_t>(id)); }
inline std::string text_of(TimePoint time) {
  std::string text;
  append_iso_time(text, time);
  return quoted(text);
}
template <typename T>
std::string or_null(const std::optional<T>& value) {
  return value ? text_of(*value) : "null";
}
inline std::string quoted_or_null(const std::string& text) { return text.empty() ? "null" : quoted(text); }

inline std::string joined(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) text += (text.empty() ? "" : ",") + tag;
  return text;
}

// The fractions that the generator uses, as JSON.
inline std::string text_of_fraction(double value) {
  if (value == 0.25) return "0.25";
  return value == 0.5 ? "0.5" : "0";
}

inline std::optional<TimePoint> retry_time(const Event& event) {
  const bool waits = event.status == Status::pending && event.retry_count > 0;
  return waits ? std::optional(event.due_at) : std::nullopt;
}

// Builds the lines of an object at `where`.
class Lines {
 public:
  explicit Lines(JsonLines& lines, std::string where = "") : lines_(lines), where_(std::move(where)) {}

  void put(const std::string& name, std::string value) { lines_[where_ + name] = std::move(value); }

  void put_summary(const Event& event) {
    put("id", text_of(event.id));
    put("title", quoted(event.title));
    put("status", quoted(name_of(event.status)));
    put("tags", quoted(joined(event.tags)));
    put("retry_count", text_of(event.retry_count));
    put("created_at", text_of(event.created_at));
    put("updated_at", text_of(event.updated_at));
    put("event_id", quoted(event.event_id));
    put("queue", quoted(event.queue));
    put("priority", text_of(event.priority));
    put("attempts", text_of(event.attempts));
    put("worker_id", quoted_or_null(event.worker_id));
    put("correlation_id", quoted_or_null(event.correlation_id));
  }

  void put_event(const Event& event) {
    put_summary(event);
    put("description", event.description ? quoted(*event.description) : "null");
    put("payload", event.payload);
    put("max_retries", text_of(event.max_retries));
    put("next_retry_at", or_null(retry_time(event)));
    put_set("causation_id", event.causation_id);
    put_set("trace_id", event.trace_id);
    put_sent_fields(event);
    if (event.timestamp != event.created_at) put("timestamp", text_of(event.timestamp));
    put_set("ordering_key", event.ordering_key);
    put_set("supersede_key", event.supersede_key);
    if (event.superseded_by) put("superseded_by", text_of(*event.superseded_by));
    if (event.sequence) put("sequence", text_of(*event.sequence));
    const bool is_new = event.status == Status::pending && event.retry_count == 0;
    if (is_new && event.due_at > event.updated_at) put("run_at", text_of(event.due_at));
    if (event.retry) put_retry(*event.retry);
    if (event.max_attempts) put("max_attempts", text_of(*event.max_attempts));
    const bool processed =
        has_ended(event.status) && event.status != Status::cancelled && event.status != Status::superseded;
    if (processed) put("processed_at", text_of(event.updated_at));
  }

  // What lists and details have in addition, null if there is no value.
  void put_end(const Event& event, const std::string& error) {
    const bool ended = has_ended(event.status);
    const bool dropped = event.status == Status::cancelled || event.status == Status::superseded;
    put("pattern", quoted_or_null(event.pattern));
    put("superseded_by", event.superseded_by ? text_of(*event.superseded_by) : "null");
    put("processed_at", ended && !dropped ? text_of(event.updated_at) : "null");
    put("finished_at", ended ? text_of(event.updated_at) : "null");
    put("error_message", quoted_or_null(error));
  }

  void put_details(const Details& details) {
    put_event(details.event);
    put_end(details.event, "");
    put_last_error("error_message", "", details.log);
    put_result(details.event);
    put("error_detail", "null");
    for (const LogEntry& entry : details.log) {
      if (entry.action == Action::failed) put("error_detail", quoted_or_null(entry.error_detail));
    }
  }

  void put_result(const Event& event) { put("result", event.result.empty() ? "null" : event.result); }

  // The last error, and its time when `time` is not empty.
  void put_last_error(const std::string& name, const std::string& time, const std::vector<LogEntry>& log) {
    for (auto entry = log.rbegin(); entry != log.rend(); ++entry) {
      const std::string text = entry->error_message.value_or(entry->reason);
      if (entry->action != Action::failed || text.empty()) continue;
      put(name, quoted(text));
      if (!time.empty()) put(time, text_of(entry->created_at));
      return;
    }
  }

  // As in the queue's document.
  void put_waiting(const Details& details) {
    const Event& event = details.event;
    put("id", text_of(id_number(event.id)));
    put("eventId", quoted(event.event_id));
    put_sent_fields(event);
    put("timestamp", text_of(event.timestamp));
    put("payload", event.payload);
    put_set("metadata.correlationId", event.correlation_id);
    put_set("metadata.causationId", event.causation_id);
    put_set("metadata.traceId", event.trace_id);
    put("metadata.retryCount", text_of(event.retry_count));
    put_last_error("metadata.lastError", "metadata.lastErrorTime", details.log);
    if (event.status == Status::processing) {
      put("metadata.processingStartTime", text_of(event.picked_at));
    }
  }

  void put_queue(const QueueDocument& queue) {
    const QueueRow& row = queue.row;
    put("id", quoted(row.id));
    put("checkpointId", quoted_or_null(queue.checkpoint_id));
    put("queueMetrics.totalProcessed", text_of(queue.totals.completed));
    put("queueMetrics.totalErrors", text_of(queue.totals.failed));
    const std::int64_t runs = std::max<std::int64_t>(1, queue.totals.runs);
    put("queueMetrics.avgProcessingTimeMs", text_of((2 * queue.totals.run_ms + runs) / (2 * runs)));
    put_config(row);
    put("status", quoted(name_of(row.status)));
    put("created_at", text_of(row.created_at));
    put("updated_at", text_of(std::max(row.updated_at, queue.changed_at)));
    put("depth", text_of(queue.counts[0] + queue.counts[1]));
    for (std::size_t i = 0; i < kStatuses; ++i) {
      put("counts." + std::string(name_of(static_cast<Status>(i))), text_of(queue.counts[i]));
    }
    put_set("statusReason", row.status_reason);
    put_set("statusBy", row.status_by);
    if (row.status_at) put("statusAt", text_of(*row.status_at));
  }

  // Every system generates its own ids for checkpoints.
  void put_checkpoint(const Checkpoint& checkpoint) {
    put("id", kSomeUuid);
    put("queueId", quoted(checkpoint.queue));
    put("checkpointId", quoted_or_null(checkpoint.checkpoint_id));
    put("eventCount", text_of(checkpoint.event_count));
    put("created_at", text_of(checkpoint.created_at));
    put("requested", checkpoint.requested ? "true" : "false");
  }

  void put_failures(const FailureGroup& group) {
    put("id", quoted(failure_group_id(group.queue, group.cause)));
    put("sample", quoted(sample_of(group)));
    put("queue", quoted(group.queue));
    put("cause", quoted(group.cause));
    put("events", text_of(group.events));
    put("first_at", text_of(group.first_at));
    put("last_at", text_of(group.last_at));
    put("last_event_id", text_of(group.last_event));
  }

  void put_claim(const Claim& claim) {
    put_event(claim.event);
    put("attempt", text_of(claim.event.attempts));
    put("lease_until", text_of(claim.lease_until));
  }

  // The members that log entries and the answers to reports share.
  void put_entry(const LogEntry& entry) {
    put("event_id", text_of(entry.id));
    put("worker_id", quoted_or_null(entry.worker_id));
    put("action", quoted(name_of(entry.action)));
    put("attempt", text_of(entry.attempt));
    put("created_at", text_of(entry.created_at));
    if (entry.status_code) put("status_code", text_of(*entry.status_code));
    if (entry.error_message) put("error_message", quoted(*entry.error_message));
    if (entry.execution_time_ms) put("execution_time_ms", text_of(*entry.execution_time_ms));
    for (std::size_t i = 0; i < entry.errors.size(); ++i) {
      put("errors[" + std::to_string(i) + "]", quoted(entry.errors[i]));
    }
    if (!entry.reason.empty()) put("reason", quoted(entry.reason));
  }

  void put_log_entry(const LogEntry& entry) {
    put_entry(entry);
    put("id", text_of(static_cast<std::int64_t>(entry.log_id)));
    put_set("error_detail", entry.error_detail);
    if (entry.next_retry_at) put("next_retry_at", text_of(*entry.next_retry_at));
  }

  void put_report(const Changed& changed) {
    put_entry(changed.entry);
    if (changed.entry.action != Action::failed) return;
    put("retry_scheduled", changed.entry.next_retry_at ? "true" : "false");
    put("next_retry_at", or_null(changed.entry.next_retry_at));
    put("retry_count", text_of(changed.entry.retry_count));
    put("max_retries", text_of(changed.max_retries));
  }

 private:
  void put_set(const std::string& name, const std::string& text) {
    if (!text.empty()) put(name, quoted(text));
  }

  // The members that the publisher sent.
  void put_sent_fields(const Event& event) {
    put_set("pattern", event.pattern);
    put_set("version", event.version);
    put_set("source.type", event.source.type);
    put_set("source.id", event.source.id);
    put_set("source.name", event.source.name);
  }

  void put_retry(const RetryPolicy& retry) {
    put("retry.kind", quoted(retry.kind == RetryPolicy::Kind::fixed ? "fixed" : "exponential"));
    put("retry.baseMs", text_of(retry.base.count()));
    put("retry.capMs", text_of(retry.cap.count()));
    put("retry.jitter", text_of_fraction(retry.jitter));
  }

  // The comparison's defaults, overridden by the queue's own settings.
  void put_config(const QueueRow& row) {
    const bool is_main = row.id == "main";
    JsonLines config = {{"maxQueueDepth", is_main ? "null" : "10000"},
                        {"highWatermark", is_main ? "null" : "8000"},
                        {"batchSize", "100"},
                        {"processingInterval", "1000"},
                        {"persistenceThreshold", "500"},
                        {"leaseMs", "30000"},
                        {"maxAttempts", "3"},
                        {"maxRetries", "3"},
                        {"retry.kind", quoted("exponential")},
                        {"retry.baseMs", "10000"},
                        {"retry.capMs", "25000"},
                        {"retry.jitter", "0"},
                        {"durability", quoted("strict")},
                        {"onFailure", quoted("skip")},
                        {"retention.completedSeconds", "86400"},
                        {"retention.failedSeconds", "604800"}};
    const JsonLines own = json_lines(config_to_text(row.config));
    for (const auto& [name, value] : own) config[name] = value;
    config.erase("");
    if (own.contains("maxQueueDepth") && !own.contains("highWatermark")) {
      config["highWatermark"] =
          text_of(std::max<std::int64_t>(1, std::stoll(own.at("maxQueueDepth")) * 4 / 5));
    }
    for (const auto& [name, value] : config) put("config." + name, value);
  }

  JsonLines& lines_;
  const std::string where_;
};

}  // namespace eventq::view
