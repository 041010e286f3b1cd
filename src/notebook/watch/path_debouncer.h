// path_debouncer.h: paths that were touched, until they have been left alone for a moment. Pure.
//
// Both halves of a rename become one TouchedPath; renames in a row are one from the first path to the last.
// That of a folder stands for all that was touched in it before.
//
// Times given to it never go back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/steady.h"
#include "eventq/clock.h"
#include "notebook/watch/folder_watcher.h"

namespace eventq::notebook {

class PathDebouncer {
 public:
  // A path is due when it was not touched for `quiet`, or was touched first `restless` ago.
  PathDebouncer(Millis quiet, Millis restless) : quiet_(quiet), restless_(restless) {}

  void touch(const std::string& path, SteadyTime now);
  // The halves of a rename. One whose other half does not come is a touch.
  void move_from(std::uint32_t cookie, const std::string& path, SteadyTime now);
  // False: the first half was not told, or too long ago.
  bool move_to(std::uint32_t cookie, const std::string& path, SteadyTime now);

  // When something will be due; empty: never, as it is.
  [[nodiscard]] std::optional<SteadyTime> next_due() const;
  // All that is due, each path once.
  std::vector<TouchedPath> take_due(SteadyTime now);
  void clear();

 private:
  struct TouchTimes {
    SteadyTime first;
    SteadyTime last;
    std::string source;
  };
  [[nodiscard]] SteadyTime due_of(const TouchTimes& entry) const;
  void put(const std::string& path, TouchTimes entry);
  TouchTimes take(const std::string& path);
  std::map<std::string, TouchTimes> take_within(const std::string& folder);

  const Millis quiet_;
  const Millis restless_;
  std::map<std::string, TouchTimes> entries_;
  std::set<std::pair<SteadyTime, std::string>> due_;        // one for each entry
  std::unordered_map<std::uint32_t, std::string> leaving_;  // where renames come from, by cookie
  std::queue<std::pair<SteadyTime, std::uint32_t>> waits_;  // until when each of them is remembered
};

}  // namespace eventq::notebook
