// core.cc: see core.h. One batch from begin to commit, and which callers are answered when.
#include "core/core.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/assert.h"
#include "core/batch.h"
#include "eventq/limits.h"
#include "model/names.h"

namespace eventq {
namespace {

// Events that one transaction makes ready, so that a million that come due at once do not delay other
// commands. The next transactions promote the rest.
constexpr std::size_t kPromoteMax = 5000;
constexpr std::size_t kPurgeMax = 1000;
constexpr std::chrono::minutes kPurgeInterval{1};
constexpr std::chrono::minutes kCheckpointInterval{1};
constexpr std::chrono::seconds kWorkerStoreInterval{5};
// How often a shared store is asked for due events that another server delayed and did not promote before it
// died. After a claim that found nothing the Core asks sooner, because such an event may be what it wants.
constexpr std::chrono::seconds kSharedDueCheck{5};
constexpr Millis kEmptyClaimDueCheck{100};

constexpr double kCommitSeconds[] = {0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5};
constexpr double kBatchSizes[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10'000};

double seconds(Millis time) { return std::chrono::duration<double>(std::max(time, Millis(0))).count(); }

std::optional<TimePoint> earlier(std::optional<TimePoint> a, std::optional<TimePoint> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace

Error no_event(EventId id) {
  return {ErrorCode::not_found, "There is no event " + std::to_string(static_cast<std::int64_t>(id)) + ".",
          "id"};
}

Core::Core(Store& store, CoreOptions options, Uuid7Source ids)
    : store_(store),
      options_(std::move(options)),
      shared_(store.shared()),
      ids_(ids),
      queue_states_(options_.policy, {options_.shard, options_.shards}),
      commit_seconds_(kCommitSeconds),
      batch_events_(kBatchSizes) {}

std::vector<Envelope<Answer>> Core::run_once(std::optional<TimePoint> now) {
  std::vector<Envelope<Command>> maintenance(now ? 1 : 0);
  if (now) maintenance[0].content.now = now;
  std::vector<Envelope<Answer>> answers = run(std::move(maintenance));
  std::erase_if(answers, [](const Envelope<Answer>& answer) { return answer.reply_to.sink == nullptr; });
  return answers;
}

std::vector<Envelope<Answer>> Core::run(std::vector<Envelope<Command>> requests) {
  Batch batch;
  batch.answers.resize(requests.size());
  // A transaction has one time, so a command that brings its own is alone in its batch (CommitThread).
  const auto own_time = requests.empty() ? std::nullopt : requests.front().content.now;
  EVENTQ_ASSERT(!own_time || requests.size() == 1);
  batch.own_time = own_time && requests.front().reply_to.sink != nullptr;  // run_once() has no sink

  auto ready = store_.allow_later(queue_states_.any_buffered());
  if (ready) ready = begin(batch, requests, own_time);
  if (!ready) {
    std::vector<Envelope<Answer>> answers = refuse(batch, requests, ready.error());
    for (WaitingClaim& waiter : waiters_.take_all()) {
      // The reports of the command were committed before its claim began to wait, so it gets their results.
      if (waiter.answer.changed.empty()) waiter.answer.error = ready.error();
      answers.push_back({waiter.reply_to, std::move(waiter.answer)});
    }
    for (WaitingEnd& wait : waits_.take_all()) {
      if (!wait.answer.published) wait.answer.error = ready.error();
      answers.push_back({wait.reply_to, std::move(wait.answer)});
    }
    return answers;
  }
  if (auto done = prepare(batch, requests); !done) return refuse(batch, requests, done.error());
  if (auto done = apply(batch, requests); !done) return refuse(batch, requests, done.error());
  batch.sync = sync_for(batch);
  if (auto done = batch.transaction->commit(batch.sync); !done) return refuse(batch, requests, done.error());
  return settle(batch, requests);
}

Result<void> Core::apply(Batch& batch, std::vector<Envelope<Command>>& requests) {
  if (!batch.own_time) {
    if (auto done = maintain(batch); !done) return done;
  }
  if (auto done = promote(batch); !done) return done;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!requests[i].content.publication) continue;
    if (auto done = publish(batch, *requests[i].content.publication, batch.answers[i]); !done) return done;
  }
  if (auto done = change_all(batch, requests); !done) return done;
  if (auto done = settle_correlations(batch); !done) return done;
  if (auto done = realign(batch); !done) return done;
  if (auto done = wake(batch); !done) return done;
  const std::size_t woken = batch.ready.size();
  if (auto done = serve_claims(batch, requests); !done) return done;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (auto done = apply_tail(batch, requests[i].content, i); !done) return done;
  }
  if (auto done = settle_correlations(batch); !done) return done;
  if (auto done = realign(batch); !done) return done;
  // Events that became ready after wake() are offered to the waiters by the next batch.
  for (std::size_t i = woken; i < batch.ready.size(); ++i) batch.resumed.insert(batch.ready[i].queue);
  if (auto done = write_queue_states(batch); !done) return done;
  return find_next_due(batch);
}

// Sets batch.next_due. On a shared store the query is a round trip, so the last result is reused for a while;
// next_due_by() then adds only what this transaction wrote itself.
Result<void> Core::find_next_due(Batch& batch) {
  const TimePoint now = batch.now();
  batch.due_checked = !shared_ || batch.own_time || has_due(now) ||
                      (batch.claim_found_nothing && now >= due_checked_at_ + kEmptyClaimDueCheck);
  auto due = batch.due_checked ? batch.transaction->next_due() : batch.transaction->next_due_by(next_due_);
  if (!due) return due.error();
  batch.next_due = *due;
  return {};
}

// When to promote next. On a shared store also every kSharedDueCheck, because other servers delay events too.
std::optional<TimePoint> Core::next_due_check() const {
  if (!shared_) return next_due_;
  return earlier(earlier(next_due_, due_elsewhere_), due_checked_at_ + kSharedDueCheck);
}

Result<void> Core::serve_claims(Batch& batch, std::vector<Envelope<Command>>& requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Command& command = requests[i].content;
    if (!command.claim) continue;
    polls_.note(command.claim->selector, batch.now());
    workers_.note_asked(command.claim->worker_id, command.claim->selector, batch.now());
    auto claims = claim(batch, *command.claim);
    if (!claims) return claims.error();
    if (claims->empty() && command.claim->wait > Millis(0)) batch.waiting.push_back(i);
    batch.answers[i].claims = std::move(*claims);
  }
  return {};
}

