// polls.h: when somebody last asked for events of a tag.
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

  // For one of its tags, or for any.
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
  // Past this many tags they are all forgotten.
  static constexpr std::size_t kMax = 10'000;

  std::map<std::pair<std::string, std::string>, TimePoint> last_;  // by queue and tag; the empty one: any
};

}  // namespace eventq
