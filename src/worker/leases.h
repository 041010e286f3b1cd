// leases.h: when the leases that a worker holds want a sign of life, and when they are over.
//
// A sign of life is due every third of a lease, counted from before the call that gave or renewed it. The end
// of a new lease is counted from the arrival of the answer, since the call may have waited for the event for
// longer than the lease is; then a sign of life is due at once.
//
// Threads: none of its own; the owner locks.
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

// One claim of one event: the same worker may hold the next attempt while a handler still runs for this one.
struct Attempt {
  EventId id{};
  int number = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a 0
  friend auto operator<=>(const Attempt&, const Attempt&) = default;
};

class Leases {
 public:
  // A lease that was asked for at `asked` and came at `arrived`.
  void add(Attempt attempt, SteadyTime asked, SteadyTime arrived, Millis length);

  // The queue has renewed it; asked for at `asked`. Nothing when it is not held any more.
  void renew(Attempt attempt, SteadyTime asked);

  void remove(Attempt attempt);

  // Those that want a sign of life by `now` or soon after, so that one call serves many; they do until they
  // are renewed or removed. Soon is half as long as from one sign of life to the next.
  [[nodiscard]] std::vector<Attempt> due(SteadyTime now) const;

  // Those that were over by `now`. Each is told once, and again only after it was renewed.
  [[nodiscard]] std::vector<Attempt> take_ended(SteadyTime now);

  // When there will be something due, or over. SteadyTime::max() when there is nothing.
  [[nodiscard]] SteadyTime next_due() const;
  [[nodiscard]] SteadyTime next_end() const;

  // Zero when it is not held.
  [[nodiscard]] Millis length(Attempt attempt) const;

 private:
  struct Times {
    Millis length;
    SteadyTime due;
    SteadyTime end;
  };
  using TimeIndex = std::set<std::pair<SteadyTime, Attempt>>;

  std::map<Attempt, Times> held_;
  TimeIndex due_;   // of every lease
  TimeIndex ends_;  // of those not yet told
};

}  // namespace eventq
