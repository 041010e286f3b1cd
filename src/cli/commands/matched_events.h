// matched_events.h: the events that a filter selects, for commands that change them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/framework/invocation.h"
#include "eventq/clock.h"
#include "model/query.h"

namespace eventq::cli {

struct MatchedEvent {
  std::int64_t id = 0;
  TimePoint created;
  std::string queue;
  std::string json;  // as in a list, so without its payload
};

struct MatchedEvents {
  ExitCode code = ExitCode::done;  // another code: the error was already printed, and nothing may be changed
  std::vector<MatchedEvent> events;  // by id
};

// The events that match --filter, which `filter` has parsed, and for which `accepts` returns true. `statuses`
// are those of a filter without status:.
MatchedEvents find_matches(Invocation& run, const ListFilter& filter,
                           const std::vector<std::string>& statuses,
                           const std::function<bool(const JsonValue& event)>& accepts);

// "1 event", "2 events"
[[nodiscard]] std::string events_text(std::size_t count);

// "912 events (oldest 3 h, newest 2 min) in queue main". REQUIRES: there is an event.
[[nodiscard]] std::string described(const Invocation& run, const std::vector<MatchedEvent>& events);

}  // namespace eventq::cli
