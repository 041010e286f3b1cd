// waiting_ends.h: those who wait for an end: of an event, of a correlation, of a queue's emptying.
//
// Pure bookkeeping, as waiting_claims.h: no threads, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "command/envelope.h"

namespace eventq {

// What somebody waits for, as a key: one per event, correlation and queue.
std::string wait_key(EventId id);
std::string wait_key(const WaitRequest::Correlated& correlation);
std::string wait_key(const WaitRequest::Drained& queue);

struct WaitingEnd {
  ReplyTo reply_to;
  TimePoint deadline;
  Answer answer;  // what the rest of the command came to
};

class WaitingEnds {
 public:
  void add(std::string key, WaitingEnd wait);

  // Takes out those who wait for `key`, those whose time is over, or all.
  std::vector<WaitingEnd> take(const std::string& key);
  std::vector<WaitingEnd> take_expired(TimePoint now);
  std::vector<WaitingEnd> take_all();

  // Does nothing when there is none of that reply_to.
  void forget(const ReplyTo& reply_to);

  [[nodiscard]] std::optional<TimePoint> next_deadline() const;
  [[nodiscard]] std::size_t size() const { return waits_.size(); }
  [[nodiscard]] bool contains(const std::string& key) const { return by_key_.contains(key); }

 private:
  using Place = std::uint64_t;
  struct Entry {
    std::string key;
    WaitingEnd wait;
  };
  WaitingEnd take(Place place);

  Place next_place_ = 1;
  std::unordered_map<Place, Entry> waits_;
  std::unordered_map<std::string, std::set<Place>> by_key_;
  std::map<ReplyTo, Place> by_reply_to_;
  std::set<std::pair<TimePoint, Place>> by_deadline_;
};

}  // namespace eventq
