// postgres_queues.cc: the idempotency keys, correlations, queues and workers of a PostgresTransaction.
#include <algorithm>
#include <utility>

#include "eventq/limits.h"
#include "generated/postgres_sql.h"
#include "model/names.h"
#include "model/tags.h"
#include "store/postgres/postgres_transaction.h"
#include "store/postgres/rows.h"
#include "store/row_text.h"

namespace eventq::postgres {
namespace {

constexpr std::int64_t kCheckpointsKept = 100;  // per queue, of those that the server made by time
constexpr std::int64_t kFailedHoursKept = 48;   // twice the longest report

Result<KeyRecord> read_key(const RowView& row) {
  auto events = ids_from_text(row.text(2));
  if (!events) return events.error();
  return KeyRecord{std::string(row.text(0)), std::string(row.text(1)), std::move(*events),
                   time_point(row.integer(3))};
}

Params queue_params(const QueueRow& row) {
  return params_of(row.id, config_to_text(row.config), name_of(row.status), row.status_by, row.status_reason,
                   row.status_at ? std::optional(millis(*row.status_at)) : std::nullopt,
                   millis(row.created_at), millis(row.updated_at));
}

StatementCall correlations_call(const std::vector<std::string>& ids, const std::vector<EventId>& of_events) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(of_events.size());
  for (const EventId id : of_events) numbers.push_back(number(id));
  return {sql::find_correlations, params_of(ids, numbers)};
}

}  // namespace

// Adds the reads of a plan: keys, correlations, and the queues whose limits it needs. Events of a plain plan
// have no correlations.
void PostgresTransaction::plan_queues(const TransactionPlan& plan, bool plain,
                                      std::vector<StatementCall>& calls) {
  if (!plan.keys.empty()) calls.push_back({sql::find_keys, params_of(plan.keys)});
  if (!plan.correlations.empty() || (!plan.changes.empty() && !plain)) {
    calls.push_back(correlations_call(plan.correlations, plan.changes));
  }
  if (!plan.limited.empty()) read_records(calls, plan.limited);
}

// Takes rows in the order in which plan_queues() added their calls, so both have the same conditions.
Result<void> PostgresTransaction::planned_queues(const TransactionPlan& plan, bool plain,
                                                 std::span<const Rows> rows) {
  if (!plan.keys.empty()) {
    if (auto done = take_keys(plan.keys, rows.front()); !done) return done;
    rows = rows.subspan(1);
  }
  if (!plan.correlations.empty() || (!plan.changes.empty() && !plain)) {
    take_correlations(plan.correlations, rows.front());
    rows = rows.subspan(1);
  }
  if (plan.limited.empty()) return {};
  return take_current(plan.limited, rows);
}

Result<void> PostgresTransaction::take_keys(const std::vector<std::string>& asked, const Rows& rows) {
  auto records = all_rows(rows, read_key);
  if (!records) return records.error();
  // A key without a row is cached as absent, so that it is not read again.
  for (const std::string& key : asked) keys_[key] = std::nullopt;
  for (KeyRecord& record : *records) keys_.insert_or_assign(record.key, std::move(record));
  return {};
}

void PostgresTransaction::take_correlations(const std::vector<std::string>& asked, const Rows& rows) {
  for (const std::string& id : asked) correlations_[id] = std::nullopt;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string_view id = rows.text(row, 0);
    correlations_.insert_or_assign(std::string(id), read_correlation(RowView{rows, row}, id, 1));
  }
}

Result<void> PostgresTransaction::take_current(const std::vector<std::string>& asked,
                                               std::span<const Rows> rows) {
  auto records = take_records(rows);
  if (!records) return records.error();
  for (const std::string& queue : asked) current_[queue] = std::nullopt;
  for (QueueRecord& record : *records) current_.insert_or_assign(record.row.id, std::move(record));
  return {};
}

