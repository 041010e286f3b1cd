// path_debouncer.h: holds back touched paths until they have been quiet for a moment. Pure.
//
// Both halves of a rename become one TouchedPath; renames in a row become one from the first path to the
// last. A rename of a folder replaces earlier touches in it.
//
// REQUIRES: the times passed in never decrease.
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

namespace eventq::notebook {

struct TouchedPath {
  std::string path;
  std::string source;  // the path before a rename; empty: no rename was seen
};

class PathDebouncer {
 public:
  // A path is due when it was not touched for `quiet`, or when its first touch is `restless` ago.
  PathDebouncer(Millis quiet, Millis restless) : quiet_(quiet), restless_(restless) {}

  void touch(const std::string& path, SteadyTime now);
  // The halves of a rename, paired by inotify's cookie. A half without its counterpart is a touch.
  void move_from(std::uint32_t cookie, const std::string& path, SteadyTime now);
  // False: the first half is missing or too old.
  bool move_to(std::uint32_t cookie, const std::string& path, SteadyTime now);

  // When the next path is due; empty: no path is held.
  [[nodiscard]] std::optional<SteadyTime> next_due() const;
  // Removes and returns the due paths, each once.
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
  std::set<std::pair<SteadyTime, std::string>> due_;        // one per entry
  std::unordered_map<std::uint32_t, std::string> leaving_;  // sources of unpaired renames, by cookie
  std::queue<std::pair<SteadyTime, std::uint32_t>> waits_;  // when each of them is forgotten
};

}  // namespace eventq::notebook
