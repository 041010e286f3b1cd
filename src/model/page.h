// page.h: the order and the size of a page of events, for stores and for the merge of shards.
//
// Pure: no I/O, no clock.
#pragma once

#include <cstddef>
#include <set>
#include <string_view>

#include "model/query.h"

namespace eventq {

// Whether `a` is listed before `b`.
[[nodiscard]] inline bool is_listed_before(ListOrder order, EventId a, EventId b) {
  return order == ListOrder::ascending ? a < b : a > b;
}

// Keeps the first `kept` events. The rest belongs to the next page, which begins behind them.
// REQUIRES: 0 < kept.
void end_page_behind(EventPage& page, std::size_t kept);

// Removes the events with these ids, which no longer exist. The next page still begins behind the last event.
void drop_removed(EventPage& page, const std::set<EventId>& removed);

// The bytes that the event has beside its summary: payload, description, result and log.
[[nodiscard]] std::size_t included_bytes(const EventPage& page, const Event& event);

// Ends the page behind the event that brings the included bytes to `most`.
void limit_bytes(EventPage& page, std::size_t most);

// "Connection Timeout" contains "timeout". ASCII letters only.
[[nodiscard]] bool contains_ignoring_case(std::string_view text, std::string_view part);

}  // namespace eventq
