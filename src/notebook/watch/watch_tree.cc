// watch_tree.cc: see watch_tree.h.
#include "notebook/watch/watch_tree.h"

namespace eventq::notebook {

void WatchTree::attach_root(int watch) { nodes_[watch].attached = true; }

void WatchTree::attach(int watch, int parent, const std::string& name) {
  if (child(parent, name) == watch) return;
  if (knows(watch)) detach(watch);
  if (is_within(parent, watch)) return;
  if (const int other = child(parent, name); other != kNone) detach(other);
  nodes_.at(parent).children.emplace(name, watch);
  Node& node = nodes_[watch];
  node.parent = parent;
  node.name = name;
  node.attached = true;
}

void WatchTree::detach(int watch) {
  Node& node = nodes_.at(watch);
  if (!node.attached) return;
  if (node.parent != kNone) nodes_.at(node.parent).children.erase(node.name);
  node.parent = kNone;
  node.attached = false;
  detached_.push_back(watch);
}

void WatchTree::forget(int watch) {
  if (!knows(watch)) return;
  detach(watch);
  const auto forgotten = nodes_.extract(watch);
  for (const auto& [name, child] : forgotten.mapped().children) {
    Node& node = nodes_.at(child);
    node.parent = kNone;
    node.attached = false;
    detached_.push_back(child);
  }
}

std::vector<int> WatchTree::remove(int watch) {
  if (!knows(watch)) return {};
  detach(watch);
  std::vector<int> removed{watch};
  for (std::size_t i = 0; i < removed.size(); ++i) {
    const auto node = nodes_.extract(removed[i]);
    for (const auto& [name, child] : node.mapped().children) removed.push_back(child);
  }
  return removed;
}

bool WatchTree::is_detached(int watch) const {
  const auto node = nodes_.find(watch);
  return node != nodes_.end() && !node->second.attached;
}

bool WatchTree::is_within(int watch, int folder) const {
  while (watch != kNone && watch != folder) watch = nodes_.at(watch).parent;
  return watch == folder;
}

std::optional<std::string> WatchTree::path(int watch) const {
  std::vector<const std::string*> names;
  for (;;) {
    const auto at = nodes_.find(watch);
    if (at == nodes_.end() || !at->second.attached) return std::nullopt;
    if (at->second.parent == kNone) break;
    names.push_back(&at->second.name);
    watch = at->second.parent;
  }
  std::string path;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (!path.empty()) path += '/';
    path += **name;
  }
  return path;
}

int WatchTree::child(int parent, const std::string& name) const {
  const auto& children = nodes_.at(parent).children;
  const auto found = children.find(name);
  return found == children.end() ? kNone : found->second;
}

}  // namespace eventq::notebook
