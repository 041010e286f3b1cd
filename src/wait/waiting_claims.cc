// waiting_claims.cc: see waiting_claims.h.
#include "wait/waiting_claims.h"

#include <algorithm>

#include "base/assert.h"

namespace eventq {
namespace {

// The tags a request is filed under.
std::vector<std::string> filed_under(const ClaimRequest& request) {
  return request.selector.tags.empty() ? std::vector<std::string>{""} : request.selector.tags;
}

Holder holder_of(const ClaimRequest& request) { return {request.worker_id, request.selector.queue}; }

// Takes `place` out of the set filed under `key`.
template <typename Key>
void erase(std::map<Key, std::set<std::uint64_t>>& sets, const Key& key, std::uint64_t place) {
  const auto found = sets.find(key);
  found->second.erase(place);
  if (found->second.empty()) sets.erase(found);
}

}  // namespace

void WaitingClaims::add(WaitingClaim waiter) { put_back(next_place_++, std::move(waiter)); }

void WaitingClaims::file(const WaitingClaim& waiter, Place place) {
  if (waiter.held_back) {
    by_holder_[holder_of(waiter.request)].insert(place);
    return;
  }
  for (const std::string& tag : filed_under(waiter.request)) {
    by_tag_[{waiter.request.selector.queue, tag}].insert(place);
  }
}

void WaitingClaims::unfile(const WaitingClaim& waiter, Place place) {
  if (waiter.held_back) return erase(by_holder_, holder_of(waiter.request), place);
  for (const std::string& tag : filed_under(waiter.request)) {
    erase(by_tag_, {waiter.request.selector.queue, tag}, place);
  }
}

void WaitingClaims::put_back(std::uint64_t place, WaitingClaim waiter) {
  file(waiter, place);
  by_deadline_.emplace(waiter.deadline, place);
  by_reply_to_.emplace(waiter.reply_to, place);
  waiters_.emplace(place, std::move(waiter));
}

WaitingClaim WaitingClaims::take(Place place) {
  auto node = waiters_.extract(place);
  EVENTQ_ASSERT(!node.empty());
  WaitingClaim waiter = std::move(node.mapped());
  unfile(waiter, place);
  by_deadline_.erase({waiter.deadline, place});
  by_reply_to_.erase(waiter.reply_to);
  return waiter;
}

std::optional<std::pair<std::uint64_t, WaitingClaim>> WaitingClaims::take_first(
    const std::string& queue, const std::vector<std::string>& tags) {
  if (waiters_.empty()) return std::nullopt;
  std::optional<Place> first;
  const auto consider = [&](const std::string& tag) {
    const auto found = by_tag_.find({queue, tag});
    if (found == by_tag_.end()) return;
    const Place place = *found->second.begin();
    first = std::min(first.value_or(place), place);
  };
  consider("");
  for (const std::string& tag : tags) consider(tag);
  if (!first) return std::nullopt;
  return std::pair(*first, take(*first));
}

std::vector<std::uint64_t> WaitingClaims::positions(const std::string& queue) const {
  std::set<Place> places;
  for (auto it = by_tag_.lower_bound({queue, ""}); it != by_tag_.end() && it->first.first == queue; ++it) {
    places.insert(it->second.begin(), it->second.end());
  }
  return {places.begin(), places.end()};
}

std::vector<std::uint64_t> WaitingClaims::held_back(const Holder& holder) const {
  const auto found = by_holder_.find(holder);
  if (found == by_holder_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

std::vector<std::uint64_t> WaitingClaims::held_back() const {
  std::vector<std::uint64_t> places;
  for (const auto& [holder, found] : by_holder_) places.insert(places.end(), found.begin(), found.end());
  return places;
}

std::vector<WaitingClaim> WaitingClaims::take_expired(TimePoint now) {
  std::vector<WaitingClaim> expired;
  while (!by_deadline_.empty() && by_deadline_.begin()->first <= now) {
    expired.push_back(take(by_deadline_.begin()->second));
  }
  return expired;
}

std::vector<WaitingClaim> WaitingClaims::take_all() {
  std::vector<WaitingClaim> all;
  while (!waiters_.empty()) all.push_back(take(waiters_.begin()->first));
  return all;
}

void WaitingClaims::forget(const ReplyTo& reply_to) {
  const auto found = by_reply_to_.find(reply_to);
  if (found != by_reply_to_.end()) take(found->second);
}

std::optional<TimePoint> WaitingClaims::next_deadline() const {
  if (by_deadline_.empty()) return std::nullopt;
  return by_deadline_.begin()->first;
}

std::size_t WaitingClaims::waiting(const std::string& queue, std::string_view tag) const {
  const auto found = by_tag_.find({queue, std::string(tag)});
  return found == by_tag_.end() ? 0 : found->second.size();
}

}  // namespace eventq
