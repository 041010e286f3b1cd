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

Stored state_of(const CachedEvent& cached) {
  Stored state = cached.stored;
  if (cached.whole) move_envelope({}, state.event);
  state.event.result.clear();
  return state;
}

}  // namespace eventq::postgres
