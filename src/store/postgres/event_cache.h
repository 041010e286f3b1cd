// event_cache.h: an event as a transaction holds it in memory, and its rows in the database. A flush writes
// the difference.
#pragma once

#include <cstdint>
#include <optional>

#include "store/store.h"

namespace eventq::postgres {

// What the database holds of an event, as far as a flush must know it to delete or change the rows.
struct WrittenRows {
  Guard guard;
  bool archived = false;
  std::int64_t ready = 0;
  std::int64_t turn = 0;
  Line line = Line::none;
};

struct CachedEvent {
  Stored stored;        // with this transaction's changes
  bool whole = false;   // with its envelope; see Transaction::EventFields
  bool locked = false;  // no other transaction can change its rows
  bool removed = false;
  std::optional<WrittenRows> written = std::nullopt;  // null: it has no rows yet
};

// The value of event_queue.ready for this event: kWaiting, kReady or kBehind of store/columns.h. An archived
// event has no row in event_queue; its code is kWaiting, so that it counts as not ready.
std::int64_t ready_code(const Stored& stored);

// The rows of an event that was just read or written.
WrittenRows written(const Stored& stored);

// A copy without the envelope and the result, which no rule reads.
Stored state_of(const CachedEvent& cached);

}  // namespace eventq::postgres
