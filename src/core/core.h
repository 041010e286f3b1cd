// core.h: the queue itself. It makes one transaction of many callers' commands, and answers each caller after
// the commit.
//
// The folder core/ executes commands on a Store. Rules for single events are in model/, threads in engine/,
// lists of waiting callers in wait/. A batch passes through run() like this:
//   prepare          plan.cc     on a shared store: locks rows and learns settings that others changed
//   maintain         core.cc     purges keys, makes checkpoints, stores workers
//   promote          claims.cc   makes events ready that came due
//   publish          publish.cc  every publication of the batch
//   change_all       change.cc   every report and other change
//   wake             claims.cc   serves waiting claims with the events that became ready
//   serve_claims     claims.cc   serves the new claims of the batch
//   apply_last_parts admin.cc    admin requests, explanations, new waits for an end
//   commit, settle   core.cc     commits, updates the state in memory, collects the answers
// The commands of a batch are concurrent, so the Core may choose this order. It serves a waiting worker
// inside the transaction of the publication that wakes it. Changes of queues come last and hold from the next
// batch.
//
// The Core has no thread, clock or randomness of its own: time comes from the store, ids from the given
// source.
//
// Threads: none; all calls from one thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/uuid.h"
#include "command/envelope.h"
#include "core/queue_states.h"
#include "core/workers.h"
#include "store/store.h"
#include "wait/polls.h"
#include "wait/waiting_claims.h"
#include "wait/waiting_ends.h"

namespace eventq {

struct CoreOptions {
  Policy policy;  // for settings that a queue does not have
  std::map<std::string, QueueConfig> queues = {};
  WorkerTimes worker_times = {};
  // This Core does the periodic work on this database: checkpoints, purging keys, promoting due events. False
  // for the second and later commit threads of a process.
  bool maintains = true;
  Share share = {};  // of this database in the queue
};

// What a transaction did that waiting callers of other Cores may wait for.
struct CommitEffects {
  std::set<std::string> ready;        // queues with new ready events, or that were resumed
  std::vector<EventId> ended;         // events that ended
  std::optional<TimePoint> next_due;  // the next event comes due then, as far as this transaction knows
};

// Hours since 1970.
inline std::int64_t hour_of(TimePoint time) {
  return std::chrono::floor<std::chrono::hours>(time.time_since_epoch()).count();
}

// Errors of requests for things that do not exist, or that a draining queue refuses.
Error no_event(EventId id);
Error no_correlation(const std::string& id);
Error draining_error(const std::string& queue);

class Core {
 public:
  Core(Store& store, CoreOptions options, Uuid7Source ids);

  // Loads queue states and workers from the store, applies the settings of the options, and stores a Recovery
  // report for each queue. Returns the number of live events.
  // REQUIRES: called once, before run(). Errors: of the store; corrupt when stored settings cannot be read.
  Result<std::int64_t> recover();

  // Applies all commands in one transaction. Returns the answers of the commands that do not wait, and of
  // earlier waiters that were served or whose deadline has passed. Without commands it does what is due by
  // the clock: makes due events ready, purges old keys, syncs buffered changes to disk.
  // Errors: when the transaction fails, each of its commands gets the error and waiters keep waiting. When no
  // transaction can begin, waiters get the error too.
  std::vector<Envelope<Answer>> run(std::vector<Envelope<Command>> requests);

  // Makes a checkpoint of every queue with newly completed events, and syncs everything to disk.
  // REQUIRES: no call of run() follows.
  Result<void> close();

  // The caller stopped waiting at `now`: removes its claim or wait without an answer. Does nothing if there
  // is none.
  void cancel_wait(const ReplyTo& reply_to, TimePoint now);

  // Answers every waiting claim with no events, and every wait for an end with `unavailable`. A waiting
  // publisher gets its publication instead, because that is committed.
  std::vector<Envelope<Answer>> end_all_waits();

  // The error of the last transaction; empty after a commit.
  [[nodiscard]] const std::optional<Error>& last_error() const { return last_error_; }

  // Of the last transaction; empty if it failed.
  [[nodiscard]] const CommitEffects& last_effects() const { return effects_; }

  // The store's time in the last transaction whose command did not bring its own time.
  [[nodiscard]] TimePoint time() const { return time_; }

  // Another Core of this process knows of an event that comes due at `due`.
  void expect_due(TimePoint due);

  // When to call run() next, even without commands; TimePoint() means at once. Empty: nothing comes due.
  [[nodiscard]] std::optional<TimePoint> next_attention() const;

  // Adds the duration of the last transaction to the metrics, unless it changed no event.
  void note_commit(double seconds);

 private:
  struct Batch;
  using Refusal = std::optional<Error>;  // empty: the request is accepted

