// batch.h: the working state of one transaction. Core::settle() applies it to the Core after the commit;
// after a failure it is dropped, so the Core stays as the last commit left it.
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
#include "wait/waiting_claims.h"

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
    WaitingClaims::Position position;  // to put the waiter back after a rollback
    WaitingClaim waiter;
    std::vector<Claim> claims;
  };
  struct CorrelationDelta {
    CorrelationRow change;      // to be added to the stored row
    std::string last_event_id;  // of the event that ended last
    std::size_t last_end = 0;   // the position of that end among the ends of the batch, from 1
  };

  std::unique_ptr<Transaction> transaction;
  TransactionPlan plan;              // of a shared store
  std::optional<Recalled> recalled;  // of a shared store, for metrics, workers and checkpoints
  std::set<std::string> refreshed;   // queues of a shared store whose counters were read in this batch
  bool own_time = false;             // the command brought its time; deadlines must not be judged by it
  std::vector<Answer> answers;       // one per request
  std::map<std::size_t, std::string> waiting_ends;  // index of a request that waits for an end; wait_key()
  std::vector<ReadyEvent> ready;
  std::unordered_set<EventId> gone;  // events of `ready` that were claimed or changed since
  std::vector<Served> served;
  std::optional<TimePoint> next_due;
  bool due_checked = false;  // next_due came from a query
  bool claim_found_nothing = false;
  std::optional<TimePoint> next_purge;
  bool drops_workers = false;  // that left the list
  std::optional<TimePoint> next_checkpoint;
  std::optional<TimePoint> next_worker_store;

  // A publication whose answer gets its backpressure flag in settle().
  struct BackpressureCheck {
    Answer* answer;
    std::vector<std::string> queues;
  };
  std::vector<BackpressureCheck> backpressure_checks;

  std::map<std::string, QueueDelta> queues;
  std::map<std::string, QueueState> changed_queues;  // created or configured
  std::set<std::string> removed_queues;              // may be created again in the same batch
  std::map<std::string, CorrelationDelta> correlations;
  std::size_t correlated_ends = 0;                      // ends of events that have a correlation
  std::set<std::pair<std::string, std::string>> lines;  // queue and key of lines whose head may have changed
  std::vector<EventId> ended;
  std::set<std::string> ended_correlations;
  std::vector<WorkerAction> actions;
  std::vector<std::string> signed_off;               // workers
  std::map<Holder, std::int64_t> held;               // changes to Core::held_
  std::set<std::string> resumed;                     // the next batch serves waiters of these queues
  std::map<std::string, std::int64_t> checkpointed;  // queue, and its completed events at the checkpoint
  bool strict = false;                               // it must be on disk before it is acknowledged
  Transaction::DiskSync sync = Transaction::DiskSync::now;

  [[nodiscard]] TimePoint now() const { return transaction->now(); }
  void note_ready(const Stored& stored) {
    const Event& event = stored.event;
    ready.push_back({event.id, stored.turn, event.queue, event.tags, event.priority});
    gone.erase(event.id);
  }
};

}  // namespace eventq
