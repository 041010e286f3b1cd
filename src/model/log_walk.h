// log_walk.h: an event's log, walked from its first entry by the rules of the life cycle, and where
// it leads. Written apart from lifecycle.cc, so that a mistake there is no rule here: this is what
// judges a store (store/sqlite/audit.h) and the histories of the tests.
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

bool ends_life(const LogStep& step);

struct WalkRules {
  int max_retries = 0;              // of the event
  std::optional<int> max_attempts;  // claims in a row without a report; nothing: not known
  bool permanent = false;           // a worker may have failed it for good with retries left
};

// Which promise a step breaks.
enum class BrokenPromise : std::uint8_t {
  one_end,    // it had ended, and was not reset
  one_holder  // it was not held, by another, or not in this attempt
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
  BrokenPromise broken{};  // by that step
  std::int64_t entry = 0;  // its id
};

Walk walk_log(const std::vector<LogStep>& log, const WalkRules& rules);

std::string describe(const WalkEnd& end);

}  // namespace eventq
