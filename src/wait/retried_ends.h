// retried_ends.h: the router's waiting ends, and which of them the shards are asked about again.
//
// One question to the shards serves all callers that wait for the same end.
//
// Pure bookkeeping: no threads, no clock.
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
  // With `retry_now` the shards are asked at once. The key of `wait` is set here.
  // REQUIRES: `request` waits for something that has a key: not for ThisPublication.
  void add(const WaitRequest& request, WaitingEnd wait, bool retry_now);

  // These events ended, or anything may have: marks the ends that this can concern.
  void note(const std::vector<EventId>& events);
  void note_all();

  // An end to ask the shards about. ended() or not_ended() must follow.
  std::optional<WaitRequest> next_retry();
  // Takes out the callers that waited for it.
  std::vector<WaitingEnd> ended(const WaitRequest& request);
  void not_ended(const WaitRequest& request);

  // Takes out the callers that wait for something on this shard, or on all of them.
  std::vector<WaitingEnd> take_of(int shard, int shards);
  std::vector<WaitingEnd> take_expired(TimePoint now) { return list_.take_expired(now); }
  std::vector<WaitingEnd> take_all() { return list_.take_all(); }
  void forget(const ReplyTo& reply_to) { list_.forget(reply_to); }

  [[nodiscard]] std::optional<TimePoint> next_deadline() const { return list_.next_deadline(); }
  [[nodiscard]] std::size_t size() const { return list_.size(); }

 private:
  struct SoughtEnd {
    WaitRequest request;
    bool retrying = false;
  };

  WaitingEnds list_;
  std::map<std::string, SoughtEnd> sought_;  // by wait_key(); next_retry() erases those without callers
  std::set<std::string> marked_;
};

}  // namespace eventq
