// workers.h: a list of workers, made from their claims and reports, with the events that each holds.
//
// Pure bookkeeping: no threads, no clock. It decides nothing; leases are in the store.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "command/command.h"
#include "wait/asks.h"

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

// When a worker is not active any more, and when it is stale.
struct WorkerTimes {
  Millis stale_after = std::chrono::seconds(30);
  Millis start_within = std::chrono::minutes(5);  // of a claim; then the worker is stale
};

class Workers {
 public:
  explicit Workers(const WorkerTimes& times) : times_(times), asks_(times.stale_after) {}

  // Loads stored workers with their requests, and the events in work.
  void recall(const Recalled& recalled);

  void note(const WorkerAction& action, TimePoint now);

  // A worker asked for events. The change is stored at times only, see asks.h.
  void note_asked(const std::string& worker_id, const Selector& selector, TimePoint now);
  // A request that was noted before waits, or waited until now. It does not count if its worker signed off.
  void note_waited(const std::string& worker_id, const Selector& selector, TimePoint now);
  void sign_off(const std::string& worker_id) { asks_.sign_off(worker_id); }

  // Adds what another Workers has counted since its last clear_changed(). Requests are not added, because a
  // worker may have signed off elsewhere since.
  void add(const Workers& seen);

  // The changes since clear_changed(), to be added to the stored rows, and requests to store with them.
  [[nodiscard]] std::vector<WorkerRow> changed() const;
  [[nodiscard]] std::vector<WorkerAsk> asks_to_store() const { return asks_.to_store(); }
  [[nodiscard]] bool has_changed() const { return any_changed_; }
  void clear_changed();

  // Forgets workers that hold no event and whose last call was before that time.
  void drop(TimePoint before);

  // Sorted by name, without workers whose last call was longer ago than limits::kWorkerListed. A worker is
  // stale if it holds an event and was silent for `stale_after`, or if it did not start a claimed event
  // within `start_within`.
  [[nodiscard]] std::vector<ListedWorker> list(TimePoint now) const;

 private:
  struct TrackedEvent {
    TimePoint picked_at;
    TimePoint seen_at;
    bool started = false;
  };
  struct TrackedWorker {
    WorkerRow row;
    std::map<EventId, TrackedEvent> held;
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
  void set_stale(ListedWorker& listed, const TrackedWorker& worker, TimePoint now) const;
  void set_asks(ListedWorker& listed, std::span<const WorkerAsk> asks) const;

  // Set in the constructor, never changed.
  const WorkerTimes times_;

  Asks asks_;
  std::map<std::string, TrackedWorker> workers_;
  bool any_changed_ = false;
  TimePoint next_forget_;  // forget_old() may run again
};

}  // namespace eventq
