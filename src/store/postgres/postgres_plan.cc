// postgres_plan.cc: what a PostgresTransaction locks and reads of events, lines and supersede keys.
#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "generated/postgres_sql.h"
#include "store/postgres/postgres_transaction.h"
#include "store/postgres/rows.h"

namespace eventq::postgres {
namespace {

// The most names that one transaction locks. All connections share the database's lock table, which has 64
// entries for each of 100 connections by default.
constexpr std::size_t kNamesMax = 1000;
constexpr std::size_t kChangesMax = 5000;
// The most existing events that a plan reads ahead for publishers of duplicates.
constexpr std::size_t kExistingMax = 100;
// Log numbers drawn ahead for claims, which may find fewer events than they want. A claim that finds more
// draws again.
constexpr std::size_t kEntriesDrawn = 64;

std::vector<std::int64_t> numbers_of(const std::vector<EventId>& ids) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(ids.size());
  for (const EventId id : ids) numbers.push_back(number(id));
  return numbers;
}

std::pair<std::vector<std::string>, std::vector<std::string>> columns_of(
    const std::vector<TransactionPlan::QueueKey>& keyed) {
  std::pair<std::vector<std::string>, std::vector<std::string>> columns;
  for (const auto& [queue, key] : keyed) {
    columns.first.push_back(queue);
    columns.second.push_back(key);
  }
  return columns;
}

std::vector<std::string> names_in(const TransactionPlan& plan) {
  std::vector<std::string> names;
  for (const auto& [queue, key] : plan.lines) names.push_back(line_name(queue, key));
  for (const auto& [queue, key] : plan.superseded) names.push_back(supersede_name(queue, key));
  for (const std::string& id : plan.correlations) names.push_back(correlation_name(id));
  for (const std::string& id : plan.event_ids) names.push_back(event_id_name(id));
  for (const std::string& key : plan.keys) names.push_back(key_name(key));
  for (const std::string& queue : plan.limited) names.push_back(limit_name(queue));
  return names;
}

// The names that lock_names.sql finds in the body of this event.
std::vector<std::string> names_in(const Event& event) {
  std::vector<std::string> names;
  if (!event.ordering_key.empty()) names.push_back(line_name(event.queue, event.ordering_key));
  if (!event.supersede_key.empty()) names.push_back(supersede_name(event.queue, event.supersede_key));
  if (!event.correlation_id.empty()) names.push_back(correlation_name(event.correlation_id));
  return names;
}

StatementCall lock_call(const std::vector<std::string>& names, const std::vector<EventId>& events,
                        const std::vector<TransactionPlan::QueueKey>& superseded) {
  const auto [queues, keys] = columns_of(superseded);
  return {sql::lock_names, params_of(names, numbers_of(events), queues, keys)};
}

StatementCall load_live_call(const std::vector<EventId>& events,
                             const std::vector<TransactionPlan::QueueKey>& superseded) {
  const auto [queues, keys] = columns_of(superseded);
  return {sql::load_live, params_of(numbers_of(events), queues, keys)};
}

StatementCall lines_call(const std::vector<TransactionPlan::QueueKey>& lines,
                         const std::vector<EventId>& events) {
  const auto [queues, keys] = columns_of(lines);
  return {sql::first_in_line, params_of(queues, keys, numbers_of(events))};
}

StatementCall with_ids(std::string_view sql, const std::vector<EventId>& events) {
  return {sql, params_of(numbers_of(events))};
}

}  // namespace

std::string line_name(std::string_view queue, std::string_view key) {
  return "line:" + std::string(queue) + ":" + std::string(key);
}
std::string supersede_name(std::string_view queue, std::string_view key) {
  return "supersede:" + std::string(queue) + ":" + std::string(key);
}
std::string correlation_name(std::string_view id) { return "correlation:" + std::string(id); }
std::string event_id_name(std::string_view event_id) { return "event_id:" + std::string(event_id); }
std::string key_name(std::string_view idempotency_key) { return "key:" + std::string(idempotency_key); }
std::string limit_name(std::string_view queue) { return "limit:" + std::string(queue); }

// A transaction that holds the gate alone needs no name locks.
void PostgresTransaction::lock(std::vector<StatementCall>& calls, std::vector<std::string> names) {
  if (alone_) return;
  std::erase_if(names, [&](const std::string& name) { return !locked_.insert(name).second; });
  if (names.empty()) return;
  event_numbers_.clear();  // ids of a line must be drawn after its lock
  calls.push_back(lock_call(names, {}, {}));
}

