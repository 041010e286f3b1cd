// change.cc: the Core's changes to events, and their consequences: counters, the line of the ordering_key,
// the correlation. Every insert and save of an event is followed by note_change(), which keeps these up to
// date; save() calls it, and admit_one() does after an insert.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "core/batch.h"
#include "eventq/limits.h"
#include "model/cause.h"
#include "model/names.h"
#include "wire/correlation_end.h"
#include "wire/new_event_json.h"

namespace eventq {
namespace {

// The event's position in its line after a change. update_line_head() then decides which is the head.
Line line_after_change(const Stored& stored, const Policy& policy) {
  const Event& event = stored.event;
  if (event.ordering_key.empty()) return Line::none;
  if (event.status == Status::failed && stored.line == Line::head) {
    return policy.on_failure == OnFailure::block ? Line::head : Line::none;
  }
  if (has_ended(event.status)) return Line::none;
  return stored.line == Line::none ? Line::behind : stored.line;  // none: a reset event joins its line again
}

// In work, and promote() has not found its lease expired yet.
bool is_held(Status status, const Stored& stored) { return status == Status::processing && !stored.ready; }

void add_runs(QueueDelta& delta, const Event& event, const LogEntry& entry) {
  const Millis run(entry.execution_time_ms.value_or(
      std::max<std::int64_t>(0, (entry.created_at - event.picked_at).count())));
  delta.totals.run_ms += run.count();
  delta.totals.runs += 1;
  delta.runs.push_back(std::chrono::duration<double>(run).count());
}

WorkerActionKind action_of(const Change& change) {
  if (std::holds_alternative<Start>(change.what)) return WorkerActionKind::started;
  if (std::holds_alternative<Heartbeat>(change.what)) return WorkerActionKind::alive;
  if (std::holds_alternative<Complete>(change.what)) return WorkerActionKind::completed;
  if (std::holds_alternative<Fail>(change.what)) return WorkerActionKind::failed;
  if (std::holds_alternative<Release>(change.what)) return WorkerActionKind::released;
  return WorkerActionKind::lost;
}

}  // namespace

// Decides every change of the batch in order. Loads each event once, so a later change of the same event sees
// the earlier one.
Result<void> Core::change_all(Batch& batch, std::vector<Envelope<Command>>& requests) {
  std::vector<EventId> ids;
  std::unordered_map<EventId, std::size_t> index;
  for (const Envelope<Command>& request : requests) {
    for (const Change& change : request.content.changes) {
      const EventId id = change.lease.id;
      if (index.emplace(id, ids.size()).second) ids.push_back(id);
    }
  }
  if (ids.empty()) return {};
  auto loaded = batch.transaction->load(ids, Transaction::EventFields::state);
  if (!loaded) return loaded.error();

  for (std::size_t i = 0; i < requests.size(); ++i) {
    for (const Change& wanted : requests[i].content.changes) {
      std::optional<Stored>& stored = (*loaded)[index.at(wanted.lease.id)];
      if (!stored) {
        batch.answers[i].changed.emplace_back(no_event(wanted.lease.id));
      } else if (auto done = change(batch, *stored, wanted, batch.answers[i]); !done) {
        return done;
      }
    }
  }
  return {};
}

Result<void> Core::change(Batch& batch, Stored& stored, const Change& change, Answer& answer) {
  std::vector<LogEntry> log;
  if (needs_log(stored.event, change)) {
    auto found = batch.transaction->log(stored.event.id);
    if (!found) return found.error();
    log = std::move(*found);
  }
  const bool was_held = stored.event.status == Status::processing;
  const std::string worker_id = stored.event.worker_id;  // decide() may clear it
  const bool may_revive = stored.event.status == Status::failed || stored.event.status == Status::cancelled;
  if (std::holds_alternative<Reset>(change.what) && may_revive) {
    auto refused = refuse_revival(batch, stored.event);
    if (!refused) return refused.error();
    if (*refused) {
      answer.changed.emplace_back(std::move(**refused));
      return {};
    }
  }
  auto decision = decide(stored.event, change, log, batch.now(), state_of(batch, stored.event.queue).policy);
  if (!decision) {
    answer.changed.emplace_back(decision.error());
    return {};
  }
  if (decision->effect != ChangeEffect::repeated) {
    if (was_held) batch.actions.push_back({action_of(change), worker_id, stored.event.id});
    if (auto done = record(batch, stored, *decision); !done) return done;
  }
  decision->entry.error_detail.clear();  // the worker has just sent it
  answer.changed.emplace_back(
      Changed{std::move(decision->entry), decision->status, stored.event.max_retries, stored.event.due_at});
  return {};
}

// Stores a decided change and its audit log entry in the transaction, and counts it. A heartbeat is only
// stored: it has no entry and is in no total.
Result<void> Core::record(Batch& batch, Stored& stored, Decision& decision) {
  const Event& event = stored.event;
  QueueDelta& delta = batch.queues[event.queue];
  Totals& totals = delta.totals;
  const LogEntry& entry = decision.entry;
  if (decision.effect == ChangeEffect::recorded) {
    if (entry.action == Action::completed) {
      totals.completed += 1;
      delta.last_completed = event.id;
      delta.checkpoint_id = event.event_id;
      add_runs(delta, event, entry);
    }
    if (entry.action == Action::failed) {
      const bool for_good = event.status == Status::failed;
      totals.failed += 1;
      totals.failed_for_good += for_good ? 1 : 0;
      totals.retried += for_good ? 0 : 1;
      add_runs(delta, event, entry);
      stored.cause = for_good ? cause_of(entry) : "";
    }
    if (entry.action == Action::superseded) totals.superseded += 1;
    if (entry.action == Action::cancelled) totals.cancelled += 1;
  }
  const bool was_ready = stored.ready;
  if (auto done = save(batch, {&stored, 1}); !done) return done;
  if (stored.ready && !was_ready) batch.note_ready(stored);
  if (!stored.ready && was_ready) batch.gone.insert(event.id);
  if (decision.effect != ChangeEffect::recorded) return {};
  return batch.transaction->append({&decision.entry, 1});
}

// A reset of an ended event adds a live event to the queue, so the queue may refuse it as it does a
// publication.
Result<Core::Refusal> Core::refuse_revival(Batch& batch, const Event& event) {
  if (state_of(batch, event.queue).row.status == QueueStatus::draining) {
    return Refusal(draining_error(event.queue));
  }
  return refuse_growth(batch, event.queue, 1);
}

// Saves changed events and counts the change. The guard holds the state as loaded, so it is read before the
// store's save() refreshes it.
Result<void> Core::save(Batch& batch, std::span<Stored> events) {
  std::vector<Status> before;
  before.reserve(events.size());
  for (Stored& stored : events) {
    before.push_back(stored.guard.status);
    if (!shared_ && is_held(stored.guard.status, stored))
      batch.held[{stored.guard.worker_id, stored.event.queue}] -= 1;
    if (!stored.event.ordering_key.empty()) {
      stored.line = line_after_change(stored, state_of(batch, stored.event.queue).policy);
    }
  }
  if (auto done = batch.transaction->save(events); !done) return done;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i].event;
    if (!shared_ && is_held(event.status, events[i])) batch.held[{event.worker_id, event.queue}] += 1;
    note_change(batch, events[i], before[i]);
  }
  return {};
}

