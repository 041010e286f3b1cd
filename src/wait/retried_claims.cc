// retried_claims.cc: see retried_claims.h.
#include "wait/retried_claims.h"

#include <algorithm>
#include <utility>

#include "model/tags.h"

namespace eventq {
namespace {

// All retries of a group that begin together end up in one commit, so this bounds the claims of a commit.
constexpr std::size_t kRetryingMax = 64;

}  // namespace

ClaimGroupKey ClaimGroupKey::of(const ClaimRequest& request) {
  return {request.selector.queue, request.window > 0 ? request.worker_id : "", request.selector.tags};
}

// Forgets a group without claims, and its marks with it.
void RetriedClaims::settle(const ClaimGroupKey& key) {
  const auto found = groups_.find(key);
  if (found == groups_.end() || found->second.retrying > 0 || list_.find(key) != nullptr) return;
  groups_.erase(found);
  to_retry_.erase(key);
}

std::vector<WaitingClaim> RetriedClaims::settled(std::vector<WaitingClaim> taken) {
  for (const WaitingClaim& claim : taken) settle(ClaimGroupKey::of(claim.request));
  return taken;
}

void RetriedClaims::mark(const ClaimGroupKey& key, ClaimGroup& group, int shard) {
  group.marked.insert(shard);
  to_retry_.insert(key);
}

void RetriedClaims::mark_all(const ClaimGroupKey& key, ClaimGroup& group) {
  for (int shard = 0; shard < shards_; ++shard) mark(key, group, shard);
}

void RetriedClaims::add(WaitingClaim claim, bool retry_now) {
  const ClaimGroupKey key = ClaimGroupKey::of(claim.request);
  ClaimGroup& group = groups_[key];
  list_.add(std::move(claim));
  if (!group.marked.empty()) to_retry_.insert(key);
  if (retry_now) mark_all(key, group);
}

void RetriedClaims::note_ready(int shard, const std::string& queue) {
  for (auto it = groups_.lower_bound({queue, "", {}}); it != groups_.end(); ++it) {
    if (it->first.queue != queue) return;
    mark(it->first, it->second, shard);
  }
}

void RetriedClaims::note_ready(int shard) {
  for (auto& [key, group] : groups_) mark(key, group, shard);
}

void RetriedClaims::note_moved(const std::string& worker_id) {
  for (auto& [key, group] : groups_) {
    if (key.worker_id == worker_id) mark_all(key, group);
  }
}

void RetriedClaims::note_all() {
  for (auto& [key, group] : groups_) mark_all(key, group);
}

// Visits the groups of the key's worker in the key's queue.
template <typename Visit>
void RetriedClaims::each_of_worker(const ClaimGroupKey& key, const Visit& visit) {
  for (auto it = groups_.lower_bound({key.queue, key.worker_id, {}}); it != groups_.end(); ++it) {
    if (it->first.queue != key.queue || it->first.worker_id != key.worker_id) return;
    visit(it->first, it->second);
  }
}

bool RetriedClaims::may_retry(const ClaimGroupKey& key, const ClaimGroup& group) {
  if (group.marked.empty()) return false;
  std::size_t retrying = group.retrying;
  if (key.has_window()) {
    retrying = 0;
    each_of_worker(key, [&](const ClaimGroupKey&, const ClaimGroup& other) { retrying += other.retrying; });
  }
  return retrying < group.retrying_max;
}

std::optional<ClaimRetry> RetriedClaims::next_retry() {
  while (!to_retry_.empty()) {
    const ClaimGroupKey& key = *to_retry_.begin();
    ClaimGroup& group = groups_.at(key);
    const auto* waiting = list_.find(key);
    if (waiting == nullptr || !may_retry(key, group)) {
      to_retry_.erase(to_retry_.begin());
      continue;
    }
    ClaimRetry retry{*waiting->begin(), {}, {group.marked.begin(), group.marked.end()}};
    group.retrying += 1;
    // Several claims at once are each sent to all marked shards, so the last that may begin clears the marks.
    if (group.retrying == group.retrying_max || waiting->size() == 1) group.marked.clear();
    retry.claim = list_.take(retry.position);
    return retry;
  }
  return std::nullopt;
}

RetriedClaims::ClaimGroup& RetriedClaims::end_retry(const ClaimGroupKey& key) {
  ClaimGroup& group = groups_.at(key);
  group.retrying -= 1;
  if (!group.marked.empty()) to_retry_.insert(key);
  if (key.has_window()) {
    each_of_worker(key, [&](const ClaimGroupKey& other_key, const ClaimGroup& other) {
      if (!other.marked.empty()) to_retry_.insert(other_key);
    });
  }
  return group;
}

void RetriedClaims::found(const ClaimRetry& retry, int shard) {
  const ClaimGroupKey key = ClaimGroupKey::of(retry.claim.request);
  ClaimGroup& group = end_retry(key);
  if (!key.has_window()) group.retrying_max = std::min(group.retrying_max * 2, kRetryingMax);
  // The claim did not reach the shards behind the one that had something.
  const auto at = std::find(retry.shards.begin(), retry.shards.end(), shard);
  for (auto it = at; it != retry.shards.end(); ++it) mark(key, group, *it);
  settle(key);
}

void RetriedClaims::found_nothing(ClaimRetry retry) {
  end_retry(ClaimGroupKey::of(retry.claim.request)).retrying_max = 1;
  list_.put_back(retry.position, std::move(retry.claim));
}

void RetriedClaims::forget(const ReplyTo& reply_to) {
  if (const auto taken = list_.forget(reply_to)) settle(ClaimGroupKey::of(taken->request));
}

std::size_t RetriedClaims::waiting(const Event& event) const {
  std::size_t waiting = 0;
  for (auto it = groups_.lower_bound({event.queue, "", {}}); it != groups_.end(); ++it) {
    const auto& [key, group] = *it;
    if (key.queue != event.queue) break;
    if (key.tags.empty() || has_any(event.tags, key.tags)) waiting += list_.count(key) + group.retrying;
  }
  return waiting;
}

}  // namespace eventq
