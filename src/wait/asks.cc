// asks.cc: see asks.h.
#include "wait/asks.h"

#include <utility>

namespace eventq {

// The worker's entry for the selector; a new entry has no times.
Asks::Ask& Asks::find(std::vector<Ask>& asks, const Selector& selector) const {
  const auto found = std::ranges::find(asks, selector, &Ask::selector);
  if (found != asks.end()) return *found;
  if (asks.size() < kSelectorsMax) return asks.emplace_back(Ask{selector, {}, {}, false});
  Ask& oldest = *std::ranges::min_element(asks, {}, &Ask::asked_at);
  oldest = {selector, {}, {}, false};
  return oldest;
}

Asks::ToStore Asks::note(const std::string& worker_id, const Selector& selector, TimePoint now) {
  if (workers_.size() >= kWorkersMax && !workers_.contains(worker_id)) {
    if (now < next_drop_) return ToStore::nothing;
    drop(now - kKept);
    next_drop_ = now + kKept;  // a scan at every request would be slow if most workers stay
    if (workers_.size() >= kWorkersMax) return ToStore::nothing;
  }
  AskingWorker& worker = workers_[worker_id];
  Ask& ask = find(worker.asks, selector);
  ask.asked_at = std::max(ask.asked_at, now);
  if (ask.to_store) return ToStore::soon;
  const Millis stored_ago = ask.asked_at - ask.stored_at;
  if (stored_ago < refresh_) return ToStore::nothing;
  ask.to_store = true;
  unstored_.insert(worker_id);
  if (stored_ago <= stale_after_ || now < worker.next_at_once) return ToStore::soon;
  worker.next_at_once = now + refresh_;
  return ToStore::at_once;
}

void Asks::recall(const std::vector<WorkerAsk>& asks) {
  for (const WorkerAsk& it : asks) {
    Ask& ask = find(workers_[it.worker_id].asks, it.selector);
    ask.asked_at = ask.stored_at = std::max(ask.asked_at, it.asked_at);
  }
}

std::vector<WorkerAsk> Asks::all() const {
  std::vector<WorkerAsk> all;
  for (const auto& [worker_id, worker] : workers_) {
    for (const Ask& ask : worker.asks) all.push_back({worker_id, ask.selector, ask.asked_at});
  }
  return all;
}

std::vector<WorkerAsk> Asks::to_store() const {
  std::vector<WorkerAsk> unstored;
  for (const std::string& worker_id : unstored_) {
    const auto found = workers_.find(worker_id);
    if (found == workers_.end()) continue;
    for (const Ask& ask : found->second.asks) {
      if (ask.to_store) unstored.push_back({worker_id, ask.selector, ask.asked_at});
    }
  }
  return unstored;
}

void Asks::note_stored() {
  for (const std::string& worker_id : std::exchange(unstored_, {})) {
    const auto found = workers_.find(worker_id);
    if (found == workers_.end()) continue;
    for (Ask& ask : found->second.asks) {
      if (ask.to_store) ask.stored_at = ask.asked_at;
      ask.to_store = false;
    }
  }
}

void Asks::drop(TimePoint before) {
  for (auto& [worker_id, worker] : workers_) {
    std::erase_if(worker.asks, [&](const Ask& ask) { return ask.asked_at < before; });
  }
  std::erase_if(workers_, [](const auto& worker) { return worker.second.asks.empty(); });
}

}  // namespace eventq