Result<std::optional<KeyRecord>> PostgresTransaction::find_key(std::string_view key) {
  if (const auto cached = keys_.find(key); cached != keys_.end()) return cached->second;
  const std::vector<std::string> asked = {std::string(key)};
  std::vector<StatementCall> calls;
  lock(calls, {key_name(key)});
  calls.push_back({sql::find_keys, params_of(asked)});
  auto rows = run(std::move(calls));
  if (!rows) return rows.error();
  if (auto done = take_keys(asked, rows->back()); !done) return done.error();
  return keys_.find(key)->second;
}

Result<void> PostgresTransaction::put_key(const KeyRecord& record) {
  keys_[record.key] = record;
  changed_keys_.insert(record.key);
  return {};
}

Result<std::size_t> PostgresTransaction::purge_keys(TimePoint created_before, std::size_t limit) {
  const auto dropped = read(sql::purge_keys, params_of(millis(created_before), limit));
  if (!dropped) return dropped.error();
  for (std::size_t row = 0; row < dropped->size(); ++row) {
    // The cache must not return a key that the statement has deleted.
    const auto cached = keys_.find(dropped->text(row, 0));
    if (cached != keys_.end()) cached->second.reset();
  }
  return dropped->size();
}

Result<std::optional<CorrelationRow>> PostgresTransaction::find_correlation(std::string_view id) {
  if (const auto cached = correlations_.find(id); cached != correlations_.end()) return cached->second;
  const std::vector<std::string> asked = {std::string(id)};
  std::vector<StatementCall> calls;
  lock(calls, {correlation_name(id)});
  calls.push_back(correlations_call(asked, {}));
  auto rows = run(std::move(calls));
  if (!rows) return rows.error();
  take_correlations(asked, rows->back());
  return correlations_.find(id)->second;
}

Result<std::vector<CorrelatedEnd>> PostgresTransaction::correlated_ends(std::string_view id,
                                                                        EndsLimit limit) {
  return all_rows(read(sql::correlated_ends, params_of(std::string(id), limit.events, limit.bytes)),
                  read_correlated_end<RowView>);
}

Result<void> PostgresTransaction::put_correlation(const CorrelationRow& row) {
  std::optional<CorrelationRow>& kept = correlations_[row.id];
  kept.reset();
  if (row.kept != 0) kept = row;
  changed_correlations_.insert(row.id);
  return {};
}

Result<void> PostgresTransaction::put_defaults(const QueueConfig& main, const QueueConfig& others) {
  other_writes_.push_back({sql::put_default, params_of("main", settings_to_text(main))});
  other_writes_.push_back({sql::put_default, params_of("", settings_to_text(others))});
  return {};
}

Result<void> PostgresTransaction::put_queue(const QueueRow& row) {
  queue_changes_.insert_or_assign(row.id, QueueWrite{row, true});
  return {};
}

Result<void> PostgresTransaction::add_queue(const QueueRow& row) {
  queue_changes_.emplace(row.id, QueueWrite{row, false});
  return {};
}

Result<void> PostgresTransaction::add_totals(std::string_view queue, const Totals& change,
                                             std::optional<EventId> last_completed) {
  TotalsChange& kept = totals_[std::string(queue)];
  kept.change += change;
  if (!last_completed) return {};
  if (const auto cached = event_cache_.find(*last_completed); cached != event_cache_.end()) {
    if (!cached->second.removed) kept.checkpoint_id = cached->second.stored.event.event_id;
    return {};
  }
  // The event was neither loaded nor changed here, so only the database knows its global id.
  const auto rows = read(sql::event_id_of, params_of(number(*last_completed)));
  if (!rows) return rows.error();
  if (!rows->empty()) kept.checkpoint_id = rows->text(0, 0);
  return {};
}

Result<void> PostgresTransaction::add_failed_in_hour(std::int64_t hour, std::int64_t events) {
  failed_hours_[hour] += events;
  return {};
}

Result<void> PostgresTransaction::put_checkpoint(const Checkpoint& checkpoint) {
  other_writes_.push_back(
      {sql::put_checkpoint,
       params_of(checkpoint.id, checkpoint.queue, checkpoint.checkpoint_id, checkpoint.event_count,
                 millis(checkpoint.created_at), checkpoint.requested ? 1 : 0)});
  other_writes_.push_back({sql::drop_checkpoints, params_of(checkpoint.queue, kCheckpointsKept)});
  return {};
}