// The parts of a command that must see the result of all publications, changes and claims of the batch.
Result<void> Core::apply_tail(Batch& batch, const Command& command, std::size_t index) {
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

// Work that is due by the clock and belongs to no command.
Result<void> Core::maintain(Batch& batch) {
  const TimePoint now = batch.now();
  if (options_.maintains && now >= next_purge_) {
    const auto purged = batch.transaction->purge_keys(now - limits::kIdempotencyKeyAge, kPurgeMax);
    if (!purged) return purged.error();
    // A full purge means that more keys may be left; the next transaction continues.
    batch.next_purge = *purged < kPurgeMax ? now + kPurgeInterval : now;
  }
  if (persist_by_ && now >= *persist_by_) {
    batch.strict = true;
    if (auto done = batch.transaction->probe(); !done) return done;
  }
  if (checkpoints_due(batch, now)) {
    batch.next_checkpoint = now + kCheckpointInterval;
    // A checkpoint that another server made within the interval is enough.
    const TimePoint made_by = shared_ ? now - kCheckpointInterval : TimePoint::max();
    if (auto done = checkpoint_all(batch, made_by); !done) return done;
  }
  if (now >= next_worker_store_ && workers_.has_changed()) {
    batch.next_worker_store = now + kWorkerStoreInterval;
    if (auto done = store_workers(batch); !done) return done;
  }
  return {};
}

// Moves events that came due into the ready index, and fails those that are out of attempts.
Result<void> Core::promote(Batch& batch) {
  const TimePoint now = batch.now();
  if (!has_due(now)) return {};
  auto promoted = batch.transaction->promote(kPromoteMax);
  if (!promoted) return promoted.error();
  std::vector<LogEntry> entries;
  std::vector<Stored> given_up;
  for (Stored& stored : *promoted) {
    const Event& event = stored.event;
    if (!shared_ && event.status == Status::processing) batch.held[{event.worker_id, event.queue}] -= 1;
    if (!out_of_attempts(stored.event, state_of(batch, stored.event.queue).policy)) {
      batch.note_ready(stored);
      continue;
    }
    for (LogEntry& entry : give_up(batch, stored)) entries.push_back(std::move(entry));
    given_up.push_back(std::move(stored));
  }
  if (given_up.empty()) return {};
  if (auto done = save(batch, given_up); !done) return done;
  if (auto done = batch.transaction->append(entries); !done) return done;
  return realign(batch);
}

// Fails an event that is out of attempts, and counts it.
std::vector<LogEntry> Core::give_up(Batch& batch, Stored& stored) {
  const std::string worker_id = stored.event.worker_id;
  std::vector<LogEntry> entries = eventq::give_up(stored.event, batch.now());
  stored.cause = cause_of(entries.back());
  QueueDelta& delta = batch.queues[stored.event.queue];
  delta.totals.abandoned += 1;
  delta.totals.failed += 1;
  delta.totals.failed_for_good += 1;
  batch.actions.push_back({WorkerActionKind::lost, worker_id, stored.event.id});
  return entries;
}

// Serves waiting claims with the events that became ready. Events are offered in claim order, so the first
// waiter that matches gets the best event for it: a better one would have been offered before.
Result<void> Core::wake(Batch& batch) {
  std::sort(batch.ready.begin(), batch.ready.end(), [](const ReadyEvent& a, const ReadyEvent& b) {
    return std::tuple(-a.priority, a.turn) < std::tuple(-b.priority, b.turn);
  });
  for (const ReadyEvent& ready : batch.ready) {
    if (batch.gone.contains(ready.id)) continue;
    if (state_of(batch, ready.queue).row.status == QueueStatus::paused) continue;
    // A waiter whose window is full is held back, and the event is offered to the next waiter.
    for (bool offered = true; offered;) {
      auto first = waiters_.take_first(ready.queue, ready.tags);
      if (!first) break;
      auto held_back = serve(batch, first->first, std::move(first->second));
      if (!held_back) return held_back.error();
      offered = *held_back;
    }
  }
  if (auto done = wake_resumed(batch); !done) return done;
  return wake_held_back(batch);
}

// Serves all waiters of the queues in resumed_, in the order of their arrival.
Result<void> Core::wake_resumed(Batch& batch) {
  for (const std::string& queue : resumed_) {
    for (const std::uint64_t place : waiters_.positions(queue)) {
      auto served = serve(batch, place, waiters_.take(place));
      if (!served) return served.error();
    }
  }
  return {};
}

// Serves a waiter that was taken out of the list, or puts it back. Returns true if its full window held it
// back, so that the event is still there for another waiter.
Result<bool> Core::serve(Batch& batch, std::uint64_t place, WaitingClaim waiter) {
  auto claims = claim(batch, waiter.request);
  if (!claims || claims->empty()) {
    waiter.held_back = window_left(batch, waiter.request) == 0;
    const bool held_back = waiter.held_back;
    waiters_.put_back(place, std::move(waiter));
    if (!claims) return claims.error();
    return held_back;
  }
  batch.served.push_back({place, std::move(waiter), std::move(*claims)});
  return false;
}

Result<std::vector<Claim>> Core::claim(Batch& batch, const ClaimRequest& request) {
  std::vector<Claim> claims;
  const QueueState* state = find_state(batch, request.selector.queue);
  if (state == nullptr || state->row.status == QueueStatus::paused) return claims;
  const std::size_t limit = std::min({request.limit, state->policy.claim_max, window_left(batch, request)});
  std::size_t bytes = 0;
  while (claims.size() < limit && bytes < kClaimBytes) {
    auto found = batch.transaction->claim(request.selector, limit - claims.size());
    if (!found) return found.error();
    if (found->empty()) {
      batch.claim_found_nothing = true;
      break;
    }
    // An event can be in the ready index and not due, if a transaction with a later clock put it there.
    // save() takes it out again.
    const auto early = std::stable_partition(found->begin(), found->end(), [&](const Stored& stored) {
      return is_due(stored.event, batch.now());
    });
    const std::span<Stored> due(found->begin(), early);
    std::vector<LogEntry> entries;
    for (Stored& stored : due) {
      std::vector<LogEntry> written = take(batch, stored, request.worker_id);
      std::move(written.begin(), written.end(), std::back_inserter(entries));
    }
    if (auto done = save(batch, *found); !done) return done.error();
    if (auto done = batch.transaction->append(entries); !done) return done.error();
    for (Stored& stored : due) {
      batch.gone.insert(stored.event.id);
      if (stored.archived) continue;
      bytes += stored.event.payload.size();
      const TimePoint lease_until = stored.event.due_at;
      claims.push_back({std::move(stored.event), lease_until});
    }
  }
  return claims;
}

// Leases one due event to the worker, and counts the claim. An event that is out of attempts gets here only
// after a restart with a lower max_attempts, because promote() fails the others.
std::vector<LogEntry> Core::take(Batch& batch, Stored& stored, const std::string& worker_id) {
  Event& event = stored.event;
  const Policy& policy = state_of(batch, event.queue).policy;
  if (out_of_attempts(event, policy)) return give_up(batch, stored);
  QueueDelta& delta = batch.queues[event.queue];
  delta.totals.claimed += 1;
  delta.waits.push_back(seconds(batch.now() - event.due_at));
  if (event.status == Status::processing) {
    delta.totals.abandoned += 1;
    batch.actions.push_back({WorkerActionKind::lost, event.worker_id, event.id});
  }
  batch.actions.push_back({WorkerActionKind::claimed, worker_id, event.id});
  return eventq::claim(event, worker_id, batch.now(), policy);
}

Result<void> Core::explain(Batch& batch, const Command& command, Answer& answer) {
  const EventId id = *command.why;
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
  auto log = batch.transaction->log(id);
  if (!log) return log.error();
  if (!log->empty()) context.last_entry = std::move(log->back());
  answer.explanation = Explanation{id, event.status, eventq::explain(event, context, batch.now())};
  return {};
}

// Runs after the commit: updates the state in memory and returns the answers. A claim that found nothing
// and a wait for an end are added to their wait lists instead, with the answer to the rest of their
// command. The backpressure checks follow settle_queues(), because they read the depths after this batch.
std::vector<Envelope<Answer>> Core::settle(Batch& batch, std::vector<Envelope<Command>>& requests) {
  const TimePoint now = batch.now();
  last_error_.reset();
  if (!batch.own_time) time_ = now;
  note_effects(batch);
  settle_due(batch);
  next_purge_ = batch.next_purge.value_or(next_purge_);
  resumed_ = std::move(batch.resumed);
  settle_queues(batch);
  settle_held(batch);
  for (const Batch::BackpressureCheck& check : batch.backpressure_checks) {
    check.answer->backpressure =
        std::any_of(check.queues.begin(), check.queues.end(), [this](const std::string& queue) {
          const QueueState* state = std::as_const(queue_states_).find(queue);
          return state != nullptr && state->backpressure;
        });
  }

  std::vector<Envelope<Answer>> answers;
  answers.reserve(requests.size() + batch.served.size());
  for (const std::size_t i : batch.waiting) {
    ClaimRequest& request = *requests[i].content.claim;
    const TimePoint deadline = now + request.wait;
    const bool held_back = window_left(batch, request) == 0;
    waiters_.add(
        {requests[i].reply_to, std::move(request), deadline, std::move(batch.answers[i]), held_back});
  }
  for (auto& [i, key] : batch.waits) {
    const TimePoint deadline = now + requests[i].content.wait->timeout;
    waits_.add({requests[i].reply_to, std::move(key), deadline, std::move(batch.answers[i])});
    batch.waiting.push_back(i);
  }
  std::sort(batch.waiting.begin(), batch.waiting.end());
  auto waits = batch.waiting.begin();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (waits != batch.waiting.end() && *waits == i) {
      ++waits;
      continue;
    }
    answers.push_back({requests[i].reply_to, std::move(batch.answers[i])});
  }
  for (Batch::Served& served : batch.served) {
    served.waiter.answer.claims = std::move(served.claims);
    answers.push_back({served.waiter.reply_to, std::move(served.waiter.answer)});
  }
  settle_waits(batch, answers);
  if (!batch.own_time) end_expired_waits(now, answers);
  return answers;
}

