// workers.cc: see workers.h.
#include "core/workers.h"

#include <algorithm>

#include "base/time_text.h"

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

void Workers::recall(const std::vector<WorkerRow>& rows, const std::vector<Stored>& processing) {
  for (const WorkerRow& row : rows) {
    TrackedWorker& worker = workers_[row.id];
    worker.row = row;
    worker.stored_completed = row.completed;
    worker.stored_failed = row.failed;
  }
  for (const Stored& stored : processing) {
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
  worker.row.last_seen = now;
  if (worker.asked != selector) worker.asked = selector;
}

void Workers::add(const Workers& seen) {
  for (const auto& [id, theirs] : seen.workers_) {
    const WorkerRow change = theirs.unstored();
    TrackedWorker& worker = find(id, change.first_seen);
    worker.row.last_seen = std::max(worker.row.last_seen, change.last_seen);
    worker.row.completed += change.completed;
    worker.row.failed += change.failed;
    if (theirs.asked) worker.asked = theirs.asked;
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
  for (auto& [id, worker] : workers_) {
    worker.changed = false;
    worker.stored_completed = worker.row.completed;
    worker.stored_failed = worker.row.failed;
  }
}

std::vector<WorkerState> Workers::list(TimePoint now, Millis stale_after, Millis start_within) const {
  std::vector<WorkerState> states;
  for (const auto& [id, worker] : workers_) {
    WorkerState state{.row = worker.row, .asked = worker.asked};
    for (const auto& [event, held] : worker.held) {
      state.holding.push_back(event);
      if (state.stale) continue;  // one reason is shown
      if (now - held.seen_at > stale_after) {
        state.stale_because =
            "No sign of life for event " + number(event) + " for " + whole_seconds(now - held.seen_at) + ".";
      } else if (!held.started && now - held.picked_at > start_within) {
        state.stale_because = "It claimed event " + number(event) + " " +
                              whole_seconds(now - held.picked_at) + " ago and has not begun it.";
      }
      state.stale = !state.stale_because.empty();
    }
    states.push_back(std::move(state));
  }
  return states;
}

}  // namespace eventq
