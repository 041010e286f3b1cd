// retried_claims.cc: see retried_claims.h.
#include "wait/retried_claims.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "model/tags.h"

namespace eventq {
namespace {

// More at once would be one commit with as many claims.
constexpr std::size_t kLookingMax = 64;

}  // namespace

RetriedClaims::Key RetriedClaims::key_of(const ClaimRequest& request) {
  return {request.selector.queue, request.window > 0 ? request.worker_id : "", request.selector.tags};
}

void RetriedClaims::put(Place place, WaitingClaim waiter) {
  const Key key = key_of(waiter.request);
  by_place_.emplace(place, key);
  by_reply_to_.emplace(waiter.reply_to, place);
  by_deadline_.emplace(waiter.deadline, place);
  Group& group = groups_[key];
  group.waiting.emplace(place, std::move(waiter));
  if (!group.marked.empty()) to_look_.insert(key);
}

WaitingClaim RetriedClaims::take(Place place) {
  const auto found = by_place_.find(place);
  EVENTQ_ASSERT(found != by_place_.end());
  const Key key = found->second;
  auto node = groups_.at(key).waiting.extract(place);
  by_place_.erase(found);
  by_reply_to_.erase(node.mapped().reply_to);
  by_deadline_.erase({node.mapped().deadline, place});
  settle(key);
  return std::move(node.mapped());
}

// A group without anybody is forgotten, and its marks with it.
void RetriedClaims::settle(const Key& key) {
  const auto found = groups_.find(key);
  if (!found->second.waiting.empty() || found->second.looking > 0) return;
  groups_.erase(found);
  to_look_.erase(key);
}

void RetriedClaims::mark(const Key& key, Group& group, int shard) {
  group.marked.insert(shard);
  to_look_.insert(key);
}

void RetriedClaims::mark_all(const Key& key, Group& group) {
  for (int shard = 0; shard < shards_; ++shard) mark(key, group, shard);
}

void RetriedClaims::add(WaitingClaim waiter, bool look) {
  const Key key = key_of(waiter.request);
  put(next_place_++, std::move(waiter));
  if (look) mark_all(key, groups_.at(key));
}

void RetriedClaims::note_ready(int shard, const std::string& queue) {
  for (auto it = groups_.lower_bound({queue, "", {}}); it != groups_.end(); ++it) {
    if (std::get<0>(it->first) != queue) return;
    mark(it->first, it->second, shard);
  }
}

void RetriedClaims::note_ready(int shard) {
  for (auto& [key, group] : groups_) mark(key, group, shard);
}

void RetriedClaims::note_moved(const std::string& worker_id) {
  for (auto& [key, group] : groups_) {
    if (std::get<1>(key) == worker_id) mark_all(key, group);
  }
}

void RetriedClaims::note_all() {
  for (auto& [key, group] : groups_) mark_all(key, group);
}

bool RetriedClaims::has_window(const Key& key) { return !std::get<1>(key).empty(); }

// The groups of the worker that the key is of, in its queue.
template <typename Visit>
void RetriedClaims::each_of_worker(const Key& key, const Visit& visit) {
  const auto& [queue, worker, tags] = key;
  for (auto it = groups_.lower_bound({queue, worker, {}}); it != groups_.end(); ++it) {
    if (std::get<0>(it->first) != queue || std::get<1>(it->first) != worker) return;
    visit(it->first, it->second);
  }
}

bool RetriedClaims::may_look(const Key& key, const Group& group) {
  if (group.marked.empty() || group.waiting.empty()) return false;
  std::size_t looking = group.looking;
  if (has_window(key)) {
    looking = 0;
    each_of_worker(key, [&](const Key&, const Group& its) { looking += its.looking; });
  }
  return looking < group.looking_max;
}

std::optional<RetriedClaims::Look> RetriedClaims::next_look() {
  while (!to_look_.empty()) {
    const Key key = *to_look_.begin();
    Group& group = groups_.at(key);
    if (!may_look(key, group)) {
      to_look_.erase(key);
      continue;
    }
    const Place place = group.waiting.begin()->first;
    Look look{place, {}, {group.marked.begin(), group.marked.end()}};
    group.looking += 1;
    // Of several at once each looks everywhere; the mark is gone with the last that may begin now.
    if (group.looking == group.looking_max || group.waiting.size() == 1) group.marked.clear();
    look.waiter = take(place);
    return look;
  }
  return std::nullopt;
}

RetriedClaims::Group& RetriedClaims::end_look(const Key& key) {
  Group& group = groups_.at(key);
  group.looking -= 1;
  if (!group.marked.empty()) to_look_.insert(key);
  if (has_window(key)) {
    each_of_worker(key, [&](const Key& other, const Group& its) {
      if (!its.marked.empty()) to_look_.insert(other);
    });
  }
  return group;
}

void RetriedClaims::found(const Look& look, int shard) {
  const Key key = key_of(look.waiter.request);
  Group& group = end_look(key);
  if (!has_window(key)) group.looking_max = std::min(group.looking_max * 2, kLookingMax);
  // What it did not get to is still to be looked at.
  const auto at = std::find(look.shards.begin(), look.shards.end(), shard);
  for (auto it = at; it != look.shards.end(); ++it) mark(key, group, *it);
  settle(key);
}

void RetriedClaims::found_nothing(Look look) {
  const Key key = key_of(look.waiter.request);
  end_look(key).looking_max = 1;
  put(look.place, std::move(look.waiter));
}

std::vector<WaitingClaim> RetriedClaims::take_expired(TimePoint now) {
  std::vector<WaitingClaim> expired;
  while (!by_deadline_.empty() && by_deadline_.begin()->first <= now) {
    expired.push_back(take(by_deadline_.begin()->second));
  }
  return expired;
}

std::vector<WaitingClaim> RetriedClaims::take_all() {
  std::vector<WaitingClaim> all;
  while (!by_place_.empty()) all.push_back(take(by_place_.begin()->first));
  return all;
}

bool RetriedClaims::forget(const ReplyTo& reply_to) {
  const auto found = by_reply_to_.find(reply_to);
  if (found == by_reply_to_.end()) return false;
  take(found->second);
  return true;
}

std::size_t RetriedClaims::waiting(const Event& event) const {
  std::size_t waiting = 0;
  for (auto it = groups_.lower_bound({event.queue, "", {}}); it != groups_.end(); ++it) {
    const auto& [queue, worker, tags] = it->first;
    if (queue != event.queue) break;
    if (tags.empty() || has_any(event.tags, tags)) waiting += it->second.waiting.size() + it->second.looking;
  }
  return waiting;
}

std::optional<TimePoint> RetriedClaims::next_deadline() const {
  if (by_deadline_.empty()) return std::nullopt;
  return by_deadline_.begin()->first;
}

}  // namespace eventq
