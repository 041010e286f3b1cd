// wait_list.h: entries that wait until something happens to one of their keys, in the order they arrived.
//
// The folder wait holds the callers that wait: claims for events, and waits for an end. It decides the order
// in which they are served, but claims nothing itself: the core (one database) and the router (several) do.
//
// This is the one list under waiting claims and waiting ends, for a file and for shards alike. What differs
// is on top: WaitingClaims serves claims inside the commit that wakes them, RetriedClaims sends them to the
// shards again, WaitingEnds and RetriedEnds do the same for ends.
//
// An entry leaves when it is taken by its position or its key, when its deadline has passed, when its caller
// is forgotten, or when all are dismissed.
//
// Pure bookkeeping: no threads, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "command/envelope.h"

namespace eventq {

// Entry: has `reply_to` and `deadline`. KeysOf: names the type Key and its transparent order KeyLess, and
// calls `visit` in each(entry, visit) with every key of the entry, or with a view from which a Key can be
// made and to which it compares.
template <typename Entry, typename KeysOf>
class WaitList {
 public:
  using Key = typename KeysOf::Key;
  using Position = std::uint64_t;  // grows in the order of arrival
  using Positions = std::set<Position>;

  // Behind all others.
  void add(Entry entry) { put_back(next_position_++, std::move(entry)); }

  // Returns an entry that take() gave out to its old position.
  void put_back(Position position, Entry entry) {
    KeysOf::each(entry, [&](const auto& key) { by_key_[Key(key)].insert(position); });
    by_reply_to_.emplace(entry.reply_to, position);
    by_deadline_.emplace(entry.deadline, position);
    entries_.emplace(position, std::move(entry));
  }

  // REQUIRES: an entry is at this position.
  Entry take(Position position) {
    auto node = entries_.extract(position);
    EVENTQ_ASSERT(!node.empty());
    Entry& entry = node.mapped();
    KeysOf::each(entry, [&](const auto& key) {
      const auto found = by_key_.find(key);
      found->second.erase(position);
      if (found->second.empty()) by_key_.erase(found);
    });
    by_reply_to_.erase(entry.reply_to);
    by_deadline_.erase({entry.deadline, position});
    return std::move(entry);
  }

  // Takes out the entries that wait for `key`, those whose deadline is at or before `now`, or all of them.
  std::vector<Entry> take(const Key& key) {
    std::vector<Entry> taken;
    const Positions* waiting = find(key);
    // The last take() erases the set, so the loop must not read it again.
    for (std::size_t left = waiting == nullptr ? 0 : waiting->size(); left > 0; --left)
      taken.push_back(take(*waiting->begin()));
    return taken;
  }
  std::vector<Entry> take_expired(TimePoint now) {
    std::vector<Entry> expired;
    while (!by_deadline_.empty() && by_deadline_.begin()->first <= now) {
      expired.push_back(take(by_deadline_.begin()->second));
    }
    return expired;
  }
  std::vector<Entry> take_all() {
    std::vector<Entry> all;
    while (!entries_.empty()) all.push_back(take(entries_.begin()->first));
    return all;
  }

  // Takes out the entry of this reply_to, if there is one.
  std::optional<Entry> forget(const ReplyTo& reply_to) {
    const auto found = by_reply_to_.find(reply_to);
    if (found == by_reply_to_.end()) return std::nullopt;
    return take(found->second);
  }

  [[nodiscard]] std::optional<TimePoint> next_deadline() const {
    if (by_deadline_.empty()) return std::nullopt;
    return by_deadline_.begin()->first;
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  // All entries, in the order of arrival.
  template <typename Visit>
  void each(const Visit& visit) const {
    for (const auto& [position, entry] : entries_) visit(entry);
  }

  // The entries that wait for a key, which may be a view of one. Null when there is none.
  template <typename AnyKey>
  [[nodiscard]] const Positions* find(const AnyKey& key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &found->second;
  }
  template <typename AnyKey>
  [[nodiscard]] std::size_t count(const AnyKey& key) const {
    const Positions* found = find(key);
    return found == nullptr ? 0 : found->size();
  }

 protected:
  using Index = std::map<Key, Positions, typename KeysOf::KeyLess>;
  [[nodiscard]] const Index& by_key() const { return by_key_; }

 private:
  Position next_position_ = 1;
  std::map<Position, Entry> entries_;
  Index by_key_;  // no set in it is empty
  std::map<ReplyTo, Position> by_reply_to_;
  std::set<std::pair<TimePoint, Position>> by_deadline_;
};

}  // namespace eventq
