// postgres_flush.cc: the writes that a PostgresTransaction has buffered, as one statement per kind.
#include <algorithm>

#include "generated/postgres_sql.h"
#include "model/names.h"
#include "model/tags.h"
#include "store/postgres/postgres_transaction.h"
#include "store/postgres/rows.h"

namespace eventq::postgres {
namespace {

using Numbers = std::vector<std::int64_t>;
using MaybeNumbers = std::vector<std::optional<std::int64_t>>;
using Texts = std::vector<std::string>;
using MaybeTexts = std::vector<std::optional<std::string>>;

// A call with one array per column, unless they are empty.
template <typename First, typename... Columns>
void add_call(std::vector<Call>& calls, std::string_view sql, const First& first, const Columns&... columns) {
  if (first.empty()) return;
  Params params;
  params.add(std::span(first));
  (params.add(std::span(columns)), ...);
  calls.push_back({sql, std::move(params)});
}

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

struct Bodies {
  Numbers id, priority, max_retries, created_at;
  Texts event_id, queue, title, tags, correlation_id, ordering_key, supersede_key, causation_id, trace_id,
      pattern, version, source_type, source_id, source_name, attributes, payload;
  MaybeTexts retry, description;
  MaybeNumbers sequence, timestamp;

  void add(const Event& event) {
    id.push_back(number(event.id));
    event_id.push_back(event.event_id);
    queue.push_back(event.queue);
    title.push_back(event.title);
    tags.push_back(join_tags(event.tags));
    correlation_id.push_back(event.correlation_id);
    ordering_key.push_back(event.ordering_key);
    supersede_key.push_back(event.supersede_key);
    priority.push_back(event.priority);
    max_retries.push_back(event.max_retries);
    retry.push_back(event.retry ? std::optional(retry_to_text(event.retry)) : std::nullopt);
    created_at.push_back(millis(event.created_at));
    sequence.push_back(event.sequence);
    timestamp.push_back(event.timestamp == event.created_at ? std::nullopt
                                                            : std::optional(millis(event.timestamp)));
    causation_id.push_back(event.causation_id);
    trace_id.push_back(event.trace_id);
    pattern.push_back(event.pattern);
    version.push_back(event.version);
    source_type.push_back(event.source.type);
    source_id.push_back(event.source.id);
    source_name.push_back(event.source.name);
    attributes.push_back(event.attributes);
    description.push_back(event.description);
    payload.push_back(event.payload);
  }

  void write(std::vector<Call>& calls) const {
    add_call(calls, sql::insert_body, id, event_id, queue, title, tags, correlation_id, ordering_key,
             supersede_key, priority, max_retries, retry, created_at, sequence, timestamp, causation_id,
             trace_id, pattern, version, source_type, source_id, source_name, attributes, description,
             payload);
  }
};

// The columns that a live row and an archived one share.
struct States {
  Numbers id, attempts, retry_count, unreported, updated_at, picked_at;
  Texts status, worker_id, queue;

  void add(const Event& event) {
    id.push_back(number(event.id));
    status.emplace_back(name_of(event.status));
    attempts.push_back(event.attempts);
    retry_count.push_back(event.retry_count);
    unreported.push_back(event.unreported);
    worker_id.push_back(event.worker_id);
    updated_at.push_back(millis(event.updated_at));
    picked_at.push_back(millis(event.picked_at));
    queue.push_back(event.queue);
  }
};

struct Guards {
  Numbers id, attempts;
  Texts status, worker_id;

  void add(EventId event, const Guard& guard) {
    id.push_back(number(event));
    status.emplace_back(name_of(guard.status));
    attempts.push_back(guard.attempts);
    worker_id.push_back(guard.worker_id);
  }
  void write(std::vector<Call>& calls, std::string_view sql) const {
    add_call(calls, sql, id, status, attempts, worker_id);
  }
};

struct LiveRows : States {
  Numbers due_at, ready, turn, priority;
  Guards guards;  // of rows that are there already

