// event_filter.h: `status:FAILED tag:email older:1h`: which events a change is for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/events.h"
#include "eventq/clock.h"
#include "eventq/error.h"

namespace eventq::cli {

struct EventFilter {
  std::optional<std::string> status;
  std::optional<std::string> tag;  // any of several, with commas between them
  std::optional<std::string> queue;
  std::optional<std::string> worker;
  std::optional<std::string> correlation;
  std::optional<std::string> error;  // is part of what the last failure said, whatever the case
  std::optional<Millis> older;       // was published longer ago
};

// Conditions with blanks between them, each at most once; all must hold.
// Errors: invalid_argument, saying what would be right.
Result<EventFilter> parse_event_filter(std::string_view text);

// What the server can judge of it, for this status.
[[nodiscard]] QueryString query_of(const EventFilter& filter, std::string_view status);

// "Connection Timeout" contains "timeout". ASCII letters only.
[[nodiscard]] bool contains_ignoring_case(std::string_view text, std::string_view part);

}  // namespace eventq::cli
