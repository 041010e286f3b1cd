// batch.h: what one transaction is made of, until it is known to have been committed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/core.h"
#include "core/queue_states.h"
#include "core/workers.h"
#include "store/store.h"
#include "wait/waiters.h"

namespace eventq {

// An event that entered the ready index in this batch.
struct ReadyEvent {
  EventId id{};
  std::int64_t turn = 0;
  std::string queue;
  std::vector<std::string> tags;
  int priority = 0;
};

struct Core::Batch {
  struct Served {
    std::uint64_t place;
    Waiter waiter;
    std::vector<Claim> claims;
  };
  struct CorrelationDelta {
    CorrelationRow change;      // what to add
    std::string last_event_id;  // of the last of its events to end
  };

  std::unique_ptr<Transaction> transaction;
  TransactionPlan plan;              // of a shared store
  std::optional<Recalled> recalled;  // of a shared store, when all of it is asked for
  std::set<std::string> refreshed;   // queues of a shared store whose counters are as others left them
  bool own_time = false;             // by a clock that others need not share
  std::vector<Answer> answers;       // one per request
  std::vector<std::size_t> waiting;  // requests whose claim found nothing and waits
  std::vector<std::pair<std::size_t, std::string>> waits;  // requests that wait for an end, and for which
  std::vector<ReadyEvent> ready;
  std::unordered_set<EventId> gone;  // of `ready`: claimed since, or no longer ready by a change
  std::vector<Served> served;
  std::optional<TimePoint> next_due;
  bool looked = false;   // for it in the store
  bool in_vain = false;  // a claim found nothing
  std::optional<TimePoint> next_purge;
  std::optional<TimePoint> next_checkpoint;
  std::optional<TimePoint> next_worker_store;

  struct Publisher {
    Answer* answer;
    std::vector<std::string> queues;
  };
  std::vector<Publisher> publishers;

  std::map<std::string, QueueDelta> queues;
  std::map<std::string, QueueState> changed_queues;  // created or configured
  std::map<std::string, CorrelationDelta> correlations;
  std::set<std::pair<std::string, std::string>> lines;  // queues and keys whose line moved
  std::vector<EventId> ended;
  std::set<std::string> ended_correlations;
  std::vector<WorkerAction> actions;
  std::map<Holder, std::int64_t> held;  // by how much Core::held_ changes
  std::set<std::string> resumed;        // queues whose waiters are to be served by the next batch
  std::map<std::string, std::int64_t> checkpointed;  // queues, and how many events were completed by then
  bool strict = false;  // it changed what must be on disk when it is acknowledged
  Transaction::DiskSync sync = Transaction::DiskSync::now;

  [[nodiscard]] TimePoint now() const { return transaction->now(); }
  void note_ready(const Stored& stored) {
    const Event& event = stored.event;
    ready.push_back({event.id, stored.turn, event.queue, event.tags, event.priority});
    gone.erase(event.id);
  }
};

}  // namespace eventq
