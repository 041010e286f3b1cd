// request_json.cc: see request_json.h.
#include "wire/request_json.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/numbers.h"
#include "base/range.h"
#include "eventq/limits.h"
#include "model/tags.h"
#include "model/validate.h"
#include "wire/actor_fields.h"
#include "wire/event_fields.h"
#include "wire/fields.h"
#include "wire/query_fields.h"

namespace eventq::wire {
namespace {

// Reads the members of a report, except its worker and its event.
void read_report(Fields& fields, ReportKind report, Change& change) {
  change.lease.attempt = fields.small_integer("attempt");
  if (report == ReportKind::start) change.what = Start{};
  if (report == ReportKind::heartbeat) change.what = Heartbeat{};
  if (report == ReportKind::complete) {
    Outcome outcome;
    outcome.status_code = fields.small_integer("status_code");
    outcome.execution_time_ms = fields.integer("execution_time_ms");
    outcome.errors = fields.texts("errors").value_or(std::vector<std::string>());
    const auto result = fields.any("result");
    if (result && result->type() != JsonType::null) outcome.result = result->raw();
    change.what = Complete{std::move(outcome)};
  }
  if (report == ReportKind::fail) {
    Failure failure;
    failure.status_code = fields.small_integer("status_code");
    failure.execution_time_ms = fields.integer("execution_time_ms");
    failure.message = fields.text("error_message").value_or("");
    failure.detail = fields.text("error_detail").value_or("");
    failure.permanent = fields.boolean("permanent").value_or(false);
    change.what = Fail{std::move(failure)};
  }
  if (report == ReportKind::release) {
    change.what = Release{.reason = fields.text("reason").value_or(""),
                          .delay = fields.seconds("delay", limits::kDelay).value_or(Millis(0))};
  }
}

// Larger ids are refused, because JavaScript and other JSON readers hold whole numbers exactly only up to
// there.
Result<EventId> checked_id(std::int64_t id) {
  if (id >= 1 && id <= limits::kEventId) return static_cast<EventId>(id);
  return invalid(
      "id",
      "An event's number is from 1 to 9007199254740991. GET /events?event_id= finds an event_id of "
      "digits.");
}

// `text` is decoded.
Result<EventName> event_named(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), is_digit)) {
    const auto id = parse_id(text);
    if (!id) return id.error();
    return EventName{*id, {}};
  }
  if (validate_event_id(text)) {
    return invalid("id", "id is an event's number, or its event_id: 1 to 128 characters of visible ASCII.");
  }
  return EventName{{}, std::string(text)};
}

// The member `id` of a report. An absent one counts as 0, which is refused.
Result<EventName> event_named(const std::optional<JsonValue>& value) {
  const auto number = value ? value->integer() : std::optional<std::int64_t>(0);
  if (!number) {
    if (const auto text = value->string()) return event_named(*text);
    return invalid("id", "id must be an event's number or its event_id.");
  }
  const auto id = checked_id(*number);
  if (!id) return id.error();
  return EventName{*id, {}};
}

Result<void> append_report(ParsedReports& reports, const JsonValue& value, const std::string& where,
                           const std::string& worker_id, ReportKind report) {
  Fields fields(value, where);
  Change change;
  change.lease.worker_id = worker_id;
  const auto id = fields.any("id");
  read_report(fields, report, change);
  if (auto fault = fields.fault()) return *fault;
  auto name = event_named(id);
  if (!name) return at(where, name.error());
  change.lease.id = name->id;
  if (auto fault = validate(change)) return at(where, *fault);
  if (!name->event_id.empty()) reports.names.push_back({reports.changes.size(), std::move(name->event_id)});
  reports.changes.push_back(std::move(change));
  return {};
}

