// archive_files.h: writes removed events as lines of JSON to compressed files.
//
// One file per day (UTC): events-2026-01-31.ndjson.gz. Each append is one gzip member, so zcat can read the
// whole file at any time. A line is the body of GET /events/{id}?include_logs=true, with blanks in place of
// the line breaks that a payload may have between its tokens.
//
// The store keeps the confirmed size of each file. append() syncs the file before the store, in one
// transaction, stores the new size and deletes the events. Bytes beyond the confirmed size belong to events
// that are still in the store; the next append cuts them off. So a crash loses no event and archives none
// twice, with one exception. After a crash between the first append to a new file and its commit, the store
// does not know that file, so it is kept as another program's file.
//
// Files that the store does not know are never changed. If such a file has the name of the day, or a known
// file is shorter than its confirmed size, append() uses events-2026-01-31.2.ndjson.gz, and so on.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "model/query.h"
#include "store/store.h"

namespace eventq {

class ArchiveFiles {
 public:
  // `stored`: the files and sizes that the store has, from Reader::archive_files(). Opens no file yet.
  ArchiveFiles(std::string folder, const std::vector<ArchiveFile>& stored);

  // Writes the events to the file of the day of `now`, and syncs it. Returns its name and new size, which the
  // caller stores and then confirms. Makes the folder if it does not exist.
  // REQUIRES: `events` is not empty. Errors: no_space, unavailable.
  Result<ArchiveFile> append(std::span<const Details> events, TimePoint now);

  // The store has committed this size.
  void confirm(const ArchiveFile& file);
  // The same for all files that the store has.
  void confirm(const std::vector<ArchiveFile>& stored);

 private:
  struct Target;
  Result<Target> open_for(TimePoint now);

  const std::string folder_;
  std::map<std::string, std::int64_t, std::less<>> sizes_;  // confirmed, by name; 0: new and not confirmed
};

// Makes the archive's folder and checks that it can be written to. The server calls this at its start,
// because otherwise the first sign of a wrong folder would come with the first expired event.
// Errors: invalid_argument for a folder that cannot be written to; of the reader.
Result<std::unique_ptr<ArchiveFiles>> open_archive(const std::string& folder, Reader& reader);

}  // namespace eventq
