// queues.cc: the Core's queues: settings, depth limits, checkpoints, stored counters, recovery.
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "core/batch.h"

namespace eventq {
namespace {

QueueRow new_queue(const std::string& queue, TimePoint now) {
  return {.id = queue, .created_at = now, .updated_at = now};
}

}  // namespace

Error draining_error(const std::string& queue) {
  return {ErrorCode::conflict,
          "Queue \"" + queue + "\" is draining and takes no events. Resume it to publish again.", "queue"};
}

const QueueState* Core::find_state(Batch& batch, const std::string& queue) {
  const auto changed = batch.changed_queues.find(queue);
  if (changed != batch.changed_queues.end()) return &changed->second;
  return batch.removed_queues.contains(queue) ? nullptr : std::as_const(queue_states_).find(queue);
}

const QueueState& Core::state_of(Batch& batch, const std::string& queue) {
  if (const QueueState* state = find_state(batch, queue)) return *state;
  // An event is stored only after its queue. So another server created this queue after the batch began. It
  // has no settings yet, because configuring it waits for the end of this transaction.
  EVENTQ_ASSERT(shared_);
  return batch.changed_queues.emplace(queue, queue_states_.make(new_queue(queue, batch.now()))).first->second;
}

// Whether the queue has a depth limit. An unknown queue gets the settings of a new one.
bool Core::is_limited(const std::string& queue, const QueueState* state) const {
  if (state != nullptr) return state->policy.max_queue_depth.has_value();
  return resolve(queue, {}, options_.policy).max_queue_depth.has_value();
}

std::int64_t Core::depth_of(Batch& batch, const std::string& queue) {
  const QueueState* state = find_state(batch, queue);
  const auto delta = batch.queues.find(queue);
  return (state == nullptr ? 0 : state->depth()) + (delta == batch.queues.end() ? 0 : delta->second.depth());
}

// The error if a queue cannot take `growth` more live events; empty if it can. With several shards the policy
// holds this shard's share of the limit. A growth above the largest share of any shard (`share_max`) fits on
// no shard, so it is too_large; any other excess is queue_full, because a retry can succeed.
Result<Core::Refusal> Core::refuse_growth(Batch& batch, const std::string& queue, std::int64_t growth) {
  if (growth <= 0 || !is_limited(queue, find_state(batch, queue))) return Refusal();
  if (auto done = refresh(batch, queue); !done) return done.error();
  std::optional<QueueState> fresh;
  const QueueState* state = find_state(batch, queue);
  if (state == nullptr) state = &fresh.emplace(queue_states_.make(new_queue(queue, batch.now())));
  const std::int64_t most = *state->policy.max_queue_depth;
  std::string name = "Queue \"" + queue + "\"";
  if (options_.share.shards > 1) name += " on shard " + std::to_string(options_.share.shard);
  if (growth > state->share_max) {
    return Refusal(Error{ErrorCode::too_large,
                         name + " holds at most " + std::to_string(state->share_max) +
                             " live events (maxQueueDepth); " + std::to_string(growth) +
                             " at once never fit. Publish smaller batches.",
                         "events"});
  }
  const std::int64_t missing = depth_of(batch, queue) + growth - most;
  if (missing <= 0) return Refusal();
  Error error{ErrorCode::queue_full,
              name + " is full: it holds " + std::to_string(depth_of(batch, queue)) +
                  " live events of at most " + std::to_string(most) +
                  " (maxQueueDepth). Nothing was changed; try again later.",
              "queue"};
  error.retry_after = retry_after(missing, state->drain_rate.per_second(batch.now()));
  return Refusal(std::move(error));
}

Result<void> Core::create_queue(Batch& batch, const std::string& queue) {
  QueueRow row = new_queue(queue, batch.now());
  if (auto done = batch.transaction->add_queue(row); !done) return done;
  set_row(batch, std::move(row));
  return {};
}

// Sets the queue's row for the rest of the batch. A queue that this batch removed has no counters any more.
void Core::set_row(Batch& batch, QueueRow row) {
  const std::string name = row.id;
  using enum QueueStates::Counters;
  const auto counters = batch.removed_queues.contains(name) ? empty : present;
  batch.changed_queues.insert_or_assign(name, queue_states_.make(std::move(row), counters));
}

Result<void> Core::configure(Batch& batch, QueueRow row) {
  if (auto done = batch.transaction->put_queue(row); !done) return done;
  set_row(batch, std::move(row));
  return {};
}

// Makes a checkpoint that includes the events that this batch completed so far.
Result<Checkpoint> Core::make_checkpoint(Batch& batch, const QueueState& state,
                                         const QueueChange::MakeCheckpoint* requested) {
  const auto delta = batch.queues.find(state.row.id);
  const bool has_id = requested != nullptr && !requested->id.empty();
  Checkpoint checkpoint{.id = has_id ? requested->id : ids_.next(batch.now()),
                        .queue = state.row.id,
                        .checkpoint_id = state.checkpoint_id,
                        .event_count = state.totals.completed,
                        .created_at = batch.now(),
                        .requested = requested != nullptr};
  if (delta != batch.queues.end()) {
    checkpoint.event_count += delta->second.totals.completed;
    if (delta->second.last_completed) checkpoint.checkpoint_id = delta->second.checkpoint_id;
  }
  batch.strict = true;
  if (auto done = batch.transaction->put_checkpoint(checkpoint); !done) return done.error();
  batch.checkpointed[state.row.id] = checkpoint.event_count;
  return checkpoint;
}

Result<void> Core::checkpoint_all(Batch& batch, TimePoint made_by) {
  for (const auto& [name, state] : queue_states_.queues()) {
    if (state.totals.completed == state.at_checkpoint || state.checkpoint_at > made_by) continue;
    if (batch.removed_queues.contains(name)) continue;
    auto made = make_checkpoint(batch, state);
    if (!made) return made.error();
  }
  return {};
}

// Adds the totals of this batch to the stored ones, in the transaction that changes the events. The counts by
// status are not written here, because the store changes them when it saves an event. But totals without a
// change are written for them, because the store then sets changed_at. The failures by hour are stored
// because the metric failed_24h must survive a restart.
Result<void> Core::write_queue_states(Batch& batch) {
  std::int64_t failed = 0;
  for (const auto& [name, delta] : batch.queues) {
    failed += delta.totals.failed_for_good;
    if (delta.totals == Totals{} && delta.counts == Counts{}) continue;
    if (auto done = batch.transaction->add_totals(name, delta.totals, delta.last_completed); !done)
      return done;
  }
  if (failed == 0) return {};
  return batch.transaction->add_failed_in_hour(hour_of(batch.now()), failed);
}

// Whether this batch must be on disk before its commands are answered.
Transaction::DiskSync Core::sync_for(const Batch& batch) const {
  using DiskSync = Transaction::DiskSync;
  if (batch.strict || !queue_states_.any_buffered()) return DiskSync::now;
  for (const auto& [name, delta] : batch.queues) {
    const QueueState* state = queue_states_.find(name);
    if (state != nullptr && state->unpersisted + delta.changed >= state->policy.persistence_threshold) {
      return DiskSync::now;
    }
  }
  return DiskSync::later;
}

Result<std::int64_t> Core::recover() {
  auto transaction = store_.begin_planned(std::nullopt, {.alone = options_.maintains});
  if (!transaction) return transaction.error();
  Batch batch;
  batch.transaction = std::move(*transaction);
  const TimePoint started_at = batch.now();
  std::vector<std::string> repaired_queues;
  auto recalled = batch.transaction->recall(repaired_queues);
  if (!recalled) return recalled.error();
  if (auto done = learn(*recalled, started_at); !done) return done.error();
  // The other Cores of this process would only repeat the settings and the report.
  if (!options_.maintains) return queue_states_.depth();
  // On a shared store workers report to other servers too, so list_workers() reads them from the store.
  if (!shared_) {
    workers_.recall(*recalled);
    for (const Stored& stored : recalled->processing) {
      if (!stored.ready) held_[{stored.event.worker_id, stored.event.queue}] += 1;
    }
  }
  if (auto done = configure_all(batch); !done) return done.error();
  if (auto done = batch.transaction->commit(Transaction::DiskSync::now); !done) return done.error();
  settle_queues(batch);
  batch.transaction.reset();
  return report_recovery(started_at, recalled->checkpoints, repaired_queues);
}

// The settings of the options replace stored ones. Creates the queue "main" if it does not exist.
Result<void> Core::configure_all(Batch& batch) {
  const auto defaults_of = [&](std::string_view queue) {
    return in_force(resolve(queue, {}, options_.policy));
  };
  if (auto done = batch.transaction->put_defaults(defaults_of("main"), defaults_of("")); !done) return done;
  if (find_state(batch, "main") == nullptr) {
    if (auto done = create_queue(batch, "main"); !done) return done;
  }
  for (const auto& [name, config] : options_.queues) {
    const QueueState* state = find_state(batch, name);
    QueueRow row = state != nullptr ? state->row : QueueRow{.id = name, .created_at = batch.now()};
    if (state == nullptr || row.config != config) {
      const auto before = state != nullptr ? std::optional(row) : std::nullopt;
      row.config = config;
      row.updated_at = batch.now();
      if (auto done = log_start_settings(batch, before, row); !done) return done;
      if (auto done = configure(batch, std::move(row)); !done) return done;
    }
    if (auto done = release_lines(batch, name); !done) return done;
  }
  return update_line_heads(batch);
}

// In a transaction of its own, so that completed_at is the time after the first one was committed.
Result<std::int64_t> Core::report_recovery(TimePoint started_at, const std::vector<Checkpoint>& checkpoints,
                                           const std::vector<std::string>& repaired_queues) {
  auto transaction = store_.begin_planned(std::nullopt, {.alone = true});
  if (!transaction) return transaction.error();
  std::map<std::string_view, const Checkpoint*> last;
  for (const Checkpoint& checkpoint : checkpoints) last[checkpoint.queue] = &checkpoint;
  for (const auto& [name, state] : queue_states_.queues()) {
    const auto found = last.find(name);
    const Checkpoint* checkpoint = found == last.end() ? nullptr : found->second;
    const bool behind = checkpoint != nullptr && checkpoint->event_count > state.totals.completed;
    const bool repaired =
        std::find(repaired_queues.begin(), repaired_queues.end(), name) != repaired_queues.end();
    const Recovery recovery{
        .id = ids_.next((*transaction)->now()),
        .queue = name,
        .checkpoint_id = checkpoint == nullptr ? "" : checkpoint->checkpoint_id,
        .events_recovered = state.depth(),
        .started_at = started_at,
        .completed_at = (*transaction)->now(),
        .status = behind     ? "behind_checkpoint"
                  : repaired ? "repaired"
                             : "completed",
    };
    if (auto done = (*transaction)->put_recovery(recovery); !done) return done.error();
  }
  if (auto done = (*transaction)->commit(Transaction::DiskSync::now); !done) return done.error();
  return queue_states_.depth();
}

Result<void> Core::close() {
  auto transaction = store_.begin_planned(std::nullopt, {.alone = options_.maintains});
  if (!transaction) return transaction.error();
  Batch batch;
  batch.transaction = std::move(*transaction);
  if (options_.maintains) {
    if (auto done = refresh_all(batch); !done) return done;
    if (auto done = checkpoint_all(batch); !done) return done;
  }
  if (auto done = store_workers(batch); !done) return done;
  if (auto done = batch.transaction->probe(); !done) return done;
  return batch.transaction->commit(Transaction::DiskSync::now);
}

Result<void> Core::store_workers(Batch& batch) {
  for (const WorkerRow& change : workers_.changed()) {
    if (auto done = batch.transaction->add_worker(change); !done) return done;
  }
  for (const WorkerAsk& ask : workers_.asks_to_store()) {
    if (auto done = batch.transaction->put_ask(ask); !done) return done;
  }
  return {};
}

}  // namespace eventq
