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

// What else decides when an event runs.
struct WhyContext {
  Demand demand;
  bool paused = false;  // its queue is
  std::string pause_reason = {};
  struct LineHead {
    EventId id{};
    Status status{};
  };
  std::optional<LineHead> line_head = {};   // the event that this one waits behind
  std::optional<LogEntry> last_entry = {};  // of its log, if there is one
};

struct Why {
  std::string_view reason;  // a word for programs, from the list in docs/api.md
  std::string explanation;  // a sentence for people
};

Why explain(const Event& event, const WhyContext& context, TimePoint now);

}  // namespace eventq
