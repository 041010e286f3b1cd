// postgres_transaction.cc: see postgres_transaction.h.
#include "store/postgres/postgres_transaction.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "generated/postgres_sql.h"
#include "model/names.h"
#include "store/postgres/rows.h"

namespace eventq::postgres {
namespace {

constexpr TimePoint kEndOfTime{Millis(INT64_MAX)};

// The event was read without a lock, as the head of a line is, and another server has changed it since.
Error overtaken(EventId id) {
  return {ErrorCode::unavailable,
          "Another server changed event " + std::to_string(number(id)) +
              " at the same time, so nothing was changed. Try again.",
          ""};
}

// Takes the gate before it reads the version of the queues, so that no admin transaction changes a queue
// after that.
void begin_with(std::vector<StatementCall>& calls, std::string_view gate) {
  calls.push_back({sql::begin});
  calls.push_back({gate});
  calls.push_back({sql::read_time});
}

}  // namespace

Result<std::unique_ptr<Transaction>> PostgresTransaction::begin(StoreSession& session,
                                                                std::optional<TimePoint> now,
                                                                const TransactionPlan* plan) {
  std::unique_ptr<PostgresTransaction> transaction(new PostgresTransaction(session, now));
  if (plan != nullptr) {
    if (auto done = transaction->plan(*plan); !done) return done.error();
  }
  if (!transaction->begun_) {
    if (auto done = transaction->run({}); !done) return done.error();
  }
  return std::unique_ptr<Transaction>(std::move(transaction));
}

PostgresTransaction::PostgresTransaction(StoreSession& session, std::optional<TimePoint> now)
    : session_(session), now_(now.value_or(TimePoint())), timed_(now.has_value()), gate_(sql::gate_shared) {}

// Rolls back, because the next transaction on this connection could not begin otherwise. If ROLLBACK fails,
// the connection is broken, and the server has ended the transaction.
PostgresTransaction::~PostgresTransaction() {
  if (open_ && sent_ && !session_.connection->broken()) (void)session_.connection->run_one(sql::rollback);
}

Result<std::vector<Rows>> PostgresTransaction::run(std::vector<StatementCall> calls) {
  if (begun_) return session_.connection->run(std::move(calls));
  std::vector<StatementCall> all;
  // After a restart the earlier transaction is still open on the server.
  if (std::exchange(sent_, true)) all.push_back({sql::rollback});
  begin_with(all, gate_);
  const auto first = std::ssize(all);
  std::move(calls.begin(), calls.end(), std::back_inserter(all));
  auto rows = session_.connection->run(std::move(all));
  if (!rows) return rows;
  const Rows& time = (*rows)[static_cast<std::size_t>(first - 1)];
  if (time.empty()) return corrupt_row("no row in the table queue_news");
  // A restart keeps the time at which the transaction first began.
  if (!std::exchange(timed_, true)) {
    now_ = session_.clock != nullptr ? session_.clock->now() : time_point(time.number(0, 0));
  }
  queues_version_ = time.number(0, 1);
  begun_ = true;
  rows->erase(rows->begin(), rows->begin() + first);
  return rows;
}

void PostgresTransaction::begin_anew(std::string_view gate) {
  // Locks end with the ROLLBACK, so everything that was read under them is dropped.
  // event_numbers_ is kept: sequences do not roll back, so ids that were drawn are still valid.
  gate_ = gate;
  begun_ = false;
  locked_.clear();
  event_cache_.clear();
  event_ids_.clear();
  lines_.clear();
  superseded_.clear();
  pools_.clear();
  log_numbers_.clear();
  keys_.clear();
  correlations_.clear();
  current_.clear();
}

Result<std::vector<Rows>> PostgresTransaction::flush_and_run(std::vector<StatementCall> calls) {
  std::vector<StatementCall> all;
  flush(all);
  const auto flushed = std::ssize(all);
  std::move(calls.begin(), calls.end(), std::back_inserter(all));
  auto rows = run(std::move(all));
  if (rows) rows->erase(rows->begin(), rows->begin() + flushed);
  return rows;
}

Result<Rows> PostgresTransaction::read(std::string_view sql, Params params) {
  return only(flush_and_run(calls_of(StatementCall{sql, std::move(params)})));
}

Result<std::int64_t> PostgresTransaction::next_event_number() {
  if (event_numbers_.empty()) {
    if (auto done = draw_numbers(1, 0); !done) return done.error();
  }
  const std::int64_t number = event_numbers_.front();
  event_numbers_.pop_front();
  return number;
}

Result<void> PostgresTransaction::draw_numbers(std::size_t events, std::size_t entries) {
  const auto rows = run(calls_of(draw_call(events, entries)));
  if (!rows) return rows.error();
  take_numbers(rows->front(), events);
  return {};
}

// Takes the rows of draw_numbers.sql: numbers for events first, then for log entries.
void PostgresTransaction::take_numbers(const Rows& rows, std::size_t events) {
  for (std::size_t row = 0; row < std::min(events, rows.size()); ++row) {
    event_numbers_.push_back(rows.number(row, 0) * session_.position.shard_count +
                             session_.position.shard_index);
  }
  for (std::size_t row = events; row < rows.size(); ++row) log_numbers_.push_back(rows.number(row, 0));
}

// Sends no rows: flush() writes the events in changed_ before the next read that could see them, or with
// COMMIT. Until then reads of this transaction find them in the caches, which this function updates.
Result<void> PostgresTransaction::insert(std::span<Stored> events) {
  // Usually the plan has drawn enough; this is for events that it did not count.
  if (event_numbers_.size() < events.size()) {
    if (auto done = draw_numbers(events.size() - event_numbers_.size(), 0); !done) return done;
  }
  for (Stored& stored : events) {
    Event& event = stored.event;
    auto id = next_event_number();
    if (!id) return id.error();
    event.id = static_cast<EventId>(*id);
    stored.turn = *id;
    stored.archived = false;
    stored.ready = readiness(stored, now_) == kReady;
    stored.line_before = stored.line;
    stored.guard = guard_of(event);
    // Whole and locked, because no other transaction can see the event before COMMIT. Not removed, and
    // without written rows, so flush() inserts them.
    event_cache_.insert_or_assign(event.id, CachedEvent{stored, true, true, false, std::nullopt});
    changed_.insert(event.id);
    if (stored.ready) made_ready_.insert(event.id);
    note_waiting(stored);
    event_ids_.insert_or_assign(event.event_id, event.id);
    move_in_line(event, Line::none, stored.line);
    note_pending(event, event.status == Status::pending);
    count(event.queue, event.status, 1);
  }
  return {};
}

Result<std::optional<EventId>> PostgresTransaction::find(std::string_view event_id) {
  if (const auto found = event_ids_.find(event_id); found != event_ids_.end()) return found->second;
  std::vector<StatementCall> calls;
  lock(calls, {event_id_name(event_id)});
  calls.push_back({sql::find_event, params_of(std::vector{std::string(event_id)})});
  auto rows = run(std::move(calls));
  if (!rows) return rows.error();
  std::optional<EventId>& found = event_ids_[std::string(event_id)];
  if (!rows->back().empty()) found = static_cast<EventId>(rows->back().number(0, 1));
  return found;
}

Result<std::vector<std::optional<Stored>>> PostgresTransaction::load(std::span<const EventId> ids,
                                                                     EventFields fields) {
  std::vector<EventId> missing;
  for (const EventId id : ids) {
    const auto found = event_cache_.find(id);
    // A change needs the lock, and a read needs the envelope; a cached event may lack either.
    const bool enough = found != event_cache_.end() &&
                        (fields == EventFields::state ? found->second.locked : found->second.whole);
    if (!enough) missing.push_back(id);
  }
  if (!missing.empty()) {
    auto done = fields == EventFields::state ? lock_and_load(std::move(missing)) : read_whole(missing);
    if (!done) return done.error();
  }
  std::vector<std::optional<Stored>> loaded;
  loaded.reserve(ids.size());
  for (const EventId id : ids) {
    const auto found = event_cache_.find(id);
    const bool there = found != event_cache_.end() && !found->second.removed;
    loaded.push_back(
        there ? std::optional(fields == EventFields::state ? state_of(found->second) : found->second.stored)
              : std::nullopt);
    if (there) loaded.back()->event.result.clear();
  }
  return loaded;
}

Result<std::vector<LogEntry>> PostgresTransaction::log(EventId id) {
  auto rows = read(sql::event_log, params_of(number(id)));
  if (!rows) return rows.error();
  return read_log(*rows);
}

Result<void> PostgresTransaction::save(std::span<Stored> events) {
  std::vector<EventId> unknown;
  for (const Stored& stored : events) {
    const auto found = event_cache_.find(stored.event.id);
    if (found == event_cache_.end() || !found->second.locked) unknown.push_back(stored.event.id);
  }
  if (!unknown.empty()) {
    if (auto done = lock_and_load(unknown); !done) return done;
  }
  for (Stored& stored : events) {
    const EventId id = stored.event.id;
    const auto found = event_cache_.find(id);
    // The caller read the event without a lock, so another transaction may have changed it since.
    const bool was_free = std::find(unknown.begin(), unknown.end(), id) != unknown.end();
    if (was_free && found != event_cache_.end() &&
        (!found->second.locked || found->second.stored.guard != stored.guard)) {
      return overtaken(id);
    }
    if (auto done = save_one(stored); !done) return done;
  }
  return {};
}

Result<void> PostgresTransaction::save_one(Stored& saved) {
  const EventId id = saved.event.id;
  const auto found = event_cache_.find(id);
  if (found == event_cache_.end() || found->second.removed) return guard_failed(id);
  Stored& stored = found->second.stored;
  Event& event = stored.event;
  if (saved.guard != stored.guard) return guard_failed(id);

  // Archived events keep no turn; a revived event gets turn = id.
  std::int64_t turn = stored.archived ? number(id) : stored.turn;
  // A new head of a line gets a new turn, so it comes after all events that are ready now.
  if (stored.line == Line::behind && saved.line == Line::head) {
    auto last = next_event_number();
    if (!last) return last.error();
    turn = *last;
  }
  // With a new turn the event has new rows in event_ready, so claims must notice it as newly ready.
  const bool was_ready = stored.ready && turn == stored.turn;
  const Status before = event.status;
  const std::string cause = saved.event.status == Status::failed ? saved.cause : "";
  if (before == Status::failed) causes_[{event.queue, stored.cause}] -= 1;
  if (saved.event.status == Status::failed) causes_[{event.queue, cause}] += 1;
  copy_state(saved.event, event);
  event.result = saved.event.result;
  move_in_line(event, stored.line, saved.line);
  count(event.queue, before, -1);
  count(event.queue, event.status, 1);
  note_pending(event, event.status == Status::pending);

  stored.cause = cause;
  stored.line = saved.line;
  stored.line_before = saved.line;
  stored.turn = turn;
  stored.archived = has_ended(event.status);
  stored.ready = !stored.archived && readiness(stored, now_) == kReady;
  stored.guard = guard_of(event);
  changed_.insert(id);
  if (stored.ready && !was_ready) made_ready_.insert(id);
  note_waiting(stored);

  copy_bookkeeping(stored, saved);
  return {};
}

// Updates the line in lines_, if it is cached.
void PostgresTransaction::move_in_line(const Event& event, Line from, Line to) {
  if (from == to) return;
  const auto found = lines_.find({event.queue, event.ordering_key});
  if (found == lines_.end()) return;
  CachedLine& line = found->second;
  if (from == Line::head) line.head.reset();
  if (from == Line::behind && line.first_behind == event.id) {
    line.first_behind.reset();
    line.first_behind_loaded = false;
  }
  if (to == Line::head) line.head = event.id;
  if (to == Line::behind && line.first_behind_loaded) {
    line.first_behind = std::min(line.first_behind.value_or(event.id), event.id);
  }
}

// Updates the events in superseded_, if they are cached.
void PostgresTransaction::note_pending(const Event& event, bool pending) {
  if (event.supersede_key.empty()) return;
  const auto found = superseded_.find({event.queue, event.supersede_key});
  if (found == superseded_.end()) return;
  if (pending) {
    found->second.insert(event.id);
  } else {
    found->second.erase(event.id);
  }
}

// next_due() may start its scan at due_start.first, so an event with an earlier due time must move that back.
void PostgresTransaction::note_waiting(const Stored& stored) {
  if (stored.archived || ready_code(stored) != kWaiting) return;
  session_.due_start.first = std::min(session_.due_start.first, millis(stored.event.due_at));
  first_due_ = std::min(first_due_.value_or(stored.event.due_at), stored.event.due_at);
}

void PostgresTransaction::count(const std::string& queue, Status status, std::int64_t change) {
  counts_[{queue, status}] += change;
}

Result<void> PostgresTransaction::remove(std::span<const Stored> events) {
  std::vector<EventId> ids;
  for (const Stored& stored : events) ids.push_back(stored.event.id);
  // Locks the events, so that the guards below are compared with rows that cannot change.
  if (auto done = load(ids, EventFields::state); !done) return done.error();
  for (const Stored& stored : events) {
    EVENTQ_ASSERT(stored.archived && stored.line == Line::none);
    const EventId id = stored.event.id;
    const auto found = event_cache_.find(id);
    if (found == event_cache_.end() || found->second.removed || found->second.stored.guard != stored.guard) {
      return guard_failed(id);
    }
    const Event& event = found->second.stored.event;
    found->second.removed = true;
    changed_.insert(id);
    event_ids_.insert_or_assign(event.event_id, std::nullopt);
    count(event.queue, event.status, -1);
    if (event.status == Status::failed) causes_[{event.queue, found->second.stored.cause}] -= 1;
  }
  return {};
}

Result<void> PostgresTransaction::append(std::span<LogEntry> entries) {
  if (log_numbers_.size() < entries.size()) {
    if (auto done = draw_numbers(0, entries.size() - log_numbers_.size()); !done) return done;
  }
  for (LogEntry& entry : entries) {
    entry.log_id = static_cast<LogId>(log_numbers_.front());
    log_numbers_.pop_front();
    entries_.push_back(entry);
  }
  return {};
}

Result<std::vector<Stored>> PostgresTransaction::promote(std::size_t limit) {
  auto calls = calls_of(StatementCall{sql::due, params_of(millis(now_), limit)});
  redraw_log_numbers(calls);
  auto rows = flush_and_run(std::move(calls));
  if (!rows) return rows.error();
  take_numbers(rows->back(), 0);
  std::vector<Stored> promoted;
  promoted.reserve(rows->front().size());
  for (std::size_t row = 0; row < rows->front().size(); ++row) {
    auto stored = read_event(rows->front(), row, EventFields::state);
    if (!stored) return stored.error();
    CachedEvent& cached = cache_event(std::move(*stored), EventFields::state, true);
    // Only the cache is changed; the next flush writes the row and its event_ready rows.
    cached.stored.ready = true;
    changed_.insert(cached.stored.event.id);
    made_ready_.insert(cached.stored.event.id);
    promoted.push_back(cached.stored);
  }
  return promoted;
}

Result<std::optional<TimePoint>> PostgresTransaction::next_due() {
  DueStart& start = session_.due_start;
  const bool from_start = start.full_scans.allowed(steady_now());
  auto rows = read(sql::next_due, params_of(from_start ? INT64_MIN : start.first));
  if (!rows) return rows.error();
  if (from_start) start.full_scans.note(rows->number(0, 1), 0, steady_now());
  if (rows->is_null(0, 0)) return std::optional<TimePoint>();
  start.first = rows->number(0, 0);
  return std::optional(time_point(start.first));
}

Result<std::optional<TimePoint>> PostgresTransaction::next_due_by(const std::optional<TimePoint>& cached) {
  if (!cached || !first_due_) return cached ? cached : first_due_;
  return std::min(cached, first_due_);
}

Result<Ended> PostgresTransaction::ended(const EndedFilter& filter) {
  std::vector<std::string> statuses;
  for (const Status status : statuses_of(filter)) statuses.emplace_back(name_of(status));
  const TimePoint from = filter.after ? filter.after->ended_at : filter.from.value_or(TimePoint());
  const auto rows =
      read(sql::ended, params_of(filter.queue, statuses, millis(from), millis(filter.to.value_or(kEndOfTime)),
                                 limits::kReplay, filter.after ? number(filter.after->id) : 0));
  if (!rows) return rows.error();
  Ended ended;
  std::size_t bytes = 0;
  std::optional<EndedCursor> last;
  constexpr std::size_t kAtOnce = 100;  // so many whole events are in memory at a time
  for (std::size_t row = 0; row < rows->size();) {
    std::vector<EventId> ids;
    for (std::size_t i = row; i < std::min(row + kAtOnce, rows->size()); ++i) {
      ids.push_back(static_cast<EventId>(rows->number(i, 1)));
    }
    auto loaded = load(ids, EventFields::all);
    if (!loaded) return loaded.error();
    for (std::optional<Stored>& stored : *loaded) {
      if (ended.events.size() >= filter.limit || bytes >= kClaimBytes) {
        ended.next = last;
        return ended;
      }
      last = EndedCursor{time_point(rows->number(row, 0)), static_cast<EventId>(rows->number(row, 1))};
      ++row;
      if (!stored || !stored->archived || !matches_unindexed(*stored, filter)) continue;
      bytes += stored->event.payload.size();
      ended.events.push_back(std::move(*stored));
    }
  }
  // The statement stopped at its limit, so there may be more events.
  if (rows->size() == limits::kReplay) ended.next = last;
  return ended;
}

// A failed event stays the head of its line while the queue's onFailure is `block`. The statement takes no
// locks, and load() does. So another transaction may have revived or released an event in between.
Result<std::vector<Stored>> PostgresTransaction::holding_line(std::string_view queue, std::size_t limit) {
  const auto ids = all_rows(read(sql::holding_line, params_of(queue, limit)), read_id<RowView>);
  if (!ids) return ids.error();
  auto loaded = load(*ids, EventFields::state);
  if (!loaded) return loaded.error();
  std::vector<Stored> events;
  for (std::optional<Stored>& stored : *loaded) {
    if (stored && stored->archived && stored->line == Line::head) events.push_back(std::move(*stored));
  }
  return events;
}

Result<void> PostgresTransaction::commit(DiskSync sync) {
  EVENTQ_ASSERT(open_);
  std::vector<StatementCall> calls;
  if (sync == DiskSync::later && session_.later_allowed) calls.push_back({sql::commit_later});
  flush(calls);
  // Counters are written last: other transactions write the same rows, and each row stays locked until
  // COMMIT.
  flush_counts(calls);
  flush_counters(calls);
  auto done = session_.connection->commit(std::move(calls));
  if (!done) return done;
  // After COMMIT, because a start that moved back for a rolled back event would only slow down claims.
  open_ = false;
  note_made_ready();
  return {};
}

}  // namespace eventq::postgres
