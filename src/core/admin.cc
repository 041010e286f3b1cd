// admin.cc: the Core's parts of a command that run last: probes, explanations, admin requests, waits for an
// end.
#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/overloaded.h"
#include "core/batch.h"
#include "model/names.h"
#include "model/tags.h"

namespace eventq {
namespace {

Error no_queue(const std::string& queue) {
  return {ErrorCode::not_found,
          "There is no queue \"" + queue +
              "\". Publish an event to it, or create it with `eventq queue set` or PUT /queues/{name}.",
          "queue"};
}

Error no_checkpoint(const std::string& queue, const std::string& id) {
  return {ErrorCode::not_found,
          "Queue \"" + queue + "\" has no checkpoint " + id +
              ". The list of its checkpoints has those that are kept.",
          "checkpoint"};
}

// The copy of an ended event that a replay publishes. Without the supersede_key, because the copy of an old
// event must not supersede newer ones.
NewEvent copy_of(const Event& event) {
  return {.title = event.title,
          .description = event.description,
          .tags = event.tags,
          .payload = event.payload,
          .queue = event.queue,
          .priority = event.priority,
          .max_retries = event.max_retries,
          .correlation_id = event.correlation_id,
          .causation_id = event.event_id,
          .trace_id = event.trace_id,
          .pattern = event.pattern,
          .version = event.version,
          .source = event.source,
          .timestamp = event.timestamp,
          .ordering_key = event.ordering_key,
          .retry = event.retry,
          .attributes = event.attributes,
          .max_attempts = event.max_attempts};
}

}  // namespace

// The parts of a command that must see the result of all publications, changes and claims of the batch.
Result<void> Core::apply_last_parts(Batch& batch, const Command& command, std::size_t index) {
  if (command.probe) {
    batch.strict = true;
    if (auto done = batch.transaction->probe(); !done) return done;
  }
  if (command.why) {
    if (auto done = explain(batch, command, batch.answers[index]); !done) return done;
  }
  if (!std::holds_alternative<std::monostate>(command.admin)) {
    if (auto done = answer_admin(batch, command.admin, batch.answers[index]); !done) return done;
  }
  if (command.wait) return start_wait(batch, *command.wait, index);
  return {};
}

Result<void> Core::answer_admin(Batch& batch, const AdminRequest& request, Answer& answer) {
  return std::visit(Overloaded{
                        [&](const QueueChange& it) { return change_queue(batch, it, answer); },
                        [&](const Revival& it) { return revive(batch, it, answer); },
                        [&](const Removal& it) { return remove(batch, it, answer); },
                        [&](const MetricsRequest&) { return measure(batch, answer); },
                        [&](const WorkersRequest&) -> Result<void> {
                          answer.admin = list_workers(batch);
                          return {};
                        },
                        [&](const SignOff& it) { return sign_off(batch, it); },
                        [&](const NoteAsks& it) { return note_asks(batch, it); },
                        [](const auto&) -> Result<void> { EVENTQ_ASSERT(false); },
                    },
                    request);
}

Result<void> Core::change_queue(Batch& batch, const QueueChange& change, Answer& answer) {
  if (auto done = refresh(batch, change.queue); !done) return done;
  const QueueState* state = find_state(batch, change.queue);
  const bool configures = std::holds_alternative<QueueChange::Configure>(change.what) ||
                          std::holds_alternative<QueueChange::Patch>(change.what);
  const bool creates = configures && state == nullptr;
  if (state == nullptr && !creates) {
    answer.admin = Result<QueueChanged>(no_queue(change.queue));
    return {};
  }
  // On disk before it is acknowledged, also in a queue with buffered durability.
  batch.strict = true;
  const std::optional<QueueRow> before = creates ? std::nullopt : std::optional(state->row);
  QueueChanged changed{.row = before.value_or(QueueRow{.id = change.queue, .created_at = batch.now()}),
                       .created = creates};
  const auto refused = apply_change(batch, change, changed);
  if (!refused) return refused.error();
  if (*refused) {
    answer.admin = Result<QueueChanged>(**refused);
    return {};
  }
  if (auto done = log_change(batch, change, before, changed); !done) return done;
  changed.depth = depth_of(batch, change.queue);
  answer.admin = Result<QueueChanged>(std::move(changed));
  return {};
}

// REQUIRES: the queue exists, or the change creates it.
Result<Core::Refusal> Core::apply_change(Batch& batch, const QueueChange& change, QueueChanged& changed) {
  const auto unless_failed = [](const Result<void>& done) -> Result<Refusal> {
    if (!done) return done.error();
    return Refusal();
  };
  const auto configures = [&](const auto&) { return set_config(batch, change, changed); };
  return std::visit(
      Overloaded{
          [&](const QueueChange::Configure& it) { return configures(it); },
          [&](const QueueChange::Patch& it) { return configures(it); },
          [&](const QueueChange::SetStatus&) { return unless_failed(set_status(batch, change, changed)); },
          [&](const QueueChange::MakeCheckpoint& it) { return request_checkpoint(batch, it, changed); },
          [&](const QueueChange::DeleteCheckpoint& it) { return delete_checkpoint(batch, it.id, changed); },
          [&](const QueueChange::SupersedeKey&) {
            return unless_failed(supersede_key(batch, change, changed));
          },
          [&](const QueueChange::Remove& it) { return remove_queue(batch, change.queue, it.only_check); },
      },
      change.what);
}

Result<Core::Refusal> Core::set_config(Batch& batch, const QueueChange& change, QueueChanged& changed) {
  auto config = new_settings(change, changed.row);
  if (!config) return Refusal(config.error());
  changed.row.config = *config;
  changed.row.updated_at = batch.now();
  if (auto done = configure(batch, changed.row); !done) return done.error();
  if (auto done = release_lines(batch, change.queue); !done) return done.error();
  return Refusal();
}

Result<Core::Refusal> Core::request_checkpoint(Batch& batch, const QueueChange::MakeCheckpoint& wanted,
                                               QueueChanged& changed) {
  const std::string& queue = changed.row.id;
  const auto kept = batch.transaction->count_requested(queue);
  if (!kept) return kept.error();
  if (*kept >= static_cast<std::int64_t>(limits::kCheckpoints)) {
    return Refusal(Error{ErrorCode::conflict,
                         "Queue \"" + queue + "\" has " + std::to_string(*kept) +
                             " checkpoints that were asked for, which is the most. Delete one of them first.",
                         "queue"});
  }
  auto made = make_checkpoint(batch, *find_state(batch, queue), &wanted);
  if (!made) return made.error();
  changed.checkpoint = std::move(*made);
  return Refusal();
}

Result<Core::Refusal> Core::delete_checkpoint(Batch& batch, const std::string& id, QueueChanged& changed) {
  auto checkpoint = batch.transaction->find_checkpoint(id);
  if (!checkpoint) return checkpoint.error();
  if (!*checkpoint || (*checkpoint)->queue != changed.row.id) {
    return Refusal(no_checkpoint(changed.row.id, id));
  }
  if (auto done = batch.transaction->delete_checkpoint(id); !done) return done.error();
  changed.checkpoint = std::move(**checkpoint);
  return Refusal();
}

// An ended event needs its queue: a reset, the retention and an audit read its settings. So a queue with
// ended events is not removed either.
Result<Core::Refusal> Core::remove_queue(Batch& batch, const std::string& queue, bool only_check) {
  if (queue == "main") {
    return Refusal(
        Error{ErrorCode::conflict, "The queue \"main\" always exists; it cannot be deleted.", "queue"});
  }
  Counts counts = find_state(batch, queue)->counts;
  if (const auto delta = batch.queues.find(queue); delta != batch.queues.end()) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts.at(i) += delta->second.counts.at(i);
  }
  const std::int64_t events = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const std::int64_t live = depth_of(batch, queue);
  if (events > 0) {
    return Refusal(Error{ErrorCode::conflict,
                         "Queue \"" + queue + "\" holds " + std::to_string(live) + " live and " +
                             std::to_string(events - live) +
                             " ended events. Drain it, set retention.completedSeconds and "
                             "retention.failedSeconds to 0, and delete it when its events are gone.",
                         "queue"});
  }
  if (only_check) return Refusal();
  if (auto done = batch.transaction->remove_queue(queue); !done) return done.error();
  batch.changed_queues.erase(queue);
  batch.queues.erase(queue);  // the store must not add totals to a queue without a row
  batch.checkpointed.erase(queue);
  batch.removed_queues.insert(queue);
  return Refusal();
}

