// sqlite_transaction.cc: see sqlite_transaction.h.
#include "store/sqlite/sqlite_transaction.h"

#include <algorithm>
#include <tuple>

#include "base/assert.h"
#include "model/names.h"
#include "model/tags.h"
#include "store/sqlite/rows.h"

namespace eventq::sqlite {
namespace {

Error stray_row(std::string_view table, EventId id) {
  return {ErrorCode::corrupt,
          "The store's table " + std::string(table) + " names event " + std::to_string(number(id)) +
              ", which does not exist; restore the store from a backup.",
          ""};
}

Result<void> changed_one(Result<int> changed, const Event& event) {
  if (!changed) return changed.error();
  if (*changed != 1) return guard_failed(event.id);
  return {};
}

}  // namespace

Result<std::unique_ptr<Transaction>> SqliteTransaction::begin(SqliteWriter& writer, TimePoint now) {
  if (writer.connection.sync_failed()) {
    return Error{ErrorCode::unavailable,
                 "A sync to the disk failed, so the store acknowledges no further change. Check the disk and "
                 "restart eventq.",
                 ""};
  }
  if (const auto begun = writer.begin.execute(); !begun) return begun.error();
  return std::unique_ptr<Transaction>(std::make_unique<SqliteTransaction>(writer, now));
}

SqliteTransaction::SqliteTransaction(SqliteWriter& writer, TimePoint now)
    : writer_(writer), now_(now), first_event_id_(writer.last_event_id), first_log_id_(writer.last_log_id) {}

SqliteTransaction::~SqliteTransaction() {
  // The rollback also undoes serve_any_tag(), so the writer must not skip it the next time.
  if (open_) {
    for (const std::string& queue : new_any_tag_queues_) writer_.any_tag_queues.erase(queue);
  }
  // After some errors SQLite has rolled back by itself; a second rollback would fail.
  if (open_ && sqlite3_get_autocommit(writer_.connection.handle()) == 0) {
    const auto undone = writer_.rollback.execute();
    EVENTQ_ASSERT(undone.has_value());
  }
}

Result<void> SqliteTransaction::insert(std::span<Stored> events) {
  for (Stored& stored : events) {
    if (auto done = insert_one(stored); !done) return done;
  }
  return {};
}

Result<void> SqliteTransaction::insert_one(Stored& stored) {
  Event& event = stored.event;
  event.id = static_cast<EventId>(++writer_.last_event_id);
  stored.turn = number(event.id);
  if (auto done = insert_body(event); !done) return done;
  // An event that is due already is put into the ready index at once, so promote() need not find it.
  const std::int64_t ready = readiness(stored, now_);
  if (auto done = write_live(writer_.insert_live, stored, ready, false); !done) return done;
  if (stored.line != Line::none) {
    if (auto done = write_line(writer_.insert_line, stored, stored.line); !done) return done;
  }
  if (!event.supersede_key.empty() && event.status == Status::pending) {
    if (auto done = write_supersede(writer_.insert_supersede, event); !done) return done;
  }
  if (ready == kReady) {
    if (auto done = set_ready(stored, true); !done) return done;
  }
  stored.ready = ready == kReady;
  stored.line_before = stored.line;
  stored.guard = guard_of(event);
  count(event, event.status, 1);
  return {};
}

Result<void> SqliteTransaction::insert_body(const Event& event) {
  // NULL means created_at, which is the usual value.
  const bool own_time = event.timestamp != event.created_at;
  const bool has_rules = event.retry || event.max_attempts;
  return writer_.insert_body.execute(
      number(event.id), event.event_id, event.queue, event.title, join_tags(event.tags), event.correlation_id,
      event.ordering_key, event.supersede_key, event.priority, event.max_retries,
      has_rules ? std::optional(retry_to_text(retry_rules_of(event))) : std::nullopt,
      millis(event.created_at), event.sequence,
      own_time ? std::optional(millis(event.timestamp)) : std::nullopt, event.causation_id, event.trace_id,
      event.pattern, event.version, event.source.type, event.source.id, event.source.name, event.attributes,
      event.description, event.payload);
}

// Runs insert_live.sql, or update_live.sql with its guard when `guarded`; they share the first columns.
Result<void> SqliteTransaction::write_live(Statement& statement, const Stored& stored, std::int64_t ready,
                                           bool guarded) {
  const Event& event = stored.event;
  statement.with(number(event.id), name_of(event.status), event.attempts, event.retry_count, event.unreported,
                 event.worker_id, millis(event.due_at), ready, millis(event.updated_at), stored.turn,
                 millis(event.picked_at));
  if (guarded) {
    statement.bind(name_of(stored.guard.status)).bind(stored.guard.attempts).bind(stored.guard.worker_id);
  } else {
    statement.bind(event.queue);
  }
  return changed_one(statement.run(), event);
}

Result<void> SqliteTransaction::write_archive(const Stored& stored) {
  const Event& event = stored.event;
  const auto superseded_by = event.superseded_by ? std::optional(number(*event.superseded_by)) : std::nullopt;
  const auto cause =
      event.status == Status::failed ? std::optional<std::string_view>(stored.cause) : std::nullopt;
  writer_.insert_archive.with(number(event.id), name_of(event.status), event.attempts, event.retry_count,
                              event.unreported, event.worker_id, millis(event.updated_at),
                              millis(event.picked_at), event.queue, stored.line == Line::head, superseded_by,
                              cause);
  return changed_one(writer_.insert_archive.run(), event);
}

// Deletes the live or archived row of an event, under its guard.
Result<void> SqliteTransaction::leave(Statement& statement, const Stored& stored) {
  const Guard& guard = stored.guard;
  statement.with(number(stored.event.id), name_of(guard.status), guard.attempts, guard.worker_id);
  return changed_one(statement.run(), stored.event);
}

// Writes or deletes the rows of an event in event_ready: one per tag, and one with the empty tag when a claim
// without tags was made on its queue.
Result<void> SqliteTransaction::set_ready(const Stored& stored, bool ready) {
  const Event& event = stored.event;
  Statement& statement = ready ? writer_.insert_ready : writer_.delete_ready;
  const auto write = [&](std::string_view tag) {
    statement.with(event.queue, tag, event.priority, stored.turn);
    if (ready) statement.bind(number(event.id));
    return changed_one(statement.run(), event);
  };
  for (const std::string& tag : event.tags) {
    if (auto done = write(tag); !done) return done;
  }
  return writer_.any_tag_queues.contains(event.queue) ? write("") : Result<void>();
}

// The first claim without tags on a queue adds the rows with the empty tag for all its ready events. Queues
// that are never claimed without tags do not pay for these rows.
Result<void> SqliteTransaction::serve_any_tag(const std::string& queue) {
  if (writer_.any_tag_queues.contains(queue)) return {};
  if (auto done = writer_.fill_any_tag.execute(queue); !done) return done;
  if (auto done = writer_.add_any_tag_queue.execute(queue); !done) return done;
  // The writer remembers the queue across transactions; the destructor takes it back after a rollback.
  writer_.any_tag_queues.insert(queue);
  new_any_tag_queues_.push_back(queue);
  return {};
}

Result<void> SqliteTransaction::save(std::span<Stored> events) {
  for (Stored& stored : events) {
    if (auto done = save_one(stored); !done) return done;
  }
  return {};
}

Result<void> SqliteTransaction::save_one(Stored& stored) {
  Event& event = stored.event;
  const bool ended = has_ended(event.status);
  const std::int64_t ready_code = ended ? kWaiting : readiness(stored, now_);
  const bool ready = ready_code == kReady;
  // Old ready rows are deleted before move_in_line() and new ones written after it, because it may change the
  // turn, which is part of their key.
  if (stored.ready && !ready) {
    if (auto done = set_ready(stored, false); !done) return done;
  }
  if (auto done = move_in_line(stored); !done) return done;
  if (!stored.ready && ready) {
    if (auto done = set_ready(stored, true); !done) return done;
  }

  // A live event that stays live is updated. Any other change deletes the old row and inserts a new one.
  Result<void> done;
  if (!ended && !stored.archived) {
    done = write_live(writer_.update_live, stored, ready_code, true);
  } else {
    done = leave(stored.archived ? writer_.delete_archive : writer_.delete_live, stored);
    if (done && stored.archived) done = writer_.delete_result.execute(number(event.id));
    if (done)
      done = ended ? write_archive(stored) : write_live(writer_.insert_live, stored, ready_code, false);
  }
  if (done && ended && !event.result.empty())
    done = writer_.insert_result.execute(number(event.id), event.result);
  const bool pending = event.status == Status::pending;
  if (done && !event.supersede_key.empty() && pending != (stored.guard.status == Status::pending)) {
    done = write_supersede(pending ? writer_.insert_supersede : writer_.delete_supersede, event);
  }
  if (done && stored.guard.status != event.status) done = count_change(stored);
  if (!done) return done;
  stored.ready = ready;
  stored.archived = ended;
  stored.guard = guard_of(event);
  return {};
}

Result<void> SqliteTransaction::count_change(const Stored& stored) {
  count(stored.event, stored.guard.status, -1);
  count(stored.event, stored.event.status, 1);
  if (stored.guard.status == Status::failed) return change_cause(stored, -1);
  if (stored.event.status == Status::failed) return change_cause(stored, 1);
  return {};
}

// Sums the changes in memory: a batch of events of one queue then updates each counter once.
void SqliteTransaction::count(const Event& event, Status status, int change) {
  counts_[{event.queue, status}] += change;
}

Result<std::optional<EventId>> SqliteTransaction::find(std::string_view event_id) {
  return one_row(writer_.find_event.with(event_id), read_id<Statement>);
}

Result<std::optional<KeyRecord>> SqliteTransaction::find_key(std::string_view key) {
  return one_row(writer_.find_key.with(key), [&](const Statement& row) -> Result<KeyRecord> {
    auto events = ids_from_text(row.text(1));
    if (!events) return events.error();
    return KeyRecord{std::string(key), std::string(row.text(0)), std::move(*events),
                     time_point(row.integer(2))};
  });
}

Result<void> SqliteTransaction::put_key(const KeyRecord& record) {
  return writer_.put_key.execute(record.key, record.fingerprint, ids_to_text(record.events),
                                 millis(record.created_at));
}

Result<std::size_t> SqliteTransaction::purge_keys(TimePoint created_before, std::size_t limit) {
  const auto dropped = writer_.purge_keys.with(millis(created_before), limit).run();
  if (!dropped) return dropped.error();
  return static_cast<std::size_t>(*dropped);
}

Result<std::vector<std::optional<Stored>>> SqliteTransaction::load(std::span<const EventId> ids,
                                                                   EventFields fields) {
  std::vector<std::optional<Stored>> loaded;
  loaded.reserve(ids.size());
  for (const EventId id : ids) {
    auto stored = load_one(id, fields);
    if (!stored) return stored.error();
    loaded.push_back(std::move(*stored));
  }
  return loaded;
}

Result<std::optional<Stored>> SqliteTransaction::load_one(EventId id, EventFields fields) {
  const auto read = [&](const Statement& row) { return read_event(row, fields); };
  // Most events are live, so event_queue is read first. load_state.sql leaves out large columns, which saves
  // reading their overflow pages.
  Statement& live = fields == EventFields::all ? writer_.load_live : writer_.load_state;
  auto stored = one_row(live.with(number(id)), read);
  if (!stored || *stored) return stored;
  return one_row(writer_.load_archived.with(number(id)), read);
}

Result<std::vector<LogEntry>> SqliteTransaction::log(EventId id) { return read_log(writer_.event_log, id); }

Result<void> SqliteTransaction::append(std::span<LogEntry> entries) {
  for (LogEntry& entry : entries) {
    entry.log_id = static_cast<LogId>(++writer_.last_log_id);
    auto done = writer_.append_entry.execute(
        static_cast<std::int64_t>(entry.log_id), number(entry.id), entry.attempt, entry.worker_id,
        name_of(entry.action), entry.status_code, entry.error_message, entry.execution_time_ms,
        entry.errors.empty() ? std::nullopt : std::optional(errors_to_text(entry.errors)),
        entry.reason.empty() ? std::nullopt : std::optional<std::string_view>(entry.reason),
        entry.retry_count, entry.next_retry_at ? std::optional(millis(*entry.next_retry_at)) : std::nullopt,
        millis(entry.created_at));
    if (done && !entry.by.empty()) {
      done =
          writer_.append_author.execute(number(entry.id), static_cast<std::int64_t>(entry.log_id), entry.by);
    }
    if (done && !entry.error_detail.empty()) {
      done = writer_.append_detail.execute(number(entry.id), static_cast<std::int64_t>(entry.log_id),
                                           entry.error_detail);
    }
    if (!done) return done;
  }
  return {};
}

Result<std::vector<Stored>> SqliteTransaction::promote(std::size_t limit) {
  // Reads all ids before the first write, because mark_ready changes the index that this statement reads.
  const auto ids = all_rows(writer_.due.with(millis(now_), limit), read_id<Statement>);
  if (!ids) return ids.error();
  std::vector<Stored> promoted;
  promoted.reserve(ids->size());
  for (const EventId id : *ids) {
    auto stored = load_one(id, EventFields::state);
    if (!stored) return stored.error();
    if (!*stored) return stray_row("event_queue", id);
    auto marked = changed_one(writer_.mark_ready.with(number(id)).run(), (*stored)->event);
    if (!marked) return marked.error();
    if (auto done = set_ready(**stored, true); !done) return done.error();
    (*stored)->ready = true;
    promoted.push_back(std::move(**stored));
  }
  return promoted;
}

Result<std::vector<Stored>> SqliteTransaction::claim(const Selector& selector, std::size_t limit) {
  if (selector.tags.empty()) {
    if (auto done = serve_any_tag(selector.queue); !done) return done.error();
  }
  // Reads the first `limit` events of each tag and merges them, so the cost does not grow with the backlog.
  static const std::vector<std::string> any_tag{""};
  std::vector<std::tuple<std::int64_t, std::int64_t, EventId>> candidates;  // -priority, turn, id
  for (const std::string& tag : selector.tags.empty() ? any_tag : selector.tags) {
    const auto found =
        all_rows(writer_.ready_by_tag.with(selector.queue, tag, limit), [](const Statement& row) {
          return std::tuple(-row.integer(0), row.integer(1), static_cast<EventId>(row.integer(2)));
        });
    if (!found) return found.error();
    candidates.insert(candidates.end(), found->begin(), found->end());
  }
  std::sort(candidates.begin(), candidates.end());
  // An event with several of the tags was found once per tag.
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  candidates.resize(std::min(candidates.size(), limit));

  std::vector<Stored> claimed;
  std::size_t bytes = 0;
  for (const auto& candidate : candidates) {
    // The event that reaches the limit is still included, so a payload larger than the limit can be claimed.
    if (bytes >= kClaimBytes) break;
    const EventId id = std::get<EventId>(candidate);
    auto stored = load_one(id, EventFields::all);
    if (!stored) return stored.error();
    if (!*stored || (*stored)->archived) return stray_row("event_ready", id);
    bytes += (*stored)->event.payload.size();
    claimed.push_back(std::move(**stored));
  }
  return claimed;
}

Result<std::optional<TimePoint>> SqliteTransaction::next_due() {
  return one_row(writer_.next_due.reset(), read_time<Statement>);
}

Result<void> SqliteTransaction::write_counts() {
  for (const auto& [key, change] : counts_) {
    if (change == 0) continue;
    auto done = writer_.change_count.execute(key.first, name_of(key.second), change);
    if (!done) return done;
  }
  return {};
}

// Written once per transaction. Ids that were assigned in a rolled back transaction are skipped, not reused,
// for as long as the process runs.
Result<void> SqliteTransaction::write_last_ids() {
  if (writer_.last_event_id != first_event_id_) {
    if (auto done = writer_.write_last_id.execute("event", writer_.last_event_id); !done) return done;
  }
  if (writer_.last_log_id == first_log_id_) return {};
  return writer_.write_last_id.execute("log", writer_.last_log_id);
}

Result<void> SqliteTransaction::probe() {
  return writer_.write_last_id.execute("event", writer_.last_event_id);
}

Result<void> SqliteTransaction::commit(DiskSync sync) {
  EVENTQ_ASSERT(open_);
  if (auto done = write_counts(); !done) return done;
  if (auto done = write_last_ids(); !done) return done;
  const auto committed = writer_.commit.execute();
  if (committed) {
    open_ = false;
    // With synchronous = FULL, SQLite synced in the COMMIT. With NORMAL, a commit that must be durable syncs.
    if (!writer_.later_allowed || sync == DiskSync::later) return {};
    auto synced = writer_.connection.sync_log();
    if (synced) return {};
    return Error{ErrorCode::unknown_outcome,
                 synced.error().message + " The change may or may not be on disk.", ""};
  }
  // SQLite detects a full disk before it writes the commit record. After any other device error, the record
  // may or may not be there after a restart.
  Error error = committed.error();
  if (error.code == ErrorCode::unavailable) {
    error.code = ErrorCode::unknown_outcome;
    error.message += " The change may or may not be on disk.";
  }
  return error;
}

}  // namespace eventq::sqlite
