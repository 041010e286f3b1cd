// path_debouncer.cc: see path_debouncer.h.
#include "notebook/watch/path_debouncer.h"

#include <algorithm>

namespace eventq::notebook {

SteadyTime PathDebouncer::due_of(const TouchTimes& entry) const {
  return std::min(entry.last + quiet_, entry.first + restless_);
}

// REQUIRES: there is an entry.
PathDebouncer::TouchTimes PathDebouncer::take(const std::string& path) {
  TouchTimes entry = std::move(entries_.extract(path).mapped());
  due_.erase({due_of(entry), path});
  return entry;
}

std::map<std::string, PathDebouncer::TouchTimes> PathDebouncer::take_within(const std::string& folder) {
  std::map<std::string, TouchTimes> taken;
  const std::string start = folder + "/";
  for (auto at = entries_.lower_bound(start); at != entries_.end() && at->first.starts_with(start);) {
    const std::string path = (at++)->first;
    taken.emplace(path, take(path));
  }
  return taken;
}

// Merges with an entry of the same path.
void PathDebouncer::put(const std::string& path, TouchTimes entry) {
  std::string replaced;
  if (entries_.contains(path)) {
    TouchTimes earlier = take(path);
    entry.first = std::min(entry.first, earlier.first);
    entry.last = std::max(entry.last, earlier.last);
    (entry.source.empty() ? entry.source : replaced) = std::move(earlier.source);
  }
  const SteadyTime last = entry.last;
  due_.emplace(due_of(entry), path);
  entries_.emplace(path, std::move(entry));
  // The earlier file at `path` is gone, so its source must be compared by itself.
  if (!replaced.empty()) touch(replaced, last);
}

void PathDebouncer::touch(const std::string& path, SteadyTime now) { put(path, {now, now, ""}); }

void PathDebouncer::move_from(std::uint32_t cookie, const std::string& path, SteadyTime now) {
  // The source counts as touched in case the other half never arrives: then the file left the notebook.
  touch(path, now);
  leaving_[cookie] = path;
  waits_.emplace(now + quiet_, cookie);
}

bool PathDebouncer::move_to(std::uint32_t cookie, const std::string& path, SteadyTime now) {
  const auto half = leaving_.extract(cookie);
  if (half.empty()) {
    touch(path, now);
    return false;
  }
  const std::string& from = half.mapped();
  TouchTimes moved{now, now, from};
  if (entries_.contains(from)) {
    const TouchTimes earlier = take(from);
    moved.first = earlier.first;
    if (!earlier.source.empty()) {
      moved.source = earlier.source == path ? "" : earlier.source;  // renamed back
      touch(from, now);                                             // another file may be there now
    }
  }
  // Make the whole folder due together: a file in it that is due alone would not be recognised as renamed.
  auto within = take_within(from);
  for (const auto& [name, entry] : within) moved.first = std::min(moved.first, entry.first);
  for (auto& [name, entry] : within) {
    if (!entry.source.empty()) put(path + name.substr(from.size()), {moved.first, now, entry.source});
  }
  put(path, std::move(moved));
  return true;
}

std::optional<SteadyTime> PathDebouncer::next_due() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

std::vector<TouchedPath> PathDebouncer::take_due(SteadyTime now) {
  std::vector<TouchedPath> touched;
  while (!due_.empty() && due_.begin()->first <= now) {
    const std::string path = due_.begin()->second;
    touched.push_back({path, take(path).source});
  }
  for (; !waits_.empty() && waits_.front().first <= now; waits_.pop()) leaving_.erase(waits_.front().second);
  return touched;
}

void PathDebouncer::clear() {
  entries_.clear();
  due_.clear();
  leaving_.clear();
  waits_ = {};
}

}  // namespace eventq::notebook
