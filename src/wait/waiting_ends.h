// waiting_ends.h: callers that wait for an end: of an event, of a correlation, of a queue's emptying.
//
// Pure bookkeeping: no threads, no clock.
#pragma once

#include <functional>
#include <string>

#include "command/envelope.h"
#include "wait/wait_list.h"

namespace eventq {

// The thing that a caller waits for, as a key: one per event, correlation and queue.
inline std::string wait_key(EventId id) { return "e" + std::to_string(static_cast<std::int64_t>(id)); }
inline std::string wait_key(const WaitRequest::Correlated& correlation) { return "c" + correlation.id; }
inline std::string wait_key(const WaitRequest::Drained& queue) { return "q" + queue.queue; }

struct WaitingEnd {
  ReplyTo reply_to;
  std::string key;
  TimePoint deadline;
  Answer answer;  // to the other parts of the command
};

struct EndKeys {
  using Key = std::string;
  using KeyLess = std::less<>;

  template <typename Visit>
  static void each(const WaitingEnd& wait, const Visit& visit) {
    visit(wait.key);
  }
};

using WaitingEnds = WaitList<WaitingEnd, EndKeys>;

}  // namespace eventq