  Result<void> apply(Batch& batch, std::vector<Envelope<Command>>& requests);
  Result<void> maintain(Batch& batch);
  Result<void> find_next_due(Batch& batch);
  void settle_due(const Batch& batch);
  [[nodiscard]] std::optional<TimePoint> next_due_check() const;
  std::vector<Envelope<Answer>> settle(Batch& batch, std::vector<Envelope<Command>>& requests);
  void settle_queues(Batch& batch);
  void settle_backpressure(const Batch& batch);
  void settle_workers(Batch& batch, const std::vector<Envelope<Command>>& requests);
  void note_waited(const ClaimRequest& claim, TimePoint until);
  void settle_sync(const Batch& batch);
  void settle_waits(Batch& batch, std::vector<Envelope<Answer>>& answers);
  std::vector<Envelope<Answer>> refuse(Batch& batch, std::vector<Envelope<Command>>& requests,
                                       const Error& error);
  void end_expired_waits(TimePoint now, std::vector<Envelope<Answer>>& answers);
  void take_all_waits(const std::optional<Error>& claim_error, const Error& end_error,
                      std::vector<Envelope<Answer>>& answers);

  // plan.cc
  Result<void> prepare(Batch& batch, const std::vector<Envelope<Command>>& requests);
  Result<bool> learn_settings(Batch& batch);
  [[nodiscard]] TransactionPlan plan_for(const Batch& batch, const std::vector<Envelope<Command>>& requests,
                                         TimePoint now) const;
  void plan_publication(TransactionPlan& plan, const Publication& publication) const;
  Result<void> refresh(Batch& batch, const std::string& queue);
  Result<void> refresh_all(Batch& batch);
  Result<void> learn(Recalled& recalled, TimePoint now);
  Result<void> learn(QueueRecord& record, TimePoint now);
  [[nodiscard]] bool checkpoints_due(const Batch& batch, TimePoint now) const;
  [[nodiscard]] bool has_due(TimePoint now) const;
  void note_effects(const Batch& batch);

  // claims.cc
  Result<void> promote(Batch& batch);
  std::vector<LogEntry> give_up(Batch& batch, Stored& stored);
  Result<void> serve_claims(Batch& batch, std::vector<Envelope<Command>>& requests);
  Result<std::vector<Claim>> claim(Batch& batch, const ClaimRequest& request);
  std::vector<LogEntry> take(Batch& batch, Stored& stored, const std::string& worker_id);
  Result<void> wake(Batch& batch);
  Result<void> wake_resumed(Batch& batch);
  Result<bool> serve(Batch& batch, WaitingClaims::Position position, WaitingClaim waiter);
  [[nodiscard]] std::size_t window_left(const Batch& batch, const ClaimRequest& request) const;
  Result<void> wake_held_back(Batch& batch);
  void settle_held(Batch& batch);
  void release_held_back();

  // publish.cc
  Result<void> publish(Batch& batch, Publication& publication, Answer& answer);
  Result<void> put_key(Batch& batch, const Publication& publication, const Published& published,
                       const std::set<std::string>& queues);
  Result<std::optional<Result<Published>>> replay(Batch& batch, const Publication& publication);
  Result<Refusal> refuse_publication(Batch& batch, const Publication& publication);
  Result<Refusal> refuse_on_complete(Batch& batch, const Publication& publication);
  Result<std::int64_t> net_growth(Batch& batch, const std::vector<const NewEvent*>& events);
  Result<void> admit_all(Batch& batch, Publication& publication, Published& published);
  Result<Event> admit_one(Batch& batch, NewEvent&& event, std::optional<int> sequence);
  Result<void> supersede_older(Batch& batch, const Event& newer);
  Result<bool> supersede(Batch& batch, EventId id, const Supersede& how);

  // change.cc
  Result<void> change_all(Batch& batch, std::vector<Envelope<Command>>& requests);
  Result<void> change(Batch& batch, Stored& stored, const Change& change, Answer& answer);
  Result<void> record(Batch& batch, Stored& stored, Decision& decision);
  Result<Refusal> refuse_revival(Batch& batch, const Event& event);
  Result<void> save(Batch& batch, std::span<Stored> events);
  void note_change(Batch& batch, const Stored& stored, std::optional<Status> before);
  void note_correlation(Batch& batch, const Event& event, std::optional<Status> before);
  Result<void> update_line_heads(Batch& batch);
  Result<void> update_line_head(Batch& batch, const std::string& queue, const std::string& key);
  Result<void> settle_correlations(Batch& batch);
  Result<CorrelationRow> settle_correlation(Batch& batch, const CorrelationRow& change, bool any_ended);
  Result<void> publish_on_complete(Batch& batch, const CorrelationRow& row, const std::string& last_event_id);

