// workers.h: a list of workers, made from their claims and reports, with the events that each holds.
//
// Pure bookkeeping: no threads, no clock. It decides nothing; leases are in the store.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "command/command.h"

namespace eventq {

// What a worker did with an event.
enum class WorkerActionKind : std::uint8_t {
  claimed,
  started,
  alive,  // a heartbeat
  completed,
  failed,
  released,  // given back unworked
  lost,      // the lease ended, or another caller reset or cancelled the event
};

struct WorkerAction {
  WorkerActionKind kind{};
  std::string worker_id;
  EventId event{};
};

class Workers {
 public:
  // Loads stored workers and the events in work.
  void recall(const std::vector<WorkerRow>& rows, const std::vector<Stored>& processing);

  void note(const WorkerAction& action, TimePoint now);

  // A worker sent a claim. Updates last_seen in memory only, because one write per poll would be too many.
  void note_asked(const std::string& worker_id, const Selector& selector, TimePoint now);

  // Adds what another Workers has counted since its last clear_changed().
  void add(const Workers& seen);

  // The changes since clear_changed(), to be added to the stored rows.
  [[nodiscard]] std::vector<WorkerRow> changed() const;
  [[nodiscard]] bool has_changed() const { return any_changed_; }
  void clear_changed();

  // Sorted by name. A worker is stale if it holds an event and was silent for `stale_after`, or if it did not
  // start a claimed event within `start_within`.
  [[nodiscard]] std::vector<WorkerState> list(TimePoint now, Millis stale_after, Millis start_within) const;

 private:
  struct TrackedEvent {
    TimePoint picked_at;
    TimePoint seen_at;
    bool started = false;
  };
  struct TrackedWorker {
    WorkerRow row;
    std::map<EventId, TrackedEvent> held;
    std::optional<Selector> asked;
    bool changed = false;
    std::int64_t stored_completed = 0;  // the part of row.completed that is stored
    std::int64_t stored_failed = 0;

    // The row with the counts that are not stored yet.
    [[nodiscard]] WorkerRow unstored() const {
      WorkerRow change = row;
      change.completed -= stored_completed;
      change.failed -= stored_failed;
      return change;
    }
  };

  TrackedWorker& find(const std::string& id, TimePoint now);
  void forget_old(TimePoint now);

  std::map<std::string, TrackedWorker> workers_;
  bool any_changed_ = false;
  TimePoint next_forget_;  // forget_old() may run again
};

}  // namespace eventq
