// time_text.h: times and durations as text, independent of locale and time zone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "eventq/clock.h"
#include "eventq/error.h"

namespace eventq {

// Appends "2025-12-24T10:30:00.000Z", always 24 characters, without quotes. A time outside the years 0000 to
// 9999 is written as the nearest time inside them.
void append_iso_time(std::string& out, TimePoint time);

// Reads what append_iso_time() writes. The fraction may have one to three digits or be absent. The 'Z' is
// required, because only UTC is accepted.
[[nodiscard]] std::optional<TimePoint> parse_iso_time(std::string_view text);

// Parses whole numbers with the units d, h, m, s and ms, the largest unit first: "5m", "1m30s".
// Errors: invalid_argument, also when the duration does not fit into Millis.
Result<Millis> parse_duration(std::string_view text);

// The shortest text that parse_duration() reads as `duration`: "5m", "1m30s", "250ms"; zero is "0s". A
// negative duration begins with a minus, which parse_duration() refuses.
[[nodiscard]] std::string format_duration(Millis duration);

}  // namespace eventq
