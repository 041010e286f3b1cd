// sqlite_queues.cc: the part of SqliteTransaction for queues, lines, correlations and workers.
#include <algorithm>
#include <map>

#include "base/assert.h"
#include "generated/sqlite_sql.h"
#include "model/names.h"
#include "model/tags.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_transaction.h"

namespace eventq::sqlite {
namespace {

constexpr std::int64_t kCheckpointsKept = 100;  // per queue
constexpr std::int64_t kFailedHoursKept = 48;   // metrics read the last 24
constexpr std::chrono::hours kWorkersKept{24};  // after last_seen
constexpr TimePoint kEndOfTime{Millis(INT64_MAX)};

Result<void> ran(const Result<int>& run) {
  if (!run) return run.error();
  return {};
}

// Calls `take` with each row.
template <typename Take>
Result<void> each_row(Statement& statement, Take take) {
  for (;;) {
    const auto row = statement.step();
    if (!row) return row.error();
    if (!*row) return {};
    take(statement);
  }
}

template <typename Take>
Result<void> each_row(SqliteConnection& connection, std::string_view sql, Take take) {
  auto statement = Statement::prepare(connection, sql);
  if (!statement) return statement.error();
  return each_row(*statement, take);
}

bool fits(const Stored& stored, const EndedFilter& filter) {
  const Event& event = stored.event;
  if (!filter.pattern.empty() && event.pattern != filter.pattern) return false;
  if (filter.cause && stored.cause != *filter.cause) return false;
  return has_any(event.tags, filter.tags);
}

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
  if (stored.line_before == Line::behind && stored.line == Line::head) stored.turn = ++writer_.last_event_id;
  stored.line_before = stored.line;
  return {};
}

Result<void> SqliteTransaction::write_line(Statement& statement, const Stored& stored, Line line) {
  const Event& event = stored.event;
  const auto written = statement.reset()
                           .bind(std::string_view(event.queue))
                           .bind(std::string_view(event.ordering_key))
                           .bind(line == Line::head ? 1 : 0)
                           .bind(number(event.id))
                           .run();
  if (!written) return written.error();
  EVENTQ_ASSERT(*written == 1);
  return {};
}

Result<void> SqliteTransaction::write_supersede(Statement& statement, const Event& event) {
  return ran(statement.reset()
                 .bind(std::string_view(event.queue))
                 .bind(std::string_view(event.supersede_key))
                 .bind(number(event.id))
                 .run());
}

Result<void> SqliteTransaction::change_cause(const Stored& stored, int change) {
  const std::string_view queue = stored.event.queue;
  auto done =
      ran(writer_.change_cause.reset().bind(queue).bind(std::string_view(stored.cause)).bind(change).run());
  if (!done || change > 0) return done;
  return ran(writer_.drop_causes.reset().bind(queue).bind(std::string_view(stored.cause)).run());
}

Result<void> SqliteTransaction::remove(std::span<const Stored> events) {
  for (const Stored& stored : events) {
    EVENTQ_ASSERT(stored.archived && stored.line == Line::none);
    const std::int64_t id = number(stored.event.id);
    if (auto done = leave(writer_.delete_archive, stored); !done) return done;
    if (auto done = ran(writer_.delete_log.reset().bind(id).run()); !done) return done;
    if (auto done = ran(writer_.delete_body.reset().bind(id).run()); !done) return done;
    count(stored.event, stored.event.status, -1);
    if (stored.event.status != Status::failed) continue;
    if (auto done = change_cause(stored, -1); !done) return done;
  }
  return {};
}

Result<std::optional<Stored>> SqliteTransaction::first_in_line(std::string_view queue, std::string_view key,
                                                               Line line) {
  Statement& statement = writer_.first_in_line;
  const auto row = statement.reset().bind(queue).bind(key).bind(line == Line::head ? 1 : 0).step();
  if (!row) return row.error();
  if (!*row) return std::optional<Stored>();
  const auto id = static_cast<EventId>(statement.integer(0));
  statement.reset();
  return load_one(id, EventFields::state);
}

Result<std::optional<Stored>> SqliteTransaction::head_of_line(std::string_view queue, std::string_view key) {
  return first_in_line(queue, key, Line::head);
}

Result<std::optional<Stored>> SqliteTransaction::first_behind(std::string_view queue, std::string_view key) {
  return first_in_line(queue, key, Line::behind);
}

Result<std::vector<EventId>> SqliteTransaction::with_supersede_key(std::string_view queue,
                                                                   std::string_view key) {
  std::vector<EventId> ids;
  auto done = each_row(writer_.with_supersede_key.reset().bind(queue).bind(key),
                       [&](const Statement& row) { ids.push_back(static_cast<EventId>(row.integer(0))); });
  if (!done) return done.error();
  return ids;
}

// The time of the end and the id of each matching event, ordered by both. Merges one index range per status.
Result<std::vector<std::pair<std::int64_t, EventId>>> SqliteTransaction::ends(const EndedFilter& filter) {
  std::vector<Status> statuses = filter.statuses;
  if (statuses.empty()) {
    statuses = {Status::completed, Status::completed_with_errors, Status::failed, Status::superseded,
                Status::cancelled};
  }
  std::vector<std::pair<std::int64_t, EventId>> found;
  for (const Status status : statuses) {
    Statement& statement =
        writer_.ended.reset()
            .bind(std::string_view(filter.queue))
            .bind(name_of(status))
            .bind(millis(filter.after ? filter.after->ended_at : filter.from.value_or(TimePoint())))
            .bind(millis(filter.to.value_or(kEndOfTime)))
            .bind(static_cast<std::int64_t>(limits::kReplay))
            .bind(filter.after ? number(filter.after->id) : 0);
    auto done = each_row(statement, [&](const Statement& row) {
      found.emplace_back(row.integer(0), static_cast<EventId>(row.integer(1)));
    });
    if (!done) return done.error();
  }
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
    last = EndedCursor{time_point(end), id};
    auto stored = load_one(id, EventFields::all);
    if (!stored) return stored.error();
    if (!*stored || !fits(**stored, filter)) continue;
    bytes += (*stored)->event.payload.size();
    ended.events.push_back(std::move(**stored));
  }
  if (found->size() == limits::kReplay) ended.next = last;
  return ended;
}

