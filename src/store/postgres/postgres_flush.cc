// postgres_flush.cc: writes what a PostgresTransaction has buffered. The tables that every batch changes
// share three statements (leave.sql, enter.sql, count.sql). Each other table has its own statements.
#include <algorithm>

#include "generated/postgres_sql.h"
#include "model/names.h"
#include "model/tags.h"
#include "store/postgres/postgres_transaction.h"
#include "store/postgres/rows.h"

namespace eventq::postgres {
namespace {

// Adds no call if there are no rows.
void add_call(std::vector<StatementCall>& calls, std::string_view sql, const RecordArray& records) {
  if (!records.empty()) calls.push_back({sql, params_of(records)});
}

void add_call(std::vector<StatementCall>& calls, std::string_view sql,
              const std::vector<std::int64_t>& numbers) {
  if (!numbers.empty()) calls.push_back({sql, params_of(numbers)});
}

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

// The columns of each row type are in the order of its table; enter.sql inserts them with SELECT *.
void add_body(RecordArray& bodies, const Event& event) {
  const bool own_time = event.timestamp != event.created_at;
  const bool has_rules = event.retry || event.max_attempts;
  bodies.add(number(event.id), event.event_id, event.queue, event.title, join_tags(event.tags),
             event.correlation_id, event.ordering_key, event.supersede_key, event.priority, event.max_retries,
             has_rules ? std::optional(retry_to_text(retry_rules_of(event))) : std::nullopt,
             millis(event.created_at), event.sequence,
             own_time ? std::optional(millis(event.timestamp)) : std::nullopt, event.causation_id,
             event.trace_id, event.pattern, event.version, event.source.type, event.source.id,
             event.source.name, event.attributes, event.description, event.payload);
}

void add_live(RecordArray& live, const Stored& stored, std::int64_t ready) {
  const Event& event = stored.event;
  live.add(number(event.id), event.queue, name_of(event.status), event.attempts, event.retry_count,
           event.unreported, event.worker_id, millis(event.due_at), ready, stored.turn,
           millis(event.picked_at), millis(event.updated_at), event.priority);
}

void add_archived(RecordArray& archived, const Stored& stored) {
  const Event& event = stored.event;
  archived.add(number(event.id), event.queue, name_of(event.status), event.attempts, event.retry_count,
               event.unreported, event.worker_id, millis(event.picked_at), millis(event.updated_at),
               stored.line == Line::head ? 1 : 0,
               event.superseded_by ? std::optional(number(*event.superseded_by)) : std::nullopt,
               event.status == Status::failed ? std::optional(stored.cause) : std::nullopt);
}

void add_guard(RecordArray& guards, EventId id, const Guard& guard) {
  guards.add(number(id), name_of(guard.status), guard.attempts, guard.worker_id);
}

void add_ready(RecordArray& ready, const Event& event, std::int64_t turn) {
  for (const std::string& tag : event.tags) {
    ready.add(event.queue, tag, -std::int64_t{event.priority}, turn, number(event.id));
  }
}

void add_line(RecordArray& lines, const Event& event, Line line) {
  if (line == Line::none) return;
  lines.add(event.queue, event.ordering_key, line == Line::head ? 1 : 0, number(event.id));
}

// Rows of all kinds that a flush writes or deletes.
struct Writes {
  RecordArray bodies{"event_body"};
  RecordArray new_live{"event_queue"}, changed_live{"event_queue"}, new_archived{"event_archive"};
  RecordArray changed_guards{"guard"}, gone_live{"guard"}, gone_archived{"guard"};
  RecordArray new_ready{"event_ready"}, gone_ready{"event_ready"};
  RecordArray new_lines{"event_line"}, gone_lines{"event_line"};
  RecordArray new_superseded{"event_supersede"}, gone_superseded{"event_supersede"};
  RecordArray log{"event_log"}, authors{"event_log_author"}, details{"event_log_detail"};
  RecordArray results{"event_result"};
  std::vector<std::int64_t> removed;
  std::vector<std::int64_t> gone_results;

  // Adds the writes that turn the rows in the database into the state that the transaction has in memory.
  void add(const CachedEvent& cached) {
    const Stored& stored = cached.stored;
    const Event& event = stored.event;
    const std::optional<WrittenRows>& was = cached.written;
    const bool live = !stored.archived;
    const bool keeps_ready_row =
        was && was->ready == kReady && live && stored.ready && was->turn == stored.turn;
    // An event that stays ready with the same turn keeps its rows in event_ready.
    if (was && was->ready == kReady && !keeps_ready_row) add_ready(gone_ready, event, was->turn);
    if (live && stored.ready && !keeps_ready_row) add_ready(new_ready, event, stored.turn);

    const Line line_was = was ? was->line : Line::none;
    if (line_was != stored.line) {
      add_line(gone_lines, event, line_was);
      add_line(new_lines, event, stored.line);
    }
    const bool was_pending = was && was->guard.status == Status::pending;
    const bool pending = event.status == Status::pending;
    if (!event.supersede_key.empty() && was_pending != pending)
      (pending ? new_superseded : gone_superseded).add(event.queue, event.supersede_key, number(event.id));

    // A body never changes, so it is written only with a new event.
    if (!was) add_body(bodies, event);
    if (was && !was->archived && live) {
      add_live(changed_live, stored, ready_code(stored));
      add_guard(changed_guards, event.id, was->guard);
      return;
    }
    if (was) add_guard(was->archived ? gone_archived : gone_live, event.id, was->guard);
    if (was && was->archived) gone_results.push_back(number(event.id));
    if (live) {
      add_live(new_live, stored, ready_code(stored));
    } else {
      add_archived(new_archived, stored);
      if (!event.result.empty()) results.add(number(event.id), event.result);
    }
  }

