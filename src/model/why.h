// why.h: explains in a sentence why an event has not ended yet, or how it ended.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "eventq/event.h"

namespace eventq {

// The workers that ask for an event's tags.
struct Demand {
  std::size_t waiting = 0;             // long polls that wait now
  std::optional<TimePoint> last_poll;  // absent: no worker asked since the queue was opened
};

// What decides, besides the event itself, when the event runs.
struct WhyContext {
  Demand demand;
  bool paused = false;  // the event's queue is paused
  std::string pause_reason = {};
  struct LineHead {
    EventId id{};
    Status status{};
  };
  std::optional<LineHead> line_head = {};   // the event that this one waits behind
  std::optional<LogEntry> last_entry = {};  // of the event's log; absent: the log is empty
  // The worker to which the demo worker of `eventq dev` leaves the event; empty: there is no demo worker, or
  // it takes the event itself.
  std::string demo_leaves_to = {};
};

// The worker_id of the demo worker of `eventq dev`.
inline constexpr std::string_view kDemoWorker = "eventq-dev";

struct Why {
  std::string_view reason;  // for programs: a word of the list in docs/api.md
  std::string explanation;  // for people: a sentence
};

Why explain(const Event& event, const WhyContext& context, TimePoint now);

}  // namespace eventq
