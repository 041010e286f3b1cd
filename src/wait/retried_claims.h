// retried_claims.h: the router's waiting room: claims that found nothing on any shard, and who of them looks
// again where.
//
// A hint says that a queue may have events on a shard. Of those who wait for the same, the first looks; when
// it found something, the next ones look, too, ever more of them at once; when it found nothing, all go on
// waiting. Of those with a window only one of a worker looks at a time: each must count what the last one
// took.
//
// Pure bookkeeping, as waiting_claims.h: no threads, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "command/envelope.h"
#include "wait/waiting_claims.h"

namespace eventq {

class RetriedClaims {
 public:
  explicit RetriedClaims(int shards) : shards_(shards) {}

  // Behind all others who wait for the same. With `look` it begins with a look at every shard.
  void add(WaitingClaim waiter, bool look);

  // Hints: a queue may have more on one shard, any queue may, a worker may hold fewer events, or time has
  // passed.
  void note_ready(int shard, const std::string& queue);
  void note_ready(int shard);
  void note_moved(const std::string& worker_id);
  void note_all();

  // Somebody is to claim on these shards, in this order, until one has something. It is out of the room until
  // then: every look is followed by found() or found_nothing().
  struct Look {
    std::uint64_t place = 0;
    WaitingClaim waiter;
    std::vector<int> shards;
  };
  std::optional<Look> next_look();

  // It got events on `shard` and has left. There may be more.
  void found(const Look& look, int shard);
  // It waits on in its old place.
  void found_nothing(Look look);

  // Takes out those whose time is over, or all of them. Not those who look.
  std::vector<WaitingClaim> take_expired(TimePoint now);
  std::vector<WaitingClaim> take_all();

  // False when there is none of that reply_to, or it looks.
  bool forget(const ReplyTo& reply_to);

  [[nodiscard]] std::optional<TimePoint> next_deadline() const;
  [[nodiscard]] std::size_t size() const { return by_place_.size(); }

  // How many wait for the event, among others; those who look count, too.
  [[nodiscard]] std::size_t waiting(const Event& event) const;

 private:
  using Place = std::uint64_t;
  // Queue, who, and tags: those with a window look for themselves. All of one worker stand together.
  using Key = std::tuple<std::string, std::string, std::vector<std::string>>;
  struct Group {
    std::map<Place, WaitingClaim> waiting;
    std::set<int> marked;         // shards to look at
    std::size_t looking = 0;      // of them, now
    std::size_t looking_max = 1;  // at once
  };

  static Key key_of(const ClaimRequest& request);
  static bool has_window(const Key& key);
  void put(Place place, WaitingClaim waiter);
  WaitingClaim take(Place place);
  void mark(const Key& key, Group& group, int shard);
  void mark_all(const Key& key, Group& group);
  template <typename Visit>
  void each_of_worker(const Key& key, const Visit& visit);
  [[nodiscard]] bool may_look(const Key& key, const Group& group);
  Group& end_look(const Key& key);
  void settle(const Key& key);

  // Set in the constructor, never changed.
  const int shards_;

  Place next_place_ = 1;
  std::map<Key, Group> groups_;
  std::map<Place, Key> by_place_;
  std::map<ReplyTo, Place> by_reply_to_;
  std::set<std::pair<TimePoint, Place>> by_deadline_;
  std::set<Key> to_look_;  // groups that may have a look to begin
};

}  // namespace eventq