  void add(const Stored& stored, std::int64_t readiness) {
    States::add(stored.event);
    due_at.push_back(millis(stored.event.due_at));
    ready.push_back(readiness);
    turn.push_back(stored.turn);
    priority.push_back(stored.event.priority);
  }
  void insert(std::vector<Call>& calls) const {
    add_call(calls, sql::insert_live, id, status, attempts, retry_count, unreported, worker_id, due_at, ready,
             updated_at, turn, picked_at, queue, priority);
  }
  void update(std::vector<Call>& calls) const {
    add_call(calls, sql::update_live, id, status, attempts, retry_count, unreported, worker_id, due_at, ready,
             updated_at, turn, picked_at, guards.status, guards.attempts, guards.worker_id);
  }
};

struct ArchivedRows : States {
  Numbers holds_line;
  MaybeNumbers superseded_by;
  MaybeTexts cause;

  void add(const Stored& stored) {
    const Event& event = stored.event;
    States::add(event);
    holds_line.push_back(stored.line == Line::head ? 1 : 0);
    superseded_by.push_back(event.superseded_by ? std::optional(number(*event.superseded_by)) : std::nullopt);
    cause.push_back(event.status == Status::failed ? std::optional(stored.cause) : std::nullopt);
  }
  void insert(std::vector<Call>& calls) const {
    add_call(calls, sql::insert_archive, id, status, attempts, retry_count, unreported, worker_id, updated_at,
             picked_at, queue, holds_line, superseded_by, cause);
  }
};

struct ReadyRows {
  Numbers id, priority, turn;
  Texts queue, tag;

  void add(const Event& event, std::int64_t turn_of_event) {
    for (const std::string& tag_of_event : event.tags) {
      id.push_back(number(event.id));
      queue.push_back(event.queue);
      tag.push_back(tag_of_event);
      priority.push_back(event.priority);
      turn.push_back(turn_of_event);
    }
  }
  void write(std::vector<Call>& calls, std::string_view sql) const {
    add_call(calls, sql, id, queue, tag, priority, turn);
  }
};

struct LineRows {
  Numbers id, head;
  Texts queue, key;

  void add(const Event& event, Line line) {
    if (line == Line::none) return;
    id.push_back(number(event.id));
    queue.push_back(event.queue);
    key.push_back(event.ordering_key);
    head.push_back(line == Line::head ? 1 : 0);
  }
  void write(std::vector<Call>& calls, std::string_view sql) const {
    add_call(calls, sql, id, queue, key, head);
  }
};

struct SupersedeRows {
  Numbers id;
  Texts queue, key;

  void add(const Event& event) {
    id.push_back(number(event.id));
    queue.push_back(event.queue);
    key.push_back(event.supersede_key);
  }
  void write(std::vector<Call>& calls, std::string_view sql) const { add_call(calls, sql, id, queue, key); }
};

// Rows of all kinds that a flush writes or deletes.
struct Writes {
  Bodies bodies;
  LiveRows new_live, changed_live;
  ArchivedRows new_archived;
  Guards gone_live, gone_archived;
  Numbers removed;
  ReadyRows new_ready, gone_ready;
  LineRows new_lines, gone_lines;
  SupersedeRows new_superseded, gone_superseded;

  // What leads from the rows as they are to the event as the transaction left it.
  void add(const Known& known) {
    const Stored& stored = known.stored;
    const Event& event = stored.event;
    const std::optional<Written>& was = known.written;
    const bool live = !stored.archived;
    const bool same_place = was && was->ready == kReady && live && stored.ready && was->turn == stored.turn;
    if (was && was->ready == kReady && !same_place) gone_ready.add(event, was->turn);
    if (live && stored.ready && !same_place) new_ready.add(event, stored.turn);

    const Line line_was = was ? was->line : Line::none;
    if (line_was != stored.line) {
      gone_lines.add(event, line_was);
      new_lines.add(event, stored.line);
    }
    const bool was_pending = was && was->guard.status == Status::pending;
    const bool pending = event.status == Status::pending;
    if (!event.supersede_key.empty() && was_pending != pending)
      (pending ? new_superseded : gone_superseded).add(event);

    if (!was) bodies.add(event);
    if (was && !was->archived && live) {
      changed_live.add(stored, ready_code(stored));
      changed_live.guards.add(event.id, was->guard);
      return;
    }
    if (was) (was->archived ? gone_archived : gone_live).add(event.id, was->guard);
    if (live) {
      new_live.add(stored, ready_code(stored));
    } else {
      new_archived.add(stored);
    }
  }

