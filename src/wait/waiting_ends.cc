// waiting_ends.cc: see waiting_ends.h.
#include "wait/waiting_ends.h"

#include "base/assert.h"

namespace eventq {

std::string wait_key(EventId id) { return "e" + std::to_string(static_cast<std::int64_t>(id)); }
std::string wait_key(const WaitRequest::Correlated& correlation) { return "c" + correlation.id; }
std::string wait_key(const WaitRequest::Drained& queue) { return "q" + queue.queue; }

void WaitingEnds::add(std::string key, WaitingEnd wait) {
  const Place place = next_place_++;
  by_key_[key].insert(place);
  by_reply_to_.emplace(wait.reply_to, place);
  by_deadline_.emplace(wait.deadline, place);
  waits_.emplace(place, Entry{std::move(key), std::move(wait)});
}

WaitingEnd WaitingEnds::take(Place place) {
  auto node = waits_.extract(place);
  EVENTQ_ASSERT(!node.empty());
  Entry& entry = node.mapped();
  const auto found = by_key_.find(entry.key);
  found->second.erase(place);
  if (found->second.empty()) by_key_.erase(found);
  by_reply_to_.erase(entry.wait.reply_to);
  by_deadline_.erase({entry.wait.deadline, place});
  return std::move(entry.wait);
}

std::vector<WaitingEnd> WaitingEnds::take(const std::string& key) {
  std::vector<WaitingEnd> taken;
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return taken;
  const std::set<Place> places = found->second;
  for (const Place place : places) taken.push_back(take(place));
  return taken;
}

std::vector<WaitingEnd> WaitingEnds::take_expired(TimePoint now) {
  std::vector<WaitingEnd> taken;
  while (!by_deadline_.empty() && by_deadline_.begin()->first <= now) {
    taken.push_back(take(by_deadline_.begin()->second));
  }
  return taken;
}

std::vector<WaitingEnd> WaitingEnds::take_all() {
  std::vector<WaitingEnd> taken;
  while (!by_deadline_.empty()) taken.push_back(take(by_deadline_.begin()->second));
  return taken;
}

void WaitingEnds::forget(const ReplyTo& reply_to) {
  const auto found = by_reply_to_.find(reply_to);
  if (found != by_reply_to_.end()) take(found->second);
}

std::optional<TimePoint> WaitingEnds::next_deadline() const {
  if (by_deadline_.empty()) return std::nullopt;
  return by_deadline_.begin()->first;
}

}  // namespace eventq
