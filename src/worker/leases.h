// leases.h: when the leases that a worker holds must be renewed, and when they expire.
//
// A heartbeat is due every third of a lease, counted from before the call that granted or renewed the lease.
// The end of a new lease is counted from the arrival of the answer, because the call may have waited for the
// event longer than the lease lasts. Then a heartbeat is due at once.
//
// Threads: not synchronized; the owner locks.
#pragma once

#include <compare>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/steady.h"
#include "eventq/clock.h"
#include "eventq/event.h"

namespace eventq {

// One claim of one event. The id alone would not do: the same worker may hold the next attempt while a
// handler still runs for this one.
struct Attempt {
  EventId id{};
  int number = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a 0
  friend auto operator<=>(const Attempt&, const Attempt&) = default;
};

class Leases {
 public:
  // Adds a lease that was requested at `asked` and granted by an answer that arrived at `arrived`.
  void add(Attempt attempt, SteadyTime asked, SteadyTime arrived, Millis length);

  // The queue has renewed the lease, as requested at `asked`. Does nothing when the lease was removed.
  void renew(Attempt attempt, SteadyTime asked);

  void remove(Attempt attempt);

  // The leases that need a heartbeat by `now` or soon after, so that one request serves many. Soon is half of
  // the interval between two heartbeats. A lease stays due until it is renewed or removed.
  [[nodiscard]] std::vector<Attempt> due(SteadyTime now) const;

  // The leases that have expired by `now`. Each is returned once, and again only after it was renewed.
  [[nodiscard]] std::vector<Attempt> take_ended(SteadyTime now);

  // When the next lease is due, or expires. SteadyTime::max() when there is none.
  [[nodiscard]] SteadyTime next_due() const;
  [[nodiscard]] SteadyTime next_end() const;

  // Zero when the lease is not held.
  [[nodiscard]] Millis length(Attempt attempt) const;

 private:
  struct Times {
    Millis length;
    SteadyTime due;
    SteadyTime end;
  };
  using TimeIndex = std::set<std::pair<SteadyTime, Attempt>>;

  std::map<Attempt, Times> held_;
  TimeIndex due_;   // every lease
  TimeIndex ends_;  // the leases that take_ended() has not returned yet
};

}  // namespace eventq