Result<std::optional<Checkpoint>> PostgresTransaction::find_checkpoint(std::string_view id) {
  const auto rows = read(sql::find_checkpoint, params_of(id));
  if (!rows) return rows.error();
  return rows->empty() ? std::nullopt : std::optional(read_checkpoint(RowView{*rows, 0}));
}

Result<std::int64_t> PostgresTransaction::count_requested(std::string_view queue) {
  const auto rows = read(sql::count_requested, params_of(queue));
  if (!rows) return rows.error();
  return rows->number(0, 0);
}

Result<void> PostgresTransaction::delete_checkpoint(std::string_view id) {
  other_writes_.push_back({sql::delete_checkpoint, params_of(id)});
  return {};
}

Result<void> PostgresTransaction::remove_queue(std::string_view queue) {
  // Else COMMIT would write counters for the queue, of the events that this transaction removed.
  const auto of_queue = [&](const auto& changed) { return changed.first.first == queue; };
  std::erase_if(counts_, of_queue);
  std::erase_if(causes_, of_queue);
  std::erase_if(totals_, [&](const auto& changed) { return changed.first == queue; });
  std::erase_if(queue_changes_, [&](const auto& changed) { return changed.first == queue; });
  other_writes_.push_back({sql::remove_queue, params_of(queue)});
  queues_removed_ = true;
  return {};
}

Result<void> PostgresTransaction::append_queue_log(const QueueLogEntry& entry) {
  other_writes_.push_back(
      {sql::append_queue_log, params_of(entry.queue, entry.id, name_of(entry.action), entry.by, entry.reason,
                                        entry.detail, millis(entry.created_at))});
  other_writes_.push_back({sql::drop_queue_log, params_of(entry.queue, limits::kQueueLog)});
  return {};
}

Result<void> PostgresTransaction::put_recovery(const Recovery& recovery) {
  other_writes_.push_back(
      {sql::put_recovery,
       params_of(recovery.queue, recovery.id, recovery.checkpoint_id, recovery.events_recovered,
                 millis(recovery.started_at), millis(recovery.completed_at), recovery.status)});
  return {};
}

Result<void> PostgresTransaction::add_worker(const WorkerRow& change) {
  const auto [kept, is_new] = workers_.emplace(change.id, change);
  if (!is_new) add_to(kept->second, change);
  return {};
}

Result<void> PostgresTransaction::put_ask(const WorkerAsk& ask) {
  TimePoint& asked_at = asks_[{ask.worker_id, ask.selector.queue, join_tags(ask.selector.tags)}];
  asked_at = std::max(asked_at, ask.asked_at);
  return {};
}

Result<void> PostgresTransaction::sign_off(std::string_view worker_id) {
  other_writes_.push_back({sql::put_sign_off, params_of(worker_id, millis(now_))});
  return {};
}

Result<void> PostgresTransaction::drop_workers(TimePoint before) {
  for (const std::string_view sql : {sql::drop_workers, sql::drop_asks, sql::drop_sign_offs}) {
    other_writes_.push_back({sql, params_of(millis(before))});
  }
  return {};
}

Result<void> PostgresTransaction::put_archive_file(const ArchiveFile& file) {
  other_writes_.push_back({sql::put_archive_file, params_of(file.name, file.bytes)});
  return {};
}

