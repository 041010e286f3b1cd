// queue_requests.h: what is asked of queues, waits and failures. What comes out has been validated.
//
// Errors: invalid_argument or too_large, with the member or parameter to blame.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/percent.h"
#include "eventq/clock.h"
#include "eventq/error.h"
#include "eventq/event.h"
#include "model/query.h"

namespace eventq::wire {

// Who changes a queue's status, and why: {"reason", "by"}; both may be empty.
struct Remark {
  std::string reason;
  std::string by;
};
Result<Remark> parse_remark(const JsonValue& body);

struct SupersedeRequest {
  std::string key;
  std::string reason;
};
Result<SupersedeRequest> parse_supersede(const JsonValue& body);

// Which finished events to bring back.
struct RevivalRequest {
  EndedFilter filter;
  std::optional<std::string> checkpoint;
  std::string reason;
  bool dry_run = false;
};
Result<RevivalRequest> parse_replay(const JsonValue& body, const std::string& queue);
Result<RevivalRequest> parse_redrive(const JsonValue& body);

// `timeout`: how long to wait, in whole seconds; `unless_given` when there is none.
Result<Millis> parse_timeout(const std::vector<QueryParameter>& query, Millis unless_given);

// `events`: how many of a queue's events to show.
Result<std::size_t> parse_event_count(const std::vector<QueryParameter>& query);

// `limit`, and nothing else.
Result<std::size_t> parse_limit(const std::vector<QueryParameter>& query, std::size_t unless_given);

struct CorrelationQuery {
  EventId after{};
  std::size_t limit = 100;
};
Result<CorrelationQuery> parse_correlation_query(const std::vector<QueryParameter>& query);

struct FailuresQuery {
  std::optional<std::string> queue;
  std::size_t limit = 100;
};
Result<FailuresQuery> parse_failures_query(const std::vector<QueryParameter>& query);

// `Prefer: wait=10` (RFC 7240), among other preferences or alone. One that cannot be met is none.
std::optional<std::chrono::seconds> parse_prefer_wait(std::string_view header);

// The trace of `traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01` (W3C Trace Context).
// Empty for a header that is not well-formed, which is to be ignored.
std::string_view parse_traceparent(std::string_view header);

}  // namespace eventq::wire
