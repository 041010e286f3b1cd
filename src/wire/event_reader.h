// event_reader.h: reads answers of a server into values, for clients. The inverse of answer_json.h.
//
// Unknown members are ignored, because a newer server may send them. Answers do not have all fields, so these
// stay empty: `unreported` of an event, `log_id` of the entry that answers a report, and `retry_count` of an
// entry in a log. `attributes` of an event has its context only; see eventq/event_context.h.
//
// Errors: all functions return internal when a member is missing or has the wrong type.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "eventq/error.h"
#include "eventq/event.h"
#include "eventq/options.h"
#include "eventq/queue.h"

namespace eventq::wire {

Result<Event> read_event(const JsonValue& body);
Result<std::vector<Event>> read_batch(const JsonValue& body);
Result<Claim> read_claim(const JsonValue& body);
Result<std::vector<LogEntry>> read_log(const JsonValue& details);
Result<TimePoint> read_lease_end(const JsonValue& heartbeat);
// The settings in a queue's document.
Result<QueueConfig> read_settings(const JsonValue& queue);

// The numbers of the events in a list.
Result<std::vector<EventId>> read_event_numbers(const JsonValue& list);

// The result of a report: its entry, or the server's error when it refused the report. The entry of a final
// failure has only `retry_count`, because the answer has no more.
Result<LogEntry> read_report(const JsonValue& body);
// The answer to POST /events/next. The last `alive` results belong to heartbeats. A claim that cannot be read
// is skipped, so that the worker gets the other claims; it is an error when there are no others.
Result<NextResult> read_next(const JsonValue& body, std::size_t alive);

// The error of an unsuccessful answer. `body` may be any text. `retry_after` is the value of the header.
Error read_problem(int status, std::string_view body, std::string_view retry_after);

}  // namespace eventq::wire
