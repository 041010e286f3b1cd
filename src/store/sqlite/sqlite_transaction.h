// sqlite_transaction.h: Transaction on the one writing connection.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/sqlite/writer.h"
#include "store/store.h"

namespace eventq::sqlite {

class SqliteTransaction final : public Transaction {
 public:
  static Result<std::unique_ptr<Transaction>> begin(SqliteWriter& writer, TimePoint now);
  SqliteTransaction(SqliteWriter& writer, TimePoint now);
  ~SqliteTransaction() override;  // rolls back unless committed
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;

  TimePoint now() const override { return now_; }
  Result<void> insert(std::span<Stored> events) override;
  Result<std::optional<EventId>> find(std::string_view event_id) override;
  Result<std::optional<KeyRecord>> find_key(std::string_view key) override;
  Result<void> put_key(const KeyRecord& record) override;
  Result<std::size_t> purge_keys(TimePoint created_before, std::size_t limit) override;
  Result<std::vector<std::optional<Stored>>> load(std::span<const EventId> ids, EventFields fields) override;
  Result<std::vector<LogEntry>> log(EventId id) override;
  Result<void> save(std::span<Stored> events) override;
  Result<void> append(std::span<LogEntry> entries) override;
  Result<std::vector<Stored>> promote(std::size_t limit) override;
  Result<std::vector<Stored>> claim(const Selector& selector, std::size_t limit) override;
  Result<std::optional<TimePoint>> next_due() override;
  Result<void> probe() override;
  Result<void> commit(DiskSync sync) override;

  // sqlite_queues.cc
  Result<void> remove(std::span<const Stored> events) override;
  Result<std::optional<Stored>> head_of_line(std::string_view queue, std::string_view key) override;
  Result<std::optional<Stored>> first_behind(std::string_view queue, std::string_view key) override;
  Result<std::vector<EventId>> with_supersede_key(std::string_view queue, std::string_view key) override;
  Result<Ended> ended(const EndedFilter& filter) override;
  Result<std::vector<Stored>> holding_line(std::string_view queue, std::size_t limit) override;
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

 private:
  Result<void> insert_one(Stored& stored);
  Result<std::optional<Stored>> load_one(EventId id, EventFields fields);
  Result<std::vector<Stored>> load_states(const Result<std::vector<EventId>>& ids);
  Result<void> save_one(Stored& stored);
  Result<void> write_live(Statement& statement, const Stored& stored, std::int64_t ready, bool guarded);
  Result<void> insert_body(const Event& event);
  Result<void> write_archive(const Stored& stored);
  Result<void> count_change(const Stored& stored);
  Result<void> move_in_line(Stored& stored);
  Result<void> write_line(Statement& statement, const Stored& stored, Line line);
  Result<void> write_supersede(Statement& statement, const Event& event);
  Result<void> write_queue(Statement& statement, const QueueRow& row);
  Result<void> change_cause(const Stored& stored, int change);
  Result<std::optional<Stored>> first_in_line(std::string_view queue, std::string_view key, Line line);
  Result<std::vector<std::pair<std::int64_t, EventId>>> ends(const EndedFilter& filter);
  Result<void> repair_counts(std::vector<std::string>& repaired);
  Result<void> leave(Statement& statement, const Stored& stored);
  Result<void> set_ready(const Stored& stored, bool ready);
  Result<void> serve_any_tag(const std::string& queue);
  void count(const Event& event, Status status, int change);
  Result<void> write_counts();
  Result<void> write_last_ids();

  SqliteWriter& writer_;
  const TimePoint now_;
  const std::int64_t first_event_id_;  // the last ids assigned before this transaction
  const std::int64_t first_log_id_;
  bool open_ = true;
  std::vector<std::string> new_any_tag_queues_;
  std::map<std::pair<std::string, Status>, std::int64_t> counts_;  // changes of counters, written at commit
};

}  // namespace eventq::sqlite
