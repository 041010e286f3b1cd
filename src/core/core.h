// core.h: the queue itself. Many callers' commands go in, one transaction is made of
// them, and each caller's answer comes out after the commit that holds it.
//
// The commands of a batch are concurrent, so it may order them: first what came due,
// then publications, then changes, then waiting and new claims, so that a waiting
// worker is served inside the transaction of the publication that wakes it; last what
// changes queues, which holds from the next batch on.
//
// No threads, no clock, no randomness of its own: time comes from the store, ids from
// the source given, and whoever calls run() decides when. Not thread-safe.
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
#include "wait/waiters.h"
#include "wait/waits.h"

namespace eventq {

struct CoreOptions {
  Policy policy;  // of queues that say nothing else
  std::map<std::string, QueueConfig> queues = {};
  Millis stale_after = std::chrono::seconds(30);
  Millis start_within = std::chrono::minutes(5);
  bool maintains = true;  // nobody else of this process does what is due by the clock in this database
  int place = 0;          // of `of` databases that share the queue
  int of = 1;
};

// What a transaction did that others may wait for.
struct Happened {
  std::set<std::string> ready;        // queues that have more for claims than before
  std::vector<EventId> ended;         // events
  std::optional<TimePoint> next_due;  // of an event, as far as this transaction knows
};

// Hours since 1970.
inline std::int64_t hour_of(TimePoint time) {
  return std::chrono::floor<std::chrono::hours>(time.time_since_epoch()).count();
}

// Why there is nothing to see or do.
Error no_event(EventId id);
Error draining_error(const std::string& queue);

class Core {
 public:
  Core(Store& store, CoreOptions options, Uuid7Source ids);

  // Learns what the store holds, checks it, and leaves a report for each queue. Once, before run().
  // Returns how many live events there are.
  Result<std::int64_t> recover();

  // Applies all of them in one transaction. Returns the answers that are due now: theirs,
  // except of those that wait, and those of waiters that were served or whose time is over.
  // When the transaction fails, each of its requests gets the error and no waiter notices; when
  // none can be begun, waiters get the error, too.
  std::vector<Envelope<Answer>> run(std::vector<Envelope<Command>> requests);

  // Maintenance: whatever is due at `now` becomes ready and wakes its waiters, waits
  // that are over end, old keys go, buffered changes go to the disk.
  std::vector<Envelope<Answer>> run_once(std::optional<TimePoint> now = std::nullopt);

  // The last thing to be done: a checkpoint of every queue that moved, and everything to the disk.
  Result<void> close();

  // A waiter went away: it must not be given an event any more.
  void forget(const ReplyTo& reply_to);

  // Answers every claim that waits with nothing, and every other wait with an error.
  std::vector<Envelope<Answer>> dismiss_waiters();

  // What the last transaction failed of; nothing when it was committed.
  [[nodiscard]] const std::optional<Error>& last_error() const { return last_error_; }

  // Of the last transaction; nothing when it failed.
  [[nodiscard]] const Happened& happened() const { return happened_; }

  // The store's time in the last transaction that had no time of its own.
  [[nodiscard]] TimePoint time() const { return time_; }

  // Something comes due then, says another Core.
  void expect(TimePoint due);

  // When run_once() has something to do.
  [[nodiscard]] std::optional<TimePoint> next_attention() const;

  // How long the last transaction took, for the metrics; one that changed no event does not count.
  void note_commit(double seconds);

 private:
  struct Batch;

