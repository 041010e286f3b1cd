// describe.h: events and log entries as one line of text each, with every field, so that tests compare them
// and show the difference.
#pragma once

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "eventq/error.h"
#include "eventq/event.h"
#include "model/names.h"
#include "model/tags.h"

namespace eventq {

inline std::string describe(TimePoint time) { return std::to_string(time.time_since_epoch().count()); }

inline std::string describe(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::too_large: return "too_large";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::conflict: return "conflict";
    case ErrorCode::lease_lost: return "lease_lost";
    case ErrorCode::queue_full: return "queue_full";
    case ErrorCode::timeout: return "timeout";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::unknown_outcome: return "unknown_outcome";
    case ErrorCode::no_space: return "no_space";
    case ErrorCode::corrupt: return "corrupt";
    case ErrorCode::internal: return "internal";
  }
  return "no error code";
}

inline std::string describe(const Event& event) {
  std::ostringstream out;
  out << static_cast<std::int64_t>(event.id) << ' ' << name_of(event.status) << ' ' << event.event_id
      << " queue=" << event.queue << " title=" << event.title
      << " description=" << event.description.value_or("(none)") << " tags=" << join_tags(event.tags)
      << " payload=" << event.payload << " correlation_id=" << event.correlation_id
      << " priority=" << event.priority << " max_retries=" << event.max_retries
      << " attempts=" << event.attempts << " retry_count=" << event.retry_count
      << " unreported=" << event.unreported << " worker_id=" << event.worker_id
      << " created_at=" << describe(event.created_at) << " due_at=" << describe(event.due_at)
      << " updated_at=" << describe(event.updated_at);
  if (!event.result.empty()) out << " result=" << event.result;
  return out.str();
}

inline std::string describe(const LogEntry& entry) {
  const auto number = [](const auto& value) { return value ? std::to_string(*value) : "(none)"; };
  std::ostringstream out;
  out << static_cast<std::int64_t>(entry.log_id) << ' ' << name_of(entry.action)
      << " event_id=" << static_cast<std::int64_t>(entry.id) << " attempt=" << entry.attempt
      << " worker_id=" << entry.worker_id << " status_code=" << number(entry.status_code)
      << " error_message=" << entry.error_message.value_or("(none)")
      << " execution_time_ms=" << number(entry.execution_time_ms) << " errors=[";
  for (const std::string& error : entry.errors) out << '<' << error << '>';
  out << "] reason=" << entry.reason << (entry.by.empty() ? "" : " by=" + entry.by)
      << " retry_count=" << entry.retry_count
      << " next_retry_at=" << (entry.next_retry_at ? describe(*entry.next_retry_at) : "(none)")
      << " created_at=" << describe(entry.created_at)
      << (entry.error_detail.empty() ? "" : " error_detail=" + entry.error_detail);
  return out.str();
}

// "PICKED,STARTED"
inline std::string actions_of(const std::vector<LogEntry>& entries) {
  std::string actions;
  for (const LogEntry& entry : entries) {
    if (!actions.empty()) actions += ',';
    actions += name_of(entry.action);
  }
  return actions;
}

}  // namespace eventq