StatementCall PostgresTransaction::draw_call(std::size_t events, std::size_t entries) {
  return {sql::draw_numbers, params_of(events, entries)};
}

void PostgresTransaction::redraw_log_numbers(std::vector<StatementCall>& calls, std::size_t more) {
  calls.push_back(draw_call(0, log_numbers_.size() + std::min(more, kEntriesDrawn)));
  log_numbers_.clear();
}

// Many events may name more than the shared lock table holds. Counts the names only if the plan may exceed
// kNamesMax.
Result<bool> PostgresTransaction::needs_to_be_alone(const TransactionPlan& plan, std::size_t names) {
  constexpr std::size_t kNamesEach = 3;
  if (plan.alone || names > kNamesMax || plan.changes.size() > kChangesMax) return true;
  if (names + kNamesEach * plan.changes.size() <= kNamesMax) return false;
  const auto rows = run(calls_of(with_ids(sql::count_names, plan.changes)));
  if (!rows) return rows.error();
  return names + static_cast<std::size_t>(rows->front().number(0, 0)) > kNamesMax;
}

// Takes one round trip. A second plan takes another one, and so do existing events that are published again.
//
// Most batches lock no names and change only live events whose bodies name nothing. This plain form is tried
// first, because it needs neither lock_names.sql nor load_archived.sql. It includes the claims, because no
// lock is waited for after them. If an event is not plain, the transaction restarts with the full form.
Result<void> PostgresTransaction::plan(const TransactionPlan& plan) {
  if (std::exchange(planned_, true)) begin_anew(gate_);
  std::vector<std::string> names = names_in(plan);
  auto alone = needs_to_be_alone(plan, names.size());
  if (!alone) return alone.error();
  if (*alone) {
    // Restarts, because two transactions that hold the gate shared and want it alone would wait for each
    // other for ever.
    begin_anew(sql::gate_alone);
    alone_ = true;
  }
  // Ids that an earlier plan drew are used, except for lines and supersede keys: there ids must ascend in the
  // order in which the names were locked.
  if (!plan.lines.empty() || !plan.superseded.empty()) event_numbers_.clear();
  const bool plain =
      !alone_ && names.empty() && !plan.changes.empty() && !plan.ended && steady_now() >= session_.plain_from;
  auto fetched = fetch_planned(plan, names, plain);
  if (fetched && !*fetched) {
    session_.plain_from = steady_now() + StoreSession::kPlainPause;
    begin_anew(gate_);
    fetched = fetch_planned(plan, names, false);
  }
  if (!fetched) return fetched.error();
  for (std::string& name : names) locked_.insert(std::move(name));
  return read_existing(plan);
}

// Returns false if `plain` is set, but an event of plan.changes is not live or names something.
Result<bool> PostgresTransaction::fetch_planned(const TransactionPlan& plan,
                                                const std::vector<std::string>& names, bool plain) {
  Reads reads;
  if (plain) {
    reads.add(with_ids(sql::load_plain, plan.changes),
              [&](const Rows& rows) { return take_rows(rows, EventFields::state, true); });
  } else {
    plan_loads(plan, names, reads);
  }
  for (const auto& [selector, events] : plan.claims) {
    pools_[{selector.queue, selector.tags}].planned = events;
  }
  std::size_t entries = plan.changes.size();
  // Never wait for a key lock while holding claimed rows: that can deadlock.
  if ((plain || plan.changes.empty()) && !plan.due)
    entries += std::min(plan_claims(plan, reads), kEntriesDrawn);
  const std::size_t inserts = plan.inserts - std::min(plan.inserts, event_numbers_.size());
  if (inserts + entries > 0) {
    reads.add(draw_call(inserts, entries), [this, inserts](const Rows& rows) {
      take_numbers(rows, inserts);
      return Result<void>();
    });
  }
  plan_queues(plan, plain, reads.calls);
  if (reads.calls.empty() && begun_) return true;
  auto rows = run(std::move(reads.calls));
  if (!rows) return rows.error();
  if (plain && rows->front().size() < plan.changes.size()) {
    // Sequences do not roll back, so the ids that were drawn are still valid after the restart.
    take_numbers((*rows)[reads.takes.size() - 1], inserts);
    return false;
  }
  for (std::size_t i = 0; i < reads.takes.size(); ++i) {
    if (auto done = reads.takes[i]((*rows)[i]); !done) return done.error();
  }
  auto done = planned_queues(plan, plain, std::span<const Rows>(*rows).subspan(reads.takes.size()));
  if (!done) return done.error();
  return true;
}