Result<std::vector<Stored>> SqliteTransaction::holding_line(std::string_view queue, std::size_t limit) {
  std::vector<EventId> ids;
  auto done = each_row(writer_.holding_line.reset().bind(queue).bind(static_cast<std::int64_t>(limit)),
                       [&](const Statement& row) { ids.push_back(static_cast<EventId>(row.integer(0))); });
  if (!done) return done.error();
  std::vector<Stored> events;
  for (const EventId id : ids) {
    auto stored = load_one(id, EventFields::state);
    if (!stored) return stored.error();
    if (*stored) events.push_back(std::move(**stored));
  }
  return events;
}

Result<std::optional<CorrelationRow>> SqliteTransaction::find_correlation(std::string_view id) {
  Statement& statement = writer_.find_correlation;
  const auto row = statement.reset().bind(id).step();
  if (!row) return row.error();
  if (!*row) return std::optional<CorrelationRow>();
  CorrelationRow found{std::string(id),
                       statement.integer(0),
                       statement.integer(1),
                       statement.integer(2),
                       statement.integer(3),
                       statement.integer(4),
                       std::string(statement.text(5)),
                       std::string(statement.text(6))};
  statement.reset();
  return std::optional(std::move(found));
}

Result<void> SqliteTransaction::put_correlation(const CorrelationRow& row) {
  if (row.kept == 0) return ran(writer_.delete_correlation.reset().bind(std::string_view(row.id)).run());
  return ran(writer_.put_correlation.reset()
                 .bind(std::string_view(row.id))
                 .bind(row.total)
                 .bind(row.pending)
                 .bind(row.completed)
                 .bind(row.failed)
                 .bind(row.kept)
                 .bind(std::string_view(row.on_complete))
                 .bind(std::string_view(row.queue))
                 .run());
}