// The settings to store for a queue. Only a patch can be refused here: a Configure was validated before, and
// the result of a patch depends on the settings that it changes.
Result<QueueConfig> Core::new_settings(const QueueChange& change, const QueueRow& present) const {
  if (const auto* configured = std::get_if<QueueChange::Configure>(&change.what)) {
    if (!configured->keeps_unset) return configured->config;
    return own_settings(change.queue, configured->config, present.config, options_.policy);
  }
  const ConfigPatch& patch = std::get<QueueChange::Patch>(change.what).patch;
  QueueConfig config = patched(change.queue, present.config, patch, options_.policy);
  if (auto fault = validate(change.queue, config, options_.policy)) return *fault;
  return config;
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

Result<void> Core::set_status(Batch& batch, const QueueChange& change, QueueChanged& changed) {
  QueueRow& row = changed.row;
  const bool was_paused = row.status == QueueStatus::paused;
  row.status = std::get<QueueChange::SetStatus>(change.what).status;
  row.status_by = change.actor.by;
  row.status_reason = change.actor.reason;
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
    auto ended = supersede(batch, id, Supersede{std::nullopt, change.actor.reason, change.actor.by});
    if (!ended) return ended.error();
    if (*ended) changed.superseded.push_back(id);
  }
  return {};
}

