// retried_ends.h: the router's waiting ends, and which of them the shards are asked about again.
//
// One question to the shards serves all callers that wait for the same end.
//
// Pure bookkeeping: no threads, no clock.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "wait/waiting_ends.h"

namespace eventq {

class RetriedEnds : public WaitingEnds {
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

  // Takes out the callers that wait for something on this shard: an event of it, or an end on all shards.
  std::vector<WaitingEnd> take_of(int shard, int shards);

 private:
  struct SoughtEnd {
    WaitRequest request;
    bool retrying = false;
  };

  std::map<std::string, SoughtEnd> sought_;  // by wait_key(); next_retry() erases those without callers
  std::set<std::string> marked_;
};

}  // namespace eventq