Result<void> SqliteTransaction::put_queue(const QueueRow& row) { return write_queue(writer_.put_queue, row); }

Result<void> SqliteTransaction::add_queue(const QueueRow& row) { return write_queue(writer_.add_queue, row); }

Result<void> SqliteTransaction::write_queue(Statement& statement, const QueueRow& row) {
  std::optional<std::int64_t> status_at;
  if (row.status_at) status_at = millis(*row.status_at);
  const std::string config = config_to_text(row.config);
  return ran(statement.reset()
                 .bind(std::string_view(row.id))
                 .bind(std::string_view(config))
                 .bind(name_of(row.status))
                 .bind(std::string_view(row.status_by))
                 .bind(std::string_view(row.status_reason))
                 .bind(status_at)
                 .bind(millis(row.created_at))
                 .bind(millis(row.updated_at))
                 .run());
}

Result<void> SqliteTransaction::add_totals(std::string_view queue, const Totals& change,
                                           std::optional<EventId> last_completed) {
  std::optional<std::int64_t> last;
  if (last_completed) last = number(*last_completed);
  return ran(writer_.add_totals.reset()
                 .bind(queue)
                 .bind(change.published)
                 .bind(change.deduplicated)
                 .bind(change.claimed)
                 .bind(change.completed)
                 .bind(change.failed)
                 .bind(change.failed_for_good)
                 .bind(change.retried)
                 .bind(change.abandoned)
                 .bind(change.superseded)
                 .bind(change.cancelled)
                 .bind(change.run_ms)
                 .bind(change.runs)
                 .bind(change.removed)
                 .bind(last)
                 .run());
}

Result<void> SqliteTransaction::add_failed_in_hour(std::int64_t hour, std::int64_t events) {
  if (auto done = ran(writer_.add_failed_hour.reset().bind(hour).bind(events).run()); !done) return done;
  return ran(writer_.drop_failed_hours.reset().bind(hour - kFailedHoursKept).run());
}

Result<void> SqliteTransaction::put_checkpoint(const Checkpoint& checkpoint) {
  auto done = ran(writer_.put_checkpoint.reset()
                      .bind(std::string_view(checkpoint.id))
                      .bind(std::string_view(checkpoint.queue))
                      .bind(std::string_view(checkpoint.checkpoint_id))
                      .bind(checkpoint.event_count)
                      .bind(millis(checkpoint.created_at))
                      .run());
  if (!done) return done;
  return ran(
      writer_.drop_checkpoints.reset().bind(std::string_view(checkpoint.queue)).bind(kCheckpointsKept).run());
}

Result<std::optional<Checkpoint>> SqliteTransaction::find_checkpoint(std::string_view id) {
  Statement& statement = writer_.find_checkpoint;
  const auto row = statement.reset().bind(id).step();
  if (!row) return row.error();
  if (!*row) return std::optional<Checkpoint>();
  Checkpoint found = read_checkpoint(statement);
  statement.reset();
  return std::optional(std::move(found));
}

Result<void> SqliteTransaction::put_recovery(const Recovery& recovery) {
  return ran(writer_.put_recovery.reset()
                 .bind(std::string_view(recovery.queue))
                 .bind(std::string_view(recovery.id))
                 .bind(std::string_view(recovery.checkpoint_id))
                 .bind(recovery.events_recovered)
                 .bind(millis(recovery.started_at))
                 .bind(millis(recovery.completed_at))
                 .bind(std::string_view(recovery.status))
                 .run());
}

Result<void> SqliteTransaction::add_worker(const WorkerRow& change) {
  return ran(writer_.add_worker.reset()
                 .bind(std::string_view(change.id))
                 .bind(millis(change.first_seen))
                 .bind(millis(change.last_seen))
                 .bind(change.completed)
                 .bind(change.failed)
                 .run());
}