// As in current(), the second queue is read together with all others.
Result<std::optional<TimePoint>> PostgresTransaction::oldest_pending(std::string_view queue) {
  const bool asked_before = changed_.empty() && !oldest_.empty();
  if (const auto cached = oldest_.find(queue); asked_before && cached != oldest_.end()) return cached->second;
  auto calls = calls_of(StatementCall{sql::oldest_pending, params_of(queue)});
  if (asked_before) calls.push_back({sql::oldest_pendings});
  const auto rows = flush_and_run(std::move(calls));
  if (!rows) return rows.error();
  std::optional<TimePoint> oldest;
  if (!rows->front().empty()) oldest = time_point(rows->front().number(0, 0));
  oldest_.emplace(queue, oldest);
  if (!asked_before) return oldest;
  const Rows& all = rows->back();
  for (std::size_t row = 0; row < all.size(); ++row) {
    std::optional<TimePoint> found;
    if (!all.is_null(row, 1)) found = time_point(all.number(row, 1));
    oldest_.emplace(all.text(row, 0), found);
  }
  return oldest;
}

Result<void> PostgresTransaction::probe() {
  other_writes_.push_back({sql::probe});
  return {};
}

Result<ChangedQueues> PostgresTransaction::changed_queues() {
  // The version changes with every change of a queue, so an equal version means that no queue changed.
  if (queues_version_ == session_.queues_version) return ChangedQueues();
  std::vector<StatementCall> calls;
  read_records(calls, {});
  const auto rows = run(std::move(calls));
  if (!rows) return rows.error();
  auto records = take_records(*rows);
  if (!records) return records.error();
  ChangedQueues changed;
  std::erase_if(session_.announced_queues, [&](const auto& announced) {
    const bool kept = std::ranges::binary_search(
        *records, announced.first, {},
        [](const QueueRecord& record) -> const std::string& { return record.row.id; });
    if (!kept) changed.removed.push_back(announced.first);
    return !kept;
  });
  for (QueueRecord& record : *records) {
    const auto cached = session_.announced_queues.find(record.row.id);
    if (cached != session_.announced_queues.end() && cached->second == record.row) continue;
    session_.announced_queues.insert_or_assign(record.row.id, record.row);
    changed.records.push_back(std::move(record));
  }
  // Set last: after an error the next call reads the queues again.
  session_.queues_version = queues_version_;
  return changed;
}

// The first queue that was not planned is read alone. A caller that needs a second one usually needs all, so
// all are read then.
Result<std::optional<QueueRecord>> PostgresTransaction::current(std::string_view queue) {
  if (const auto cached = current_.find(queue); cached != current_.end()) return cached->second;
  const std::vector<std::string> asked = {std::string(queue)};
  std::vector<StatementCall> calls;
  read_records(calls, asked_for_current_ ? std::vector<std::string>() : asked);
  asked_for_current_ = true;
  const auto rows = run(std::move(calls));
  if (!rows) return rows.error();
  if (auto done = take_current(asked, *rows); !done) return done.error();
  return current_.find(queue)->second;
}

// Repairs nothing: each counter is written in the transaction that changes what it counts.
Result<Recalled> PostgresTransaction::recall(std::vector<std::string>& /*repaired*/) {
  std::vector<StatementCall> calls;
  // The records below must include what this transaction has changed so far.
  flush_counts(calls);
  flush_counters(calls);
  const std::size_t first = calls.size();
  read_records(calls, {});
  // Older workers are left out and not deleted here, because every list of workers recalls.
  const std::int64_t listed_since = millis(now_ - limits::kWorkerListed);
  calls.push_back({sql::last_checkpoints});
  calls.push_back({sql::read_failed_hours});
  calls.push_back({sql::read_workers, params_of(listed_since)});
  calls.push_back({sql::processing});
  calls.push_back({sql::read_asks, params_of(listed_since)});
  const auto all = flush_and_run(std::move(calls));
  if (!all) return all.error();
  const auto rows = std::span(*all).subspan(first);
  auto queues = take_records(rows.first(kRecordCalls));
  if (!queues) return queues.error();
  const auto rest = rows.subspan(kRecordCalls);
  auto checkpoints = all_rows(rest[0], read_checkpoint<RowView>);
  if (!checkpoints) return checkpoints.error();
  auto working = take_working(rest[2], rest[3]);
  if (!working) return working.error();
  auto asks = all_rows(rest[4], read_ask<RowView>);
  if (!asks) return asks.error();
  Recalled recalled{.queues = std::move(*queues),
                    .workers = std::move(working->workers),
                    .asks = std::move(*asks),
                    .processing = std::move(working->processing),
                    .checkpoints = std::move(*checkpoints),
                    .failed_by_hour = {}};
  for (std::size_t row = 0; row < rest[1].size(); ++row) {
    recalled.failed_by_hour[rest[1].number(row, 0)] = rest[1].number(row, 1);
  }
  session_.announced_queues.clear();
  for (const QueueRecord& record : recalled.queues)
    session_.announced_queues.emplace(record.row.id, record.row);
  session_.queues_version = queues_version_;
  return recalled;
}

