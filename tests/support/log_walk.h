// log_walk.h: an event's log, walked from its first entry by the rules of the life cycle, and where
// it leads. Written apart from src/model/lifecycle.cc, so that a mistake there is no rule here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace eventq {

struct LogStep {
  std::string action;  // "PICKED"
  int attempt = 0;
  std::string worker_id;  // empty: no worker did it
  bool retries = false;   // of FAILED: there will be another try
  bool errors = false;    // of COMPLETED: it named some
  std::int64_t id = 0;    // of the entry: ascending in time
};

struct WalkRules {
  int max_retries = 0;   // of the event
  int max_attempts = 0;  // claims in a row without a report
};

// What the event must be after its last entry.
struct WalkEnd {
  std::string status = "PENDING";
  int attempts = 0;
  int retry_count = 0;
  int unreported = 0;
  std::string worker_id;  // who holds it, or who ended it

  friend bool operator==(const WalkEnd&, const WalkEnd&) = default;
};

struct Walk {
  WalkEnd end;
  // The first step that cannot be, in words; nothing when all are right.
  std::optional<std::string> fault;
};

Walk walk_log(const std::vector<LogStep>& log, const WalkRules& rules);

std::string describe(const WalkEnd& end);

}  // namespace eventq
