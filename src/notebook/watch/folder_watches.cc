// folder_watches.cc: see folder_watches.h.
#include "notebook/watch/folder_watches.h"

#include <fcntl.h>
#include <sys/inotify.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "notebook/files/note_path.h"

namespace eventq::notebook {
namespace {

constexpr std::uint32_t kMask = IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_DELETE |
                                IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR |
                                IN_EXCL_UNLINK;

Error cannot_watch(const std::string& path, int error) {
  const std::string why = std::strerror(error);
  if (error == ENOENT) return {ErrorCode::not_found, "There is no folder " + path + ".", "path"};
  if (error == ENOTDIR) return {ErrorCode::invalid_argument, path + " is no folder.", "path"};
  const std::string advice =
      error == EMFILE ? "; raise fs.inotify.max_user_instances, or the limit on open files" : "";
  return {ErrorCode::unavailable, "The folder " + path + " cannot be watched: " + why + advice + "."};
}

}  // namespace

Result<void> FolderWatches::open() {
  tree_ = {};
  shortage_.clear();
  root_watch_ = WatchTree::kNone;
  inotify_.close();  // close first: its watches count against the limit
  root_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root_.open()) return cannot_watch(path_, errno);
  inotify_ = Descriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify_.open()) return cannot_watch(path_, errno);
  add_all({WatchTree::kNone, "", ""}, nullptr);
  return {};
}

void FolderWatches::try_again() {
  shortage_.clear();
  add_all({WatchTree::kNone, "", ""}, nullptr);
}

void FolderWatches::add(int parent, const std::string& name, const OnFile& on_file) {
  const auto folder = tree_.path(parent);
  if (folder) add_all({parent, name, folder->empty() ? name : *folder + "/" + name}, on_file);
}

void FolderWatches::detach(int parent, const std::string& name) {
  if (const int watch = tree_.child(parent, name); watch != WatchTree::kNone) tree_.detach(watch);
}

void FolderWatches::drop(int watch) {
  if (!tree_.is_detached(watch)) return;
  for (const int removed : tree_.remove(watch)) ::inotify_rm_watch(inotify_.number(), removed);
}

bool FolderWatches::has(int parent, const std::string& name) const {
  return tree_.child(parent, name) != WatchTree::kNone;
}

// A loop with an explicit stack, because folders may be nested deeper than the call stack allows.
void FolderWatches::add_all(FolderToWatch start, const OnFile& on_file) {
  std::vector<FolderToWatch> targets{std::move(start)};
  while (!targets.empty()) {
    const FolderToWatch target = std::move(targets.back());
    targets.pop_back();
    for (FolderToWatch& inner : add_one(target, on_file)) targets.push_back(std::move(inner));
  }
}

// Watches one folder and returns the folders in it.
std::vector<FolderWatches::FolderToWatch> FolderWatches::add_one(const FolderToWatch& target,
                                                                 const OnFile& on_file) {
  const Descriptor folder = open_beneath(root_.number(), target.path, O_RDONLY | O_DIRECTORY);
  if (!folder.open()) {
    failed(errno, target.path);
    return {};
  }
  const int watch = watch_folder(folder.number(), target);
  if (watch == WatchTree::kNone && !on_file) return {};
  std::vector<FolderToWatch> folders;
  int error = 0;
  for (FolderEntry& entry : entries_of(folder, error)) {
    std::string path = target.path.empty() ? entry.name : target.path + "/" + entry.name;
    if (!note_path(path)) continue;
    if (entry.kind == PathKind::file && on_file) on_file(path);
    if (entry.kind == PathKind::folder) folders.push_back({watch, std::move(entry.name), std::move(path)});
  }
  failed(error, target.path);
  return folders;
}

// Adds the watch to the tree; kNone on failure.
int FolderWatches::watch_folder(int folder, const FolderToWatch& target) {
  const bool is_root = target.path.empty();
  if (!is_root && !tree_.knows(target.parent)) return WatchTree::kNone;
  // Watch through the descriptor, so that the watch is on the folder that will be read.
  const std::string opened = "/proc/self/fd/" + std::to_string(folder);
  const int watch = ::inotify_add_watch(inotify_.number(), opened.c_str(), kMask);
  if (watch < 0) {
    failed(errno, target.path);
    return WatchTree::kNone;
  }
  if (most_ != 0 && !tree_.knows(watch) && tree_.size() >= most_) {
    ::inotify_rm_watch(inotify_.number(), watch);
    failed(ENOSPC, target.path);
    return WatchTree::kNone;
  }
  if (is_root) {
    root_watch_ = watch;
    tree_.attach_root(watch);
  } else {
    tree_.attach(watch, target.parent, target.name);
  }
  return watch;
}

// Records a shortage of watches or memory. A folder that vanished or is unreadable is ignored.
void FolderWatches::failed(int error, const std::string& path) {
  if (error == 0 || error == ENOENT || error == ENOTDIR || error == ELOOP || error == EXDEV ||
      error == EACCES)
    return;
  if (!shortage_.empty()) return;
  shortage_ = error == ENOSPC
                  ? "the limit on watches is reached; raise fs.inotify.max_user_watches with sysctl"
                  : path + ": " + std::strerror(error);
}

}  // namespace eventq::notebook
