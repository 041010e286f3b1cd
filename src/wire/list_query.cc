// list_query.cc: see list_query.h.
#include "wire/list_query.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/numbers.h"
#include "base/range.h"
#include "eventq/limits.h"
#include "model/names.h"
#include "model/pattern.h"
#include "model/tags.h"
#include "model/validate.h"
#include "wire/event_filter.h"
#include "wire/fields.h"
#include "wire/query_fields.h"

namespace eventq::wire {
namespace {

// What a cursor begins with, by the order of its list.
constexpr std::string_view kAscending = "after-";
constexpr std::string_view kDescending = "before-";

// The parameters as sent.
struct ListFields {
  explicit ListFields(QueryFields& fields)
      : filter(fields.text("filter")),
        status(fields.text("status")),
        tags(fields.text("tags")),
        event_id(fields.text("event_id")),
        queue(fields.text("queue")),
        worker_id(fields.text("worker_id")),
        correlation_id(fields.text("correlation_id")),
        pattern(fields.text("pattern")),
        since(fields.text("since")),
        until(fields.text("until")),
        order(fields.text("order")),
        cursor(fields.text("cursor")),
        include(fields.text("include")),
        after_id(fields.whole("after_id")),
        before_id(fields.whole("before_id")),
        offset(fields.whole("offset")),
        limit(fields.whole("limit")) {}