// Stores when the next event comes due. A command's own time says nothing about the time of a shared store,
// so such a batch may bring the next due check forward, but never postpones it.
void Core::settle_due(const Batch& batch) {
  if (shared_ && batch.own_time) {
    next_due_ = earlier(batch.next_due, next_due_);
    return;
  }
  next_due_ = batch.next_due;
  if (!batch.due_checked) return;
  due_checked_at_ = batch.now();
  if (due_elsewhere_ && *due_elsewhere_ <= batch.now()) due_elsewhere_.reset();
}

// Answers the callers that wait for an event, a correlation or a queue that ended or emptied in this batch.
// Runs after the waits of this batch are in waits_, because an event may end in the batch that waits for it.
// Runs after settle_queues(), because depth() must include this batch.
void Core::settle_waits(Batch& batch, std::vector<Envelope<Answer>>& answers) {
  if (waits_.size() == 0) return;
  const auto answer = [&](const std::string& key) {
    for (WaitingEnd& wait : waits_.take(key)) {
      wait.answer.waited = true;
      answers.push_back({wait.reply_to, std::move(wait.answer)});
    }
  };
  for (const EventId id : batch.ended) answer(wait_key(id));
  for (const std::string& id : batch.ended_correlations) answer(wait_key(WaitRequest::Correlated{id}));
  for (const auto& [queue, delta] : batch.queues) {
    const QueueState* state = queue_states_.find(queue);
    if (state != nullptr && state->depth() == 0) answer(wait_key(WaitRequest::Drained{queue}));
  }
}