// A refusal by a full or draining queue is the answer. Only an error of the store fails the batch.
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
      answer.admin = Result<Revived>(no_checkpoint(filter.queue, *revival.checkpoint));
      return {};
    }
    filter.from = (*checkpoint)->created_at;
  }
  auto ended = ended_events(batch, filter);
  if (!ended) return ended.error();

  Revived revived{.more = ended->next.has_value(), .next = ended->next};
  for (const Stored& stored : ended->events) revived.matched.push_back(stored.event.id);
  Result<Refusal> refused = Refusal();
  if (!revival.dry_run) {
    refused = revival.kind == RevivalKind::replay ? replay_events(batch, ended->events, revived)
                                                  : retry_events(batch, ended->events, revival, revived);
  }
  if (!refused) return refused.error();
  if (auto done = log_revival(batch, revival, ended->events, revived.events.size()); !done) return done;
  answer.admin = *refused ? Result<Revived>(std::move(**refused)) : Result<Revived>(std::move(revived));
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

Result<Core::Refusal> Core::replay_events(Batch& batch, const std::vector<Stored>& events, Revived& revived) {
  Publication publication;
  for (const Stored& stored : events) publication.events.push_back(copy_of(stored.event));
  if (publication.events.empty()) return Refusal();
  auto refused = refuse_publication(batch, publication);
  if (!refused || *refused) return refused;
  for (NewEvent& event : publication.events) {
    auto admitted = admit_one(batch, std::move(event), std::nullopt);
    if (!admitted) return admitted.error();
    revived.events.push_back(admitted->id);
  }
  return Refusal();
}

// Resets events until a queue refuses one. That is the answer only if no event was reset before.
Result<Core::Refusal> Core::retry_events(Batch& batch, std::vector<Stored>& events, const Revival& revival,
                                         Revived& revived) {
  const Reset again{.reason = revival.reason, .author = revival.by};
  for (Stored& stored : events) {
    auto refused = refuse_revival(batch, stored.event);
    if (!refused || (*refused && revived.events.empty())) return refused;
    if (*refused) {
      revived.more = true;
      revived.next.reset();  // a cursor would skip the refused events; the same call finds them again
      return Refusal();
    }
    auto decision = decide(stored.event, {Lease{stored.event.id, "", std::nullopt}, again}, {}, batch.now(),
                           state_of(batch, stored.event.queue).policy);
    if (!decision) return decision.error();
    if (auto done = record(batch, stored, *decision); !done) return done.error();
    revived.events.push_back(stored.event.id);
  }
  return Refusal();
}

// Removes all events, or none if one of them may not leave any more. None, because the archive file contains
// all of them: retention then drops what it wrote.
//
// An event that is not archived was reset after retention read it. An archived event that is still in its
// line has failed and blocks the events behind it, so it must stay.
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
  // On disk before it is acknowledged, also in a queue with buffered durability.
  batch.strict = true;
  answer.admin = Removed{leaving.size()};
  return {};
}

