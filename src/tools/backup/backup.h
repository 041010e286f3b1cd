// backup.h: copies the file of a store from one snapshot, also while a server writes to it; and reads the
// properties of a file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "eventq/error.h"

namespace eventq::sqlite {

// Copies the store `from` to the new file `to` and syncs it. `from` is only read and never checkpointed.
// `on_progress` gets the pages done and all pages; it returns false to stop. After an error `to` does not
// exist. Errors: not_found; corrupt when `from` is not a store; conflict when `to` exists; no_space;
// unavailable, also when stopped.
Result<void> back_up(const std::string& from, const std::string& to,
                     const std::function<bool(std::int64_t done, std::int64_t all)>& on_progress);

struct FileFacts {
  std::int64_t schema = 0;
  std::int64_t newest_schema = 0;  // the newest one of this eventq
  std::string journal_mode;        // "wal" once a server has opened it
  std::int64_t bytes = 0;
  std::int64_t log_bytes = 0;  // size of the write-ahead log
  bool moving = false;         // an unfinished move into it exists; see tools/move/
};

// Errors: not_found; corrupt when another program wrote the file; unavailable.
Result<FileFacts> inspect(const std::string& path);

std::string library_version();  // the version of SQLite: "3.40.1"

}  // namespace eventq::sqlite
