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

// A guard can fail only by a bug: the only writer loaded the row in this transaction.
Error guard_failed(const Event& event) {
  return {ErrorCode::internal,
          "Event " + std::to_string(number(event.id)) + " changed under its own transaction.", ""};
}

Error stray_row(std::string_view table, std::int64_t id) {
  return {ErrorCode::corrupt,
          "The store's " + std::string(table) + " names event " + std::to_string(id) +
              ", which is not there; restore it from a backup.",
          ""};
}

Result<void> changed_one(Result<int> changed, const Event& event) {
  if (!changed) return changed.error();
  if (*changed != 1) return guard_failed(event);
  return {};
}

}  // namespace

Result<std::unique_ptr<Transaction>> SqliteTransaction::begin(SqliteWriter& writer, TimePoint now) {
  if (writer.connection.sync_failed()) {
    return Error{ErrorCode::unavailable,
                 "A sync to the disk failed, so nothing more can be promised. Check the disk and restart.",
                 ""};
  }
  if (const auto begun = writer.begin.reset().run(); !begun) return begun.error();
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
    const auto undone = writer_.rollback.reset().run();
    EVENTQ_ASSERT(undone.has_value());
  }
}

Result<void> SqliteTransaction::insert(std::span<Stored> events) {
  for (Stored& stored : events) {
    if (auto done = insert_one(stored); !done) return done;
  }
  return {};
}

// The value of event_queue.ready for a live event.
std::int64_t SqliteTransaction::readiness(const Stored& stored) const {
  if (stored.line == Line::behind) return kBehind;
  return stored.event.due_at <= now_ ? kReady : kWaiting;
}

Result<void> SqliteTransaction::insert_one(Stored& stored) {
  Event& event = stored.event;
  event.id = static_cast<EventId>(++writer_.last_event_id);
  stored.turn = number(event.id);
  if (auto done = insert_body(event); !done) return done;
  const std::int64_t ready = readiness(stored);
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
  stored.guard = {event.status, event.attempts, event.worker_id};
  count(event, event.status, 1);
  return {};
}

Result<void> SqliteTransaction::insert_body(const Event& event) {
  const std::string tags = join_tags(event.tags);
  const std::string retry_text = retry_to_text(event.retry);
  std::optional<std::string_view> retry;
  if (event.retry) retry = retry_text;
  // NULL means created_at, which is the usual value.
  std::optional<std::int64_t> timestamp;
  if (event.timestamp != event.created_at) timestamp = millis(event.timestamp);
  const auto body = writer_.insert_body.reset()
                        .bind(number(event.id))
                        .bind(std::string_view(event.event_id))
                        .bind(std::string_view(event.queue))
                        .bind(std::string_view(event.title))
                        .bind(std::string_view(tags))
                        .bind(std::string_view(event.correlation_id))
                        .bind(std::string_view(event.ordering_key))
                        .bind(std::string_view(event.supersede_key))
                        .bind(event.priority)
                        .bind(event.max_retries)
                        .bind(retry)
                        .bind(millis(event.created_at))
                        .bind(event.sequence)
                        .bind(timestamp)
                        .bind(std::string_view(event.causation_id))
                        .bind(std::string_view(event.trace_id))
                        .bind(std::string_view(event.pattern))
                        .bind(std::string_view(event.version))
                        .bind(std::string_view(event.source.type))
                        .bind(std::string_view(event.source.id))
                        .bind(std::string_view(event.source.name))
                        .bind(std::string_view(event.attributes))
                        .bind(event.description)
                        .bind(std::string_view(event.payload))
                        .run();
  if (!body) return body.error();
  return {};
}

