// request_json.h: reads request bodies and queries of workers and readers into validated values.
//
// The main header of wire/, which converts between the API's JSON and queries and the values of model/. No
// other layer knows how the API spells them, and wire/ does no I/O. A request passes through a parse function
// (fields.h or query_fields.h, then validate() of model/). Its answer is written by answer_json.h,
// queue_json.h or observe_json.h. A client uses the inverses: request_writer.h and event_reader.h.
//
// Errors: invalid_argument or too_large. `field` is the member or parameter that is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
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

// An event as a request names it. An empty event_id means that `id` is the number; otherwise the number is
// not known yet.
struct EventName {
  EventId id{};
  std::string event_id;
};

// Reports on many events. `names` are those that the request names by event_id; their `lease.id` is not set.
struct ParsedReports {
  struct Named {
    std::size_t change;  // its index in `changes`
    std::string event_id;
  };
  std::vector<Change> changes;
  std::vector<Named> names;
};

// The body of POST /events/next: reports, heartbeats and a request for new events.
struct ParsedNext {
  ParsedReports reports;  // in the order completed, failed, released, alive
  Subscription subscription;
};

// A report on one event: {"worker_id", "attempt", ...}.
Result<Change> parse_report(const JsonValue& body, EventId id, ReportKind report);

// Reports on many: {"worker_id", "events": [{"id", "attempt", ...}]}. An id is a number, or a string as in
// parse_event_name().
Result<ParsedReports> parse_reports(const JsonValue& body, ReportKind report);

Result<ParsedNext> parse_next(const JsonValue& body);

Result<Subscription> parse_subscription(const JsonValue& body);
Result<Subscription> parse_subscription(const std::vector<QueryParameter>& query);

// The query of a stream. Its parameter `prefetch` becomes `limit`.
Result<Subscription> parse_stream(const std::vector<QueryParameter>& query);

Result<bool> parse_include_logs(const std::vector<QueryParameter>& query);
Result<Cancel> parse_cancel(const std::vector<QueryParameter>& query);
Result<Reset> parse_reset(const std::vector<QueryParameter>& query);

// A body without members: {}.
Result<void> parse_empty(const JsonValue& body);

Result<EventId> parse_id(std::string_view text);

// The {id} of an event's path, as sent. Digits are always the number; everything else is an event_id.
Result<EventName> parse_event_name(std::string_view segment);

}  // namespace eventq::wire
