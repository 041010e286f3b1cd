// plan.cc: the Core on a store that it shares with other Cores. Before a batch it gives the store a
// TransactionPlan of the rows it needs; then it learns what other Cores changed; after the commit it collects
// the CommitEffects.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/overloaded.h"
#include "core/batch.h"

namespace eventq {
namespace {

// The plan is made before the transaction's time is known, so it covers events that come due this soon.
constexpr Millis kSoon{100};

bool is_reset(const Change& change) { return std::holds_alternative<Reset>(change.what); }

// Sorts and removes duplicates.
template <typename T>
void tidy(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

// The transaction holds a lock against changes of settings, so they stay the same until its end. Settings
// that another server changed before, or the exact time, may need another plan: repeats until the plan is
// stable.
Result<void> Core::prepare(Batch& batch, const std::vector<Envelope<Command>>& requests) {
  if (!shared_) return {};
  for (;;) {
    auto changed = learn_settings(batch);
    if (!changed) return changed.error();
    const bool checkpoints = checkpoints_due(batch, batch.now()) && !batch.plan.alone;
    const bool due = has_due(batch.now()) && !batch.plan.due;
    if (!*changed && !checkpoints && !due) break;
    TransactionPlan plan = plan_for(batch, requests, batch.now());
    if (plan == batch.plan) break;
    batch.plan = std::move(plan);
    if (auto done = batch.transaction->plan(batch.plan); !done) return done;
  }
  const bool asks = std::any_of(requests.begin(), requests.end(), [](const Envelope<Command>& request) {
    const AdminRequest& ask = request.content.admin;
    return std::holds_alternative<MetricsRequest>(ask) || std::holds_alternative<WorkersRequest>(ask);
  });
  return asks || checkpoints_due(batch, batch.now()) ? refresh_all(batch) : Result<void>();
}

// Takes over settings that other Cores changed, and forgets queues that they removed. Returns whether there
// were any.
Result<bool> Core::learn_settings(Batch& batch) {
  auto changed = batch.transaction->changed_queues();
  if (!changed) return changed.error();
  for (const std::string& queue : changed->removed) queue_states_.erase(queue);
  for (QueueRecord& record : changed->records) {
    if (auto done = learn(record, batch.now()); !done) return done.error();
  }
  return !changed->removed.empty() || !changed->records.empty();
}

TransactionPlan Core::plan_for(const Batch& batch, const std::vector<Envelope<Command>>& requests,
                               TimePoint now) const {
  TransactionPlan plan;
  plan.alone = checkpoints_due(batch, now);
  plan.due = has_due(now + kSoon);
  std::map<std::pair<std::string, std::vector<std::string>>, std::size_t> claims;
  for (const Envelope<Command>& request : requests) {
    const Command& command = request.content;
    if (command.publication) plan_publication(plan, *command.publication);
    for (const Change& change : command.changes) plan.changes.push_back(change.lease.id);
    // A reset may add an event to a limited queue, and which queue is unknown before the event is loaded.
    plan.alone = plan.alone || std::any_of(command.changes.begin(), command.changes.end(), is_reset);
    if (const auto* wait =
            command.wait ? std::get_if<WaitRequest::Correlated>(&command.wait->what) : nullptr) {
      plan.correlations.push_back(wait->id);
    }
    if (command.claim) {
      const Selector& selector = command.claim->selector;
      const QueueState* state = queue_states_.find(selector.queue);
      if (state != nullptr && state->row.status != QueueStatus::paused) {
        claims[{selector.queue, selector.tags}] += std::min(command.claim->limit, state->policy.claim_max);
      }
    }
    std::visit(Overloaded{
                   [&](const QueueChange&) { plan.alone = true; },
                   [&](const Revival&) { plan.alone = true; },
                   [&](const Removal& it) {
                     plan.ended = plan.ended || !it.events.empty();
                     plan.changes.insert(plan.changes.end(), it.events.begin(), it.events.end());
                   },
                   [](const auto&) {},
               },
               command.admin);
  }
  for (const auto& [selector, events] : claims) {
    plan.claims.emplace_back(Selector{selector.first, selector.second}, events);
  }
  tidy(plan.event_ids);
  tidy(plan.keys);
  tidy(plan.changes);
  tidy(plan.lines);
  tidy(plan.superseded);
  tidy(plan.correlations);
  tidy(plan.limited);
  return plan;
}

void Core::plan_publication(TransactionPlan& plan, const Publication& publication) const {
  plan.inserts += publication.events.size();
  if (publication.key) plan.keys.push_back(publication.key->key);
  // As admit_all() chooses it: the correlation id of the first event, else the spare one.
  const std::string& given = publication.events.front().correlation_id;
  const std::string& own = given.empty() ? publication.spare_correlation_id : given;
  if (!own.empty()) plan.correlations.push_back(own);
  for (const NewEvent& event : publication.events) {
    if (!event.event_id.empty()) plan.event_ids.push_back(event.event_id);
    if (!event.supersede_key.empty()) plan.superseded.emplace_back(event.queue, event.supersede_key);
    if (!event.correlation_id.empty()) plan.correlations.push_back(event.correlation_id);
    const std::string& line = event.ordering_key.empty() && publication.ordered ? own : event.ordering_key;
    if (!line.empty()) plan.lines.emplace_back(event.queue, line);
    if (is_limited(event.queue, queue_states_.find(event.queue))) plan.limited.push_back(event.queue);
  }
}

bool Core::checkpoints_due(const Batch& batch, TimePoint now) const {
  return options_.maintains && !batch.own_time && now >= next_checkpoint_;
}

// Whether an event may be due, so that promote() must ask the store for due events. False avoids that query
// in most batches.
bool Core::has_due(TimePoint now) const {
  const auto check = next_due_check();
  return check && *check <= now;
}

// Reads the stored counters of one queue, at most once per batch, because other servers change them too.
Result<void> Core::refresh(Batch& batch, const std::string& queue) {
  if (!shared_ || !batch.refreshed.insert(queue).second) return {};
  auto record = batch.transaction->current(queue);
  if (!record) return record.error();
  return *record ? learn(**record, batch.now()) : Result<void>();
}

Result<void> Core::refresh_all(Batch& batch) {
  if (!shared_) return {};
  std::vector<std::string> repaired_queues;
  auto recalled = batch.transaction->recall(repaired_queues);
  if (!recalled) return recalled.error();
  if (auto done = learn(*recalled, batch.now()); !done) return done;
  batch.recalled = std::move(*recalled);
  return {};
}

Result<void> Core::learn(Recalled& recalled, TimePoint now) {
  std::set<std::string> removed;
  for (const auto& [name, state] : queue_states_.queues()) removed.insert(name);
  for (const QueueRecord& record : recalled.queues) removed.erase(record.row.id);
  for (const std::string& name : removed) queue_states_.erase(name);
  for (QueueRecord& record : recalled.queues) {
    if (auto done = learn(record, now); !done) return done;
  }
  for (const Checkpoint& checkpoint : recalled.checkpoints) {
    QueueState* state = queue_states_.find(checkpoint.queue);
    if (state == nullptr) continue;
    state->at_checkpoint = checkpoint.event_count;
    state->checkpoint_at = checkpoint.created_at;
  }
  failed_by_hour_ = std::move(recalled.failed_by_hour);
  return {};
}

Result<void> Core::learn(QueueRecord& record, TimePoint now) {
  const QueueState* cached = queue_states_.find(record.row.id);
  if (cached == nullptr || cached->row != record.row) {
    if (auto policy = policy_of(record.row, options_.policy); !policy) return policy.error();
    QueueState state = queue_states_.make(record.row);
    if (cached == nullptr) state.totals = record.totals;
    queue_states_.put(std::move(state));
  }
  queue_states_.refresh(record, now);
  return {};
}

void Core::note_effects(const Batch& batch) {
  effects_ = {.ready = batch.resumed, .ended = batch.ended, .next_due = batch.next_due};
  for (const ReadyEvent& ready : batch.ready) {
    if (!batch.gone.contains(ready.id)) effects_.ready.insert(ready.queue);
  }
}

}  // namespace eventq
