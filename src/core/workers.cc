// workers.cc: see workers.h.
#include "core/workers.h"

#include <algorithm>

#include "base/time_text.h"
#include "eventq/limits.h"

namespace eventq {
namespace {

// Beyond this many, workers that hold no event and were silent for kKept are forgotten, so that worker ids
// which change with every process do not fill the memory.
constexpr std::size_t kWorkersMax = 10'000;
constexpr std::chrono::minutes kKept{1};

std::string number(EventId id) { return std::to_string(static_cast<std::int64_t>(id)); }

std::string whole_seconds(Millis time) {
  return format_duration(std::chrono::floor<std::chrono::seconds>(time));
}

}  // namespace

void Workers::recall(const Recalled& recalled) {
  for (const WorkerRow& row : recalled.workers) {
    TrackedWorker& worker = workers_[row.id];
    worker.row = row;
    worker.stored_completed = row.completed;
    worker.stored_failed = row.failed;
  }
  asks_.recall(recalled.asks);
  for (const WorkerAsk& ask : recalled.asks) {
    TrackedWorker& worker = find(ask.worker_id, ask.asked_at);
    worker.row.last_seen = std::max(worker.row.last_seen, ask.asked_at);
  }
  for (const Stored& stored : recalled.processing) {
    const Event& event = stored.event;
    TrackedWorker& worker = find(event.worker_id, event.picked_at);
    worker.row.last_seen = std::max(worker.row.last_seen, event.updated_at);
    worker.held[event.id] = {event.picked_at, event.updated_at, event.updated_at > event.picked_at};
  }
}

Workers::TrackedWorker& Workers::find(const std::string& id, TimePoint now) {
  auto [found, is_new] = workers_.try_emplace(id);
  if (is_new) found->second.row = {id, now, now, 0, 0};
  return found->second;
}

void Workers::forget_old(TimePoint now) {
  std::erase_if(workers_, [&](const auto& entry) {
    return entry.second.held.empty() && entry.second.row.last_seen < now - kKept;
  });
  next_forget_ = now + kKept;  // a scan at every action would be slow if most workers stay
}

void Workers::note(const WorkerAction& action, TimePoint now) {
  if (workers_.size() > kWorkersMax && now >= next_forget_) forget_old(now);
  TrackedWorker& worker = find(action.worker_id, now);
  worker.changed = true;
  any_changed_ = true;
  // A lost event is no sign of life: the lease ended, or another caller took the event.
  if (action.kind != WorkerActionKind::lost) worker.row.last_seen = now;
  switch (action.kind) {
    case WorkerActionKind::claimed: worker.held[action.event] = {now, now, false}; return;
    case WorkerActionKind::started:
    case WorkerActionKind::alive: {
      TrackedEvent& held = worker.held[action.event];
      held.seen_at = now;
      held.started = true;
      return;
    }
    case WorkerActionKind::completed: worker.row.completed += 1; break;
    case WorkerActionKind::failed: worker.row.failed += 1; break;
    case WorkerActionKind::released:
    case WorkerActionKind::lost: break;
  }
  worker.held.erase(action.event);
}

void Workers::note_asked(const std::string& worker_id, const Selector& selector, TimePoint now) {
  if (workers_.size() > kWorkersMax && now >= next_forget_) forget_old(now);
  if (workers_.size() > kWorkersMax && !workers_.contains(worker_id)) return;
  TrackedWorker& worker = find(worker_id, now);
  worker.row.last_seen = std::max(worker.row.last_seen, now);
  if (asks_.note(worker_id, selector, now) == Asks::ToStore::nothing) return;
  worker.changed = true;
  any_changed_ = true;
}

void Workers::note_waited(const std::string& worker_id, const Selector& selector, TimePoint now) {
  if (asks_.contains(worker_id)) note_asked(worker_id, selector, now);
}

void Workers::add(const Workers& seen) {
  for (const auto& [id, theirs] : seen.workers_) {
    const WorkerRow change = theirs.unstored();
    TrackedWorker& worker = find(id, change.first_seen);
    worker.row.last_seen = std::max(worker.row.last_seen, change.last_seen);
    worker.row.completed += change.completed;
    worker.row.failed += change.failed;
  }
}

std::vector<WorkerRow> Workers::changed() const {
  std::vector<WorkerRow> rows;
  for (const auto& [id, worker] : workers_) {
    if (worker.changed) rows.push_back(worker.unstored());
  }
  return rows;
}

void Workers::clear_changed() {
  any_changed_ = false;
  asks_.note_stored();
  for (auto& [id, worker] : workers_) {
    worker.changed = false;
    worker.stored_completed = worker.row.completed;
    worker.stored_failed = worker.row.failed;
  }
}

void Workers::drop(TimePoint before) {
  asks_.drop(before);
  std::erase_if(workers_, [&](const auto& entry) {
    return entry.second.held.empty() && !entry.second.changed && entry.second.row.last_seen < before;
  });
}

// One reason is shown.
void Workers::set_stale(ListedWorker& listed, const TrackedWorker& worker, TimePoint now) const {
  for (const auto& [event, held] : worker.held) {
    if (now - held.seen_at > times_.stale_after) {
      listed.stale_because =
          "No sign of life for event " + number(event) + " for " + whole_seconds(now - held.seen_at) + ".";
    } else if (!held.started && now - held.picked_at > times_.start_within) {
      listed.stale_because = "It claimed event " + number(event) + " " + whole_seconds(now - held.picked_at) +
                             " ago and has not begun it.";
    }
    if (!listed.stale_because.empty()) return;
  }
}

// A worker with several selectors uses them in turn, so those used shortly before the last one count too.
void Workers::set_asks(ListedWorker& listed, std::span<const WorkerAsk> asks) const {
  const auto last = std::ranges::max_element(asks, {}, &WorkerAsk::asked_at);
  if (last == asks.end()) return;
  listed.asked = last->selector;
  for (const WorkerAsk& ask : asks) {
    if (last->asked_at - ask.asked_at <= times_.stale_after) listed.asks.push_back(ask.selector);
  }
}

std::vector<ListedWorker> Workers::list(TimePoint now) const {
  const std::vector<WorkerAsk> all_asks = asks_.all();  // sorted by worker
  std::vector<ListedWorker> workers;
  for (const auto& [id, worker] : workers_) {
    const std::span<const WorkerAsk> asks(std::ranges::lower_bound(all_asks, id, {}, &WorkerAsk::worker_id),
                                          std::ranges::upper_bound(all_asks, id, {}, &WorkerAsk::worker_id));
    ListedWorker listed{.row = worker.row};
    for (const auto& [event, held] : worker.held) listed.holding.push_back(event);
    set_stale(listed, worker, now);
    set_asks(listed, asks);
    WorkerFacts facts{.stale = !listed.stale_because.empty(), .holds = !worker.held.empty()};
    for (const WorkerAsk& ask : asks) {
      const Millis ago = now - ask.asked_at;
      facts.asked_ago = std::min(facts.asked_ago.value_or(ago), ago);
    }
    listed.asked_lately = facts.asked_ago && *facts.asked_ago <= times_.stale_after;
    listed.state = state_of(facts, times_.stale_after);
    const bool left = listed.state == WorkerState::gone && now - worker.row.last_seen > limits::kWorkerListed;
    if (!left) workers.push_back(std::move(listed));
  }
  return workers;
}

}  // namespace eventq
