// returning_file.h: finds the row that a file had before, when another program renamed, deleted or restored
// it.
//
// A file without a row is, in this order:
//   1. a renamed file: a row has its inode, time and hash, and there is no file at the row's path any more;
//   2. a file that returns to its path, with any content;
//   3. a deleted file with its inode, time and hash;
//   4. a deleted or missing file with its hash, if there is one such file only.
// The second file with the hash of an existing one is a copy, and a copy is a new file. A content of less
// than kTellingBytes tells nothing about where it is from, so 4 does not apply to it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "notebook/files/folder.h"
#include "notebook/state/notebook_state.h"

namespace eventq::notebook {

inline constexpr std::int64_t kTellingBytes = 32;

// Whether two states are of one file that was renamed, not of two files with the same content. An inode
// number may be that of a deleted file, so small files must also have the same time of modification.
bool is_same_file(const FileState& state, const std::string& hash, const FileState& other,
                  const std::string& other_hash);

// Whether the file is as its row says. Only the content counts, and the time where no hash is known.
bool is_unchanged(const FileRow& row, const Digest& digest);

struct ReturnSearch {
  const Folder& folder;
  NotebookState& state;
  std::int64_t notebook;
  TimePoint since;                     // files deleted before are forgotten
  const std::set<std::int64_t>& used;  // ids that other files have got since the rows were written
};

// The row that the file at `path` had, with its id, old path and metadata; empty: it is a new file.
// REQUIRES: `path` has no row.
Result<std::optional<FileRow>> find_returning(const ReturnSearch& in, const std::string& path,
                                              const Digest& digest);

}  // namespace eventq::notebook