// Runs insert_live.sql, or update_live.sql with its guard when `guarded`; they share the first columns.
Result<void> SqliteTransaction::write_live(Statement& statement, const Stored& stored, std::int64_t ready,
                                           bool guarded) {
  const Event& event = stored.event;
  statement.reset()
      .bind(number(event.id))
      .bind(name_of(event.status))
      .bind(event.attempts)
      .bind(event.retry_count)
      .bind(event.unreported)
      .bind(std::string_view(event.worker_id))
      .bind(millis(event.due_at))
      .bind(ready)
      .bind(millis(event.updated_at))
      .bind(stored.turn)
      .bind(millis(event.picked_at));
  if (guarded) {
    statement.bind(name_of(stored.guard.status))
        .bind(stored.guard.attempts)
        .bind(std::string_view(stored.guard.worker_id));
  } else {
    statement.bind(std::string_view(event.queue));
  }
  return changed_one(statement.run(), event);
}

Result<void> SqliteTransaction::write_archive(const Stored& stored) {
  const Event& event = stored.event;
  std::optional<std::int64_t> superseded_by;
  if (event.superseded_by) superseded_by = number(*event.superseded_by);
  std::optional<std::string_view> cause;
  if (event.status == Status::failed) cause = stored.cause;
  return changed_one(writer_.insert_archive.reset()
                         .bind(number(event.id))
                         .bind(name_of(event.status))
                         .bind(event.attempts)
                         .bind(event.retry_count)
                         .bind(event.unreported)
                         .bind(std::string_view(event.worker_id))
                         .bind(millis(event.updated_at))
                         .bind(millis(event.picked_at))
                         .bind(std::string_view(event.queue))
                         .bind(stored.line == Line::head ? 1 : 0)
                         .bind(superseded_by)
                         .bind(cause)
                         .run(),
                     event);
}

// Deletes the live or archived row of an event, under its guard.
Result<void> SqliteTransaction::leave(Statement& statement, const Stored& stored) {
  return changed_one(statement.reset()
                         .bind(number(stored.event.id))
                         .bind(name_of(stored.guard.status))
                         .bind(stored.guard.attempts)
                         .bind(std::string_view(stored.guard.worker_id))
                         .run(),
                     stored.event);
}