  std::optional<std::string> filter, status, tags, event_id, queue, worker_id, correlation_id, pattern, since,
      until, order, cursor, include;
  std::optional<std::int64_t> after_id, before_id, offset, limit;
};

// Sets `to` from a parameter, unless the filter did.
template <typename T>
std::optional<Error> set_once(std::string_view name, std::optional<T>& to, std::optional<Result<T>> value) {
  if (!value) return std::nullopt;
  if (!*value) return value->error();
  if (to) {
    return invalid(name,
                   std::string(name) + " is given twice: as a parameter, and by a condition of `filter`.");
  }
  to = std::move(**value);
  return std::nullopt;
}

std::optional<Result<std::string>> plain(const std::optional<std::string>& text) {
  return text ? std::optional<Result<std::string>>(*text) : std::nullopt;
}

std::optional<Result<std::string>> checked(const std::optional<std::string>& text,
                                           std::optional<Error> (*validate)(std::string_view)) {
  if (!text) return std::nullopt;
  if (auto fault = validate(*text)) return Result<std::string>(std::move(*fault));
  return Result<std::string>(*text);
}

std::optional<Result<TimePoint>> time_of(std::string_view name, const std::optional<std::string>& text,
                                         TimePoint now) {
  return text ? std::optional(parse_time_or_age(name, *text, now)) : std::nullopt;
}

std::optional<Error> read_conditions(const ListFields& sent, TimePoint now, ListFilter& filter) {
  if (sent.filter) {
    auto parsed = parse_event_filter(*sent.filter, now);
    if (!parsed) return parsed.error();
    filter = std::move(*parsed);
  }
  std::optional<Result<Status>> status;
  if (sent.status) status = parse_status(*sent.status);
  std::optional<std::vector<std::string>> tags;
  if (!filter.tags.empty()) tags = filter.tags;
  std::optional<Result<std::vector<std::string>>> sent_tags;
  // Refuses an empty list, which could mean all events or none.
  if (sent.tags) sent_tags = parse_tags(*sent.tags);
  const std::optional<Error> faults[] = {
      set_once("status", filter.status, std::move(status)),
      set_once("tags", tags, std::move(sent_tags)),
      set_once("event_id", filter.event_id, checked(sent.event_id, validate_event_id)),
      set_once("queue", filter.queue, plain(sent.queue)),
      set_once("worker_id", filter.worker_id, plain(sent.worker_id)),
      set_once("correlation_id", filter.correlation_id, plain(sent.correlation_id)),
      set_once("pattern", filter.pattern, checked(sent.pattern, validate_pattern)),
      set_once("since", filter.since, time_of("since", sent.since, now)),
      set_once("until", filter.until, time_of("until", sent.until, now))};
  if (tags) filter.tags = std::move(*tags);
  for (const auto& fault : faults) {
    if (fault) return fault;
  }
  if (filter.since && filter.until && *filter.since >= *filter.until) {
    return invalid("until", "until must be later than since.");
  }
  return std::nullopt;
}

std::optional<Error> read_order(const std::optional<std::string>& order, ListFilter& filter) {
  if (!order || *order == "asc") return std::nullopt;
  if (*order != "desc") {
    return invalid("order", "order must be asc (the oldest first) or desc (the newest first).");
  }
  filter.order = ListOrder::descending;
  return std::nullopt;
}

// A cursor also decides the order, so it must not contradict a given one.
std::optional<Error> read_cursor(const ListFields& sent, ListFilter& filter) {
  if (!sent.cursor) return std::nullopt;
  std::string_view text = *sent.cursor;
  const bool down = text.starts_with(kDescending);
  if (!down && !text.starts_with(kAscending)) {
    return invalid("cursor", "cursor must be the `next` of an earlier page.");
  }
  text.remove_prefix(down ? kDescending.size() : kAscending.size());
  const auto id = parse_whole<std::int64_t>(text);
  if (!id || *id > limits::kEventId) {
    return invalid("cursor", "cursor must be the `next` of an earlier page.");
  }
  if (sent.order && down != (filter.order == ListOrder::descending)) {
    return invalid("cursor", "The cursor belongs to a list in the other order. Send the order of that list.");
  }
  if (sent.offset.value_or(0) > 0) return invalid("offset", "cursor and offset cannot be combined.");
  if (down) {
    filter.order = ListOrder::descending;
    filter.before = std::min(EventId{*id}, filter.before.value_or(EventId{*id}));
  } else {
    filter.after = std::max(EventId{*id}, filter.after);
  }
  return std::nullopt;
}

std::optional<Error> read_include(const std::optional<std::string>& include, ListIncludes& includes) {
  if (!include) return std::nullopt;
  std::string_view rest = *include;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    if (word == "payload") {
      includes.payload = true;
    } else if (word == "result") {
      includes.result = true;
    } else if (word == "logs") {
      includes.logs = true;
    } else {
      return invalid("include",
                     "There is no \"" + std::string(word) +
                         "\" to include. include takes payload, result and logs, separated by commas.");
    }
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  return std::nullopt;
}

}  // namespace

Result<ListFilter> parse_list_query(const std::vector<QueryParameter>& query, TimePoint now) {
  QueryFields fields(query);
  const ListFields sent(fields);
  if (auto fault = fields.fault()) return *fault;

  ListFilter filter;
  if (auto fault = read_conditions(sent, now, filter)) return *fault;
  if (auto fault = read_order(sent.order, filter)) return *fault;
  filter.after = EventId{sent.after_id.value_or(0)};
  if (sent.before_id) filter.before = EventId{*sent.before_id};
  filter.offset = sent.offset.value_or(0);
  if (auto fault = read_cursor(sent, filter)) return *fault;
  if (auto fault = read_include(sent.include, filter.include)) return *fault;
  const std::int64_t limit = sent.limit.value_or(20);
  if (auto fault = out_of_range("limit", limit, 1, limits::kPage)) return *fault;
  filter.limit = static_cast<std::size_t>(limit);
  if (auto fault = out_of_range("offset", filter.offset, 0, limits::kOffset)) {
    fault->message += " Use `next` for deep pages.";
    return *fault;
  }
  return filter;
}

std::optional<std::string> next_cursor(const EventPage& page, const ListFilter& filter) {
  const auto next = page.next();
  if (!next) return std::nullopt;
  const bool up = filter.order == ListOrder::ascending;
  return std::string(up ? kAscending : kDescending) + std::to_string(id_number(*next));
}

}  // namespace eventq::wire
