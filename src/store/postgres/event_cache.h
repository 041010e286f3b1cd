// event_cache.h: what a transaction knows of an event, and how that differs from the rows of the database.
#pragma once

#include <cstdint>
#include <optional>

#include "store/store.h"

namespace eventq::postgres {

// An event's rows as the database has them.
struct WrittenRows {
  Guard guard;
  bool archived = false;
  std::int64_t ready = 0;
  std::int64_t turn = 0;
  Line line = Line::none;
};

struct CachedEvent {
  Stored stored;        // as this transaction left it
  bool whole = false;   // with its envelope; see Transaction::EventFields
  bool locked = false;  // nobody else changes it
  bool removed = false;
  std::optional<WrittenRows> written = std::nullopt;  // nothing: it is new
};

// What event_queue.ready says of an event.
std::int64_t ready_code(const Stored& stored);

// The rows of an event that was just read or written.
WrittenRows written(const Stored& stored);

// Without what no rule looks at.
Stored state_of(const CachedEvent& known);

// Only that.
void copy_envelope(Event&& from, Event& to);

}  // namespace eventq::postgres
