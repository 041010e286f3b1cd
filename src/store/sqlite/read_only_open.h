// read_only_open.h: opens the file of a store to look into it from outside, whether or not a server runs on
// it.
#pragma once

#include <string>

#include "eventq/error.h"
#include "store/sqlite/connection.h"

namespace eventq::sqlite {

// The connection only reads. What a killed server left in its write-ahead log is read and stays as it is;
// where there is none, SQLite makes -wal and -shm for reading, and takes them away with whoever closes last.
// Errors: not_found; corrupt; unavailable.
Result<SqliteConnection> open_read_only(const std::string& path);

}  // namespace eventq::sqlite