// Updates the state in memory to what was committed.
void Core::settle_queues(Batch& batch) {
  const TimePoint now = batch.now();
  last_changed_ = 0;
  for (const auto& [name, delta] : batch.queues) last_changed_ += delta.changed;
  for (auto& [name, state] : batch.changed_queues) queue_states_.put(std::move(state));
  // Before the counters, because this batch completed its events after it made the checkpoint.
  if (batch.next_checkpoint) {
    next_checkpoint_ = *batch.next_checkpoint;
    checkpoint_due_ = false;
  }
  for (const auto& [name, delta] : batch.queues) {
    queue_states_.add(name, delta, now);
    if (delta.totals.failed_for_good > 0) failed_by_hour_[hour_of(now)] += delta.totals.failed_for_good;
    if (delta.totals.completed > 0) checkpoint_due_ = true;
  }
  for (const auto& [name, completed] : batch.checkpointed) {
    QueueState* state = queue_states_.find(name);
    if (state == nullptr) continue;
    state->at_checkpoint = completed;
    state->checkpoint_at = now;
  }
  if (batch.next_worker_store) {
    next_worker_store_ = *batch.next_worker_store;
    workers_.clear_changed();
  }
  for (WorkerAction& action : batch.actions) {
    // On a shared store a worker may report to another server, so only the store knows its holder.
    // Counting the action as a release keeps the worker's last_seen and tracks no held event.
    if (shared_ && action.kind < WorkerActionKind::completed) action.kind = WorkerActionKind::released;
    workers_.note(action, now);
  }

  if (batch.sync == Transaction::DiskSync::now) {
    if (persist_by_) queue_states_.note_persisted();
    persist_by_.reset();
    return;
  }
  for (const auto& [name, delta] : batch.queues) {
    QueueState* state = queue_states_.find(name);
    if (state == nullptr || delta.changed == 0) continue;
    state->unpersisted += delta.changed;
    persist_by_ = earlier(persist_by_, now + state->policy.processing_interval);
  }
}