Result<void> append_reports(ParsedReports& reports, const std::optional<std::vector<JsonValue>>& values,
                            std::string_view name, const std::string& worker_id, ReportKind report) {
  if (!values) return {};
  // Counts the lists before this one, too. Checked before an element is parsed, so that a list that is too
  // long costs no time.
  if (reports.changes.size() + values->size() > limits::kBatchEvents) {
    return Error{ErrorCode::too_large, "One call may report on 10000 events, this one reports on more.",
                 std::string(name)};
  }
  for (std::size_t i = 0; i < values->size(); ++i) {
    const std::string where = std::string(name) + "[" + std::to_string(i) + "].";
    if (auto done = append_report(reports, (*values)[i], where, worker_id, report); !done) return done;
  }
  return {};
}

// The members or parameters of a subscription before they are checked.
struct SubscriptionFields {
  std::optional<std::vector<std::string>> tags;
  std::optional<std::string> worker_id;
  std::optional<std::string> queue;
  std::optional<Millis> wait;
  std::optional<std::int64_t> limit;
};

// Whether tags are required. Without tags the worker asks for all events.
enum class TagRule : std::uint8_t { needed, optional };

// The name of the limit and its minimum, which is 0 where a worker may ask for no events.
struct LimitRule {
  std::string_view name;
  std::int64_t least;
};

Result<Subscription> check(SubscriptionFields wanted, TagRule tag_rule, const LimitRule& rule) {
  if (auto fault = validate_worker_id(wanted.worker_id.value_or(""))) return *fault;
  Subscription subscription;
  subscription.selector.queue = wanted.queue.value_or("main");
  if (wanted.tags || tag_rule == TagRule::needed) {
    auto tags = clean_tags(wanted.tags.value_or(std::vector<std::string>()));
    if (!tags) return tags.error();
    subscription.selector.tags = std::move(*tags);
  }
  subscription.worker_id = std::move(*wanted.worker_id);  // there is one: an absent one is refused above
  if (auto fault = validate_claimed_queue(subscription.selector.queue)) return *fault;
  subscription.wait = wanted.wait.value_or(Millis(0));
  subscription.many = wanted.limit.has_value();
  const std::int64_t limit = wanted.limit.value_or(1);
  if (auto fault = out_of_range(rule.name, limit, rule.least, limits::kClaim)) return *fault;
  subscription.limit = static_cast<std::size_t>(limit);
  return subscription;
}

SubscriptionFields read_subscription(Fields& fields) {
  SubscriptionFields wanted;
  wanted.tags = read_tags(fields);
  wanted.worker_id = fields.text("worker_id");
  wanted.queue = fields.text("queue");
  wanted.wait = fields.seconds("wait", limits::kWait);
  wanted.limit = fields.integer("limit");
  return wanted;
}

// Reads the parameters that a subscription and a stream share.
SubscriptionFields read_subscription(QueryFields& fields) {
  SubscriptionFields wanted;
  if (const auto tags = fields.text("tags")) wanted.tags = split_tags(*tags);
  wanted.worker_id = fields.text("worker_id");
  wanted.queue = fields.text("queue");
  return wanted;
}

}  // namespace

Result<Change> parse_report(const JsonValue& body, EventId id, ReportKind report) {
  Fields fields(body, "");
  Change change;
  change.lease.id = id;
  change.lease.worker_id = fields.text("worker_id").value_or("");
  read_report(fields, report, change);
  if (auto fault = fields.fault()) return *fault;
  if (auto fault = validate(change)) return *fault;
  return change;
}

Result<ParsedReports> parse_reports(const JsonValue& body, ReportKind report) {
  Fields fields(body, "");
  const std::string worker_id = fields.text("worker_id").value_or("");
  const auto values = fields.array("events");
  if (auto fault = fields.fault()) return *fault;
  if (auto fault = validate_worker_id(worker_id)) return *fault;
  if (!values || values->empty())
    return invalid("events", "events is missing or empty; 1 to 10000 are needed.");
  ParsedReports reports;
  if (auto done = append_reports(reports, values, "events", worker_id, report); !done) return done.error();
  return reports;
}

