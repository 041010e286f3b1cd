// folder_watches.h: the inotify watches on a notebook's folder and on all folders in it.
//
// Folders are opened from a descriptor of the root, through no symbolic link. Each folder is watched before
// it is read, so that no new file is missed.
//
// Threads: belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "eventq/error.h"
#include "notebook/files/folder.h"
#include "notebook/watch/watch_tree.h"

namespace eventq::notebook {

class FolderWatches {
 public:
  using OnFile = std::function<void(const std::string& path)>;

  // Uses at most `most` watches; 0: the system's limit.
  FolderWatches(std::string path, std::size_t most) : path_(std::move(path)), most_(most) {}

  // Drops all watches and unread events, and watches everything again. Errors: not_found, invalid_argument
  // (no folder), unavailable; then nothing is watched.
  Result<void> open();
  [[nodiscard]] bool is_open() const { return inotify_.open(); }
  // Whether the path still names the watched folder. inotify does not report a moved parent folder, or a
  // deleted folder that a process holds open.
  [[nodiscard]] bool is_there() const { return is_at(root_, path_); }

  // Why some folders are not watched; empty: all are watched.
  [[nodiscard]] const std::string& shortage() const { return shortage_; }
  void try_again();  // tries to watch the missing folders

  // Watches the folder `name` in the folder of watch `parent`, and all folders in it, even if they were
  // watched under another path. Calls `on_file`, if set, for every file in it.
  void add(int parent, const std::string& name, const OnFile& on_file);
  // The folder was moved, perhaps out of the notebook: its events have no path until add().
  void detach(int parent, const std::string& name);
  // The kernel removed this watch.
  void forget(int watch) { tree_.forget(watch); }
  std::vector<int> take_detached() { return tree_.take_detached(); }
  // Removes a watch that left and was not added again, with all below it.
  void drop(int watch);

  [[nodiscard]] int descriptor() const { return inotify_.number(); }
  [[nodiscard]] bool is_root(int watch) const { return watch == root_watch_; }
  [[nodiscard]] bool has(int parent, const std::string& name) const;
  // "" for the root; empty when the folder's position is unknown.
  [[nodiscard]] std::optional<std::string> path(int watch) const { return tree_.path(watch); }
  [[nodiscard]] std::size_t size() const { return tree_.size(); }

 private:
  struct FolderToWatch {
    int parent;  // WatchTree::kNone: not watched, or this is the root
    std::string name;
    std::string path;
  };
  void add_all(FolderToWatch start, const OnFile& on_file);
  std::vector<FolderToWatch> add_one(const FolderToWatch& target, const OnFile& on_file);
  int watch_folder(int folder, const FolderToWatch& target);
  void failed(int error, const std::string& path);

  const std::string path_;
  const std::size_t most_;
  Descriptor root_;
  Descriptor inotify_;
  int root_watch_ = WatchTree::kNone;
  WatchTree tree_;
  std::string shortage_;
};

}  // namespace eventq::notebook
