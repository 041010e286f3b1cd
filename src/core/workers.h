// workers.h: who works, as what they ask for, take and report shows it.
//
// Pure bookkeeping, as waiters.h: no threads, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "command/command.h"

namespace eventq {

// What a worker did to an event.
struct WorkerAction {
  enum class Kind : std::uint8_t {
    claimed,
    started,
    alive,  // a heartbeat
    completed,
    failed,
    released,  // given back unworked
    lost,      // it holds the event no longer, and not by its own doing
  };
  Kind kind{};
  std::string worker_id;
  EventId event{};
};

class Workers {
 public:
  // What the store knows of them, and the events that they hold.
  void recall(const std::vector<WorkerRow>& rows, const std::vector<Stored>& processing);

  void note(const WorkerAction& action, TimePoint now);

  // A worker asked for events: a sign of life, which is not worth storing.
  void note_asked(const std::string& worker_id, const Selector& selector, TimePoint now);

  // What another has seen of them since its last clear_changed().
  void add(const Workers& seen);

  // What changed since clear_changed(), to be added to what is stored.
  [[nodiscard]] std::vector<WorkerRow> changed() const;
  [[nodiscard]] bool has_changed() const { return any_changed_; }
  void clear_changed();

  // By name. Stale: silent for `stale_after` with an event in hand, or without beginning one of
  // its events within `start_within`.
  [[nodiscard]] std::vector<WorkerState> list(TimePoint now, Millis stale_after, Millis start_within) const;

 private:
  struct Held {
    TimePoint picked_at;
    TimePoint seen_at;
    bool started = false;
  };
  struct Worker {
    WorkerRow row;
    std::map<EventId, Held> held;
    std::optional<Selector> asked;
    bool changed = false;
    std::int64_t stored_completed = 0;  // of row.completed, by the last clear_changed()
    std::int64_t stored_failed = 0;
  };

  [[nodiscard]] static WorkerRow change_of(const Worker& worker);
  Worker& find(const std::string& id, TimePoint now);
  void forget_old(TimePoint now);

  std::map<std::string, Worker> workers_;
  bool any_changed_ = false;
  TimePoint next_forget_;  // when the silent ones may go again, if there are many
};

}  // namespace eventq
