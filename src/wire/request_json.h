// request_json.h: request bodies and queries of workers and readers to values. What comes out has been
// validated.
//
// Errors: invalid_argument or too_large, with the member or parameter to blame.
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

// What a worker asks for.
struct Subscription {
  Selector selector;
  std::string worker_id;
  std::size_t limit = 1;  // 0, in a turn only: no events are wanted
  bool many = false;      // a limit was given: the answer is a list
  Millis wait{0};
};

// A worker's whole turn.
struct ParsedNext {
  std::vector<Change> changes;  // completed ones, then failed, released, and live ones
  Subscription subscription;
};

// A report on one event: {"worker_id", "attempt", ...}.
Result<Change> parse_report(const JsonValue& body, EventId id, ReportKind report);

// Reports on many: {"worker_id", "events": [{"id", "attempt", ...}]}.
Result<std::vector<Change>> parse_reports(const JsonValue& body, ReportKind report);

Result<ParsedNext> parse_next(const JsonValue& body);

Result<Subscription> parse_subscription(const JsonValue& body);
Result<Subscription> parse_subscription(const std::vector<QueryParameter>& query);

// Of the query of a stream, `limit` is what it calls prefetch.
Result<Subscription> parse_stream(const std::vector<QueryParameter>& query);

Result<ListFilter> parse_filter(const std::vector<QueryParameter>& query);
Result<bool> parse_include_logs(const std::vector<QueryParameter>& query);
Result<Cancel> parse_cancel(const std::vector<QueryParameter>& query);
Result<Reset> parse_reset(const std::vector<QueryParameter>& query);

// A body where there is nothing to say: {}.
Result<void> parse_empty(const JsonValue& body);

// The {id} of a path.
Result<EventId> parse_id(std::string_view text);

}  // namespace eventq::wire
