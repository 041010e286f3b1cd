// list_query.h: reads the query of GET /events.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/percent.h"
#include "eventq/clock.h"
#include "eventq/error.h"
#include "model/query.h"

namespace eventq::wire {

// `now` is the time from which ages count, see event_filter.h.
// Errors: invalid_argument or too_large, with the parameter as `field`.
Result<ListFilter> parse_list_query(const std::vector<QueryParameter>& query, TimePoint now);

// The text that continues a list with this filter behind `page`; empty if the page is the last one. A caller
// sends it as `cursor`.
[[nodiscard]] std::optional<std::string> next_cursor(const EventPage& page, const ListFilter& filter);

}  // namespace eventq::wire
