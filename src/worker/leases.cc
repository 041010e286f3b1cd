// leases.cc: see leases.h.
#include "worker/leases.h"

namespace eventq {

void Leases::add(Attempt attempt, SteadyTime asked, SteadyTime arrived, Millis length) {
  remove(attempt);
  const Times times{length, asked + length / 3, arrived + length};
  held_.emplace(attempt, times);
  due_.emplace(times.due, attempt);
  ends_.emplace(times.end, attempt);
}

void Leases::renew(Attempt attempt, SteadyTime asked) {
  const auto held = held_.find(attempt);
  if (held != held_.end()) add(attempt, asked, asked, held->second.length);
}

void Leases::remove(Attempt attempt) {
  const auto held = held_.find(attempt);
  if (held == held_.end()) return;
  due_.erase({held->second.due, attempt});
  ends_.erase({held->second.end, attempt});
  held_.erase(held);
}

std::vector<Attempt> Leases::due(SteadyTime now) const {
  std::vector<Attempt> found;
  // A sixth of a lease is half of the interval between two heartbeats.
  for (const auto& [attempt, times] : held_) {
    if (times.due - times.length / 6 <= now) found.push_back(attempt);
  }
  return found;
}

std::vector<Attempt> Leases::take_ended(SteadyTime now) {
  std::vector<Attempt> found;
  while (!ends_.empty() && ends_.begin()->first <= now) {
    found.push_back(ends_.begin()->second);
    ends_.erase(ends_.begin());
  }
  return found;
}

SteadyTime Leases::next_due() const { return due_.empty() ? SteadyTime::max() : due_.begin()->first; }

SteadyTime Leases::next_end() const { return ends_.empty() ? SteadyTime::max() : ends_.begin()->first; }

Millis Leases::length(Attempt attempt) const {
  const auto held = held_.find(attempt);
  return held == held_.end() ? Millis(0) : held->second.length;
}

}  // namespace eventq
