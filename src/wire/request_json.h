// request_json.h: reads request bodies and queries of workers and readers into validated values.
//
// The main header of wire/, which converts between the API's JSON and queries and the values of model/. No
// other layer knows how the API spells them, and wire/ does no I/O. A request passes through a parse function
// (fields.h or query_fields.h, then validate() of model/). Its answer is written by answer_json.h,
// queue_json.h or observe_json.h. A client uses the inverses: request_writer.h and event_reader.h.
//
// Errors: invalid_argument or too_large. `field` is the member or parameter that is wrong.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/percent.h"
#include "eventq/error.h"
#include "eventq/event.h"
#include "model/lifecycle.h"
#include "model/query.h"

namespace eventq::wire {

enum class ReportKind : std::uint8_t { start, heartbeat, complete, fail, release };

// The events that a worker asks for.
struct Subscription {
  Selector selector;
  std::string worker_id;
  std::size_t limit = 1;  // 0 only in POST /events/next: claim no events
  bool many = false;      // the request has a limit, so the answer is a list
  Millis wait{0};
};

// The body of POST /events/next: reports, heartbeats and a request for new events.
struct ParsedNext {
  std::vector<Change> changes;  // in the order completed, failed, released, alive
  Subscription subscription;
};

// A report on one event: {"worker_id", "attempt", ...}.
Result<Change> parse_report(const JsonValue& body, EventId id, ReportKind report);

// Reports on many: {"worker_id", "events": [{"id", "attempt", ...}]}.
Result<std::vector<Change>> parse_reports(const JsonValue& body, ReportKind report);

Result<ParsedNext> parse_next(const JsonValue& body);

Result<Subscription> parse_subscription(const JsonValue& body);
Result<Subscription> parse_subscription(const std::vector<QueryParameter>& query);

// The query of a stream. Its parameter `prefetch` becomes `limit`.
Result<Subscription> parse_stream(const std::vector<QueryParameter>& query);

Result<ListFilter> parse_filter(const std::vector<QueryParameter>& query);
Result<bool> parse_include_logs(const std::vector<QueryParameter>& query);
Result<Cancel> parse_cancel(const std::vector<QueryParameter>& query);
Result<Reset> parse_reset(const std::vector<QueryParameter>& query);

// A body without members: {}.
Result<void> parse_empty(const JsonValue& body);

// The {id} of a path.
Result<EventId> parse_id(std::string_view text);

}  // namespace eventq::wire