std::vector<Envelope<Answer>> Core::refuse(Batch& batch, std::vector<Envelope<Command>>& requests,
                                           const Error& error) {
  for (Batch::Served& served : batch.served) waiters_.put_back(served.place, std::move(served.waiter));
  release_held_back();
  last_error_ = error;
  last_changed_ = 0;
  effects_ = {};
  std::vector<Envelope<Answer>> answers;
  answers.reserve(requests.size());
  for (const Envelope<Command>& request : requests)
    answers.push_back({request.reply_to, Answer{.error = error}});
  if (batch.transaction && !batch.own_time) end_expired_waits(batch.now(), answers);
  batch.transaction.reset();  // rolls back
  return answers;
}

// Answers the waiters whose deadline has passed with nothing. Also after a failed transaction, because a
// caller's timeout must not depend on the store.
void Core::end_expired_waits(TimePoint now, std::vector<Envelope<Answer>>& answers) {
  for (WaitingClaim& waiter : waiters_.take_expired(now))
    answers.push_back({waiter.reply_to, std::move(waiter.answer)});
  for (WaitingEnd& wait : waits_.take_expired(now))
    answers.push_back({wait.reply_to, std::move(wait.answer)});
}

void Core::cancel_wait(const ReplyTo& reply_to) {
  waiters_.forget(reply_to);
  waits_.forget(reply_to);
}

