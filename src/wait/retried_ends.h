// retried_ends.h: those who wait for an end, and whose end is to be looked for again.
//
// Pure bookkeeping, as waiting_claims.h: no threads, no clock.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "command/envelope.h"
#include "wait/waiting_ends.h"

namespace eventq {

class RetriedEnds {
 public:
  // REQUIRES: it waits for something that has a key: not for ThisPublication.
  void add(const WaitRequest& request, WaitingEnd wait, bool look);

  // These events ended, or anything may have: whose end that can be is to be looked for.
  void note(const std::vector<EventId>& events);
  void note_all();

  // Something to look for; ended() or not_ended() follows.
  std::optional<WaitRequest> next_look();
  // Takes out those who waited for it.
  std::vector<WaitingEnd> ended(const WaitRequest& request);
  void not_ended(const WaitRequest& request);

  // Takes out those who wait for something on this shard, or on all of them.
  std::vector<WaitingEnd> take_of(int shard, int shards);
  std::vector<WaitingEnd> take_expired(TimePoint now);
  std::vector<WaitingEnd> take_all();
  void forget(const ReplyTo& reply_to) { waits_.forget(reply_to); }

  [[nodiscard]] std::optional<TimePoint> next_deadline() const { return waits_.next_deadline(); }
  [[nodiscard]] std::size_t size() const { return waits_.size(); }

 private:
  struct Sought {
    WaitRequest request;
    bool looking = false;
  };

  WaitingEnds waits_;
  std::map<std::string, Sought> sought_;  // by wait_key(); some of which nobody waits for any more
  std::set<std::string> marked_;
};

}  // namespace eventq