Result<void> SqliteTransaction::put_archive_file(const ArchiveFile& file) {
  return ran(writer_.put_archive_file.reset().bind(std::string_view(file.name)).bind(file.bytes).run());
}

Result<std::optional<TimePoint>> SqliteTransaction::oldest_pending(std::string_view queue) {
  Statement& statement = writer_.oldest_pending;
  const auto row = statement.reset().bind(queue).step();
  if (!row) return row.error();
  if (!*row) return std::optional<TimePoint>();
  const TimePoint oldest = time_point(statement.integer(0));
  statement.reset();
  return std::optional(oldest);
}

// Compares the counters of live events with their rows, and corrects the counters that differ.
Result<void> SqliteTransaction::repair_counts(std::vector<std::string>& repaired) {
  std::map<std::pair<std::string, std::string>, std::int64_t> wrong;  // rows minus counter
  const auto add = [&](int sign) {
    return [&wrong, sign](const Statement& row) {
      wrong[{std::string(row.text(0)), std::string(row.text(1))}] += sign * row.integer(2);
    };
  };
  if (auto done = each_row(writer_.connection, sql::count_live, add(1)); !done) return done;
  if (auto done = each_row(writer_.connection, sql::read_live_counts, add(-1)); !done) return done;
  for (const auto& [key, missing] : wrong) {
    if (missing == 0) continue;
    if (repaired.empty() || repaired.back() != key.first) repaired.push_back(key.first);
    const auto done = writer_.change_count.reset()
                          .bind(std::string_view(key.first))
                          .bind(std::string_view(key.second))
                          .bind(missing)
                          .run();
    if (!done) return done.error();
  }
  return {};
}

Result<Recalled> SqliteTransaction::recall(std::vector<std::string>& repaired) {
  if (auto done = repair_counts(repaired); !done) return done.error();
  SqliteConnection& connection = writer_.connection;
  Recalled recalled;
  auto done = ran(writer_.drop_workers.reset().bind(millis(now_ - kWorkersKept)).run());
  if (!done) return done.error();
  auto read_queue = Statement::prepare(connection, sql::read_queue);
  auto read_counts = Statement::prepare(connection, sql::read_counts);
  auto read_totals = Statement::prepare(connection, sql::read_totals);
  auto read_checkpoints = Statement::prepare(connection, sql::read_checkpoints);
  if (!read_queue || !read_counts || !read_totals || !read_checkpoints) return connection.error("prepare");

  read_queue->bind(nullptr);
  for (;;) {
    const auto row = read_queue->step();
    if (!row) return row.error();
    if (!*row) break;
    auto queue = read_queue_row(*read_queue);
    if (!queue) return queue.error();
    auto counts = counts_of(*read_counts, queue->id);
    if (!counts) return counts.error();
    auto totals = totals_of(*read_totals, queue->id);
    if (!totals) return totals.error();
    done = each_row(read_checkpoints->reset().bind(std::string_view(queue->id)).bind(1),
                    [&](const Statement& found) { recalled.checkpoints.push_back(read_checkpoint(found)); });
    if (!done) return done.error();
    recalled.queues.push_back({std::move(*queue), *counts, totals->first, std::move(totals->second)});
  }
  done = each_row(connection, sql::read_workers,
                  [&](const Statement& row) { recalled.workers.push_back(read_worker(row)); });
  if (!done) return done.error();
  done = each_row(connection, sql::read_failed_hours,
                  [&](const Statement& row) { recalled.failed_by_hour[row.integer(0)] = row.integer(1); });
  if (!done) return done.error();
  std::vector<EventId> held;
  done = each_row(connection, sql::processing,
                  [&](const Statement& row) { held.push_back(static_cast<EventId>(row.integer(0))); });
  if (!done) return done.error();
  for (const EventId id : held) {
    auto stored = load_one(id, EventFields::state);
    if (!stored) return stored.error();
    if (*stored) recalled.processing.push_back(std::move(**stored));
  }
  return recalled;
}

}  // namespace eventq::sqlite
