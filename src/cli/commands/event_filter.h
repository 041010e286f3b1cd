// event_filter.h: parses filters such as `status:FAILED tag:email older:1h`, which select events to change.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/commands/events.h"
#include "eventq/clock.h"
#include "eventq/error.h"

namespace eventq::cli {

struct EventFilter {
  std::optional<std::string> status;
  std::optional<std::string> tag;  // one tag, or several separated by commas: any of them
  std::optional<std::string> queue;
  std::optional<std::string> worker;
  std::optional<std::string> correlation;
  std::optional<std::string> error;  // a part of the last error message, ignoring case
  std::optional<Millis> older;       // published longer ago than this
};

// Conditions separated by blanks, each at most once. An event must meet all of them.
// Errors: invalid_argument; the message says what a valid filter looks like.
Result<EventFilter> parse_event_filter(std::string_view text);

// The query for the conditions that the server can check, with this status.
[[nodiscard]] QueryString query_of(const EventFilter& filter, std::string_view status);

// "Connection Timeout" contains "timeout". ASCII letters only.
[[nodiscard]] bool contains_ignoring_case(std::string_view text, std::string_view part);

}  // namespace eventq::cli
