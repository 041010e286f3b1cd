// sqlite_store.h: Store in one SQLite file, owned by one process.
//
// Durability: write-ahead log with synchronous = FULL; open_store() reads both settings back. One connection
// writes and checkpoints, and the others only read, because two checkpointing connections could lose a
// commit in SQLite 3.7.0 to 3.51.2 (the WAL-reset race).
// After a failed sync, every begin() is refused until the process restarts.
#pragma once

#include <memory>
#include <string>

#include "eventq/clock.h"
#include "store/store.h"

namespace eventq::sqlite {

// Turns off SQLite's memory statistics for the whole process, because they take a lock on every allocation.
// REQUIRES: no database was opened before; otherwise the call has no effect.
void tune_process();

// Errors: unavailable when another process has the file open, or it cannot be opened; corrupt when a newer
// eventq or another program wrote it; conflict when it holds part of an unfinished move.
Result<std::unique_ptr<Store>> open_store(const std::string& path, const Clock& clock);

}  // namespace eventq::sqlite