  // admin.cc
  Result<void> apply_last_parts(Batch& batch, const Command& command, std::size_t index);
  Result<void> answer_admin(Batch& batch, const AdminRequest& request, Answer& answer);
  Result<void> change_queue(Batch& batch, const QueueChange& change, Answer& answer);
  Result<QueueConfig> new_settings(const QueueChange& change, const QueueRow& present) const;
  Result<void> release_lines(Batch& batch, const std::string& queue);
  Result<void> set_status(Batch& batch, const QueueChange& change, QueueChanged& changed);
  Result<void> supersede_key(Batch& batch, const QueueChange& change, QueueChanged& changed);
  Result<void> revive(Batch& batch, const Revival& revival, Answer& answer);
  Result<Ended> ended_events(Batch& batch, const EndedFilter& filter);
  Result<Refusal> replay_events(Batch& batch, const std::vector<Stored>& events, Revived& revived);
  Result<Refusal> retry_events(Batch& batch, std::vector<Stored>& events, const Revival& revival,
                               Revived& revived);
  Result<void> remove(Batch& batch, const Removal& removal, Answer& answer);
  Result<void> measure(Batch& batch, Answer& answer);
  [[nodiscard]] std::vector<ListedWorker> list_workers(const Batch& batch) const;
  Result<void> sign_off(Batch& batch, const SignOff& request);
  Result<void> note_asks(Batch& batch, const NoteAsks& request);
  [[nodiscard]] std::string demo_leaves_to(const Batch& batch, const Event& event) const;
  Result<void> explain(Batch& batch, const Command& command, Answer& answer);
  [[nodiscard]] Demand demand_for(const Event& event, const Command::ExtraDemand& extra, TimePoint now) const;
  Result<void> start_wait(Batch& batch, const WaitRequest& wait, std::size_t index);

  // queue_log.cc
  Result<void> log_change(Batch& batch, const QueueChange& change, const std::optional<QueueRow>& before,
                          const QueueChanged& changed);
  [[nodiscard]] std::optional<std::pair<QueueAction, std::string>> logged_settings(
      const std::optional<QueueRow>& before, const QueueRow& after) const;
  Result<void> log_start_settings(Batch& batch, const std::optional<QueueRow>& before, const QueueRow& after);
  Result<void> log_revival(Batch& batch, const Revival& revival, const std::vector<Stored>& events,
                           std::size_t revived);
  Result<void> append_queue_log(Batch& batch, const std::string& queue, const std::string& id,
                                QueueAction action, const Actor& actor, std::string detail);

  // queues.cc
  const QueueState* find_state(Batch& batch, const std::string& queue);
  const QueueState& state_of(Batch& batch, const std::string& queue);
  [[nodiscard]] bool is_limited(const std::string& queue, const QueueState* state) const;
  [[nodiscard]] std::int64_t depth_of(Batch& batch, const std::string& queue);
  Result<Refusal> refuse_growth(Batch& batch, const std::string& queue, std::int64_t growth);
  Result<void> create_queue(Batch& batch, const std::string& queue);
  void set_row(Batch& batch, QueueRow row);
  Result<Checkpoint> make_checkpoint(Batch& batch, const QueueState& state,
                                     const QueueChange::MakeCheckpoint* requested = nullptr);
  Result<Refusal> request_checkpoint(Batch& batch, const QueueChange::MakeCheckpoint& wanted,
                                     QueueChanged& changed);
  Result<Refusal> delete_checkpoint(Batch& batch, const std::string& id, QueueChanged& changed);
  Result<Refusal> remove_queue(Batch& batch, const std::string& queue, bool only_check);
  Result<Refusal> apply_change(Batch& batch, const QueueChange& change, QueueChanged& changed);
  Result<Refusal> set_config(Batch& batch, const QueueChange& change, QueueChanged& changed);
  // For queues with newly completed events whose last checkpoint is not newer than `made_by`.
  Result<void> checkpoint_all(Batch& batch, TimePoint made_by = TimePoint::max());
  Result<void> write_queue_states(Batch& batch);
  Result<void> configure(Batch& batch, QueueRow row);
  Result<void> configure_all(Batch& batch);
  Result<void> store_workers(Batch& batch);
  Result<std::int64_t> report_recovery(TimePoint started_at, const std::vector<Checkpoint>& checkpoints,
                                       const std::vector<std::string>& repaired_queues);
  [[nodiscard]] Transaction::DiskSync sync_for(const Batch& batch) const;

  // Set in the constructor, never changed.
  Store& store_;
  const CoreOptions options_;
  const bool shared_;  // other servers or commit threads change the same database

  Uuid7Source ids_;
  JsonParser parser_;
  QueueStates queue_states_;
  WaitingClaims waiters_;
  WaitingEnds waits_;
  Workers workers_;
  std::map<Holder, std::int64_t> held_;  // events in work per worker and queue; not counted if shared_
  std::map<std::int64_t, std::int64_t> failed_by_hour_;
  Polls polls_;
  std::set<std::string> resumed_;                    // the next batch serves waiters of these queues
  std::optional<TimePoint> next_due_ = TimePoint();  // TimePoint(): unknown, ask the store
  std::optional<TimePoint> due_elsewhere_;           // see expect_due()
  TimePoint due_checked_at_;                         // last query for the next due time
  std::optional<TimePoint> persist_by_;              // buffered changes must be on disk by then
  TimePoint next_purge_;
  TimePoint next_checkpoint_;
  bool checkpoint_due_ = false;  // an event was completed since the last checkpoint
  TimePoint next_worker_store_;
  Histogram commit_seconds_;
  Histogram batch_events_;
  std::int64_t last_changed_ = 0;  // events that the last transaction changed
  CommitEffects effects_;
  TimePoint time_;
  std::optional<Error> last_error_;
};

}  // namespace eventq