  Result<void> apply(Batch& batch, std::vector<Envelope<Command>>& requests);
  Result<void> apply_tail(Batch& batch, const Command& command, std::size_t index);
  Result<void> maintain(Batch& batch);
  Result<void> look_ahead(Batch& batch);
  void settle_due(const Batch& batch);
  [[nodiscard]] std::optional<TimePoint> next_look() const;
  Result<void> promote(Batch& batch);
  Result<void> serve_claims(Batch& batch, std::vector<Envelope<Command>>& requests);
  Result<void> wake(Batch& batch);
  Result<void> wake_resumed(Batch& batch);
  Result<bool> serve(Batch& batch, std::uint64_t place, Waiter waiter);
  Result<std::vector<Claim>> claim(Batch& batch, const ClaimRequest& request);
  std::vector<LogEntry> take(Batch& batch, Stored& stored, const std::string& worker_id);
  std::vector<LogEntry> give_up(Batch& batch, Stored& stored);
  Result<void> explain(Batch& batch, const Command& command, Answer& answer);
  Result<void> commit(Batch& batch);
  std::vector<Envelope<Answer>> settle(Batch& batch, std::vector<Envelope<Command>>& requests);
  void settle_queues(Batch& batch);
  void settle_waits(Batch& batch, std::vector<Envelope<Answer>>& answers);
  std::vector<Envelope<Answer>> refuse(Batch& batch, std::vector<Envelope<Command>>& requests,
                                       const Error& error);
  void end_waits(TimePoint now, std::vector<Envelope<Answer>>& answers);
  [[nodiscard]] Demand demand_for(const Event& event, const Command::Asked& asked, TimePoint now) const;

  // plan.cc
  Result<void> begin(Batch& batch, const std::vector<Envelope<Command>>& requests,
                     std::optional<TimePoint> own_time);
  Result<void> prepare(Batch& batch, const std::vector<Envelope<Command>>& requests);
  Result<bool> learn_news(Batch& batch);
  [[nodiscard]] TransactionPlan plan_for(const Batch& batch, const std::vector<Envelope<Command>>& requests,
                                         TimePoint now) const;
  void plan_publication(TransactionPlan& plan, const Publication& publication) const;
  Result<void> refresh(Batch& batch, const std::string& queue);
  Result<void> refresh_all(Batch& batch);
  Result<void> learn(Recalled& recalled, TimePoint now);
  Result<void> learn(QueueRecord& record, TimePoint now);
  [[nodiscard]] bool checkpoints_due(const Batch& batch, TimePoint now) const;
  [[nodiscard]] bool has_due(TimePoint now) const;
  void note_happened(const Batch& batch);

  // window.cc
  [[nodiscard]] std::size_t room_for(const Batch& batch, const ClaimRequest& request) const;
  Result<void> wake_held_back(Batch& batch);
  void settle_held(Batch& batch);
  void release_held_back();

  // publish.cc
  Result<void> publish(Batch& batch, Publication& publication, Answer& answer);
  Result<std::optional<Result<Published>>> replay(Batch& batch, const Publication& publication);
  Result<std::optional<Error>> refuse_publication(Batch& batch, const Publication& publication);
  Result<std::optional<Error>> refuse_on_complete(Batch& batch, const Publication& publication);
  static Result<bool> brings_new(Batch& batch, const Publication& publication);
  Result<std::int64_t> net_growth(Batch& batch, const std::vector<const NewEvent*>& events);
  Result<void> admit_all(Batch& batch, Publication& publication, Published& published);
  Result<Event> admit_one(Batch& batch, NewEvent&& event, std::optional<int> sequence);
  Result<void> supersede_older(Batch& batch, const Event& newer);
  Result<bool> supersede(Batch& batch, EventId id, const Supersede& how);

  // change.cc
  Result<void> change_all(Batch& batch, std::vector<Envelope<Command>>& requests);
  Result<void> change(Batch& batch, Stored& stored, const Change& change, Answer& answer);
  Result<void> record(Batch& batch, Stored& stored, Decision& decision);
  static void note_worker(Batch& batch, const Event& event, const Change& change,
                          const std::string& worker_id);
  Result<std::optional<Error>> refuse_revival(Batch& batch, const Event& event);
  Result<void> insert(Batch& batch, Stored& stored);
  Result<void> save(Batch& batch, std::span<Stored> events);
  void note_change(Batch& batch, const Stored& stored, std::optional<Status> before);
  void note_correlation(Batch& batch, const Event& event, std::optional<Status> before);
  Result<void> realign(Batch& batch);
  Result<void> realign(Batch& batch, const std::string& queue, const std::string& key);
  Result<void> settle_correlations(Batch& batch);
  Result<void> publish_on_complete(Batch& batch, const CorrelationRow& row, const std::string& last_event_id);