  void add_removed(const Known& known) {
    const EventId id = known.stored.event.id;
    if (known.written) gone_archived.add(id, known.written->guard);
    removed.push_back(number(id));
  }

  // What goes makes room for what comes.
  void write(std::vector<Call>& calls) const {
    gone_ready.write(calls, sql::delete_ready);
    gone_lines.write(calls, sql::delete_line);
    gone_superseded.write(calls, sql::delete_supersede);
    gone_live.write(calls, sql::delete_live);
    gone_archived.write(calls, sql::delete_archive);
    add_call(calls, sql::delete_log, removed);
    add_call(calls, sql::delete_body, removed);
    bodies.write(calls);
    new_live.insert(calls);
    changed_live.update(calls);
    new_archived.insert(calls);
    new_ready.write(calls, sql::insert_ready);
    new_lines.write(calls, sql::insert_line);
    new_superseded.write(calls, sql::insert_supersede);
  }
};

}  // namespace

void PostgresTransaction::flush(std::vector<Call>& calls) {
  flush_log(calls);
  flush_events(calls);
  flush_queues(calls);
}

void PostgresTransaction::flush_events(std::vector<Call>& calls) {
  Writes writes;
  for (const EventId id : changed_) {
    Known& known = known_.at(id);
    if (known.removed) {
      writes.add_removed(known);
      continue;
    }
    writes.add(known);
    // The payload is in the database now; whoever wants it again reads it.
    if (!known.written) {
      known.stored = head_of(known);
      known.whole = false;
    }
    known.written = written(known.stored);
  }
  changed_.clear();
  writes.write(calls);
}

void PostgresTransaction::flush_log(std::vector<Call>& calls) {
  Numbers id, event_id, attempt, retry_count, created_at;
  Texts worker_id, action;
  MaybeNumbers status_code, execution_time_ms, next_retry_at;
  MaybeTexts error_message, errors, reason;
  for (const LogEntry& entry : entries_) {
    id.push_back(static_cast<std::int64_t>(entry.id));
    event_id.push_back(number(entry.event_id));
    attempt.push_back(entry.attempt);
    worker_id.push_back(entry.worker_id);
    action.emplace_back(name_of(entry.action));
    status_code.push_back(entry.status_code);
    error_message.push_back(entry.error_message);
    execution_time_ms.push_back(entry.execution_time_ms);
    errors.push_back(entry.errors.empty() ? std::nullopt : std::optional(errors_to_text(entry.errors)));
    reason.push_back(unless_empty(entry.reason));
    retry_count.push_back(entry.retry_count);
    next_retry_at.push_back(entry.next_retry_at ? std::optional(millis(*entry.next_retry_at)) : std::nullopt);
    created_at.push_back(millis(entry.created_at));
  }
  entries_.clear();
  add_call(calls, sql::append_entry, id, event_id, attempt, worker_id, action, status_code, error_message,
           execution_time_ms, errors, reason, retry_count, next_retry_at, created_at);
}

// In the order of the maps, which is the same in every process.
void PostgresTransaction::flush_counts(std::vector<Call>& calls) {
  Texts queue, status;
  Numbers change;
  for (const auto& [key, n] : counts_) {
    if (n == 0) continue;
    queue.push_back(key.first);
    status.emplace_back(name_of(key.second));
    change.push_back(n);
  }
  add_call(calls, sql::change_count, queue, status, change);

  Texts cause_queue, cause, fewer_queue, fewer;
  Numbers cause_change;
  for (const auto& [key, n] : causes_) {
    if (n == 0) continue;
    cause_queue.push_back(key.first);
    cause.push_back(key.second);
    cause_change.push_back(n);
    if (n > 0) continue;
    fewer_queue.push_back(key.first);
    fewer.push_back(key.second);
  }
  add_call(calls, sql::change_cause, cause_queue, cause, cause_change);
  add_call(calls, sql::drop_causes, fewer_queue, fewer);
  counts_.clear();
  causes_.clear();
}

}  // namespace eventq::postgres
