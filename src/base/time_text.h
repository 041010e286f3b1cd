// time_text.h: times and durations as text, without locale and time zone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "eventq/clock.h"
#include "eventq/error.h"

namespace eventq {

// "2025-12-24T10:30:00.000Z", without quotes, always 24 characters. A time outside
// of the years 0000 to 9999 is written as the nearest one inside.
void append_iso_time(std::string& out, TimePoint time);

// Reads what append_iso_time() writes, also without the fraction or with only one
// or two digits of it. UTC only: the 'Z' must be there.
[[nodiscard]] std::optional<TimePoint> parse_iso_time(std::string_view text);

// A whole number and its unit: ms, s, m, h or d; several in falling order ("1m30s").
// Errors: invalid_argument, also when it does not fit into Millis.
Result<Millis> parse_duration(std::string_view text);

// The shortest text that parse_duration() reads as `duration`: "5m", "1m30s", "250ms".
// Nothing is "0s". A negative one gets a minus in front, which parse_duration() refuses.
[[nodiscard]] std::string format_duration(Millis duration);

}  // namespace eventq
