// event_context.h: the context that a publisher gave an event for its worker.
#pragma once

#include <string>

#include "eventq/event.h"

namespace eventq {

// All members may be empty.
struct EventContext {
  std::string traceparent = {};  // W3C Trace Context, well-formed
  std::string tracestate = {};   // the same; only with a traceparent
  std::string published_by = {};
};

// The context of NewEvent, as the queue stored it in the event's `attributes`.
EventContext context_of(const Event& event);

}  // namespace eventq
