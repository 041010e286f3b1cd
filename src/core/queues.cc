// queues.cc: the Core's queues: settings, status, limits, checkpoints, recovery, metrics, and waits for ends.
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/overloaded.h"
#include "core/batch.h"
#include "model/names.h"

namespace eventq {
namespace {

Error no_queue(const std::string& queue) {
  return {ErrorCode::not_found,
          "There is no queue \"" + queue + "\". Publish an event to it, or create it with a PUT.", "queue"};
}

QueueRow new_queue(const std::string& queue, TimePoint now) {
  return {.id = queue, .created_at = now, .updated_at = now};
}

// The copy of an ended event that a replay publishes. Without the supersede_key, because the copy of an old
// event must not supersede newer ones.
NewEvent copy_of(const Event& event) {
  NewEvent copy;
  copy.title = event.title;
  copy.description = event.description;
  copy.tags = event.tags;
  copy.payload = event.payload;
  copy.queue = event.queue;
  copy.priority = event.priority;
  copy.max_retries = event.max_retries;
  copy.correlation_id = event.correlation_id;
  copy.causation_id = event.event_id;
  copy.trace_id = event.trace_id;
  copy.pattern = event.pattern;
  copy.version = event.version;
  copy.source = event.source;
  copy.timestamp = event.timestamp;
  copy.ordering_key = event.ordering_key;
  copy.retry = event.retry;
  copy.attributes = event.attributes;
  return copy;
}

}  // namespace

Error draining_error(const std::string& queue) {
  return {ErrorCode::conflict,
          "Queue \"" + queue + "\" is draining and takes no events. Resume it to publish again.", "queue"};
}

const QueueState* Core::find_state(Batch& batch, const std::string& queue) {
  const auto changed = batch.changed_queues.find(queue);
  return changed != batch.changed_queues.end() ? &changed->second : std::as_const(queue_states_).find(queue);
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
Result<std::optional<Error>> Core::refuse_growth(Batch& batch, const std::string& queue,
                                                 std::int64_t growth) {
  using Refusal = std::optional<Error>;
  if (growth <= 0 || !is_limited(queue, find_state(batch, queue))) return Refusal();
  if (auto done = refresh(batch, queue); !done) return done.error();
  std::optional<QueueState> fresh;
  const QueueState* state = find_state(batch, queue);
  if (state == nullptr) state = &fresh.emplace(queue_states_.make(new_queue(queue, batch.now())));
  const std::int64_t most = *state->policy.max_queue_depth;
  std::string name = "Queue \"" + queue + "\"";
  if (options_.shards > 1) name += " on shard " + std::to_string(options_.shard);
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
  batch.changed_queues.insert_or_assign(queue, queue_states_.make(std::move(row)));
  return {};
}

Result<void> Core::configure(Batch& batch, QueueRow row) {
  if (auto done = batch.transaction->put_queue(row); !done) return done;
  const std::string name = row.id;
  batch.changed_queues.insert_or_assign(name, queue_states_.make(std::move(row)));
  return {};
}

Result<void> Core::answer_admin(Batch& batch, const AdminRequest& request, Answer& answer) {
  return std::visit(Overloaded{
                        [&](const QueueChange& it) { return change_queue(batch, it, answer); },
                        [&](const Revival& it) { return revive(batch, it, answer); },
                        [&](const Removal& it) { return remove(batch, it, answer); },
                        [&](const MetricsRequest&) -> Result<void> {
                          auto metrics = measure(batch);
                          if (!metrics) return metrics.error();
                          answer.admin = std::move(*metrics);
                          return {};
                        },
                        [&](const WorkersRequest&) -> Result<void> {
                          answer.admin = list_workers(batch);
                          return {};
                        },
                        [](const auto&) -> Result<void> { EVENTQ_ASSERT(false); },
                    },
                    request);
}

Result<void> Core::change_queue(Batch& batch, const QueueChange& change, Answer& answer) {
  if (auto done = refresh(batch, change.queue); !done) return done;
  const QueueState* state = find_state(batch, change.queue);
  const bool creates = std::holds_alternative<QueueChange::Configure>(change.what) && state == nullptr;
  if (state == nullptr && !creates) {
    answer.admin = Result<QueueChanged>(no_queue(change.queue));
    return {};
  }
  batch.strict = true;
  QueueChanged changed;
  changed.created = creates;
  changed.row = creates ? QueueRow{.id = change.queue, .created_at = batch.now()} : state->row;
  Result<void> done;
  if (const auto* configured = std::get_if<QueueChange::Configure>(&change.what)) {
    changed.row.config = configured->config;
    changed.row.updated_at = batch.now();
    done = configure(batch, changed.row);
    if (done) done = release_lines(batch, change.queue);
  } else if (const auto* status = std::get_if<QueueChange::SetStatus>(&change.what)) {
    done = set_status(batch, *status, changed);
  } else if (std::holds_alternative<QueueChange::MakeCheckpoint>(change.what)) {
    auto checkpoint = make_checkpoint(batch, *state);
    if (!checkpoint) return checkpoint.error();
    changed.checkpoint = std::move(*checkpoint);
  } else {
    done = supersede_key(batch, change, changed);
  }
  if (!done) return done;
  changed.depth = depth_of(batch, change.queue);
  answer.admin = Result<QueueChanged>(std::move(changed));
  return {};
}

// After a change to on_failure=skip, failed events stop blocking their lines. A page at a time, because each
// save() takes the events of its page out of holding_line().
Result<void> Core::release_lines(Batch& batch, const std::string& queue) {
  if (state_of(batch, queue).policy.on_failure == OnFailure::block) return {};
  for (;;) {
    auto holding = batch.transaction->holding_line(queue, limits::kPage);
    if (!holding) return holding.error();
    if (holding->empty()) return {};
    if (auto done = save(batch, *holding); !done) return done;
  }
}

Result<void> Core::set_status(Batch& batch, const QueueChange::SetStatus& wanted, QueueChanged& changed) {
  QueueRow& row = changed.row;
  const bool was_paused = row.status == QueueStatus::paused;
  row.status = wanted.status;
  row.status_by = wanted.by;
  row.status_reason = wanted.reason;
  row.status_at = batch.now();
  row.updated_at = batch.now();
  if (was_paused && row.status != QueueStatus::paused) batch.resumed.insert(row.id);
  return configure(batch, row);
}

Result<void> Core::supersede_key(Batch& batch, const QueueChange& change, QueueChanged& changed) {
  const auto& wanted = std::get<QueueChange::SupersedeKey>(change.what);
  auto ids = batch.transaction->with_supersede_key(change.queue, wanted.key);
  if (!ids) return ids.error();
  for (const EventId id : *ids) {
    auto ended = supersede(batch, id, Supersede{std::nullopt, wanted.reason});
    if (!ended) return ended.error();
    if (*ended) changed.superseded.push_back(id);
  }
  return {};
}

// Makes a checkpoint that includes the events that this batch completed so far.
Result<Checkpoint> Core::make_checkpoint(Batch& batch, const QueueState& state) {
  const auto delta = batch.queues.find(state.row.id);
  Checkpoint checkpoint{.id = ids_.next(batch.now()),
                        .queue = state.row.id,
                        .checkpoint_id = state.checkpoint_id,
                        .event_count = state.totals.completed,
                        .created_at = batch.now()};
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
    auto made = make_checkpoint(batch, state);
    if (!made) return made.error();
  }
  return {};
}

Result<void> Core::revive(Batch& batch, const Revival& revival, Answer& answer) {
  EndedFilter filter = revival.filter;
  if (!filter.queue.empty() && find_state(batch, filter.queue) == nullptr) {
    answer.admin = Result<Revived>(no_queue(filter.queue));
    return {};
  }
  if (revival.checkpoint) {
    auto checkpoint = batch.transaction->find_checkpoint(*revival.checkpoint);
    if (!checkpoint) return checkpoint.error();
    if (!*checkpoint || (*checkpoint)->queue != filter.queue) {
      answer.admin =
          Result<Revived>(Error{ErrorCode::not_found,
                                "Queue \"" + filter.queue + "\" has no checkpoint " + *revival.checkpoint +
                                    ". The list of its checkpoints has those that are kept.",
                                "checkpoint"});
      return {};
    }
    filter.from = (*checkpoint)->created_at;
  }
  auto ended = ended_events(batch, filter);
  if (!ended) return ended.error();

  Revived revived;
  revived.next = ended->next;
  revived.more = revived.next.has_value();
  for (const Stored& stored : ended->events) revived.matched.push_back(stored.event.id);
  std::optional<Error> refused;
  if (!revival.dry_run) {
    auto done = revival.kind == RevivalKind::replay
                    ? replay_events(batch, ended->events, revived, refused)
                    : redrive_events(batch, ended->events, revival, revived, refused);
    if (!done) return done;
  }
  answer.admin = refused ? Result<Revived>(std::move(*refused)) : Result<Revived>(std::move(revived));
  return {};
}

// The ended events of one queue, or of all queues up to the limits on events and bytes.
Result<Ended> Core::ended_events(Batch& batch, const EndedFilter& filter) {
  if (!filter.queue.empty()) return batch.transaction->ended(filter);
  Ended all;
  std::size_t bytes = 0;
  for (const auto& [name, state] : queue_states_.queues()) {
    EndedFilter one = filter;
    one.queue = name;
    one.limit = filter.limit - all.events.size();
    if (one.limit == 0 || bytes >= kClaimBytes) {
      all.next = EndedCursor{};
      break;
    }
    auto ended = batch.transaction->ended(one);
    if (!ended) return ended.error();
    if (ended->next) all.next = EndedCursor{};  // more exist, but one cursor cannot name several queues
    for (Stored& stored : ended->events) {
      bytes += stored.event.payload.size();
      all.events.push_back(std::move(stored));
    }
  }
  return all;
}

Result<void> Core::replay_events(Batch& batch, std::vector<Stored>& events, Revived& revived,
                                 std::optional<Error>& refused) {
  Publication publication;
  for (const Stored& stored : events) publication.events.push_back(copy_of(stored.event));
  if (publication.events.empty()) return {};
  auto refusal = refuse_publication(batch, publication);
  if (!refusal) return refusal.error();
  if (*refusal) {
    refused = std::move(*refusal);
    return {};
  }
  for (NewEvent& event : publication.events) {
    auto admitted = admit_one(batch, std::move(event), std::nullopt);
    if (!admitted) return admitted.error();
    revived.events.push_back(admitted->id);
  }
  return {};
}

// Resets events until a queue refuses one.
Result<void> Core::redrive_events(Batch& batch, std::vector<Stored>& events, const Revival& revival,
                                  Revived& revived, std::optional<Error>& refused) {
  for (Stored& stored : events) {
    auto refusal = refuse_revival(batch, stored.event);
    if (!refusal) return refusal.error();
    if (*refusal) {
      if (revived.events.empty()) refused = std::move(*refusal);
      revived.more = true;
      revived.next.reset();  // a cursor would skip the refused events; the same call finds them again
      return {};
    }
    auto decision = decide(stored.event, {Lease{stored.event.id, "", std::nullopt}, Reset{revival.reason}},
                           {}, batch.now(), state_of(batch, stored.event.queue).policy);
    if (!decision) return decision.error();
    if (auto done = record(batch, stored, *decision); !done) return done;
    revived.events.push_back(stored.event.id);
  }
  return {};
}

// Removes all events, or none if one of them was reset after retention read it. None, because the archive
// file contains all of them: retention then drops what it wrote.
Result<void> Core::remove(Batch& batch, const Removal& removal, Answer& answer) {
  auto loaded = batch.transaction->load(removal.events, Transaction::EventFields::state);
  if (!loaded) return loaded.error();
  std::vector<Stored> leaving;
  for (std::optional<Stored>& stored : *loaded) {
    const bool may_leave = stored && stored->archived && stored->line == Line::none;
    if (may_leave) leaving.push_back(std::move(*stored));
  }
  answer.admin = Removed{0};
  if (leaving.size() != removal.events.size()) return {};
  if (auto done = batch.transaction->remove(leaving); !done) return done;
  for (const Stored& stored : leaving) {
    QueueDelta& delta = batch.queues[stored.event.queue];
    delta.counts.at(static_cast<std::size_t>(stored.event.status)) -= 1;
    delta.totals.removed += 1;
    if (!stored.event.correlation_id.empty()) {
      batch.correlations[stored.event.correlation_id].change.kept -= 1;
    }
  }
  if (removal.file) {
    if (auto done = batch.transaction->put_archive_file(*removal.file); !done) return done;
  }
  batch.strict = true;
  answer.admin = Removed{leaving.size()};
  return {};
}

// On a shared store: the stored workers of all servers, and what this Core has seen since it stored its own.
std::vector<WorkerState> Core::list_workers(const Batch& batch) const {
  if (!batch.recalled) return workers_.list(batch.now(), options_.stale_after, options_.start_within);
  Workers all;
  all.recall(batch.recalled->workers, batch.recalled->processing);
  all.add(workers_);
  return all.list(batch.now(), options_.stale_after, options_.start_within);
}

Result<Metrics> Core::measure(Batch& batch) {
  Metrics metrics;
  for (const auto& [name, state] : queue_states_.queues()) {
    QueueMetrics queue{.queue = name,
                       .counts = state.counts,
                       .totals = state.totals,
                       .oldest_pending = {},
                       .backpressure = state.backpressure,
                       .wait = state.wait,
                       .run = state.run};
    auto oldest = batch.transaction->oldest_pending(name);
    if (!oldest) return oldest.error();
    if (*oldest) queue.oldest_pending = std::max(Millis(0), batch.now() - **oldest);
    metrics.queues.push_back(std::move(queue));
  }
  const std::int64_t hour = hour_of(batch.now());
  for (const auto& [failed_in, events] : failed_by_hour_) {
    if (failed_in > hour - 24) metrics.failed_24h += events;
  }
  metrics.waiting_claims = static_cast<std::int64_t>(waiters_.size());
  metrics.waiting_ends = static_cast<std::int64_t>(waits_.size());
  for (const WorkerState& worker : list_workers(batch)) {
    metrics.workers += 1;
    metrics.stale_workers += worker.stale ? 1 : 0;
  }
  metrics.commit_seconds = commit_seconds_;
  metrics.batch_events = batch_events_;
  // Only one commit thread reports the sizes, because the answers of all are added up.
  if (!options_.maintains) return metrics;
  auto sizes = store_.sizes();
  if (!sizes) return sizes.error();
  metrics.sizes = *sizes;
  return metrics;
}

// Answers at once if the end has come already, or if the event or correlation does not exist.
Result<void> Core::start_wait(Batch& batch, const WaitRequest& wait, std::size_t index) {
  Answer& answer = batch.answers[index];
  std::optional<EventId> event;
  if (const auto* id = std::get_if<EventId>(&wait.what)) event = *id;
  if (std::holds_alternative<WaitRequest::ThisPublication>(wait.what)) {
    if (!answer.published || !*answer.published) return {};
    event = (*answer.published)->events.front().id;
  }
  std::string key;
  if (event) {
    auto loaded = batch.transaction->load({{*event}}, Transaction::EventFields::all);
    if (!loaded) return loaded.error();
    if (!loaded->front()) {
      answer.error = no_event(*event);
      return {};
    }
    answer.waited = has_ended(loaded->front()->event.status);
    key = wait_key(*event);
  } else if (const auto* correlation = std::get_if<WaitRequest::Correlated>(&wait.what)) {
    auto row = batch.transaction->find_correlation(correlation->id);
    if (!row) return row.error();
    if (!*row) {
      answer.error = Error{ErrorCode::not_found,
                           "No event has the correlation_id \"" + correlation->id + "\".", "correlation_id"};
      return {};
    }
    answer.waited = (*row)->pending == 0;
    key = wait_key(*correlation);
  } else {
    const auto& drained = std::get<WaitRequest::Drained>(wait.what);
    if (auto done = refresh(batch, drained.queue); !done) return done;
    if (find_state(batch, drained.queue) == nullptr) return {};  // change_queue() has answered not_found
    answer.waited = depth_of(batch, drained.queue) == 0;
    key = wait_key(drained);
  }
  if (!answer.waited && wait.timeout > Millis(0)) batch.waits.emplace_back(index, std::move(key));
  return {};
}

// Adds the totals of this batch to the stored ones, in the transaction that changes the events. The counts by
// status are not written here, because the store changes them when it saves an event. The failures by hour
// are stored because the metric failed_24h must survive a restart.
Result<void> Core::write_queue_states(Batch& batch) {
  std::int64_t failed = 0;
  for (const auto& [name, delta] : batch.queues) {
    failed += delta.totals.failed_for_good;
    if (delta.totals == Totals{}) continue;
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
  auto transaction = store_.begin();
  if (!transaction) return transaction.error();
  Batch batch;
  batch.transaction = std::move(*transaction);
  const TimePoint started_at = batch.now();
  if (auto done = batch.transaction->plan({.alone = options_.maintains}); !done) return done.error();
  std::vector<std::string> repaired_queues;
  auto recalled = batch.transaction->recall(repaired_queues);
  if (!recalled) return recalled.error();
  if (auto done = learn(*recalled, started_at); !done) return done.error();
  if (!options_.maintains) return queue_states_.depth();
  if (!shared_) {
    workers_.recall(recalled->workers, recalled->processing);
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
  if (find_state(batch, "main") == nullptr) {
    if (auto done = create_queue(batch, "main"); !done) return done;
  }
  for (const auto& [name, config] : options_.queues) {
    const QueueState* state = find_state(batch, name);
    QueueRow row = state != nullptr ? state->row : QueueRow{.id = name, .created_at = batch.now()};
    if (state == nullptr || row.config != config) {
      row.config = config;
      row.updated_at = batch.now();
      if (auto done = configure(batch, std::move(row)); !done) return done;
    }
    if (auto done = release_lines(batch, name); !done) return done;
  }
  return realign(batch);
}

// In a transaction of its own, so that completed_at is the time after the first one was committed.
Result<std::int64_t> Core::report_recovery(TimePoint started_at, const std::vector<Checkpoint>& checkpoints,
                                           const std::vector<std::string>& repaired_queues) {
  auto transaction = store_.begin();
  if (!transaction) return transaction.error();
  if (auto done = (*transaction)->plan({.alone = true}); !done) return done.error();
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
  auto transaction = store_.begin();
  if (!transaction) return transaction.error();
  Batch batch;
  batch.transaction = std::move(*transaction);
  if (auto done = batch.transaction->plan({.alone = options_.maintains}); !done) return done;
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
  return {};
}

}  // namespace eventq
