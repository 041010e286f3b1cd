// folder_watches.h: inotify's watches on a folder and on all folders in it that a notebook takes.
//
// Folders are reached from a descriptor of the outermost one, through no symbolic link. Each is watched
// before it is read.
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
#include "notebook/watch/watch_tree.h"

namespace eventq::notebook {

class FolderWatches {
 public:
  using OnFile = std::function<void(const std::string& path)>;

  // At most so many watches; 0: as many as the system gives.
  FolderWatches(std::string path, std::size_t most) : path_(std::move(path)), most_(most) {}

  // Drops what there is, events too, and watches everything anew. Errors: not_found, invalid_argument (no
  // folder), unavailable; then nothing is watched.
  Result<void> open();
  [[nodiscard]] bool is_open() const { return inotify_.open(); }
  // The path still leads to the folder that is watched. Nobody tells when a folder above it is moved, or when
  // it is deleted while somebody has it open.
  [[nodiscard]] bool is_there() const;

  // Why some folders are not watched; empty: all are.
  [[nodiscard]] const std::string& shortage() const { return shortage_; }
  void try_again();  // to watch those, too

  // Watches the folder `name` in that of the watch `parent`, and all in it, wherever they were before.
  // `on_file`, if any, gets every file in it.
  void add(int parent, const std::string& name, const OnFile& on_file);
  // It was moved, perhaps away: until it is added again its events have no path.
  void left(int parent, const std::string& name);
  // The system has removed this watch.
  void gone(int watch) { tree_.forget(watch); }
  std::vector<int> take_left() { return tree_.take_detached(); }
  // Removes a watch that left and was not added again, and all below it.
  void drop(int watch);

  [[nodiscard]] int descriptor() const { return inotify_.number(); }
  [[nodiscard]] bool is_root(int watch) const { return watch == root_watch_; }
  [[nodiscard]] bool has(int parent, const std::string& name) const;
  // "" for the outermost; nothing when it is not known where it is.
  [[nodiscard]] std::optional<std::string> path(int watch) const { return tree_.path(watch); }
  [[nodiscard]] std::size_t size() const { return tree_.size(); }

 private:
  struct FolderToWatch {
    int parent;  // WatchTree::kNone: it is not watched, or this is the outermost
    std::string name;
    std::string path;
  };
  void add_all(FolderToWatch start, const OnFile& on_file);
  std::vector<FolderToWatch> add_one(const FolderToWatch& place, const OnFile& on_file);
  int watch_folder(int folder, const FolderToWatch& place);
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