std::vector<Envelope<Answer>> Core::end_all_waits() {
  std::vector<Envelope<Answer>> answers;
  for (WaitingClaim& waiter : waiters_.take_all())
    answers.push_back({waiter.reply_to, std::move(waiter.answer)});
  for (WaitingEnd& wait : waits_.take_all()) {
    // A caller that publishes and waits gets its publication with waited = false. An error would be wrong,
    // because the publication is committed and the caller would publish it again.
    if (!wait.answer.published) {
      wait.answer.error =
          Error{ErrorCode::unavailable, "The queue is closing; ask again after its restart.", ""};
    }
    answers.push_back({wait.reply_to, std::move(wait.answer)});
  }
  return answers;
}

std::optional<TimePoint> Core::next_attention() const {
  if (!resumed_.empty() && waiters_.size() > 0) return TimePoint();
  std::optional<TimePoint> next = earlier(waiters_.next_deadline(), waits_.next_deadline());
  next = earlier(next, persist_by_);
  // Other servers list these workers too, so they must be stored even when nothing else is due.
  if (shared_ && workers_.has_changed()) next = earlier(next, next_worker_store_);
  if (!options_.maintains) return next;
  next = earlier(next, next_due_check());
  return checkpoint_due_ ? earlier(next, next_checkpoint_) : next;
}

void Core::expect_due(TimePoint due) { due_elsewhere_ = earlier(due_elsewhere_, due); }

void Core::note_commit(double seconds) {
  if (last_changed_ == 0) return;
  commit_seconds_.add(seconds);
  batch_events_.add(static_cast<double>(last_changed_));
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

}  // namespace eventq
