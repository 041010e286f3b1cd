// watch_tree.h: the folder of each inotify watch. Pure.
//
// A tree by parent and name, so that renaming a folder needs no update below it. The tree may be behind the
// disk: reading a folder attaches the folders found there, even if the tree has them elsewhere.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace eventq::notebook {

class WatchTree {
 public:
  static constexpr int kNone = -1;

  // Puts `watch` at the root, or at `name` in the folder of `parent`. Another watch at that position is
  // detached. If `parent` lies below `watch` in the tree, `watch` is detached instead, because a cycle is
  // impossible.
  // REQUIRES: `parent` is known.
  void attach_root(int watch);
  void attach(int watch, int parent, const std::string& name);
  // The folder left its position; the new position of it and all below it is unknown.
  void detach(int watch);
  // Forgets the watch and detaches its children.
  void forget(int watch);
  // Forgets the watch and all below it, and returns them.
  std::vector<int> remove(int watch);

  [[nodiscard]] bool knows(int watch) const { return nodes_.contains(watch); }
  [[nodiscard]] bool is_detached(int watch) const;
  // The path from the notebook's folder, which is "" itself; empty when the watch or one above it is detached
  // or unknown.
  [[nodiscard]] std::optional<std::string> path(int watch) const;
  [[nodiscard]] int child(int parent, const std::string& name) const;  // kNone: none
  // The watches detached since the last call; some may be attached again by now.
  std::vector<int> take_detached() { return std::exchange(detached_, {}); }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    int parent = kNone;
    std::string name;
    bool attached = false;
    std::unordered_map<std::string, int> children;
  };
  [[nodiscard]] bool is_within(int watch, int folder) const;

  std::unordered_map<int, Node> nodes_;
  std::vector<int> detached_;
};

}  // namespace eventq::notebook