// Counts a status change. `before` is empty for a new event.
void Core::note_change(Batch& batch, const Stored& stored, std::optional<Status> before) {
  const Event& event = stored.event;
  QueueDelta& delta = batch.queues[event.queue];
  delta.changed += 1;
  if (!batch.strict) batch.strict = state_of(batch, event.queue).policy.durability == Durability::strict;
  // An event that a worker holds is the head of its line and stays the head.
  if (!event.ordering_key.empty() && event.status != Status::processing) {
    batch.lines.emplace(event.queue, event.ordering_key);
  }
  if (before == event.status) return;
  if (before) delta.counts.at(static_cast<std::size_t>(*before)) -= 1;
  delta.counts.at(static_cast<std::size_t>(event.status)) += 1;
  if (before && has_ended(event.status) && !has_ended(*before)) {
    batch.ended.push_back(event.id);
    delta.ended += 1;
  }
  if (before && !has_ended(event.status) && has_ended(*before)) std::erase(batch.ended, event.id);
  if (!event.correlation_id.empty()) note_correlation(batch, event, before);
}

void Core::note_correlation(Batch& batch, const Event& event, std::optional<Status> before) {
  if (before && !has_ended(*before) && !has_ended(event.status)) return;  // pending before and after
  Batch::CorrelationDelta& delta = batch.correlations[event.correlation_id];
  const auto add = [&](Status status, int n) {
    if (!has_ended(status)) delta.change.pending += n;
    if (status == Status::completed || status == Status::completed_with_errors) delta.change.completed += n;
    if (status == Status::failed) delta.change.failed += n;
  };
  if (before) {
    add(*before, -1);
  } else {
    delta.change.total += 1;
    delta.change.kept += 1;
  }
  add(event.status, 1);
  if (!has_ended(event.status)) return;
  delta.last_event_id = event.event_id;
  delta.last_end = ++batch.correlated_ends;
}

