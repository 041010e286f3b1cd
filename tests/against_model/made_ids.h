// made_ids.h: ids that systems made by themselves, under names that are the same in all of them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "eventq/event.h"
#include "support/json_lines.h"

namespace eventq {

// Ids that a system made by itself differ from system to system. Each is replaced by the number of the
// event that had it first; that two events share one, or one event has two, is a difference that stays.
class MadeIds {
 public:
  // From an event, and from a response with one event or a list of them.
  void learn(const Event& event);
  void learn(const JsonLines& response);
  [[nodiscard]] JsonLines replaced(JsonLines lines) const;

 private:
  void learn(std::int64_t id, const std::string& event_id, const std::string& correlation_id);

  std::map<std::string, std::string> names_;  // of made ids
  std::set<std::string> given_;               // the names; each is given once
};

}  // namespace eventq
