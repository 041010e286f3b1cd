// archive_files.h: events that leave the queue, as lines of JSON in compressed files.
//
// One file per day (UTC): events-2026-01-31.ndjson.gz. Each append is one gzip member, so that the
// file is readable as a whole (zcat) at any time. A line is what GET /events/{id}?include_logs=true
// shows, with blanks for the line breaks its payload may have between its tokens.
//
// The files and the store agree by size: an append is on disk before the store, in one
// transaction, notes the file's new size and deletes the events. Bytes behind the size that is
// known belong to events that the store still has; the next append cuts them off. So a crash loses
// nothing and leaves nothing twice, with one exception: when it falls between the first append to a
// new file and its commit, that file is taken for somebody else's afterwards, and stays.
//
// What is not ours is never touched: a name that is there and not known, or whose file is shorter than
// is known, is passed over for events-2026-01-31.2.ndjson.gz, and so on.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "model/query.h"
#include "store/store.h"

namespace eventq {

class ArchiveFiles {
 public:
  // `known` is what the store knows; see Reader::archive_files(). Touches no file yet.
  ArchiveFiles(std::string folder, const std::vector<ArchiveFile>& known);

  // Writes the events to the file of that day; returns its name and the size it has now, which
  // counts once it is confirmed. Makes the folder if it is not there.
  // REQUIRES: there are events. Errors: no_space, unavailable.
  Result<ArchiveFile> append(std::span<const Details> events, TimePoint now);

  // The store has noted this size.
  void confirm(const ArchiveFile& file);
  // What the store knows, once more.
  void confirm(const std::vector<ArchiveFile>& known);

 private:
  struct Target;
  Result<Target> open_for(TimePoint now);

  const std::string folder_;
  std::map<std::string, std::int64_t, std::less<>> sizes_;  // known, by name; 0: made by us, not confirmed
};

}  // namespace eventq
