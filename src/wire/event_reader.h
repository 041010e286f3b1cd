// event_reader.h: answers to values, as clients need them: the inverse of answer_json.h.
//
// Members of a newer server are passed over. Errors of all: internal, when something is missing or of
// another type. What answers do not say is as in an empty value: `attributes` and `unreported` of an event,
// the id of an entry that a report is answered with, and `retry_count` of an entry in a log.
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
// The settings of a queue's document.
Result<QueueConfig> read_settings(const JsonValue& queue);

// What a report came to: its entry, or why it was refused (then the error is the server's, not ours).
// Of the last failure that an event may have, an answer says no more than `retry_count`.
Result<LogEntry> read_report(const JsonValue& body);
// The same of a list, in its order, of which the last `alive` are heartbeats; and what was taken. A claim
// that cannot be read does not keep the others from their worker; it is an error when there are no others.
Result<NextResult> read_next(const JsonValue& body, std::size_t alive);

// An answer that is no success. `body` need not be JSON; `retry_after` is the header's value.
Error read_problem(int status, std::string_view body, std::string_view retry_after);

}  // namespace eventq::wire
