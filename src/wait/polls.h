// polls.h: when a worker last asked for events of a tag. Explanations of pending events show it.
//
// Pure bookkeeping: no threads, no clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "eventq/event.h"
#include "model/query.h"

namespace eventq {

class Polls {
 public:
  void note(const Selector& selector, TimePoint now) {
    if (last_.size() > kMax) last_.clear();
    if (selector.tags.empty()) last_[{selector.queue, ""}] = now;
    for (const std::string& tag : selector.tags) last_[{selector.queue, tag}] = now;
  }

  // The last poll for one of the event's tags, or for any event of its queue.
  [[nodiscard]] std::optional<TimePoint> last(const Event& event) const {
    std::optional<TimePoint> last;
    const auto consider = [&](const std::string& tag) {
      const auto found = last_.find({event.queue, tag});
      if (found != last_.end()) last = std::max(last.value_or(found->second), found->second);
    };
    consider("");
    for (const std::string& tag : event.tags) consider(tag);
    return last;
  }

 private:
  // A bound on memory: past this many tags all polls are forgotten.
  static constexpr std::size_t kMax = 10'000;

  std::map<std::pair<std::string, std::string>, TimePoint>
      last_;  // by queue and tag; the empty tag: polls without tags
};

}  // namespace eventq
