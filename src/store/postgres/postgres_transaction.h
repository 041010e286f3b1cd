// postgres_transaction.h: Transaction on the connection of its Store, with few round trips.
//
// Writes are buffered and sent in a few statements: with the next read that may depend on them, or with
// COMMIT. The first round trip begins the transaction, and reads and locks what is planned. Events that were
// read are cached, so that loading one again needs no round trip.
//
// Locks are taken in this order, so that planned transactions cannot deadlock: the gate (25968), shared or
// alone; names (25969), by hash; rows, by id; claims, which never wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/postgres/connection.h"
#include "store/postgres/event_cache.h"
#include "store/postgres/store_session.h"
#include "store/store.h"

namespace eventq::postgres {

// Names to lock with pg_advisory_xact_lock(25969, hashtext(name)).
std::string line_name(std::string_view queue, std::string_view key);
std::string supersede_name(std::string_view queue, std::string_view key);
std::string correlation_name(std::string_view id);
std::string event_id_name(std::string_view event_id);
std::string key_name(std::string_view idempotency_key);
std::string limit_name(std::string_view queue);

class PostgresTransaction final : public Transaction {
 public:
  // Begins, and plans if `plan` is given, in one round trip. `now` replaces the session's clock. REQUIRES:
  // session.connection is set and not broken.
  static Result<std::unique_ptr<Transaction>> begin(StoreSession& session, std::optional<TimePoint> now,
                                                    const TransactionPlan* plan = nullptr);
  ~PostgresTransaction() override;  // rolls back what was not committed
  PostgresTransaction(const PostgresTransaction&) = delete;
  PostgresTransaction& operator=(const PostgresTransaction&) = delete;

  // postgres_transaction.cc
  TimePoint now() const override { return now_; }
  Result<void> insert(std::span<Stored> events) override;
  Result<std::optional<EventId>> find(std::string_view event_id) override;
  Result<std::vector<std::optional<Stored>>> load(std::span<const EventId> ids, EventFields fields) override;
  Result<std::vector<LogEntry>> log(EventId id) override;
  Result<void> save(std::span<Stored> events) override;
  Result<void> remove(std::span<const Stored> events) override;
  Result<void> append(std::span<LogEntry> entries) override;
  Result<std::vector<Stored>> promote(std::size_t limit) override;
  Result<std::optional<TimePoint>> next_due() override;
  Result<std::optional<TimePoint>> next_due_by(const std::optional<TimePoint>& known) override;
  Result<Ended> ended(const EndedFilter& filter) override;
  Result<std::vector<Stored>> holding_line(std::string_view queue, std::size_t limit) override;
  Result<void> commit(DiskSync sync) override;

  // postgres_plan.cc
  Result<void> plan(const TransactionPlan& plan) override;
  Result<std::optional<Stored>> head_of_line(std::string_view queue, std::string_view key) override;
  Result<std::optional<Stored>> first_behind(std::string_view queue, std::string_view key) override;
  Result<std::vector<EventId>> with_supersede_key(std::string_view queue, std::string_view key) override;

  // postgres_claim.cc
  Result<std::vector<Stored>> claim(const Selector& selector, std::size_t limit) override;

  // postgres_queues.cc
  Result<ChangedQueues> changed_queues() override;
  Result<std::optional<QueueRecord>> current(std::string_view queue) override;
  Result<std::optional<KeyRecord>> find_key(std::string_view key) override;
  Result<void> put_key(const KeyRecord& record) override;
  Result<std::size_t> purge_keys(TimePoint created_before, std::size_t limit) override;
  Result<std::optional<CorrelationRow>> find_correlation(std::string_view id) override;
  Result<std::vector<CorrelatedEnd>> correlated_ends(std::string_view id, EndsLimit limit) override;
  Result<void> put_correlation(const CorrelationRow& row) override;
  Result<void> put_defaults(const QueueConfig& main, const QueueConfig& others) override;
  Result<void> put_queue(const QueueRow& row) override;
  Result<void> add_queue(const QueueRow& row) override;
  Result<void> add_totals(std::string_view queue, const Totals& change,
                          std::optional<EventId> last_completed) override;
  Result<void> add_failed_in_hour(std::int64_t hour, std::int64_t events) override;
  Result<void> put_checkpoint(const Checkpoint& checkpoint) override;
  Result<std::optional<Checkpoint>> find_checkpoint(std::string_view id) override;
  Result<std::int64_t> count_requested(std::string_view queue) override;
  Result<void> delete_checkpoint(std::string_view id) override;
  Result<void> remove_queue(std::string_view queue) override;
  Result<void> append_queue_log(const QueueLogEntry& entry) override;
  Result<void> put_recovery(const Recovery& recovery) override;
  Result<void> add_worker(const WorkerRow& change) override;
  Result<void> put_ask(const WorkerAsk& ask) override;
  Result<void> sign_off(std::string_view worker_id) override;
  Result<void> drop_workers(TimePoint before) override;
  Result<void> put_archive_file(const ArchiveFile& file) override;
  Result<std::optional<TimePoint>> oldest_pending(std::string_view queue) override;
  Result<Recalled> recall(std::vector<std::string>& repaired) override;
  Result<void> probe() override;

