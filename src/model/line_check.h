// line_check.h: the events of one queue with one ordering_key, and whether each had its turn.
//
// At a claim nobody before it in the line may be live, unless the event was in work already and
// changes hands; and no two are in work at once. Only lives after a reset are remembered, beside
// the last of the first ends: memory does not grow with the line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/log_walk.h"

namespace eventq {

struct LineFault {
  std::int64_t entry = 0;  // of the log
  std::string text;
};

class LineCheck {
 public:
  // The next event of the line, in the order of their ids, with its log.
  std::vector<LineFault> add(std::int64_t id, const std::vector<LogStep>& log);

 private:
  // From one entry of the log to before another, or without end.
  struct Span {
    std::int64_t event = 0;
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  void check_claim(std::int64_t claim, std::vector<LineFault>& faults) const;

  Span last_first_life_;           // of those before, the one that ended last
  std::vector<Span> later_lives_;  // of those before, each from a reset on
  std::vector<Span> later_work_;   // what was done in those
};

}  // namespace eventq
