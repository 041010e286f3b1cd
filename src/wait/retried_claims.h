// retried_claims.h: the router's waiting claims: claims that found nothing on any shard, and which of them is
// sent to which shards again.
//
// A shard cannot serve a claim that waits here inside its commit, so a hint only says that a queue may have
// events on the shard. Claims for the same events form a group. The first of the group is retried. When it
// found something, the next ones are retried too, ever more of them at once; when it found nothing, all go on
// waiting. Of claims with a window only one of a worker is retried at a time, because each must count the
// events that the last one took.
//
// Pure bookkeeping: no threads, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "command/envelope.h"
#include "wait/wait_list.h"
#include "wait/waiting_claims.h"

namespace eventq {

// A claim to be made on these shards, in this order, until one has something.
struct ClaimRetry {
  std::uint64_t position = 0;
  WaitingClaim claim;
  std::vector<int> shards;
};

// Claims for the same events. A claim with a window is in a group of its worker.
struct ClaimGroupKey {
  std::string queue;
  std::string worker_id;  // empty: claims without a window
  std::vector<std::string> tags;

  static ClaimGroupKey of(const ClaimRequest& request);
  [[nodiscard]] bool has_window() const { return !worker_id.empty(); }
  friend auto operator<=>(const ClaimGroupKey&, const ClaimGroupKey&) = default;  // NOLINT: clang-tidy 14
};

struct ClaimGroupKeys {
  using Key = ClaimGroupKey;
  using KeyLess = std::less<Key>;

  template <typename Visit>
  static void each(const WaitingClaim& claim, const Visit& visit) {
    visit(ClaimGroupKey::of(claim.request));
  }
};

class RetriedClaims {
 public:
  explicit RetriedClaims(int shards) : shards_(shards) {}

  // Adds the claim behind all others of its group. `retry_now` marks every shard for a retry: a hint came
  // while the claim was asking the shards, or the claim has a window and has asked none yet.
  void add(WaitingClaim claim, bool retry_now);

  // Hints: a queue may have more on one shard, any queue may, a worker may hold fewer events, or time has
  // passed.
  void note_ready(int shard, const std::string& queue);
  void note_ready(int shard);
  void note_moved(const std::string& worker_id);
  void note_all();

  // The claim is out of the list until found() or found_nothing() is called with the retry.
  std::optional<ClaimRetry> next_retry();

  // The claim got events on `shard` and does not wait any more. The shard may have more.
  void found(const ClaimRetry& retry, int shard);
  // The claim waits again, at its old position.
  void found_nothing(ClaimRetry retry);

  // Takes out the claims whose deadline has passed, or all; not those that are being retried.
  std::vector<WaitingClaim> take_expired(TimePoint now) { return settled(list_.take_expired(now)); }
  std::vector<WaitingClaim> take_all() { return settled(list_.take_all()); }

  // Does nothing when no claim has that reply_to, or it is being retried.
  void forget(const ReplyTo& reply_to);

  [[nodiscard]] std::optional<TimePoint> next_deadline() const { return list_.next_deadline(); }
  [[nodiscard]] std::size_t size() const { return list_.size(); }

  // The requests of all claims that wait. Those that are being retried reach a shard.
  template <typename Visit>
  void each(const Visit& visit) const {
    list_.each([&](const WaitingClaim& claim) { visit(claim.request); });
  }

  // How many claims the event would serve, those that are being retried included.
  [[nodiscard]] std::size_t waiting(const Event& event) const;

 private:
  struct ClaimGroup {
    std::set<int> marked;          // shards on which to retry
    std::size_t retrying = 0;      // claims that next_retry() gave out
    std::size_t retrying_max = 1;  // at once
  };

  void mark(const ClaimGroupKey& key, ClaimGroup& group, int shard);
  void mark_all(const ClaimGroupKey& key, ClaimGroup& group);
  template <typename Visit>
  void each_of_worker(const ClaimGroupKey& key, const Visit& visit);
  [[nodiscard]] bool may_retry(const ClaimGroupKey& key, const ClaimGroup& group);
  ClaimGroup& end_retry(const ClaimGroupKey& key);
  void settle(const ClaimGroupKey& key);
  std::vector<WaitingClaim> settled(std::vector<WaitingClaim> taken);

  // Set in the constructor, never changed.
  const int shards_;

  WaitList<WaitingClaim, ClaimGroupKeys> list_;
  std::map<ClaimGroupKey, ClaimGroup> groups_;  // with a claim that waits or is being retried
  std::set<ClaimGroupKey> to_retry_;            // marked groups, until next_retry() has seen them
};

}  // namespace eventq