  // queues.cc
  const QueueState* find_state(Batch& batch, const std::string& queue);
  const QueueState& state_of(Batch& batch, const std::string& queue);
  [[nodiscard]] bool is_limited(const std::string& queue, const QueueState* state) const;
  [[nodiscard]] std::int64_t depth_of(Batch& batch, const std::string& queue);
  Result<std::optional<Error>> refuse_growth(Batch& batch, const std::string& queue, std::int64_t growth);
  Result<void> create_queue(Batch& batch, const std::string& queue);
  Result<void> ask(Batch& batch, const AdminRequest& ask, Answer& answer);
  Result<void> change_queue(Batch& batch, const QueueChange& change, Answer& answer);
  Result<void> release_lines(Batch& batch, const std::string& queue);
  Result<void> set_status(Batch& batch, const QueueChange::SetStatus& wanted, QueueChanged& changed);
  Result<void> supersede_key(Batch& batch, const QueueChange& change, QueueChanged& changed);
  Result<Checkpoint> make_checkpoint(Batch& batch, const QueueState& state);
  // Of those that moved since their last, if that was made by `made_by`.
  Result<void> checkpoint_all(Batch& batch, TimePoint made_by = TimePoint::max());
  Result<void> revive(Batch& batch, const Revival& revival, Answer& answer);
  Result<Ended> ended_events(Batch& batch, const EndedFilter& filter);
  Result<void> replay_events(Batch& batch, std::vector<Stored>& events, Revived& revived,
                             std::optional<Error>& refused);
  Result<void> redrive_events(Batch& batch, std::vector<Stored>& events, const Revival& revival,
                              Revived& revived, std::optional<Error>& refused);
  Result<void> remove(Batch& batch, const Removal& removal, Answer& answer);
  Result<Metrics> measure(Batch& batch);
  [[nodiscard]] std::vector<WorkerState> list_workers(const Batch& batch) const;
  Result<void> start_wait(Batch& batch, const WaitRequest& wait, std::size_t index);
  Result<void> write_queue_states(Batch& batch);
  Result<void> configure(Batch& batch, QueueRow row, const QueueConfig& config);
  Result<void> configure_all(Batch& batch);
  Result<void> store_workers(Batch& batch);
  Result<std::int64_t> report_recovery(TimePoint started_at, const std::vector<Checkpoint>& checkpoints,
                                       const std::vector<std::string>& mended);
  [[nodiscard]] Transaction::DiskSync sync_for(const Batch& batch) const;

  // Set in the constructor, never changed.
  Store& store_;
  const CoreOptions options_;
  const bool shared_;  // others change the store, too

  Uuid7Source ids_;
  JsonParser parser_;
  QueueStates queue_states_;
  Waiters waiters_;
  Waits waits_;
  Workers workers_;
  std::map<Holder, std::int64_t> held_;  // events in work whose lease has not been seen to end
  std::map<std::int64_t, std::int64_t> failed_by_hour_;
  Polls polls_;
  std::set<std::string> resumed_;                    // queues whose waiters may be served
  std::optional<TimePoint> next_due_ = TimePoint();  // unknown: look at once
  std::optional<TimePoint> told_due_;                // by another Core, and not seen to by this one
  TimePoint looked_at_;                              // for what comes due in a shared store
  std::optional<TimePoint> persist_by_;              // buffered changes must be on disk
  TimePoint next_purge_;
  TimePoint next_checkpoint_;
  bool checkpoint_due_ = false;  // something was completed since the last
  TimePoint next_worker_store_;
  Histogram commit_seconds_;
  Histogram batch_events_;
  std::int64_t last_changed_ = 0;  // events, by the last transaction
  Happened happened_;
  TimePoint time_;
  std::optional<Error> last_error_;
};

}  // namespace eventq
