// waiting_claims.h: long polls that found nothing yet, served first come, first served per tag.
//
// Pure bookkeeping: no threads, no clock. Between batches no waiter matches a ready event, except those
// that are held back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/envelope.h"

namespace eventq {

struct WaitingClaim {
  ReplyTo reply_to;
  ClaimRequest request;
  TimePoint deadline;
  Answer answer;           // what the rest of the command came to, to be sent with the claim
  bool held_back = false;  // its worker holds as many events as its window has room for
};

// Whose events of which queue are counted: worker_id, queue.
using Holder = std::pair<std::string, std::string>;

class WaitingClaims {
 public:
  // Behind all others.
  void add(WaitingClaim waiter);

  // Takes out the waiter that came first among those an event of this queue and these tags
  // would serve, and that are not held back.
  std::optional<std::pair<std::uint64_t, WaitingClaim>> take_first(const std::string& queue,
                                                                   const std::vector<std::string>& tags);

  // The places of those who wait for events of a queue and are not held back, first come first; and one of
  // them taken out.
  [[nodiscard]] std::vector<std::uint64_t> positions(const std::string& queue) const;
  // The places of those who are held back: of one holder, or all.
  [[nodiscard]] std::vector<std::uint64_t> held_back(const Holder& holder) const;
  [[nodiscard]] std::vector<std::uint64_t> held_back() const;
  WaitingClaim take(std::uint64_t place);

  // Puts a taken waiter back in its old place.
  void put_back(std::uint64_t place, WaitingClaim waiter);

  // Takes out those whose time is over, or all of them.
  std::vector<WaitingClaim> take_expired(TimePoint now);
  std::vector<WaitingClaim> take_all();

  // Does nothing when there is none of that reply_to.
  void forget(const ReplyTo& reply_to);

  [[nodiscard]] std::optional<TimePoint> next_deadline() const;

  [[nodiscard]] std::size_t size() const { return waiters_.size(); }

  // How many wait for this tag and are not held back; the empty tag counts those that name none.
  [[nodiscard]] std::size_t waiting(const std::string& queue, std::string_view tag) const;

 private:
  using Place = std::uint64_t;
  using Key = std::pair<std::string, std::string>;  // queue, tag; the empty tag stands for any

  void file(const WaitingClaim& waiter, Place place);
  void unfile(const WaitingClaim& waiter, Place place);

  Place next_place_ = 1;
  std::map<Place, WaitingClaim> waiters_;
  std::map<Key, std::set<Place>> by_tag_;        // not of those held back
  std::map<Holder, std::set<Place>> by_holder_;  // only of those
  std::map<ReplyTo, Place> by_reply_to_;
  std::set<std::pair<TimePoint, Place>> by_deadline_;
};

}  // namespace eventq
