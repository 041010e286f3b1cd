// core.cc: see core.h. One batch from begin to commit, and which callers are answered when.
#include "core/core.h"

#include <algorithm>

#include "base/assert.h"
#include "core/batch.h"
#include "eventq/limits.h"

namespace eventq {
namespace {

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

std::optional<TimePoint> earlier(std::optional<TimePoint> a, std::optional<TimePoint> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace

Error no_event(EventId id) {
  return {ErrorCode::not_found, "There is no event " + std::to_string(static_cast<std::int64_t>(id)) + ".",
          "id"};
}

Error no_correlation(const std::string& id) {
  return {ErrorCode::not_found, "No event has the correlation_id \"" + id + "\".", "correlation_id"};
}

Core::Core(Store& store, CoreOptions options, Uuid7Source ids)
    : store_(store),
      options_(std::move(options)),
      shared_(store.shared()),
      ids_(ids),
      queue_states_(options_.policy, options_.share),
      workers_(options_.worker_times),
      commit_seconds_(kCommitSeconds),
      batch_events_(kBatchSizes) {}

std::vector<Envelope<Answer>> Core::run(std::vector<Envelope<Command>> requests) {
  Batch batch;
  batch.answers.resize(requests.size());
  // A transaction has one time, so a command that brings its own is alone in its batch (CommitThread).
  const auto own_time = requests.empty() ? std::nullopt : requests.front().content.now;
  EVENTQ_ASSERT(!own_time || requests.size() == 1);
  batch.own_time = own_time.has_value();

  // The plan uses the settings and the time of the last transaction. prepare() corrects it if they changed.
  if (shared_) batch.plan = plan_for(batch, requests, own_time.value_or(time_));
  const auto allowed = store_.allow_later(queue_states_.any_buffered());
  using Begun = Result<std::unique_ptr<Transaction>>;
  Begun transaction = allowed ? store_.begin_planned(own_time, batch.plan) : Begun(allowed.error());
  if (!transaction) {
    std::vector<Envelope<Answer>> answers = refuse(batch, requests, transaction.error());
    take_all_waits(transaction.error(), transaction.error(), answers);
    return answers;
  }
  batch.transaction = std::move(*transaction);
  if (auto done = prepare(batch, requests); !done) return refuse(batch, requests, done.error());
  if (auto done = apply(batch, requests); !done) return refuse(batch, requests, done.error());
  batch.sync = sync_for(batch);
  if (auto done = batch.transaction->commit(batch.sync); !done) return refuse(batch, requests, done.error());
  return settle(batch, requests);
}

Result<void> Core::apply(Batch& batch, std::vector<Envelope<Command>>& requests) {
  // A time that a command brought need not be the present, so nothing is purged or checkpointed by it.
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
  if (auto done = update_line_heads(batch); !done) return done;
  // Waiters before the new claims, because they asked first.
  if (auto done = wake(batch); !done) return done;
  const std::size_t woken = batch.ready.size();
  if (auto done = serve_claims(batch, requests); !done) return done;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (auto done = apply_last_parts(batch, requests[i].content, i); !done) return done;
  }
  // Again, because admin requests publish, reset and supersede events too.
  if (auto done = settle_correlations(batch); !done) return done;
  if (auto done = update_line_heads(batch); !done) return done;
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

// Work that is due by the clock and belongs to no command.
Result<void> Core::maintain(Batch& batch) {
  const TimePoint now = batch.now();
  if (options_.maintains && now >= next_purge_) {
    const auto purged = batch.transaction->purge_keys(now - limits::kIdempotencyKeyAge, kPurgeMax);
    if (!purged) return purged.error();
    // A full purge means that more keys may be left; the next transaction continues. Workers are dropped once
    // per interval, after the last keys.
    batch.next_purge = *purged < kPurgeMax ? now + kPurgeInterval : now;
    batch.drops_workers = *purged < kPurgeMax;
  }
  if (batch.drops_workers) {
    if (auto done = batch.transaction->drop_workers(now - limits::kWorkerListed); !done) return done;
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

// Runs after the commit: updates the state in memory and returns the answers.
std::vector<Envelope<Answer>> Core::settle(Batch& batch, std::vector<Envelope<Command>>& requests) {
  const TimePoint now = batch.now();
  last_error_.reset();
  if (!batch.own_time) time_ = now;
  note_effects(batch);
  settle_due(batch);
  if (batch.next_purge) next_purge_ = *batch.next_purge;
  if (batch.drops_workers) workers_.drop(now - limits::kWorkerListed);
  resumed_ = std::move(batch.resumed);
  settle_queues(batch);
  settle_workers(batch, requests);
  settle_sync(batch);
  settle_held(batch);
  settle_backpressure(batch);

  std::vector<Envelope<Answer>> answers;
  answers.reserve(requests.size() + batch.served.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const ReplyTo& reply_to = requests[i].reply_to;
    std::optional<ClaimRequest>& claim = requests[i].content.claim;
    Answer& answer = batch.answers[i];
    // A claim that found nothing and a wait for an end are added to their wait lists, with the answer to the
    // rest of their command.
    if (claim && claim->wait > Millis(0) && answer.claims.empty()) {
      const TimePoint deadline = now + claim->wait;
      const bool held_back = window_left(batch, *claim) == 0;
      waiters_.add({reply_to, std::move(*claim), deadline, std::move(answer), held_back});
    } else if (const auto end = batch.waiting_ends.find(i); end != batch.waiting_ends.end()) {
      const TimePoint deadline = now + requests[i].content.wait->timeout;
      waits_.add({reply_to, std::move(end->second), deadline, std::move(answer)});
    } else {
      answers.push_back({reply_to, std::move(answer)});
    }
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

// Updates the queue states to what was committed.
void Core::settle_queues(Batch& batch) {
  const TimePoint now = batch.now();
  for (const std::string& name : batch.removed_queues) queue_states_.erase(name);
  for (auto& [name, state] : batch.changed_queues) queue_states_.put(std::move(state));
  // Before the counters, because this batch completed its events after it made the checkpoint.
  if (batch.next_checkpoint) {
    next_checkpoint_ = *batch.next_checkpoint;
    checkpoint_due_ = false;
  }
  last_changed_ = 0;
  for (const auto& [name, delta] : batch.queues) {
    last_changed_ += delta.changed;
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
}

// Runs after settle_queues(), because backpressure depends on the depths after this batch.
void Core::settle_backpressure(const Batch& batch) {
  for (const Batch::BackpressureCheck& check : batch.backpressure_checks) {
    check.answer->backpressure =
        std::any_of(check.queues.begin(), check.queues.end(), [this](const std::string& queue) {
          const QueueState* state = std::as_const(queue_states_).find(queue);
          return state != nullptr && state->backpressure;
        });
  }
}

void Core::settle_workers(Batch& batch, const std::vector<Envelope<Command>>& requests) {
  // Before the actions, because store_workers() did not store what this batch did.
  if (batch.next_worker_store) {
    next_worker_store_ = *batch.next_worker_store;
    workers_.clear_changed();
  }
  for (WorkerAction& action : batch.actions) {
    // On a shared store a worker may report to another server, so only the store knows its holder.
    // Counting the action as a release keeps the worker's last_seen and tracks no held event.
    if (shared_ && action.kind < WorkerActionKind::completed) action.kind = WorkerActionKind::released;
    workers_.note(action, batch.now());
  }
  // On a shared store the router notes requests.
  for (const Envelope<Command>& request : requests) {
    const std::optional<ClaimRequest>& claim = request.content.claim;
    if (claim && !shared_) workers_.note_asked(claim->worker_id, claim->selector, batch.now());
  }
  for (const Batch::Served& served : batch.served) note_waited(served.waiter.request, batch.now());
  // Last, because a worker that signs off asks no more.
  for (const std::string& worker_id : batch.signed_off) workers_.sign_off(worker_id);
}

// A claim is a request of its worker until its wait ends.
void Core::note_waited(const ClaimRequest& claim, TimePoint until) {
  if (!shared_) workers_.note_waited(claim.worker_id, claim.selector, until);
}

// Notes which changes are on disk. A commit with DiskSync::later adds to those that are not, and sets the
// time by which a later batch must sync them.
void Core::settle_sync(const Batch& batch) {
  if (batch.sync == Transaction::DiskSync::now) {
    if (persist_by_) queue_states_.note_persisted();
    persist_by_.reset();
    return;
  }
  for (const auto& [name, delta] : batch.queues) {
    QueueState* state = queue_states_.find(name);
    if (state == nullptr || delta.changed == 0) continue;
    state->unpersisted += delta.changed;
    persist_by_ = earlier(persist_by_, batch.now() + state->policy.processing_interval);
  }
}

// Undoes a failed batch: waiters that it served are put back at their positions, and every command gets the
// error. The rest of the batch's state is dropped with it.
std::vector<Envelope<Answer>> Core::refuse(Batch& batch, std::vector<Envelope<Command>>& requests,
                                           const Error& error) {
  for (Batch::Served& served : batch.served) waiters_.put_back(served.position, std::move(served.waiter));
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
  for (WaitingClaim& waiter : waiters_.take_expired(now)) {
    note_waited(waiter.request, now);
    answers.push_back({waiter.reply_to, std::move(waiter.answer)});
  }
  for (WaitingEnd& wait : waits_.take_expired(now))
    answers.push_back({wait.reply_to, std::move(wait.answer)});
}

// Takes all waiting callers out of their lists, with these errors. A caller whose reports or publication were
// committed before the wait began gets their results: after an error it would repeat them.
void Core::take_all_waits(const std::optional<Error>& claim_error, const Error& end_error,
                          std::vector<Envelope<Answer>>& answers) {
  for (WaitingClaim& waiter : waiters_.take_all()) {
    if (waiter.answer.changed.empty()) waiter.answer.error = claim_error;
    answers.push_back({waiter.reply_to, std::move(waiter.answer)});
  }
  for (WaitingEnd& wait : waits_.take_all()) {
    if (!wait.answer.published) wait.answer.error = end_error;
    answers.push_back({wait.reply_to, std::move(wait.answer)});
  }
}

void Core::cancel_wait(const ReplyTo& reply_to, TimePoint now) {
  if (const auto waiter = waiters_.forget(reply_to)) note_waited(waiter->request, now);
  waits_.forget(reply_to);
}

std::vector<Envelope<Answer>> Core::end_all_waits() {
  std::vector<Envelope<Answer>> answers;
  take_all_waits(std::nullopt,
                 {ErrorCode::unavailable, "The queue is closing; ask again after its restart.", ""}, answers);
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

}  // namespace eventq
