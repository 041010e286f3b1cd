// move.h: a whole store from SQLite to PostgreSQL or back: ids, order, logs, checkpoints and leases.
//
// It can be broken off at any point, also by a power cut, and run again: each chunk of rows is committed
// together with a mark of how far it got, and goes on from there as long as nothing was done at the source
// since. The source is only read. Both are kept from servers while it lasts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "eventq/error.h"

namespace eventq::move {

struct MoveOptions {
  std::string from;                                                           // sqlite:FILE or postgres://...
  std::string to;                                                             // the other kind
  std::function<bool(std::int64_t done, std::int64_t all)> on_progress = {};  // rows; false: stop
};

struct MoveResult {
  std::int64_t rows = 0;
  std::int64_t events = 0;
  bool resumed = false;
};

// Errors: invalid_argument; not_found; conflict when there is something else at the target, or a shard;
// unavailable when one of them is in use, or stopped; corrupt when not all that was read is there at the end.
Result<MoveResult> move(const MoveOptions& options);

}  // namespace eventq::move
