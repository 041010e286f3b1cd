// folder_watcher.h: which paths of a folder may have changed, by inotify.
//
// It compares nothing: who asked for it looks at each path itself (change_detection.h). A folder is watched
// before it is read, so that nothing made in a new folder is missed. Paths are told when they have been quiet
// for a moment, or at the latest after a second of unrest. When inotify drops events, or has no more watches
// to give, a whole rescan is asked for instead; without watches, again and again.
//
// Threads: the callbacks run on a thread of the watcher's own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "eventq/options.h"

namespace eventq::notebook {

struct TouchedPath {
  std::string path;
  std::string source;  // it was renamed from there; empty: not that we know
};

struct WatcherStats {
  std::uint64_t events = 0;  // of inotify
  std::uint64_t overflows = 0;
  std::uint64_t watches = 0;
  bool polls = false;  // the limit on watches was reached, so that it rescans from time to time
};

struct FolderWatchOptions {
  Millis quiet{50};             // how long a path must be left alone before it is told
  Millis restless{1000};        // told at the latest after that
  Millis poll_every{5000};      // between rescans when there are no watches
  std::size_t watches_max = 0;  // fewer than the system's own; 0: as the system has it
  Logger logger;
};

class FolderWatcher {
 public:
  using OnTouched = std::function<void(std::vector<TouchedPath>)>;
  using OnRescan = std::function<void(const std::string& reason)>;

  // Watches everything below `path` from when it returns; asks for no rescan because of that.
  static Result<std::unique_ptr<FolderWatcher>> start(const std::string& path, FolderWatchOptions options,
                                                      OnTouched on_touched, OnRescan on_rescan);
  virtual ~FolderWatcher() = default;  // stops; no callback runs afterwards
  [[nodiscard]] virtual WatcherStats stats() const = 0;
};

}  // namespace eventq::notebook
