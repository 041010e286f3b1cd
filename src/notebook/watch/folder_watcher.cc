// folder_watcher.cc: see folder_watcher.h.
#include "notebook/watch/folder_watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "notebook/files/note_path.h"

namespace eventq::notebook {
namespace {

constexpr char kOverflow[] = "inotify dropped events: its queue had an overflow";
constexpr char kGone[] = "the folder was deleted, moved or replaced";
constexpr char kBack[] = "the folder exists again";
constexpr char kShort[] = "not all folders are watched";

}  // namespace

FolderWatcher::FolderWatcher(const std::string& path, FolderWatchOptions options, OnTouched on_touched,
                             OnRescan on_rescan)
    : path_(path),
      options_(std::move(options)),
      on_touched_(std::move(on_touched)),
      on_rescan_(std::move(on_rescan)),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      watches_(path, options_.watches_max),
      touched_(options_.quiet, options_.restless) {}

FolderWatcher::~FolderWatcher() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  (void)!::write(stop_.number(), &one, sizeof one);  // cannot fail: this is the only write
  thread_.join();
}

Result<std::unique_ptr<FolderWatcher>> FolderWatcher::start(const std::string& path,
                                                            FolderWatchOptions options, OnTouched on_touched,
                                                            OnRescan on_rescan) {
  std::unique_ptr<FolderWatcher> watcher(
      new FolderWatcher(path, std::move(options), std::move(on_touched), std::move(on_rescan)));
  if (!watcher->stop_.open()) {
    return Error{ErrorCode::unavailable,
                 std::string("Cannot create an eventfd: ") + std::strerror(errno) + "."};
  }
  if (auto opened = watcher->watches_.open(); !opened) return opened.error();
  watcher->note_watches();
  watcher->next_check_ = steady_now() + watcher->options_.poll_every;
  watcher->thread_ = std::thread([&self = *watcher] { self.loop(); });
  return watcher;
}

WatcherStats FolderWatcher::stats() const { return {events_, overflows_, watch_count_, polls_}; }

// A pass uses one time, so a path that it touches first is due in a later pass. The callbacks of
// read_events() and report_due() may take long, so the periodic check reads the clock again.
void FolderWatcher::loop() {
  while (wait()) {
    const SteadyTime now = steady_now();
    read_events(now);
    drop_detached(now);
    note_watches();
    report_due(now);
    if (steady_now() >= next_check_) check_folder();
  }
}

// Blocks until inotify has events, or a path, a detached watch or the next check is due. False: the watcher
// stops. While the folder is not watched, the second descriptor is -1, which poll() ignores.
bool FolderWatcher::wait() {
  SteadyTime until = next_check_;
  if (const auto due = touched_.next_due()) until = std::min(until, *due);
  if (!detached_.empty()) until = std::min(until, detached_.front().first);
  const auto left = std::chrono::ceil<Millis>(until - steady_now());
  const auto timeout = static_cast<int>(std::clamp<Millis::rep>(left.count(), 0, 60'000));
  std::array<pollfd, 2> polled{{{stop_.number(), POLLIN, 0}, {watches_.descriptor(), POLLIN, 0}}};
  ::poll(polled.data(), polled.size(), timeout);
  return polled[0].revents == 0;
}

void FolderWatcher::read_events(SteadyTime now) {
  if (!watches_.is_open()) return;
  alignas(inotify_event) std::array<char, std::size_t{64} * 1024> buffer;
  const ssize_t size = ::read(watches_.descriptor(), buffer.data(), buffer.size());
  for (std::size_t at = 0; size > 0 && at < static_cast<std::size_t>(size);) {
    inotify_event event;
    std::memcpy(&event, &buffer[at], sizeof event);
    const char* const name = event.len == 0 ? "" : &buffer[at] + sizeof event;
    at += sizeof event + event.len;
    ++events_;
    if (!handle(event, name, now)) return;
  }
}

// False: drop the rest of the buffer, because its watches no longer exist.
bool FolderWatcher::handle(const inotify_event& event, const std::string& name, SteadyTime now) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) {
    ++overflows_;
    start_anew(kOverflow);
    return false;
  }
  if (watches_.is_root(event.wd) &&
      (event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)) != 0) {
    start_anew(kGone);
    return false;
  }
  if ((event.mask & IN_IGNORED) != 0) watches_.forget(event.wd);
  if (name.empty()) return true;
  const auto folder = watches_.path(event.wd);
  if (!folder) return true;
  const std::string path = folder->empty() ? name : *folder + "/" + name;
  if (!note_path(path)) return true;
  if ((event.mask & IN_ISDIR) != 0) {
    handle_folder(event, name, path, now);
  } else {
    handle_file(event, path, now);
  }
  return true;
}

