// event_cache.cc: see event_cache.h.
#include "store/postgres/event_cache.h"

#include <utility>

#include "store/columns.h"

namespace eventq::postgres {

std::int64_t ready_code(const Stored& stored) {
  if (stored.archived) return kWaiting;
  if (stored.line == Line::behind) return kBehind;
  return stored.ready ? kReady : kWaiting;
}

WrittenRows written(const Stored& stored) {
  return {stored.guard, stored.archived, ready_code(stored), stored.turn, stored.line};
}

Stored state_of(const CachedEvent& known) {
  Stored head = known.stored;
  if (known.whole) copy_envelope({}, head.event);
  return head;
}

void copy_envelope(Event&& from, Event& to) {
  to.title = std::move(from.title);
  to.description = std::move(from.description);
  to.payload = std::move(from.payload);
  to.causation_id = std::move(from.causation_id);
  to.trace_id = std::move(from.trace_id);
  to.pattern = std::move(from.pattern);
  to.version = std::move(from.version);
  to.source = std::move(from.source);
  to.attributes = std::move(from.attributes);
  to.sequence = from.sequence;
  to.timestamp = from.timestamp;
}

}  // namespace eventq::postgres