Result<void> Core::measure(Batch& batch, Answer& answer) {
  Metrics& metrics = answer.admin.emplace<Metrics>();
  for (const auto& [name, state] : queue_states_.queues()) {
    QueueMetrics queue{.queue = name,
                       .paused = state.row.status == QueueStatus::paused,
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
  metrics.workers = list_workers(batch);
  if (!shared_) count_subscribers(metrics);  // else the router does, for the workers of all databases
  metrics.commit_seconds = commit_seconds_;
  metrics.batch_events = batch_events_;
  // Only one commit thread reports the sizes, because the answers of all are added up.
  if (!options_.maintains) return {};
  auto sizes = store_.sizes();
  if (!sizes) return sizes.error();
  metrics.sizes = *sizes;
  return {};
}

// On a shared store: the stored workers of all servers, and what this Core has counted since it stored its
// own. On a file a claim that waits asks now.
std::vector<ListedWorker> Core::list_workers(const Batch& batch) const {
  Workers all = batch.recalled ? Workers(options_.worker_times) : workers_;
  if (batch.recalled) {
    all.recall(*batch.recalled);
    all.add(workers_);
  }
  waiters_.each([&](const WaitingClaim& waiter) {
    all.note_waited(waiter.request.worker_id, waiter.request.selector, batch.now());
  });
  return all.list(batch.now());
}

Result<void> Core::sign_off(Batch& batch, const SignOff& request) {
  batch.signed_off.push_back(request.worker_id);
  return batch.transaction->sign_off(request.worker_id);
}

Result<void> Core::note_asks(Batch& batch, const NoteAsks& request) {
  for (const NoteAsks::Asked& it : request.asks) {
    const TimePoint asked_at = batch.now() - it.ago;
    if (auto done = batch.transaction->add_worker({it.worker_id, asked_at, asked_at}); !done) return done;
    if (auto done = batch.transaction->put_ask({it.worker_id, it.selector, asked_at}); !done) return done;
  }
  return {};
}

Result<void> Core::explain(Batch& batch, const Command& command, Answer& answer) {
  const EventId id = *command.why;
  // EventFields::all takes no lock on a shared store, so an explanation never waits for a change of the
  // event.
  auto loaded = batch.transaction->load({{id}}, Transaction::EventFields::all);
  if (!loaded) return loaded.error();
  if (!loaded->front()) {
    answer.explanation = no_event(id);
    return {};
  }
  const Stored& stored = *loaded->front();
  const Event& event = stored.event;
  WhyContext context{.demand = demand_for(event, command.extra_demand, batch.now())};
  const QueueRow& row = state_of(batch, event.queue).row;
  context.paused = row.status == QueueStatus::paused;
  context.pause_reason = row.status_reason;
  if (stored.line == Line::behind) {
    auto head = batch.transaction->head_of_line(event.queue, event.ordering_key);
    if (!head) return head.error();
    if (*head) context.line_head = WhyContext::LineHead{(*head)->event.id, (*head)->event.status};
  }
  if (!shared_ && event.status == Status::pending) context.demo_leaves_to = demo_leaves_to(batch, event);
  auto log = batch.transaction->log(id);
  if (!log) return log.error();
  if (!log->empty()) context.last_entry = std::move(log->back());
  answer.explanation = Explanation{id, event.status, eventq::explain(event, context, batch.now())};
  return {};
}

// See WhyContext. `eventq dev` has a store of its own, so a shared store has no demo worker.
std::string Core::demo_leaves_to(const Batch& batch, const Event& event) const {
  const std::vector<ListedWorker> workers = list_workers(batch);
  const auto is_active = [](const ListedWorker& worker) { return worker.state == WorkerState::active; };
  const auto is_demo = [&](const ListedWorker& worker) {
    return worker.row.id == kDemoWorker && is_active(worker);
  };
  if (std::ranges::none_of(workers, is_demo)) return {};
  const auto wants = [&](const Selector& it) {
    return it.queue == event.queue && has_any(event.tags, it.tags);
  };
  for (const ListedWorker& worker : workers) {
    if (worker.row.id == kDemoWorker || !is_active(worker)) continue;
    if (std::ranges::any_of(worker.asks, wants)) return worker.row.id;
  }
  return {};
}

// The claims that would take this event, for the explanation of why it does not run. Combines the claims that
// this Core sees with what the router knows. The router's last poll replaces ours, because a claim that waits
// in the router reaches this Core again with every retry. A claim with several of the event's tags counts
// once per tag; the explanation only asks whether there is any.
Demand Core::demand_for(const Event& event, const Command::ExtraDemand& extra, TimePoint now) const {
  Demand demand{extra.waiting + waiters_.waiting(event.queue, ""), polls_.last(event)};
  for (const std::string& tag : event.tags) demand.waiting += waiters_.waiting(event.queue, tag);
  if (extra.last_poll_ago) demand.last_poll = now - *extra.last_poll_ago;
  return demand;
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
      answer.error = no_correlation(correlation->id);
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
  if (!answer.waited && wait.timeout > Millis(0)) batch.waiting_ends.emplace(index, std::move(key));
  return {};
}

}  // namespace eventq
