// watch_tree.h: which folder each watch is on. Pure.
//
// A tree by parent and name, so that a folder that is renamed takes all in it along at no cost. It may be
// behind the disk: whoever reads a folder attaches what is found there, wherever it was thought to be.
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

  // `watch` is on the notebook's own folder, or on the folder `name` in that of `parent`. Another one thought
  // to be there is detached; so is `watch` if that folder is thought to lie in it. REQUIRES: `parent` is
  // known.
  void attach_root(int watch);
  void attach(int watch, int parent, const std::string& name);
  // It is no longer there. Where it is now, with all below it, nobody knows yet.
  void detach(int watch);
  // Forgets it, detaching those in it.
  void forget(int watch);
  // Forgets it and all below it, and returns these watches.
  std::vector<int> remove(int watch);
  void clear();

  [[nodiscard]] bool knows(int watch) const { return nodes_.contains(watch); }
  [[nodiscard]] bool is_detached(int watch) const;
  // From the notebook's folder, which is "" itself; empty when it, or one above it, is detached or not known.
  [[nodiscard]] std::optional<std::string> path(int watch) const;
  [[nodiscard]] int child(int parent, const std::string& name) const;  // kNone: none known
  // Those detached since the last call; some may have been attached again.
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
