// why.h: in plain words, why an event is where it is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "eventq/event.h"

namespace eventq {

// What is known of the workers that ask for an event's tags.
struct Demand {
  std::size_t waiting = 0;             // long polls open right now
  std::optional<TimePoint> last_poll;  // nothing: nobody asked since the queue was opened
};

struct Why {
  std::string_view reason;  // a word for programs, from the list in docs/api.md
  std::string explanation;  // a sentence for people
};

// `last_entry` is the newest entry of the event's log, if it has one.
Why explain(const Event& event, const std::optional<LogEntry>& last_entry, const Demand& demand,
            TimePoint now);

}  // namespace eventq