// Writes or deletes the rows of an event in event_ready: one per tag, and one with the empty tag when a claim
// without tags was made on its queue.
Result<void> SqliteTransaction::set_ready(const Stored& stored, bool ready) {
  const Event& event = stored.event;
  Statement& statement = ready ? writer_.insert_ready : writer_.delete_ready;
  const auto write = [&](std::string_view tag) {
    statement.reset().bind(std::string_view(event.queue)).bind(tag).bind(event.priority).bind(stored.turn);
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
  if (const auto done = writer_.fill_any_tag.reset().bind(std::string_view(queue)).run(); !done) {
    return done.error();
  }
  if (const auto done = writer_.add_any_tag_queue.reset().bind(std::string_view(queue)).run(); !done) {
    return done.error();
  }
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
  const std::int64_t readiness = ended ? kWaiting : this->readiness(stored);
  const bool ready = readiness == kReady;
  // Old ready rows are deleted before move_in_line() and new ones written after it, because it may change the
  // turn, which is part of their key.
  if (stored.ready && !ready) {
    if (auto done = set_ready(stored, false); !done) return done;
  }
  if (auto done = move_in_line(stored); !done) return done;
  if (!stored.ready && ready) {
    if (auto done = set_ready(stored, true); !done) return done;
  }

  Result<void> done;
  if (!ended && !stored.archived) {
    done = write_live(writer_.update_live, stored, readiness, true);
  } else {
    done = leave(stored.archived ? writer_.delete_archive : writer_.delete_live, stored);
    if (done)
      done = ended ? write_archive(stored) : write_live(writer_.insert_live, stored, readiness, false);
  }
  const bool pending = event.status == Status::pending;
  if (done && !event.supersede_key.empty() && pending != (stored.guard.status == Status::pending)) {
    done = write_supersede(pending ? writer_.insert_supersede : writer_.delete_supersede, event);
  }
  if (done && stored.guard.status != event.status) done = count_change(stored);
  if (!done) return done;
  stored.ready = ready;
  stored.archived = ended;
  stored.guard = {event.status, event.attempts, event.worker_id};
  return {};
}

Result<void> SqliteTransaction::count_change(const Stored& stored) {
  count(stored.event, stored.guard.status, -1);
  count(stored.event, stored.event.status, 1);
  if (stored.guard.status == Status::failed) return change_cause(stored, -1);
  if (stored.event.status == Status::failed) return change_cause(stored, 1);
  return {};
}

void SqliteTransaction::count(const Event& event, Status status, int change) {
  counts_[{event.queue, status}] += change;
}

Result<std::optional<EventId>> SqliteTransaction::find(std::string_view event_id) {
  const auto row = writer_.find_event.reset().bind(event_id).step();
  if (!row) return row.error();
  if (!*row) return std::optional<EventId>();
  const auto id = static_cast<EventId>(writer_.find_event.integer(0));
  writer_.find_event.reset();
  return std::optional(id);
}

Result<std::optional<KeyRecord>> SqliteTransaction::find_key(std::string_view key) {
  Statement& statement = writer_.find_key;
  const auto row = statement.reset().bind(key).step();
  if (!row) return row.error();
  if (!*row) return std::optional<KeyRecord>();
  auto events = ids_from_text(statement.text(1));
  KeyRecord record{std::string(key), std::string(statement.text(0)), {}, time_point(statement.integer(2))};
  statement.reset();
  if (!events) return events.error();
  record.events = std::move(*events);
  return std::optional(std::move(record));
}

Result<void> SqliteTransaction::put_key(const KeyRecord& record) {
  const std::string events = ids_to_text(record.events);
  const auto done = writer_.put_key.reset()
                        .bind(std::string_view(record.key))
                        .bind(std::string_view(record.fingerprint))
                        .bind(std::string_view(events))
                        .bind(millis(record.created_at))
                        .run();
  if (!done) return done.error();
  return {};
}

Result<std::size_t> SqliteTransaction::purge_keys(TimePoint created_before, std::size_t limit) {
  const auto dropped =
      writer_.purge_keys.reset().bind(millis(created_before)).bind(static_cast<std::int64_t>(limit)).run();
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
  Statement& live = fields == EventFields::all ? writer_.load_live : writer_.load_state;
  for (Statement* statement : {&live, &writer_.load_archived}) {
    const auto row = statement->reset().bind(number(id)).step();
    if (!row) return row.error();
    if (!*row) continue;
    auto stored = read_event(*statement, fields);
    statement->reset();
    if (!stored) return stored.error();
    return std::optional(std::move(*stored));
  }
  return std::optional<Stored>();
}

Result<std::vector<LogEntry>> SqliteTransaction::log(EventId id) { return read_log(writer_.event_log, id); }

Result<void> SqliteTransaction::append(std::span<LogEntry> entries) {
  std::string errors;
  for (LogEntry& entry : entries) {
    entry.log_id = static_cast<LogId>(++writer_.last_log_id);
    bind_entry(writer_.append_entry, entry, errors);
    if (const auto done = writer_.append_entry.run(); !done) return done.error();
  }
  return {};
}

Result<std::vector<Stored>> SqliteTransaction::promote(std::size_t limit) {
  std::vector<EventId> ids;
  Statement& due = writer_.due.reset().bind(millis(now_)).bind(static_cast<std::int64_t>(limit));
  for (;;) {
    const auto row = due.step();
    if (!row) return row.error();
    if (!*row) break;
    ids.push_back(static_cast<EventId>(due.integer(0)));
  }
  std::vector<Stored> promoted;
  promoted.reserve(ids.size());
  for (const EventId id : ids) {
    auto stored = load_one(id, EventFields::state);
    if (!stored) return stored.error();
    if (!*stored) return stray_row("event_queue", number(id));
    if (auto done = changed_one(writer_.mark_ready.reset().bind(number(id)).run(), (*stored)->event); !done) {
      return done.error();
    }
    if (auto done = set_ready(**stored, true); !done) return done.error();
    (*stored)->ready = true;
    promoted.push_back(std::move(**stored));
  }
  return promoted;
}

Result<std::vector<Stored>> SqliteTransaction::claim(const Selector& selector, std::size_t limit) {
  // Reads the first `limit` events of each tag and merges them, so the cost does not grow with the backlog.
  std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> candidates;  // -priority, turn, id
  const auto gather = [&](std::string_view tag) -> Result<void> {
    Statement& ready = writer_.ready_by_tag.reset()
                           .bind(std::string_view(selector.queue))
                           .bind(tag)
                           .bind(static_cast<std::int64_t>(limit));
    for (;;) {
      const auto row = ready.step();
      if (!row) return row.error();
      if (!*row) return {};
      candidates.emplace_back(-ready.integer(0), ready.integer(1), ready.integer(2));
    }
  };
  if (selector.tags.empty()) {
    if (auto done = serve_any_tag(selector.queue); !done) return done.error();
    if (auto done = gather(""); !done) return done.error();
  }
  for (const std::string& tag : selector.tags) {
    if (auto done = gather(tag); !done) return done.error();
  }
  std::sort(candidates.begin(), candidates.end());
  // An event with several of the tags was found once per tag.
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  candidates.resize(std::min(candidates.size(), limit));

  std::vector<Stored> claimed;
  std::size_t bytes = 0;
  for (const auto& candidate : candidates) {
    if (bytes >= kClaimBytes) break;
    const std::int64_t id = std::get<2>(candidate);
    auto stored = load_one(static_cast<EventId>(id), EventFields::all);
    if (!stored) return stored.error();
    if (!*stored || (*stored)->archived) return stray_row("event_ready", id);
    bytes += (*stored)->event.payload.size();
    claimed.push_back(std::move(**stored));
  }
  return claimed;
}

Result<std::optional<TimePoint>> SqliteTransaction::next_due() {
  const auto row = writer_.next_due.reset().step();
  if (!row) return row.error();
  if (!*row) return std::optional<TimePoint>();
  const TimePoint due = time_point(writer_.next_due.integer(0));
  writer_.next_due.reset();
  return std::optional(due);
}

Result<void> SqliteTransaction::write_counts() {
  for (const auto& [key, change] : counts_) {
    if (change == 0) continue;
    const auto done = writer_.change_count.reset()
                          .bind(std::string_view(key.first))
                          .bind(name_of(key.second))
                          .bind(change)
                          .run();
    if (!done) return done.error();
  }
  return {};
}

Result<void> SqliteTransaction::write_last_ids() {
  if (writer_.last_event_id != first_event_id_) {
    const auto done = writer_.write_last_id.reset().bind("event").bind(writer_.last_event_id).run();
    if (!done) return done.error();
  }
  if (writer_.last_log_id != first_log_id_) {
    const auto done = writer_.write_last_id.reset().bind("log").bind(writer_.last_log_id).run();
    if (!done) return done.error();
  }
  return {};
}

Result<void> SqliteTransaction::probe() {
  const auto done = writer_.write_last_id.reset().bind("event").bind(writer_.last_event_id).run();
  if (!done) return done.error();
  return {};
}

Result<void> SqliteTransaction::commit(DiskSync sync) {
  EVENTQ_ASSERT(open_);
  if (auto done = write_counts(); !done) return done;
  if (auto done = write_last_ids(); !done) return done;
  const auto committed = writer_.commit.reset().run();
  if (committed) {
    open_ = false;
    // With synchronous = FULL, SQLite synced in the COMMIT. With NORMAL, a commit that must be durable syncs.
    if (!writer_.later_allowed || sync == DiskSync::later) return {};
    auto synced = writer_.connection.sync_log();
    if (synced) return {};
    return Error{ErrorCode::unknown_outcome,
                 synced.error().message + " Whether the change is on disk is not known.", ""};
  }
  // SQLite detects a full disk before it writes the commit record. After any other device error, the record
  // may or may not be there after a restart.
  Error error = committed.error();
  if (error.code == ErrorCode::unavailable) {
    error.code = ErrorCode::unknown_outcome;
    error.message += " Whether the change is on disk is not known.";
  }
  return error;
}

}  // namespace eventq::sqlite