 private:
  using QueueKey = TransactionPlan::QueueKey;

  // Calls, and for each the function that takes its rows.
  struct Reads {
    std::vector<StatementCall> calls;
    std::vector<std::function<Result<void>(const Rows&)>> takes;
    void add(StatementCall call, std::function<Result<void>(const Rows&)> take) {
      calls.push_back(std::move(call));
      takes.push_back(std::move(take));
    }
  };

  // A line with this transaction's changes.
  struct CachedLine {
    std::optional<EventId> head;
    std::optional<EventId> first_behind;
    bool first_behind_loaded = true;
  };

  // Events that were locked for the claims of one selector, in order.
  struct ClaimPool {
    std::size_t planned = 0;  // events that claims may still ask for
    bool exhausted = false;   // no further event can be locked
    std::vector<EventId> events;
    // The last query for events: how many it wanted, how many entries it read per tag, and where it started.
    std::size_t wanted = 0;
    std::size_t width = 0;
    std::optional<ReadyCursor> from;
    ReadyCursor last{INT64_MAX, INT64_MIN};  // the last event's; at first before every event
  };

  struct QueueWrite {
    QueueRow row;
    bool replaces = false;  // by put_queue(), not add_queue()
  };

  struct TotalsChange {
    Totals change;
    std::string checkpoint_id;  // event_id of the last completed event; empty: none
  };

  PostgresTransaction(StoreSession& session, std::optional<TimePoint> now);

  // Forgets what was read; the next round trip begins again. REQUIRES: nothing was changed.
  void begin_anew(std::string_view gate);

  // Round trips. The first one also begins the transaction.
  Result<std::vector<Rows>> run(std::vector<StatementCall> calls);
  // As run(), after a flush of the buffers. Returns the rows of `calls` only.
  Result<std::vector<Rows>> flush_and_run(std::vector<StatementCall> calls);
  Result<Rows> read(std::string_view sql, Params params = {});  // flush_and_run() of one call

  // Adds a call that locks those of the names that are not locked yet, if there are any.
  void lock(std::vector<StatementCall>& calls, std::vector<std::string> names);

  // postgres_flush.cc: adds the calls that write the buffers, and empties these.
  void flush(std::vector<StatementCall>& calls);
  void flush_events(std::vector<StatementCall>& calls);
  void flush_counts(std::vector<StatementCall>& calls);  // with COMMIT only

  // postgres_queues.cc, for plan(), flush() and commit().
  // plan_queues() adds the calls that read the planned keys and correlations, and the correlations of
  // plan.changes. planned_queues() takes their rows, one Rows per call.
  void plan_queues(const TransactionPlan& plan, bool plain, std::vector<StatementCall>& calls);
  Result<void> planned_queues(const TransactionPlan& plan, bool plain, std::span<const Rows> rows);
  // Adds the writes of rows that this transaction may read again.
  void flush_queues(std::vector<StatementCall>& calls);
  // Adds the writes that only COMMIT needs: counters, in the same order in every transaction, because others
  // write the same rows.
  void flush_counters(std::vector<StatementCall>& calls);
  void flush_correlations(std::vector<StatementCall>& calls);
  Result<void> take_keys(const std::vector<std::string>& asked, const Rows& rows);
  void take_correlations(const std::vector<std::string>& asked, const Rows& rows);
  Result<void> take_current(const std::vector<std::string>& asked, std::span<const Rows> rows);

  // postgres_plan.cc
  Result<bool> needs_to_be_alone(const TransactionPlan& plan, std::size_t names);
  Result<bool> fetch_planned(const TransactionPlan& plan, const std::vector<std::string>& names, bool plain);
  void plan_loads(const TransactionPlan& plan, const std::vector<std::string>& names, Reads& reads);
  std::size_t plan_claims(const TransactionPlan& plan, Reads& reads);
  Result<void> lock_and_load(std::vector<EventId> ids);
  Result<void> read_whole(const std::vector<EventId>& ids);
  Result<void> take_event_ids(const TransactionPlan& plan, const Rows& rows);
  Result<void> take_planned_lines(const TransactionPlan& plan, const Rows& rows);
  Result<void> read_existing(const TransactionPlan& plan);
  Result<void> take_rows(const Rows& rows, EventFields fields, bool locked);
  CachedEvent& cache_event(Stored stored, EventFields fields, bool locked);
  Result<void> load_line(const QueueKey& line);
  Result<void> take_lines(const Rows& rows);
  Result<std::optional<Stored>> cached_state(std::optional<EventId> id);
  // A log number must be drawn after its event was locked, so that the entries of an event ascend. Draws the
  // unused numbers again, and up to `more` others.
  void redraw_log_numbers(std::vector<StatementCall>& calls, std::size_t more = 0);
  static StatementCall draw_call(std::size_t events, std::size_t entries);

