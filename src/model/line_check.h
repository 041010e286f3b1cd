// line_check.h: checks by their logs that the events of one line ran one at a time, in order.
//
// When an event is claimed, no event before it in the line may be live, unless the event was in work already
// and another worker takes it over. No two events of the line are in work at once.
//
// Memory does not grow with the line: the check keeps the first life that ended last, and each life after a
// reset. Used by `eventq verify` and by the tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/log_walk.h"

namespace eventq {

struct LineFault {
  std::int64_t entry = 0;  // the id of the log entry
  std::string text;
};

class LineCheck {
 public:
  // Adds an event with its log and returns the rules that it breaks.
  // REQUIRES: events are added in the order of their ids.
  std::vector<LineFault> add(std::int64_t id, const std::vector<LogStep>& log);

 private:
  // A part of an event's log: from one entry to another, which is not included.
  struct Span {
    std::int64_t event = 0;
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  void check_claim(std::int64_t claim, std::vector<LineFault>& faults) const;

  Span last_first_life_;           // of the events added so far, the first life that ended last
  std::vector<Span> later_lives_;  // of the events added so far, each life after a reset
  std::vector<Span> later_work_;   // the times in work during those later lives
};

}  // namespace eventq