  void add(const LogEntry& entry) {
    log.add(static_cast<std::int64_t>(entry.log_id), number(entry.id), entry.attempt, entry.worker_id,
            name_of(entry.action), entry.status_code, entry.error_message, entry.execution_time_ms,
            entry.errors.empty() ? std::nullopt : std::optional(errors_to_text(entry.errors)),
            unless_empty(entry.reason), entry.retry_count,
            entry.next_retry_at ? std::optional(millis(*entry.next_retry_at)) : std::nullopt,
            millis(entry.created_at));
    const auto log_id = static_cast<std::int64_t>(entry.log_id);
    if (!entry.by.empty()) authors.add(number(entry.id), log_id, entry.by);
    if (!entry.error_detail.empty()) details.add(number(entry.id), log_id, entry.error_detail);
  }

  void add_removed(const CachedEvent& cached) {
    const EventId id = cached.stored.event.id;
    if (cached.written) add_guard(gone_archived, id, cached.written->guard);
    removed.push_back(number(id));
    gone_results.push_back(number(id));
  }

  // Deletes run before inserts, because a new row may have the key of a deleted one.
  void write(std::vector<StatementCall>& calls) const {
    if (!gone_ready.empty() || !gone_live.empty() || !changed_live.empty()) {
      calls.push_back({sql::leave, params_of(gone_ready, gone_live, changed_live, changed_guards)});
    }
    add_call(calls, sql::delete_line, gone_lines);
    add_call(calls, sql::delete_supersede, gone_superseded);
    add_call(calls, sql::delete_archive, gone_archived);
    add_call(calls, sql::delete_log, removed);
    add_call(calls, sql::delete_results, gone_results);
    add_call(calls, sql::delete_body, removed);
    if (!bodies.empty() || !new_live.empty() || !new_ready.empty() || !log.empty() || !new_archived.empty()) {
      calls.push_back({sql::enter, params_of(bodies, new_live, new_ready, log, new_archived)});
    }
    add_call(calls, sql::append_authors, authors);
    add_call(calls, sql::append_details, details);
    add_call(calls, sql::insert_results, results);
    add_call(calls, sql::insert_line, new_lines);
    add_call(calls, sql::insert_supersede, new_superseded);
  }
};

}  // namespace

void PostgresTransaction::flush(std::vector<StatementCall>& calls) {
  flush_events(calls);
  flush_queues(calls);
}

void PostgresTransaction::flush_events(std::vector<StatementCall>& calls) {
  Writes writes;
  for (const LogEntry& entry : entries_) {
    const auto cached = event_cache_.find(entry.id);
    // The entries of a removed event are deleted with it, so they are not written.
    if (cached == event_cache_.end() || !cached->second.removed) writes.add(entry);
  }
  entries_.clear();
  for (const EventId id : changed_) {
    CachedEvent& cached = event_cache_.at(id);
    if (cached.removed) {
      writes.add_removed(cached);
      continue;
    }
    writes.add(cached);
    // The payload is in the database now, so memory can drop it. A later load reads it again.
    if (!cached.written) {
      cached.stored = state_of(cached);
      cached.whole = false;
    }
    cached.written = written(cached.stored);
    cached.stored.event.result.clear();  // written; a later flush must not write it again
  }
  // Later reads of this transaction see the rows, so the difference to write is empty again.
  changed_.clear();
  writes.write(calls);
}

// The maps are sorted, so all processes lock the rows of counters in the same order. The database fills in
// the slot.
void PostgresTransaction::flush_counts(std::vector<StatementCall>& calls) {
  constexpr std::int64_t kSlot = 0;
  RecordArray counts("event_count");
  for (const auto& [key, n] : counts_) {
    if (n != 0) counts.add(key.first, name_of(key.second), kSlot, n);
  }
  RecordArray totals("queue_total");
  for (const auto& [queue, kept] : totals_) {
    const Totals& change = kept.change;
    totals.add(queue, change.published, change.deduplicated, change.claimed, change.completed, change.failed,
               change.failed_for_good, change.retried, change.abandoned, change.superseded, change.cancelled,
               change.run_ms, change.runs, kept.checkpoint_id, change.removed, kSlot,
               kept.checkpoint_id.empty() ? 0 : millis(now_), millis(now_));
  }
  if (!counts.empty() || !totals.empty()) calls.push_back({sql::count, params_of(counts, totals)});
  totals_.clear();

  RecordArray causes("failure_cause");
  RecordArray fewer("failure_cause");
  for (const auto& [key, n] : causes_) {
    if (n != 0) causes.add(key.first, key.second, kSlot, n);
    if (n < 0) fewer.add(key.first, key.second, kSlot, n);
  }
  add_call(calls, sql::change_cause, causes);
  add_call(calls, sql::drop_causes, fewer);
  counts_.clear();
  causes_.clear();
}

}  // namespace eventq::postgres
