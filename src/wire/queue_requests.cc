// queue_requests.cc: see queue_requests.h.
#include "wire/queue_requests.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/ascii.h"
#include "base/numbers.h"
#include "base/range.h"
#include "eventq/limits.h"
#include "model/names.h"
#include "model/tags.h"
#include "model/validate.h"
#include "wire/actor_fields.h"
#include "wire/event_fields.h"
#include "wire/fields.h"
#include "wire/query_fields.h"

namespace eventq::wire {
namespace {

using Fault = std::optional<Error>;

bool is_lower_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

// Whether the text has the format of a UUID in lower case.
bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_lower_hex(text[i])) return false;
  }
  return true;
}

// The end of 9999-12-31 in milliseconds: no stored time is later.
constexpr std::int64_t kLatest = 253'402'300'799'999;

// The members that replay and retry share and that are checked after all were read.
struct Common {
  std::optional<std::vector<std::string>> tags;
  std::optional<std::string> after;
  std::int64_t limit = 0;
};

// Reads the shared members. The caller calls fields.fault() before check_common() checks them.
Common read_common(Fields& fields, RevivalRequest& request) {
  Common common;
  common.tags = read_tags(fields);
  request.filter.pattern = fields.text("pattern").value_or("");
  request.filter.from = fields.time("from");
  request.filter.to = fields.time("to");
  common.after = fields.text("after");
  common.limit = fields.integer("limit").value_or(1000);
  request.actor = read_actor(fields);
  request.dry_run = fields.boolean("dry_run").value_or(false);
  return common;
}

// Two numbers, as in "1042-88".
std::optional<std::pair<std::int64_t, std::int64_t>> parse_cursor(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = parse_whole<std::int64_t>(text.substr(0, dash));
  const auto second = parse_whole<std::int64_t>(text.substr(dash + 1));
  if (!first || !second) return std::nullopt;
  return std::pair(*first, *second);
}

Fault check_common(Common&& common, RevivalRequest& request) {
  EndedFilter& filter = request.filter;
  if (common.tags) {
    auto tags = clean_tags(*common.tags);
    if (!tags) return tags.error();
    filter.tags = std::move(*tags);
  }
  if (!filter.pattern.empty()) {
    if (Fault fault = validate_key("pattern", filter.pattern)) return fault;
  }
  // "<milliseconds>-<id>", as write_more() in queue_json.cc writes it.
  if (common.after) {
    const auto cursor = parse_cursor(*common.after);
    if (!cursor || cursor->first > kLatest) {
      return invalid("after", "after must be `next` of an earlier answer.");
    }
    filter.after = EndedCursor{TimePoint(Millis(cursor->first)), static_cast<EventId>(cursor->second)};
  }
  if (Fault fault = out_of_range("limit", common.limit, 1, limits::kReplay)) return fault;
  filter.limit = static_cast<std::size_t>(common.limit);
  if (filter.from && filter.to && *filter.from >= *filter.to) {
    return invalid("to", "to must be later than from; otherwise no event lies between them.");
  }
  return validate(request.actor);
}

Result<std::vector<Status>> statuses_named(const std::vector<std::string>& names) {
  if (names.empty())
    return invalid("statuses", "statuses is empty; leave it out for all that were completed.");
  std::vector<Status> statuses;
  for (const std::string& name : names) {
    const auto status = status_in_any_case(name);
    if (!status || !has_ended(*status)) {
      return invalid("statuses", "\"" + name +
                                     "\" is no status of an event that has ended; there are COMPLETED, "
                                     "COMPLETED_WITH_ERRORS, FAILED, SUPERSEDED and CANCELLED.");
    }
    if (std::find(statuses.begin(), statuses.end(), *status) == statuses.end()) statuses.push_back(*status);
  }
  return statuses;
}

Fault check_span(const RevivalRequest& request) {
  if (request.checkpoint && !is_uuid(*request.checkpoint)) {
    return invalid("checkpoint", "checkpoint is the id of a checkpoint: a UUID in lower case.");
  }
  if (request.checkpoint && request.filter.from) {
    return invalid("from", "checkpoint and from both say where to begin; send one of them.");
  }
  // Without a bound a typing mistake could replay every event of the queue.
  if (!request.checkpoint && !request.filter.from && !request.filter.to) {
    return invalid("checkpoint", "Say which events are meant: one of checkpoint, from and to is needed.");
  }
  return std::nullopt;
}

template <typename AnyFields>
Result<Actor> checked_actor(AnyFields& fields) {
  Actor actor = read_actor(fields);
  if (Fault fault = fields.fault()) return *fault;
  if (Fault fault = validate(actor)) return *fault;
  return actor;
}

// The only parameter of a query: how many to show.
Result<std::size_t> parse_count(const std::vector<QueryParameter>& query, std::string_view name,
                                std::int64_t least, std::int64_t most, std::int64_t unless_given) {
  QueryFields fields(query);
  const std::int64_t count = fields.whole(name).value_or(unless_given);
  if (Fault fault = fields.fault()) return *fault;
  if (Fault fault = out_of_range(name, count, least, most)) return *fault;
  return static_cast<std::size_t>(count);
}

}  // namespace

Result<Actor> parse_actor(const JsonValue& body) {
  Fields fields(body, "");
  return checked_actor(fields);
}

Result<Actor> parse_actor(const std::vector<QueryParameter>& query) {
  QueryFields fields(query);
  return checked_actor(fields);
}

Result<SupersedeRequest> parse_supersede(const JsonValue& body) {
  Fields fields(body, "");
  SupersedeRequest request;
  request.key = fields.text("supersede_key").value_or("");
  request.actor = read_actor(fields);
  if (Fault fault = fields.fault()) return *fault;
  if (Fault fault = validate_key("supersede_key", request.key)) return *fault;
  if (Fault fault = validate(request.actor)) return *fault;
  return request;
}