Result<ParsedNext> parse_next(const JsonValue& body) {
  Fields fields(body, "");
  SubscriptionFields wanted = read_subscription(fields);
  // The results are returned in this order, heartbeats last; see ParsedNext.
  constexpr std::pair<std::string_view, ReportKind> kLists[] = {{"completed", ReportKind::complete},
                                                                {"failed", ReportKind::fail},
                                                                {"released", ReportKind::release},
                                                                {"alive", ReportKind::heartbeat}};
  std::optional<std::vector<JsonValue>> values[std::size(kLists)];
  for (std::size_t i = 0; i < std::size(kLists); ++i) values[i] = fields.array(kLists[i].first);
  if (auto fault = fields.fault()) return *fault;
  auto subscription = check(std::move(wanted), TagRule::optional, {"limit", 0});
  if (!subscription) return subscription.error();
  ParsedNext next{{}, std::move(*subscription)};
  for (std::size_t i = 0; i < std::size(kLists); ++i) {
    const auto& [name, report] = kLists[i];
    auto done = append_reports(next.reports, values[i], name, next.subscription.worker_id, report);
    if (!done) return done.error();
  }
  return next;
}

// A worker that only subscribes must name tags and take at least one event. POST /events/next requires
// neither, because a worker may call it only to report.
Result<Subscription> parse_subscription(const JsonValue& body) {
  Fields fields(body, "");
  SubscriptionFields wanted = read_subscription(fields);
  if (auto fault = fields.fault()) return *fault;
  return check(std::move(wanted), TagRule::needed, {"limit", 1});
}

Result<Subscription> parse_subscription(const std::vector<QueryParameter>& query) {
  QueryFields fields(query);
  SubscriptionFields wanted = read_subscription(fields);
  wanted.wait = fields.seconds("wait", limits::kWait);
  wanted.limit = fields.whole("limit");
  if (auto fault = fields.fault()) return *fault;
  return check(std::move(wanted), TagRule::needed, {"limit", 1});
}

Result<Subscription> parse_stream(const std::vector<QueryParameter>& query) {
  QueryFields fields(query);
  SubscriptionFields wanted = read_subscription(fields);
  wanted.limit = fields.whole("prefetch");
  if (auto fault = fields.fault()) return *fault;
  return check(std::move(wanted), TagRule::optional, {"prefetch", 1});
}

Result<bool> parse_include_logs(const std::vector<QueryParameter>& query) {
  QueryFields fields(query);
  const bool include = fields.boolean("include_logs").value_or(false);
  if (auto fault = fields.fault()) return *fault;
  return include;
}

Result<Cancel> parse_cancel(const std::vector<QueryParameter>& query) {
  QueryFields fields(query);
  Actor actor = read_actor(fields);
  if (auto fault = fields.fault()) return *fault;
  return Cancel{.reason = std::move(actor.reason), .author = std::move(actor.by)};
}

Result<Reset> parse_reset(const std::vector<QueryParameter>& query) {
  QueryFields fields(query);
  Actor actor = read_actor(fields);
  const bool spare_processing = fields.boolean("spare_processing").value_or(false);
  if (auto fault = fields.fault()) return *fault;
  return Reset{
      .reason = std::move(actor.reason), .spare_processing = spare_processing, .author = std::move(actor.by)};
}

Result<void> parse_empty(const JsonValue& body) {
  if (auto fault = Fields(body, "").fault()) return *fault;
  return {};
}

Result<EventId> parse_id(std::string_view text) {
  return checked_id(parse_whole<std::int64_t>(text).value_or(0));
}

Result<EventName> parse_event_name(std::string_view segment) {
  if (segment.find('%') == std::string_view::npos) return event_named(segment);
  const auto decoded = percent_decode(segment, PlusIs::literal);
  if (!decoded) return decoded.error();
  return event_named(*decoded);
}

}  // namespace eventq::wire