void PostgresTransaction::flush_queues(std::vector<StatementCall>& calls) {
  // The flush may write pending events, so the times that were read before may be wrong.
  oldest_.clear();
  if (!changed_keys_.empty()) {
    RecordArray changed("idempotency_key");
    for (const std::string& key : changed_keys_) {
      const KeyRecord& record = *keys_.find(key)->second;
      changed.add(record.key, record.fingerprint, ids_to_text(record.events), millis(record.created_at));
    }
    calls.push_back({sql::put_keys, params_of(changed)});
    changed_keys_.clear();
  }
  flush_correlations(calls);
  std::move(other_writes_.begin(), other_writes_.end(), std::back_inserter(calls));
  other_writes_.clear();
}

void PostgresTransaction::flush_correlations(std::vector<StatementCall>& calls) {
  RecordArray changed("correlation");
  std::vector<std::string> gone;
  for (const std::string& id : changed_correlations_) {
    const std::optional<CorrelationRow>& row = correlations_.find(id)->second;
    if (row) {
      changed.add(row->id, row->total, row->pending, row->completed, row->failed, row->kept, row->on_complete,
                  row->queue);
    } else {
      gone.push_back(id);
    }
  }
  changed_correlations_.clear();
  if (!gone.empty()) calls.push_back({sql::delete_correlations, params_of(gone)});
  if (!changed.empty()) calls.push_back({sql::put_correlations, params_of(changed)});
}

// All rows are sorted by key, so that two transactions that write the same rows lock them in the same order.
// The database fills in the slot.
void PostgresTransaction::flush_counters(std::vector<StatementCall>& calls) {
  constexpr std::int64_t kSlot = 0;
  if (!failed_hours_.empty()) {
    const std::int64_t newest = failed_hours_.rbegin()->first;
    RecordArray hours("failed_hour");
    for (const auto& [hour, events] : failed_hours_) hours.add(hour, kSlot, events);
    calls.push_back({sql::add_failed_hours, params_of(hours)});
    calls.push_back({sql::drop_failed_hours, params_of(newest - kFailedHoursKept)});
    failed_hours_.clear();
  }
  if (!workers_.empty()) {
    RecordArray workers("worker");
    for (const auto& [id, worker] : workers_) {
      workers.add(id, millis(worker.first_seen), millis(worker.last_seen), worker.completed, worker.failed);
    }
    calls.push_back({sql::add_workers, params_of(workers)});
    workers_.clear();
  }
  if (!asks_.empty()) {
    RecordArray asks("worker_ask");
    for (const auto& [key, asked_at] : asks_) {
      asks.add(std::get<0>(key), std::get<1>(key), std::get<2>(key), millis(asked_at));
    }
    calls.push_back({sql::put_asks, params_of(asks)});
    asks_.clear();
  }
  if (queue_changes_.empty() && !queues_removed_) return;
  for (const auto& [id, change] : queue_changes_) {
    // So that changed_queues() reports it as removed when another server removes it at once. No stored row
    // equals the empty row, so after a rollback the queue is only read again.
    session_.announced_queues.try_emplace(id);
    calls.push_back({change.replaces ? sql::put_queue : sql::add_queue, queue_params(change.row)});
  }
  queue_changes_.clear();
  queues_removed_ = false;
  // Last, because every transaction that changes a queue waits for this row until COMMIT.
  calls.push_back({sql::raise_queues_version});
}

}  // namespace eventq::postgres
