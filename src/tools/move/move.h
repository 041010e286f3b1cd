// move.h: copies a whole store from SQLite to PostgreSQL or back: ids, order, logs, checkpoints and leases.
//
// A move can stop at any point, also by a power failure, and be run again. Each chunk of rows is committed
// together with a mark of its position. The next run continues there if the source has not changed since.
// The source is only read. Locks on both stores keep servers out until the move returns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "eventq/error.h"

namespace eventq::move {

struct MoveOptions {
  std::string from;                                                           // sqlite:FILE or postgres://...
  std::string to;                                                             // the other kind
  std::function<bool(std::int64_t done, std::int64_t all)> on_progress = {};  // in rows; return false to stop
};

struct MoveResult {
  std::int64_t rows = 0;
  std::int64_t events = 0;
  bool resumed = false;
};

// Errors: invalid_argument; not_found; conflict when the target is not empty, or a store is a shard;
// unavailable when a store is in use, or on_progress stopped it; corrupt when the row counts differ at the
// end.
Result<MoveResult> move(const MoveOptions& options);

}  // namespace eventq::move
