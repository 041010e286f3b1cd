// event_filter.cc: see event_filter.h.
#include "cli/commands/event_filter.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/nearest.h"
#include "base/time_text.h"
#include "cli/framework/record.h"
#include "cli/terminal/terminal_text.h"

namespace eventq::cli {
namespace {

struct Condition {
  std::string_view name;
  std::optional<std::string> EventFilter::*member;
};

constexpr Condition kTexts[] = {
    {"status", &EventFilter::status},
    {"tag", &EventFilter::tag},
    {"queue", &EventFilter::queue},
    {"worker", &EventFilter::worker},
    {"correlation", &EventFilter::correlation},
    {"error", &EventFilter::error},
};

Error wrong_filter(std::string message) {
  return {.code = ErrorCode::invalid_argument, .message = std::move(message), .field = "--filter"};
}

Error given_twice(const std::string& name) {
  return wrong_filter(name + ": is given twice; give each condition once");
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const Condition& condition : kTexts) names.emplace_back(condition.name);
  names.emplace_back("older");
  return names;
}

Result<void> apply_older(EventFilter& filter, const std::string& value) {
  const auto age = parse_duration(value);
  if (!age)
    return wrong_filter(
        "older: takes a whole number and its unit (ms, s, m, h or d), such as older:1h, not " +
        in_quotes(value));
  filter.older = *age;
  return {};
}

Result<void> apply_condition(EventFilter& filter, std::string_view word) {
  // Only the first colon separates, because a value may contain others: worker:host-1:8742.
  const std::size_t colon = word.find(':');
  const std::string name(word.substr(0, colon));
  const std::string value(colon == std::string_view::npos ? "" : word.substr(colon + 1));
  const auto names = known_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const std::string guess = did_you_mean(name, names);
    return wrong_filter("a filter has no condition " + in_quotes(name) +
                        (guess.empty()
                             ? "; there are status:, tag:, queue:, worker:, correlation:, error: and older:"
                             : guess));
  }
  if (value.empty())
    return wrong_filter(name + ": needs a value directly after the colon, as in status:FAILED");
  if (name == "older") return filter.older ? given_twice(name) : apply_older(filter, value);
  const auto* const found = std::find_if(std::begin(kTexts), std::end(kTexts),
                                         [&](const Condition& it) { return it.name == name; });
  auto& member = filter.*found->member;
  if (member) return given_twice(name);
  member = value;
  return {};
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

Result<EventFilter> parse_event_filter(std::string_view text) {
  EventFilter filter;
  const auto words = split_list(text, ' ');
  if (words.empty()) return wrong_filter("--filter needs a condition, such as 'status:FAILED tag:email'");
  for (const std::string& word : words) {
    if (auto applied = apply_condition(filter, word); !applied) return applied.error();
  }
  // Checked before any call, so that a typing error is wrong usage and gets a suggestion.
  const auto statuses = split_list(event_statuses());
  if (!filter.status) return filter;
  const auto found = std::find_if(statuses.begin(), statuses.end(), [&](const std::string& status) {
    return equals_ignoring_case(status, *filter.status);
  });
  if (found == statuses.end()) {
    const std::string guess = did_you_mean(*filter.status, statuses);
    return wrong_filter("there is no status " + in_quotes(*filter.status) +
                        (guess.empty() ? "; there are " + join_list(statuses, ", ") : guess));
  }
  filter.status = *found;
  return filter;
}

// Without error: and older:, for which GET /events has no parameters. find_matches() checks them.
QueryString query_of(const EventFilter& filter, std::string_view status) {
  QueryString query;
  query.add("status", std::string(status)).add("tags", filter.tag).add("queue", filter.queue);
  return query.add("worker_id", filter.worker).add("correlation_id", filter.correlation);
}

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

}  // namespace eventq::cli