Result<RevivalRequest> parse_replay(const JsonValue& body, const std::string& queue) {
  Fields fields(body, "");
  RevivalRequest request;
  request.filter.queue = queue;
  request.checkpoint = fields.text("checkpoint");
  const auto names = fields.texts("statuses");
  Common common = read_common(fields, request);
  if (Fault fault = fields.fault()) return *fault;
  if (Fault fault = check_span(request)) return *fault;
  if (Fault fault = check_common(std::move(common), request)) return *fault;
  request.filter.statuses = {Status::completed, Status::completed_with_errors};
  if (names) {
    auto statuses = statuses_named(*names);
    if (!statuses) return statuses.error();
    request.filter.statuses = std::move(*statuses);
  }
  return request;
}

Result<RevivalRequest> parse_retry(const JsonValue& body) {
  Fields fields(body, "");
  RevivalRequest request;
  const auto queue = fields.text("queue");
  request.filter.cause = fields.text("cause");
  Common common = read_common(fields, request);
  if (Fault fault = fields.fault()) return *fault;
  if (queue) {
    if (Fault fault = validate_queue_name(*queue)) return *fault;
    request.filter.queue = *queue;
  }
  if (Fault fault = check_common(std::move(common), request)) return *fault;
  request.filter.statuses = {Status::failed};
  return request;
}

Result<QueueLogFilter> parse_queue_log_query(const std::vector<QueryParameter>& query,
                                             const std::string& queue) {
  QueryFields fields(query);
  QueueLogFilter filter{.queue = queue, .before = fields.text("before").value_or("")};
  const std::int64_t limit = fields.whole("limit").value_or(100);
  if (Fault fault = fields.fault()) return *fault;
  if (!filter.before.empty() && !is_uuid(filter.before)) {
    return invalid("before", "before must be `next` of an earlier answer.");
  }
  if (Fault fault = out_of_range("limit", limit, 1, limits::kPage)) return *fault;
  filter.limit = static_cast<std::size_t>(limit);
  return filter;
}

Result<Millis> parse_timeout(const std::vector<QueryParameter>& query, Millis unless_given) {
  QueryFields fields(query);
  const auto timeout = fields.seconds("timeout", limits::kWait);
  if (Fault fault = fields.fault()) return *fault;
  return timeout.value_or(unless_given);
}

Result<std::size_t> parse_event_count(const std::vector<QueryParameter>& query) {
  return parse_count(query, "events", 0, limits::kQueueEvents, 10);
}

Result<std::size_t> parse_limit(const std::vector<QueryParameter>& query) {
  return parse_count(query, "limit", 1, limits::kPage, 20);
}

Result<CorrelationParameters> parse_correlation_query(const std::vector<QueryParameter>& query) {
  QueryFields fields(query);
  CorrelationParameters request;
  const std::int64_t limit = fields.whole("limit").value_or(100);
  request.after = static_cast<EventId>(fields.whole("after_id").value_or(0));
  if (Fault fault = fields.fault()) return *fault;
  if (Fault fault = out_of_range("limit", limit, 1, limits::kPage)) return *fault;
  request.limit = static_cast<std::size_t>(limit);
  return request;
}

Result<FailuresParameters> parse_failures_query(const std::vector<QueryParameter>& query) {
  QueryFields fields(query);
  FailuresParameters request;
  request.queue = fields.text("queue");
  const std::int64_t limit = fields.whole("limit").value_or(100);
  if (Fault fault = fields.fault()) return *fault;
  if (request.queue) {
    if (Fault fault = validate_queue_name(*request.queue)) return *fault;
  }
  if (Fault fault = out_of_range("limit", limit, 1, limits::kPage)) return *fault;
  request.limit = static_cast<std::size_t>(limit);
  return request;
}

Result<WorkerLogFilter> parse_worker_log_query(std::string worker_id,
                                               const std::vector<QueryParameter>& query) {
  QueryFields fields(query);
  const std::int64_t limit = fields.whole("limit").value_or(100);
  const auto before = fields.text("before");
  if (Fault fault = fields.fault()) return *fault;
  if (Fault fault = validate_worker_id(worker_id)) return *fault;
  if (Fault fault = out_of_range("limit", limit, 1, limits::kPage)) return *fault;
  WorkerLogFilter filter{std::move(worker_id), std::nullopt, static_cast<std::size_t>(limit)};
  if (before) {
    const auto cursor = parse_cursor(*before);
    if (!cursor) return invalid("before", "before must be `next` of an earlier answer.");
    filter.before = LogCursor{EventId{cursor->first}, LogId{cursor->second}};
  }
  return filter;
}

std::optional<std::chrono::seconds> parse_prefer_wait(std::string_view header) {
  // RFC 7240: when a preference is sent twice, the first counts.
  while (!header.empty()) {
    const std::size_t comma = std::min(header.find(','), header.size());
    const std::string_view preference = header.substr(0, comma);
    header.remove_prefix(std::min(comma + 1, header.size()));
    const std::size_t semicolon = std::min(preference.find(';'), preference.size());
    const std::string_view pair = trim(preference.substr(0, semicolon));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (!equals_ignoring_case(trim(pair.substr(0, equals)), "wait")) continue;
    std::string_view value = trim(pair.substr(std::min(equals + 1, pair.size())));
    // RFC 7240 allows a quoted value.
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    const auto seconds = parse_whole<std::int64_t>(value);
    if (!seconds) return std::nullopt;
    return std::min(std::chrono::seconds(*seconds), limits::kWait);
  }
  return std::nullopt;
}

}  // namespace eventq::wire
