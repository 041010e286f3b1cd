// read_only_open.h: opens the file of a store for reading only, whether or not a server runs on it.
#pragma once

#include <string>

#include "eventq/error.h"
#include "store/sqlite/connection.h"

namespace eventq::sqlite {

// The connection sees the commits in the write-ahead log of a killed server, and leaves that log unchanged.
// Without a log, SQLite creates -wal and -shm files; the last connection to close deletes them.
// Errors: not_found; corrupt; unavailable.
Result<SqliteConnection> open_read_only(const std::string& path);

}  // namespace eventq::sqlite
