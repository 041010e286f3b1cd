// event_filter.h: parses filters such as `status:FAILED tag:email older:1h`, which select events. The server
// reads them in `filter` of GET /events, and the command line in --filter.
//
// A filter has conditions separated by blanks, each a word of filter_words(), a colon and a value. A value
// with blanks is in double quotes, in which \" and \\ stand for " and \. An event must meet all conditions.
// Pure: no I/O, no clock.
#pragma once

#include <string>
#include <string_view>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "model/query.h"

namespace eventq::wire {

// The words of all conditions: "status:, tag:, ... and newer:".
[[nodiscard]] const std::string& filter_words();

// `now` is the time from which ages such as 1h count. The values of a ListFilter that no condition names keep
// their defaults.
// Errors: invalid_argument with field "filter"; the message has the position, counted from 1, and says what
// would be valid.
Result<ListFilter> parse_event_filter(std::string_view text, TimePoint now);

// A time such as 2025-12-24T10:30:00Z, or an age such as 1h: that long before `now`.
// Errors: invalid_argument with `field`.
Result<TimePoint> parse_time_or_age(std::string_view field, std::string_view text, TimePoint now);

// In any letter case. Errors: invalid_argument with field "status".
Result<Status> parse_status(std::string_view text);

}  // namespace eventq::wire