void FolderWatcher::handle_file(const inotify_event& event, const std::string& path, SteadyTime now) {
  if ((event.mask & IN_MOVED_FROM) != 0) {
    touched_.move_from(event.cookie, path, now);
  } else if ((event.mask & IN_MOVED_TO) != 0) {
    touched_.move_to(event.cookie, path, now);
  } else {
    touched_.touch(path, now);
  }
}

// A new folder is reported by its files, each with its own quiet time. Reporting the folder would compare
// files that are still being written.
void FolderWatcher::handle_folder(const inotify_event& event, const std::string& name,
                                  const std::string& path, SteadyTime now) {
  const auto touch = [&](const std::string& file) { touched_.touch(file, now); };
  if ((event.mask & IN_CREATE) != 0) watches_.add(event.wd, name, touch);
  if ((event.mask & IN_DELETE) != 0) touched_.touch(path, now);
  if ((event.mask & IN_MOVED_FROM) != 0) {
    watches_.detach(event.wd, name);
    touched_.move_from(event.cookie, path, now);
  }
  if ((event.mask & IN_MOVED_TO) != 0) {
    const bool within = touched_.move_to(event.cookie, path, now);
    watches_.add(event.wd, name, within ? FolderWatches::OnFile() : touch);
  }
  // The folder may have become readable: changes in it until now were not seen.
  if ((event.mask & IN_ATTRIB) != 0) {
    if (watches_.has(event.wd, name)) {
      touched_.touch(path, now);
    } else {
      watches_.add(event.wd, name, touch);
    }
  }
}

// A moved folder gets the quiet time to appear again by IN_MOVED_TO; then its watches are removed.
void FolderWatcher::drop_detached(SteadyTime now) {
  for (const int watch : watches_.take_detached()) detached_.emplace(now + options_.quiet, watch);
  for (; !detached_.empty() && detached_.front().first <= now; detached_.pop())
    watches_.drop(detached_.front().second);
}

void FolderWatcher::report_due(SteadyTime now) {
  auto due = touched_.take_due(now);
  if (!due.empty()) on_touched_(std::move(due));
}

// inotify does not report some events (see FolderWatches::is_there()), so check periodically.
void FolderWatcher::check_folder() {
  if (!watches_.is_open()) {
    if (watches_.open()) {
      log(LogLevel::info, "notebook is watched again", kBack);
      note_watches();
      on_rescan_(kBack);
    }
  } else if (!watches_.is_there()) {
    start_anew(kGone);
  } else if (polls_) {
    watches_.try_again();
    note_watches();
    on_rescan_(kShort);
  }
  next_check_ = steady_now() + options_.poll_every;
}

void FolderWatcher::start_anew(const char* reason) {
  // The rescan covers everything that was touched so far.
  touched_.clear();
  detached_ = {};
  log(LogLevel::warning, "notebook is rescanned", reason);
  if (const auto opened = watches_.open(); !opened) {
    log(LogLevel::warning, "notebook is not watched", opened.error().message);
  }
  note_watches();
  on_rescan_(reason);
}

void FolderWatcher::note_watches() {
  watch_count_ = watches_.size();
  const bool polls = !watches_.shortage().empty();
  if (polls && !polls_)
    log(LogLevel::warning, "notebook is rescanned from time to time", watches_.shortage());
  if (!polls && polls_) log(LogLevel::info, "notebook is no longer rescanned", "all folders are watched");
  polls_ = polls;
}

void FolderWatcher::log(LogLevel level, const char* message, const std::string& reason) const {
  if (options_.logger)
    options_.logger(level, LogLine(message).add("path", path_).add("reason", reason).str());
}

}  // namespace eventq::notebook
