// backup.h: a copy of a store's file, of one moment, while a server may be writing to it; and what a file
// says of itself.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "eventq/error.h"

namespace eventq::sqlite {

// Copies the store `from` to the new file `to` and syncs it. `from` is only read and never checkpointed.
// `on_progress` gets pages; false stops. Errors: not_found; corrupt when `from` is no store; conflict
// when `to` exists; no_space; unavailable, also when stopped. After an error `to` is not there.
Result<void> back_up(const std::string& from, const std::string& to,
                     const std::function<bool(std::int64_t done, std::int64_t all)>& on_progress);

struct FileFacts {
  std::int64_t schema = 0;
  std::int64_t newest_schema = 0;  // that this eventq knows
  std::string journal_mode;        // "wal" once a server has opened it
  std::int64_t bytes = 0;
  std::int64_t log_bytes = 0;  // of the write-ahead log
  bool moving = false;         // a move into it was begun and not finished; see store/move/
};

// Errors: not_found; corrupt when it is somebody else's; unavailable.
Result<FileFacts> inspect(const std::string& path);

std::string library_version();  // SQLite's: "3.40.1"

}  // namespace eventq::sqlite