// Adds the reads of the full form. They come after the locks on all names, so that no other transaction
// changes what they read.
void PostgresTransaction::plan_loads(const TransactionPlan& plan, const std::vector<std::string>& names,
                                     Reads& reads) {
  const bool keyed = !plan.changes.empty() || !plan.superseded.empty();
  if (!alone_ && (keyed || !names.empty())) {
    reads.add(lock_call(names, plan.changes, plan.superseded), [](const Rows&) { return Result<void>(); });
  }
  if (!plan.event_ids.empty()) {
    reads.add({sql::find_event, params_of(plan.event_ids)},
              [&](const Rows& rows) { return take_event_ids(plan, rows); });
  }
  if (keyed) {
    reads.add(load_live_call(plan.changes, plan.superseded), [&](const Rows& rows) {
      for (const QueueKey& key : plan.superseded) superseded_.try_emplace(key);
      return take_rows(rows, EventFields::state, true);
    });
  }
  if (!plan.changes.empty()) {
    reads.add(with_ids(sql::load_archived, plan.changes),
              [&](const Rows& rows) { return take_rows(rows, EventFields::state, true); });
  }
  if (!plan.changes.empty() || !plan.lines.empty()) {
    reads.add(lines_call(plan.lines, plan.changes),
              [&](const Rows& rows) { return take_planned_lines(plan, rows); });
  }
}

Result<void> PostgresTransaction::take_event_ids(const TransactionPlan& plan, const Rows& rows) {
  for (const std::string& event_id : plan.event_ids) event_ids_.try_emplace(event_id);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    event_ids_[std::string(rows.text(row, 0))] = static_cast<EventId>(rows.number(row, 1));
  }
  return {};
}

Result<void> PostgresTransaction::take_planned_lines(const TransactionPlan& plan, const Rows& rows) {
  for (const QueueKey& line : plan.lines) lines_.try_emplace(line);
  for (const EventId id : plan.changes) {
    const auto found = event_cache_.find(id);
    if (found == event_cache_.end()) continue;
    const Event& event = found->second.stored.event;
    for (std::string& name : names_in(event)) locked_.insert(std::move(name));
    if (!event.ordering_key.empty()) lines_.try_emplace({event.queue, event.ordering_key});
  }
  return take_lines(rows);
}

// Reads the existing events that publishers of duplicates will be answered with.
Result<void> PostgresTransaction::read_existing(const TransactionPlan& plan) {
  std::vector<EventId> ids;
  for (const std::string& event_id : plan.event_ids) {
    if (const auto id = event_ids_.at(event_id)) ids.push_back(*id);
  }
  for (const std::string& key : plan.keys) {
    const auto found = keys_.find(key);
    if (found == keys_.end() || !found->second) continue;
    const std::vector<EventId>& events = found->second->events;
    ids.insert(ids.end(), events.begin(), events.end());
  }
  ids.resize(std::min(ids.size(), kExistingMax));
  return ids.empty() ? Result<void>() : read_whole(ids);
}

// An event that moves between the two tables at this moment can be missed by one read, but not by two.
Result<void> PostgresTransaction::lock_and_load(std::vector<EventId> ids) {
  for (int reads = 0; reads < 2 && !ids.empty(); ++reads) {
    std::vector<StatementCall> calls;
    if (!alone_) calls.push_back(lock_call({}, ids, {}));
    calls.push_back(load_live_call(ids, {}));
    calls.push_back(with_ids(sql::load_archived, ids));
    redraw_log_numbers(calls);
    event_numbers_.clear();
    auto rows = run(std::move(calls));
    if (!rows) return rows.error();
    const std::span<const Rows> last = std::span<const Rows>(*rows).last(3);
    for (const Rows& loaded : last.first(2)) {
      if (auto done = take_rows(loaded, EventFields::state, true); !done) return done;
    }
    take_numbers(last.back(), 0);
    std::erase_if(ids, [&](EventId id) {
      const auto found = event_cache_.find(id);
      if (found == event_cache_.end()) return false;
      for (std::string& name : names_in(found->second.stored.event)) locked_.insert(std::move(name));
      return found->second.locked;
    });
  }
  return {};
}

