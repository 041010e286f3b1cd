// sqlite_queues.cc: the part of SqliteTransaction for queues, lines, correlations and workers.
#include <algorithm>
#include <map>

#include "base/assert.h"
#include "eventq/limits.h"
#include "generated/sqlite_sql.h"
#include "model/names.h"
#include "model/tags.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_transaction.h"

namespace eventq::sqlite {
namespace {

constexpr std::int64_t kCheckpointsKept = 100;  // per queue, of those that the server made by time
constexpr std::int64_t kFailedHoursKept = 48;   // metrics read the last 24
// The largest time that a column can hold.
constexpr TimePoint kEndOfTime{Millis(INT64_MAX)};

}  // namespace

// A new head gets an unused id as its turn, so it is claimed after all events that are ready now.
Result<void> SqliteTransaction::move_in_line(Stored& stored) {
  if (stored.line == stored.line_before) return {};
  if (stored.line_before != Line::none) {
    if (auto done = write_line(writer_.delete_line, stored, stored.line_before); !done) return done;
  }
  if (stored.line != Line::none) {
    if (auto done = write_line(writer_.insert_line, stored, stored.line); !done) return done;
  }
  // Ids and turns share one sequence, so the new turn is higher than that of every event published so far.
  if (stored.line_before == Line::behind && stored.line == Line::head) stored.turn = ++writer_.last_event_id;
  stored.line_before = stored.line;
  return {};
}

Result<void> SqliteTransaction::write_line(Statement& statement, const Stored& stored, Line line) {
  const Event& event = stored.event;
  const auto written =
      statement.with(event.queue, event.ordering_key, line == Line::head, number(event.id)).run();
  if (!written) return written.error();
  // `line_before` was read in this transaction, and no other connection writes, so the row must be there.
  EVENTQ_ASSERT(*written == 1);
  return {};
}

Result<void> SqliteTransaction::write_supersede(Statement& statement, const Event& event) {
  return statement.execute(event.queue, event.supersede_key, number(event.id));
}

// A cause whose count falls to 0 is deleted, because failures() lists every row of this table.
Result<void> SqliteTransaction::change_cause(const Stored& stored, int change) {
  const std::string& queue = stored.event.queue;
  auto done = writer_.change_cause.execute(queue, stored.cause, change);
  if (!done || change > 0) return done;
  return writer_.drop_causes.execute(queue, stored.cause);
}

Result<void> SqliteTransaction::remove(std::span<const Stored> events) {
  for (const Stored& stored : events) {
    EVENTQ_ASSERT(stored.archived && stored.line == Line::none);
    const std::int64_t id = number(stored.event.id);
    // Checks the guard, so it runs before the deletes that have none.
    if (auto done = leave(writer_.delete_archive, stored); !done) return done;
    if (auto done = writer_.delete_log.execute(id); !done) return done;
    if (auto done = writer_.delete_authors.execute(id); !done) return done;
    if (auto done = writer_.delete_details.execute(id); !done) return done;
    if (auto done = writer_.delete_result.execute(id); !done) return done;
    if (auto done = writer_.delete_body.execute(id); !done) return done;
    count(stored.event, stored.event.status, -1);
    if (stored.event.status != Status::failed) continue;
    if (auto done = change_cause(stored, -1); !done) return done;
  }
  return {};
}

Result<std::optional<Stored>> SqliteTransaction::first_in_line(std::string_view queue, std::string_view key,
                                                               Line line) {
  const auto id = one_row(writer_.first_in_line.with(queue, key, line == Line::head), read_id<Statement>);
  if (!id) return id.error();
  return *id ? load_one(**id, EventFields::state) : std::optional<Stored>();
}

Result<std::optional<Stored>> SqliteTransaction::head_of_line(std::string_view queue, std::string_view key) {
  return first_in_line(queue, key, Line::head);
}

Result<std::optional<Stored>> SqliteTransaction::first_behind(std::string_view queue, std::string_view key) {
  return first_in_line(queue, key, Line::behind);
}

Result<std::vector<EventId>> SqliteTransaction::with_supersede_key(std::string_view queue,
                                                                   std::string_view key) {
  return all_rows(writer_.with_supersede_key.with(queue, key), read_id<Statement>);
}

// The time of the end and the id of each matching event, ordered by both. Merges one index range per status.
Result<std::vector<std::pair<std::int64_t, EventId>>> SqliteTransaction::ends(const EndedFilter& filter) {
  const TimePoint from = filter.after ? filter.after->ended_at : filter.from.value_or(TimePoint());
  std::vector<std::pair<std::int64_t, EventId>> found;
  for (const Status status : statuses_of(filter)) {
    const auto rows = all_rows(
        writer_.ended.with(filter.queue, name_of(status), millis(from),
                           millis(filter.to.value_or(kEndOfTime)), limits::kReplay,
                           filter.after ? number(filter.after->id) : 0),
        [](const Statement& row) { return std::pair(row.integer(0), static_cast<EventId>(row.integer(1))); });
    if (!rows) return rows.error();
    found.insert(found.end(), rows->begin(), rows->end());
  }
  // Each range may hold kReplay events, and any of them may be among the first of all.
  std::sort(found.begin(), found.end());
  found.resize(std::min(found.size(), limits::kReplay));
  return found;
}

Result<Ended> SqliteTransaction::ended(const EndedFilter& filter) {
  auto found = ends(filter);
  if (!found) return found.error();
  Ended ended;
  std::size_t bytes = 0;
  std::optional<EndedCursor> last;
  for (const auto& [end, id] : *found) {
    if (ended.events.size() >= filter.limit || bytes >= kClaimBytes) {
      ended.next = last;
      return ended;
    }
    // The cursor also passes events that do not match, so that a page without matches makes progress.
    last = EndedCursor{time_point(end), id};
    auto stored = load_one(id, EventFields::all);
    if (!stored) return stored.error();
    if (!*stored || !matches_unindexed(**stored, filter)) continue;
    bytes += (*stored)->event.payload.size();
    ended.events.push_back(std::move(**stored));
  }
  // ends() stopped at its limit, so there may be more events.
  if (found->size() == limits::kReplay) ended.next = last;
  return ended;
}

Result<std::vector<Stored>> SqliteTransaction::holding_line(std::string_view queue, std::size_t limit) {
  return load_states(all_rows(writer_.holding_line.with(queue, limit), read_id<Statement>));
}

// Leaves out ids without an event: `eventq verify` reports such rows, and a start must not fail for them.
Result<std::vector<Stored>> SqliteTransaction::load_states(const Result<std::vector<EventId>>& ids) {
  if (!ids) return ids.error();
  std::vector<Stored> events;
  for (const EventId id : *ids) {
    auto stored = load_one(id, EventFields::state);
    if (!stored) return stored.error();
    if (*stored) events.push_back(std::move(**stored));
  }
  return events;
}

Result<std::optional<CorrelationRow>> SqliteTransaction::find_correlation(std::string_view id) {
  return one_row(writer_.find_correlation.with(id),
                 [&](const Statement& row) { return read_correlation(row, id, 0); });
}

Result<std::vector<CorrelatedEnd>> SqliteTransaction::correlated_ends(std::string_view id, EndsLimit limit) {
  std::vector<CorrelatedEnd> ends;
  std::size_t bytes = 0;
  Statement& statement = writer_.correlated_ends.with(id, limit.events);
  for (;;) {
    const auto row = statement.step();
    if (!row) return row.error();
    if (!*row) return ends;
    auto end = read_correlated_end(statement);
    if (end) bytes += end->result.size();
    if (!end || bytes > limit.bytes) {
      statement.reset();
      return end ? Result<std::vector<CorrelatedEnd>>(std::move(ends)) : end.error();
    }
    ends.push_back(std::move(*end));
  }
}

Result<void> SqliteTransaction::put_correlation(const CorrelationRow& row) {
  if (row.kept == 0) return writer_.delete_correlation.execute(row.id);
  return writer_.put_correlation.execute(row.id, row.total, row.pending, row.completed, row.failed, row.kept,
                                         row.on_complete, row.queue);
}

Result<void> SqliteTransaction::put_defaults(const QueueConfig& main, const QueueConfig& others) {
  auto done = writer_.put_default.execute("main", settings_to_text(main));
  return done ? writer_.put_default.execute("", settings_to_text(others)) : done;
}

Result<void> SqliteTransaction::put_queue(const QueueRow& row) { return write_queue(writer_.put_queue, row); }

Result<void> SqliteTransaction::add_queue(const QueueRow& row) { return write_queue(writer_.add_queue, row); }

Result<void> SqliteTransaction::write_queue(Statement& statement, const QueueRow& row) {
  return statement.execute(row.id, config_to_text(row.config), name_of(row.status), row.status_by,
                           row.status_reason,
                           row.status_at ? std::optional(millis(*row.status_at)) : std::nullopt,
                           millis(row.created_at), millis(row.updated_at));
}

Result<void> SqliteTransaction::add_totals(std::string_view queue, const Totals& change,
                                           std::optional<EventId> last_completed) {
  return writer_.add_totals.execute(
      queue, change.published, change.deduplicated, change.claimed, change.completed, change.failed,
      change.failed_for_good, change.retried, change.abandoned, change.superseded, change.cancelled,
      change.run_ms, change.runs, change.removed,
      last_completed ? std::optional(number(*last_completed)) : std::nullopt, millis(now_));
}

// Old hours are deleted here, so the table stays small.
Result<void> SqliteTransaction::add_failed_in_hour(std::int64_t hour, std::int64_t events) {
  if (auto done = writer_.add_failed_hour.execute(hour, events); !done) return done;
  return writer_.drop_failed_hours.execute(hour - kFailedHoursKept);
}

Result<void> SqliteTransaction::put_checkpoint(const Checkpoint& checkpoint) {
  auto done = writer_.put_checkpoint.execute(checkpoint.id, checkpoint.queue, checkpoint.checkpoint_id,
                                             checkpoint.event_count, millis(checkpoint.created_at),
                                             checkpoint.requested);
  return done ? writer_.drop_checkpoints.execute(checkpoint.queue, kCheckpointsKept) : done;
}

Result<std::optional<Checkpoint>> SqliteTransaction::find_checkpoint(std::string_view id) {
  return one_row(writer_.find_checkpoint.with(id), read_checkpoint<Statement>);
}

Result<std::int64_t> SqliteTransaction::count_requested(std::string_view queue) {
  const auto found =
      one_row(writer_.count_requested.with(queue), [](const Statement& row) { return row.integer(0); });
  if (!found) return found.error();
  return found->value_or(0);
}

Result<void> SqliteTransaction::delete_checkpoint(std::string_view id) {
  return writer_.delete_checkpoint.execute(id);
}

Result<void> SqliteTransaction::remove_queue(std::string_view queue) {
  // Else commit() would write a counter for the queue, of the events that this transaction removed.
  std::erase_if(counts_, [&](const auto& changed) { return changed.first.first == queue; });
  // Causes need no statement: their rows are deleted with the last failed event.
  for (Statement* statement : {&writer_.delete_checkpoints, &writer_.delete_recovery, &writer_.delete_totals,
                               &writer_.delete_counts, &writer_.delete_queue}) {
    if (auto done = statement->execute(queue); !done) return done;
  }
  return {};
}

Result<void> SqliteTransaction::append_queue_log(const QueueLogEntry& entry) {
  auto done = writer_.append_queue_log.execute(entry.queue, entry.id, name_of(entry.action), entry.by,
                                               entry.reason, entry.detail, millis(entry.created_at));
  return done ? writer_.drop_queue_log.execute(entry.queue, limits::kQueueLog) : done;
}

Result<void> SqliteTransaction::put_recovery(const Recovery& recovery) {
  return writer_.put_recovery.execute(recovery.queue, recovery.id, recovery.checkpoint_id,
                                      recovery.events_recovered, millis(recovery.started_at),
                                      millis(recovery.completed_at), recovery.status);
}

Result<void> SqliteTransaction::add_worker(const WorkerRow& change) {
  return writer_.add_worker.execute(change.id, millis(change.first_seen), millis(change.last_seen),
                                    change.completed, change.failed);
}

Result<void> SqliteTransaction::put_ask(const WorkerAsk& ask) {
  return writer_.put_ask.execute(ask.worker_id, ask.selector.queue, join_tags(ask.selector.tags),
                                 millis(ask.asked_at));
}

Result<void> SqliteTransaction::sign_off(std::string_view worker_id) {
  return writer_.put_sign_off.execute(worker_id, millis(now_));
}

Result<void> SqliteTransaction::drop_workers(TimePoint before) {
  for (Statement* drop : {&writer_.drop_workers, &writer_.drop_asks, &writer_.drop_sign_offs}) {
    if (auto done = drop->execute(millis(before)); !done) return done;
  }
  return {};
}

Result<void> SqliteTransaction::put_archive_file(const ArchiveFile& file) {
  return writer_.put_archive_file.execute(file.name, file.bytes);
}

Result<std::optional<TimePoint>> SqliteTransaction::oldest_pending(std::string_view queue) {
  return one_row(writer_.oldest_pending.with(queue), read_time<Statement>);
}

// Compares the counters of live events with their rows, and corrects the counters that differ.
Result<void> SqliteTransaction::repair_counts(std::vector<std::string>& repaired) {
  std::map<std::pair<std::string, std::string>, std::int64_t> wrong;  // queue, status: rows minus counter
  for (const auto& [text, sign] : {std::pair(sql::count_live, 1), std::pair(sql::read_live_counts, -1)}) {
    const auto rows = all_rows(writer_.connection, text, [](const Statement& row) {
      return std::pair(std::pair(std::string(row.text(0)), std::string(row.text(1))), row.integer(2));
    });
    if (!rows) return rows.error();
    for (const auto& [key, events] : *rows) wrong[key] += sign * events;
  }
  for (const auto& [key, missing] : wrong) {
    if (missing == 0) continue;
    // The map is sorted by queue, so comparing with the last name finds every repetition.
    if (repaired.empty() || repaired.back() != key.first) repaired.push_back(key.first);
    auto done = writer_.change_count.execute(key.first, key.second, missing);
    if (!done) return done;
  }
  return {};
}

Result<Recalled> SqliteTransaction::recall(std::vector<std::string>& repaired) {
  if (auto done = repair_counts(repaired); !done) return done.error();
  if (auto done = drop_workers(now_ - limits::kWorkerListed); !done) return done.error();
  SqliteConnection& connection = writer_.connection;
  // These statements run once per process, so the writer does not keep them.
  Preparer prepare(connection);
  Statement read_queue = prepare(sql::read_queue);
  Statement read_counts = prepare(sql::read_counts);
  Statement read_totals = prepare(sql::read_totals);
  Statement read_checkpoints = prepare(sql::read_checkpoints);
  if (!prepare.result()) return prepare.result().error();

  auto queues = read_records(read_queue, read_counts, read_totals, std::nullopt);
  if (!queues) return queues.error();
  std::vector<Checkpoint> checkpoints;
  for (const QueueRecord& queue : *queues) {
    auto last = one_row(read_checkpoints.with(queue.row.id, 1), read_checkpoint<Statement>);
    if (!last) return last.error();
    if (*last) checkpoints.push_back(std::move(**last));
  }
  auto workers = all_rows(connection, sql::read_workers, read_worker<Statement>);
  if (!workers) return workers.error();
  auto asks = all_rows(connection, sql::read_asks, read_ask<Statement>);
  if (!asks) return asks.error();
  auto processing = load_states(all_rows(connection, sql::processing, read_id<Statement>));
  if (!processing) return processing.error();
  const auto hours = all_rows(connection, sql::read_failed_hours,
                              [](const Statement& row) { return std::pair(row.integer(0), row.integer(1)); });
  if (!hours) return hours.error();
  return Recalled{.queues = std::move(*queues),
                  .workers = std::move(*workers),
                  .asks = std::move(*asks),
                  .processing = std::move(*processing),
                  .checkpoints = std::move(checkpoints),
                  .failed_by_hour = {hours->begin(), hours->end()}};
}

}  // namespace eventq::sqlite
