// folder_watcher.h: reports the paths of a folder that may have changed, with inotify.
//
// watch/ notices changes by other programs and turns them into sync operations; it publishes nothing itself.
// A change passes through: inotify -> FolderWatches (paths) -> PathDebouncer (until quiet) -> OnTouched ->
// find_changes() (change_detection.h).
//
// The watcher compares nothing; its caller compares each path. A path is reported when it has been quiet for
// a moment, or at the latest after a second. When inotify drops events, the watcher requests a rescan. When
// watches run out, it requests rescans periodically.
//
// Threads: the callbacks run on the watcher's own thread.
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
  std::string source;  // the path before a rename; empty: no rename was seen
};

struct WatcherStats {
  std::uint64_t events = 0;  // from inotify
  std::uint64_t overflows = 0;
  std::uint64_t watches = 0;
  bool polls = false;  // the limit on watches was reached, so the watcher rescans periodically
};

struct FolderWatchOptions {
  Millis quiet{50};             // a path is reported when it was not touched for this long
  Millis restless{1000};        // or this long after its first touch
  Millis poll_every{5000};      // between rescans while watches are missing
  std::size_t watches_max = 0;  // for tests: a limit below the system's; 0: the system's
  Logger logger;
};

class FolderWatcher {
 public:
  using OnTouched = std::function<void(std::vector<TouchedPath>)>;
  using OnRescan = std::function<void(const std::string& reason)>;

  // Everything below `path` is watched when this returns. Requests no rescan at the start; the caller makes
  // the first one.
  static Result<std::unique_ptr<FolderWatcher>> start(const std::string& path, FolderWatchOptions options,
                                                      OnTouched on_touched, OnRescan on_rescan);
  virtual ~FolderWatcher() = default;  // joins the thread; no callback runs afterwards
  [[nodiscard]] virtual WatcherStats stats() const = 0;
};

}  // namespace eventq::notebook