Result<void> PostgresTransaction::read_whole(const std::vector<EventId>& ids) {
  auto calls = calls_of(with_ids(sql::load_whole, ids));
  const bool changed = std::any_of(ids.begin(), ids.end(), [&](EventId id) { return changed_.contains(id); });
  auto rows = changed ? flush_and_run(std::move(calls)) : run(std::move(calls));
  if (!rows) return rows.error();
  return take_rows(rows->front(), EventFields::all, alone_);
}

Result<void> PostgresTransaction::take_rows(const Rows& rows, EventFields fields, bool locked) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    auto stored = read_event(rows, row, fields);
    if (!stored) return stored.error();
    cache_event(std::move(*stored), fields, locked);
  }
  return {};
}

// A locked event may have changes that are not written yet, so the row does not replace it.
CachedEvent& PostgresTransaction::cache_event(Stored stored, EventFields fields, bool locked) {
  const bool whole = fields == EventFields::all;
  const EventId id = stored.event.id;
  CachedEvent& cached = event_cache_[id];
  if (!cached.locked) {
    cached.written = written(stored);
    cached.stored = std::move(stored);
    cached.whole = whole;
    cached.locked = locked || alone_;
    if (locked) note_pending(cached.stored.event, cached.stored.event.status == Status::pending);
    return cached;
  }
  if (!whole || cached.whole) return cached;
  move_envelope(std::move(stored.event), cached.stored.event);
  cached.whole = true;
  return cached;
}

Result<void> PostgresTransaction::take_lines(const Rows& rows) {
  constexpr int kHeadColumn = EventColumn::event_id + 1;  // first_in_line.sql
  for (std::size_t row = 0; row < rows.size(); ++row) {
    auto stored = read_event(rows, row, EventFields::state);
    if (!stored) return stored.error();
    const Event& event = stored->event;
    CachedLine& line = lines_[{event.queue, event.ordering_key}];
    (rows.number(row, kHeadColumn) == 1 ? line.head : line.first_behind) = event.id;
    cache_event(std::move(*stored), EventFields::state, false);
  }
  return {};
}

Result<void> PostgresTransaction::load_line(const QueueKey& key) {
  const auto found = lines_.find(key);
  if (found != lines_.end() && found->second.first_behind_loaded) return {};
  std::vector<StatementCall> calls;
  lock(calls, {line_name(key.first, key.second)});
  calls.push_back(lines_call({key}, {}));
  auto rows = flush_and_run(std::move(calls));
  if (!rows) return rows.error();
  lines_.insert_or_assign(key, CachedLine());
  return take_lines(rows->back());
}

Result<std::optional<Stored>> PostgresTransaction::cached_state(std::optional<EventId> id) {
  if (!id) return std::optional<Stored>();
  return std::optional(state_of(event_cache_.at(*id)));
}

Result<std::optional<Stored>> PostgresTransaction::head_of_line(std::string_view queue,
                                                                std::string_view key) {
  const QueueKey line{queue, key};
  if (!lines_.contains(line)) {
    if (auto done = load_line(line); !done) return done.error();
  }
  return cached_state(lines_.at(line).head);
}

Result<std::optional<Stored>> PostgresTransaction::first_behind(std::string_view queue,
                                                                std::string_view key) {
  const QueueKey line{queue, key};
  if (auto done = load_line(line); !done) return done.error();
  return cached_state(lines_.at(line).first_behind);
}

Result<std::vector<EventId>> PostgresTransaction::with_supersede_key(std::string_view queue,
                                                                     std::string_view key) {
  const QueueKey keyed{queue, key};
  auto found = superseded_.find(keyed);
  if (found == superseded_.end()) {
    std::vector<StatementCall> calls;
    lock(calls, {supersede_name(queue, key)});
    calls.push_back(load_live_call({}, {keyed}));
    redraw_log_numbers(calls);
    auto rows = flush_and_run(std::move(calls));
    if (!rows) return rows.error();
    found = superseded_.try_emplace(keyed).first;
    const Rows& loaded = *(rows->end() - 2);
    if (auto done = take_rows(loaded, EventFields::state, true); !done) return done.error();
    for (std::size_t row = 0; row < loaded.size(); ++row) {
      const Stored& stored =
          event_cache_.at(static_cast<EventId>(loaded.number(row, EventColumn::id))).stored;
      note_pending(stored.event, stored.event.status == Status::pending);
    }
    take_numbers(rows->back(), 0);
  }
  return std::vector<EventId>(found->second.begin(), found->second.end());
}

}  // namespace eventq::postgres