Result<void> Core::update_line_heads(Batch& batch) {
  while (!batch.lines.empty()) {
    const auto line = batch.lines.extract(batch.lines.begin()).value();
    if (auto done = update_line_head(batch, line.first, line.second); !done) return done;
  }
  return {};
}

// Makes the right event the head of its line: the one in work, the failed one that blocks the line, or else
// the one that was published first.
Result<void> Core::update_line_head(Batch& batch, const std::string& queue, const std::string& key) {
  auto head = batch.transaction->head_of_line(queue, key);
  if (!head) return head.error();
  if (*head && (*head)->event.status != Status::pending) return {};
  auto first = batch.transaction->first_behind(queue, key);
  if (!first) return first.error();
  if (!*first || (*head && (*head)->event.id < (*first)->event.id)) return {};

  if (*head) {  // an older event was reset, so the pending head steps back
    (*head)->line = Line::behind;
    const bool was_ready = (*head)->ready;
    if (auto done = batch.transaction->save({&**head, 1}); !done) return done;
    if (was_ready) batch.gone.insert((*head)->event.id);
  }
  (*first)->line = Line::head;
  if (auto done = batch.transaction->save({&**first, 1}); !done) return done;
  if ((*first)->ready) batch.note_ready(**first);
  return {};
}

// Adds the changes of the batch to each correlation's row, and publishes the on_complete events of those
// whose last event has ended. Rows are changed in the order of their ids, because that is the order of locks.
// The events are published in the order of the ends, because generated ids of one millisecond have no order.
Result<void> Core::settle_correlations(Batch& batch) {
  while (!batch.correlations.empty()) {  // a published event may end others, which it supersedes
    std::map<std::size_t, std::pair<CorrelationRow, std::string>> completions;  // by the position of the end
    for (auto& [id, delta] : std::exchange(batch.correlations, {})) {
      delta.change.id = id;
      auto row = settle_correlation(batch, delta.change, delta.last_end > 0);
      if (!row) return row.error();
      if (!row->on_complete.empty()) completions[delta.last_end] = {std::move(*row), delta.last_event_id};
    }
    for (const auto& [end, completion] : completions) {
      if (auto done = publish_on_complete(batch, completion.first, completion.second); !done) return done;
    }
  }
  return {};
}

// Adds `change` to the stored row. `any_ended`: an event of the correlation ended in this batch. Returns the
// row with the on_complete event that must be published now; without one if there is none.
Result<CorrelationRow> Core::settle_correlation(Batch& batch, const CorrelationRow& change, bool any_ended) {
  auto found = batch.transaction->find_correlation(change.id);
  if (!found) return found.error();
  CorrelationRow row = found->value_or(CorrelationRow{.id = change.id});
  row.total += change.total;
  row.pending += change.pending;
  row.completed += change.completed;
  row.failed += change.failed;
  row.kept += change.kept;
  if (!change.on_complete.empty()) {
    row.on_complete = change.on_complete;
    row.queue = change.queue;
  }
  EVENTQ_ASSERT(row.pending >= 0 && row.kept >= 0);
  const bool ended = row.pending == 0 && any_ended;
  if (ended) batch.ended_correlations.insert(row.id);
  if (row.pending > 0) batch.ended_correlations.erase(row.id);
  const std::string promised = ended ? std::exchange(row.on_complete, {}) : std::string();
  if (auto done = batch.transaction->put_correlation(row); !done) return done.error();
  row.on_complete = promised;
  return row;
}

// Skips the checks of refuse_publication(): the event was accepted with its batch, and the event that ended
// left the queue, so a full or draining queue takes it.
Result<void> Core::publish_on_complete(Batch& batch, const CorrelationRow& row,
                                       const std::string& last_event_id) {
  auto event = wire::parse_new_event(parser_, row.on_complete);
  if (!event) return event.error();
  event->queue = row.queue;
  event->causation_id = last_event_id;
  if (event->payload == "null") {
    // No event of the payload is shorter, so it cannot hold more of them.
    constexpr std::size_t kShortestEnd = 50;
    auto ends = batch.transaction->correlated_ends(
        row.id, {.events = limits::kPayload / kShortestEnd, .bytes = limits::kPayload});
    if (!ends) return ends.error();
    const Correlation totals{
        .id = row.id, .total = row.total, .completed = row.completed, .failed = row.failed, .events = {}};
    event->payload = wire::write_correlation_end(totals, *ends, limits::kPayload);
  }
  auto admitted = admit_one(batch, std::move(*event), std::nullopt);
  if (!admitted) return admitted.error();
  return {};
}

}  // namespace eventq
