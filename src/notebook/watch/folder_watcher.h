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

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/steady.h"
#include "eventq/clock.h"
#include "eventq/error.h"
#include "eventq/options.h"
#include "notebook/watch/folder_watches.h"
#include "notebook/watch/path_debouncer.h"

struct inotify_event;

namespace eventq::notebook {

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
  ~FolderWatcher();  // joins the thread; no callback runs afterwards
  [[nodiscard]] WatcherStats stats() const;

 private:
  FolderWatcher(const std::string& path, FolderWatchOptions options, OnTouched on_touched,
                OnRescan on_rescan);
  void loop();
  bool wait();
  void read_events(SteadyTime now);
  bool handle(const inotify_event& event, const std::string& name, SteadyTime now);
  void handle_file(const inotify_event& event, const std::string& path, SteadyTime now);
  void handle_folder(const inotify_event& event, const std::string& name, const std::string& path,
                     SteadyTime now);
  void drop_detached(SteadyTime now);
  void report_due(SteadyTime now);
  void check_folder();
  void start_anew(const char* reason);
  void note_watches();
  void log(LogLevel level, const char* message, const std::string& reason) const;

  // Set in the constructor, never changed.
  const std::string path_;
  const FolderWatchOptions options_;
  const OnTouched on_touched_;
  const OnRescan on_rescan_;
  const Descriptor stop_;  // eventfd that wakes the thread to stop

  // Used by the thread only.
  FolderWatches watches_;
  PathDebouncer touched_;
  std::queue<std::pair<SteadyTime, int>>
      detached_;  // watches on moved folders, with the time when they count as moved away
  SteadyTime next_check_;

  // Written by the thread, read by stats().
  std::atomic<std::uint64_t> events_ = 0;
  std::atomic<std::uint64_t> overflows_ = 0;
  std::atomic<std::uint64_t> watch_count_ = 0;
  std::atomic<bool> polls_ = false;

  std::thread thread_;
};

}  // namespace eventq::notebook
