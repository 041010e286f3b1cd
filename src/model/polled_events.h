// polled_events.h: the events that a queue object claimed with poll() and has not reported on.
//
// Queue::finalize() names only the event; this class knows the attempt that goes with it.
//
// Threads: every method may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "eventq/error.h"
#include "eventq/event.h"
#include "model/names.h"

namespace eventq {

class PolledEvents {
 public:
  // `worker_id` is the worker that poll() claims for.
  explicit PolledEvents(std::string worker_id) : worker_id_(std::move(worker_id)) {}

  [[nodiscard]] const std::string& worker_id() const { return worker_id_; }

  void add(const Event& event) {
    const std::scoped_lock lock(mutex_);
    attempts_[event.id] = event.attempts;
  }

  // Call it after a report, and after a report that was refused with lease_lost. Other leases are ignored.
  void remove(const Lease& lease) {
    if (lease.worker_id != worker_id_) return;
    const std::scoped_lock lock(mutex_);
    const auto found = attempts_.find(lease.id);
    const bool is_that = found != attempts_.end() && lease.attempt.value_or(found->second) == found->second;
    if (is_that) attempts_.erase(found);
  }

  // Calls `report(lease)` when this object polled the event. When the event is not held here, asks `get(id)`:
  // an event that has ended already is a success.
  // Errors: lease_lost; those of `report` and `get`.
  template <typename Report, typename Get>
  Result<void> finish(EventId id, Report report, Get get) {
    Error lost{ErrorCode::lease_lost, "Event " + id_text(id) + " was not polled by this queue object.", "id"};
    if (const auto attempt = attempt_of(id)) {
      const auto entry = report(Lease{id, worker_id_, attempt});
      if (entry) return {};
      if (entry.error().code != ErrorCode::lease_lost) return entry.error();
      lost = entry.error();
    }
    // An earlier call or another worker may have ended the event; then there is nothing left to do.
    const auto event = get(id);
    if (!event) return event.error();
    if (has_ended(event->status)) return {};
    return lost;
  }

 private:
  std::optional<int> attempt_of(EventId id) {
    const std::scoped_lock lock(mutex_);
    const auto found = attempts_.find(id);
    return found == attempts_.end() ? std::nullopt : std::optional(found->second);
  }

  // Set in the constructor, never changed.
  const std::string worker_id_;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::map<EventId, int> attempts_;  // of the events polled and not yet reported
};

}  // namespace eventq