  // postgres_transaction.cc
  Result<void> save_one(Stored& saved);
  void move_in_line(const Event& event, Line from, Line to);
  void note_pending(const Event& event, bool pending);
  void note_waiting(const Stored& stored);
  void count(const std::string& queue, Status status, std::int64_t change);
  Result<std::int64_t> next_event_number();
  Result<void> draw_numbers(std::size_t events, std::size_t entries);
  void take_numbers(const Rows& rows, std::size_t events);

  // postgres_claim.cc
  ClaimStart& start_of(const Selector& selector);
  // The call that locks events for a claim. It returns a payload only if `fetched` payloads of that size fit
  // into kClaimBytes.
  StatementCall scan_call(const Selector& selector, ClaimPool& pool, std::size_t wanted, std::size_t fetched);
  Result<void> fetch(const Selector& selector, ClaimPool& pool, std::size_t wanted);
  Result<void> take_claim(const Selector& selector, ClaimPool& pool, const Rows& rows);
  Result<void> complete(std::vector<EventId>& found);
  [[nodiscard]] std::vector<EventId> candidates(const Selector& selector, const ClaimPool& pool) const;
  [[nodiscard]] ReadyCursor cursor_of(EventId id) const;
  [[nodiscard]] bool hides_ready() const;
  void note_made_ready();

  StoreSession& session_;
  TimePoint now_;                    // when it first began; a restart keeps it
  bool timed_;                       // now_ is set
  std::int64_t queues_version_ = 0;  // queue_news.version when it began
  std::string_view gate_;            // the statement that locks the gate
  bool planned_ = false;
  bool sent_ = false;   // BEGIN was sent
  bool begun_ = false;  // false: the next round trip begins it
  bool open_ = true;
  bool alone_ = false;            // holds the gate alone, so names need no locks
  std::set<std::string> locked_;  // names that this transaction has locked

  std::unordered_map<EventId, CachedEvent> event_cache_;
  std::set<EventId> changed_;                                             // events of event_cache_ to flush
  std::map<std::string, std::optional<EventId>, std::less<>> event_ids_;  // results of find()
  std::map<QueueKey, CachedLine> lines_;
  std::map<QueueKey, std::set<EventId>> superseded_;  // results of with_supersede_key()
  std::map<StoreSession::SelectorKey, ClaimPool> pools_;
  std::set<EventId> made_ready_;                                        // by this transaction
  std::optional<TimePoint> first_due_;                                  // earliest due time that it wrote
  std::vector<LogEntry> entries_;                                       // to be flushed
  std::map<std::pair<std::string, Status>, std::int64_t> counts_;       // changes, written with COMMIT
  std::map<std::pair<std::string, std::string>, std::int64_t> causes_;  // likewise; queue, cause
  std::deque<std::int64_t> event_numbers_;                              // drawn, not used yet
  std::deque<std::int64_t> log_numbers_;

  // Buffers of postgres_queues.cc. A cached key or correlation needs no read.
  std::map<std::string, std::optional<KeyRecord>, std::less<>> keys_;
  std::set<std::string, std::less<>> changed_keys_;  // keys of keys_ to flush
  std::map<std::string, std::optional<CorrelationRow>, std::less<>> correlations_;
  std::set<std::string, std::less<>> changed_correlations_;
  std::vector<StatementCall> other_writes_;  // checkpoints, recoveries, archive files: few
  // Written with COMMIT.
  std::map<std::string, TotalsChange> totals_;                                   // by queue
  std::map<std::int64_t, std::int64_t> failed_hours_;                            // by hour
  std::map<std::string, WorkerRow> workers_;                                     // changes, by id
  std::map<std::tuple<std::string, std::string, std::string>, TimePoint> asks_;  // worker, queue, joined tags
  std::map<std::string, QueueWrite> queue_changes_;                              // by id
  bool queues_removed_ = false;                                                  // other servers must be told
  std::map<std::string, std::optional<QueueRecord>, std::less<>> current_;       // results of current()
  bool asked_for_current_ = false;  // for a queue that was not planned
  std::map<std::string, std::optional<TimePoint>, std::less<>>
      oldest_;  // results of oldest_pending(); a flush clears them
};

}  // namespace eventq::postgres
