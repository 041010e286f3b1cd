// log_walk.h: replays an event's log by the rules of the life cycle, and says which state it must lead to.
//
// `eventq verify` and the tests compare stored events with it. It shares no code with lifecycle.cc, so that a
// mistake there does not become a rule here.
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
  bool retries = false;   // FAILED only: the event will be retried
  bool errors = false;    // COMPLETED only: the worker reported errors
  std::int64_t id = 0;    // of the entry; ascending in time
};

// Whether the event has ended after this step, until a reset.
bool ends_life(const LogStep& step);

struct WalkRules {
  int max_retries = 0;              // of the event
  std::optional<int> max_attempts;  // claims in a row without a report; absent: unknown
  bool permanent = false;           // a worker may have reported a permanent failure with retries left
};

// Which guarantee a step breaks.
enum class BrokenPromise : std::uint8_t {
  one_end,    // the event had ended and was not reset
  one_holder  // the event was not held, or by another worker, or in another attempt
};

// The state that the event must have after its last entry.
struct WalkEnd {
  std::string status = "PENDING";
  int attempts = 0;
  int retry_count = 0;
  int unreported = 0;
  std::string worker_id;  // the worker that holds the event or finished it

  friend bool operator==(const WalkEnd&, const WalkEnd&) = default;
};

struct Walk {
  WalkEnd end;
  // A description of the first step that breaks the rules; nothing when there is none.
  std::optional<std::string> fault;
  BrokenPromise broken{};  // by that step
  std::int64_t entry = 0;  // its id
};

Walk walk_log(const std::vector<LogStep>& log, const WalkRules& rules);

std::string describe(const WalkEnd& end);

}  // namespace eventq
