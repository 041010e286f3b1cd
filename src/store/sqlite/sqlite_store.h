// sqlite_store.h: Store in one SQLite file, owned by one process.
//
// Durability: write-ahead log, synchronous = FULL, read back at open. One connection
// writes and checkpoints, the others only read: two checkpointing connections could
// lose a commit in SQLite 3.7.0 to 3.51.2 (the WAL-reset race).
// A failed sync ends it: every later begin() is refused until the process has restarted.
#pragma once

#include <memory>
#include <string>

#include "eventq/clock.h"
#include "store/store.h"

namespace eventq::sqlite {

// Makes SQLite faster for a program that has the process to itself: it stops counting its own
// memory, for which every allocation takes a lock. To be called before anything opens a database.
void tune_process();

// Errors: unavailable when another process has the file, or it cannot be opened;
// corrupt when it is of a newer eventq, or of something else.
Result<std::unique_ptr<Store>> open_store(const std::string& path, const Clock& clock);

}  // namespace eventq::sqlite
