// queue_requests.h: reads requests about queues, waits, replays and failures into validated values.
//
// Errors: invalid_argument or too_large. `field` is the member or parameter that is wrong.
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

// The body or the query of a change that needs no more than these two: {"by", "reason"}.
Result<Actor> parse_actor(const JsonValue& body);
Result<Actor> parse_actor(const std::vector<QueryParameter>& query);

struct SupersedeRequest {
  std::string key;
  Actor actor;
};
Result<SupersedeRequest> parse_supersede(const JsonValue& body);

// Which ended events to replay, or which failed events to retry.
struct RevivalRequest {
  EndedFilter filter;
  std::optional<std::string> checkpoint;
  Actor actor;
  bool dry_run = false;
};
Result<RevivalRequest> parse_replay(const JsonValue& body, const std::string& queue);
Result<RevivalRequest> parse_retry(const JsonValue& body);

// The query of a queue's log: `limit` and `before`, which is `next` of the answer before.
Result<QueueLogFilter> parse_queue_log_query(const std::vector<QueryParameter>& query,
                                             const std::string& queue);

// The parameter `timeout`, as parse_seconds() reads it; `unless_given` when it is absent.
Result<Millis> parse_timeout(const std::vector<QueryParameter>& query, Millis unless_given);

// The parameter `events`: how many of a queue's events to show.
Result<std::size_t> parse_event_count(const std::vector<QueryParameter>& query);

// The parameter `limit`; there may be no other.
Result<std::size_t> parse_limit(const std::vector<QueryParameter>& query);

struct CorrelationParameters {
  EventId after{};
  std::size_t limit = 100;
};
Result<CorrelationParameters> parse_correlation_query(const std::vector<QueryParameter>& query);

struct FailuresParameters {
  std::optional<std::string> queue;
  std::size_t limit = 100;
};
Result<FailuresParameters> parse_failures_query(const std::vector<QueryParameter>& query);

Result<WorkerLogFilter> parse_worker_log_query(std::string worker_id,
                                               const std::vector<QueryParameter>& query);

// The wait of `Prefer: wait=10` (RFC 7240), which may be one of several preferences. A longer wait becomes
// limits::kWait, because RFC 7240 lets the server respond earlier. A malformed preference is ignored.
std::optional<std::chrono::seconds> parse_prefer_wait(std::string_view header);

}  // namespace eventq::wire
