// postgres_list.cc: the lists of a PostgresReader. Each filter uses the index that fits it best. Lists by
// worker have no index: they read all events or entries, for a limited time.
#include <algorithm>
#include <iterator>
#include <utility>

#include "eventq/limits.h"
#include "generated/postgres_sql.h"
#include "model/lifecycle.h"
#include "model/names.h"
#include "store/postgres/postgres_reader.h"
#include "store/postgres/rows.h"

namespace eventq::postgres {
namespace {

// The most events that one statement reads, so that no snapshot is held for long.
constexpr std::size_t kRowsPerSnapshot = 5000;

// Ended events other than completed ones are rare, so they have an index of their own.
StatementCall list_call(const ListFilter& filter, EventId after, std::size_t rows) {
  const std::int64_t first = number(after);
  if (filter.event_id) return {sql::list_event_id, params_of(first, rows, *filter.event_id)};
  if (filter.correlation_id) return {sql::list_correlation, params_of(first, rows, *filter.correlation_id)};
  if (!filter.status) return {sql::list_all, params_of(first, rows)};
  if (!has_ended(*filter.status)) {
    if (filter.queue) return {sql::list_queue, params_of(first, rows, *filter.queue)};
    return {sql::list_live, params_of(first, rows)};
  }
  if (*filter.status == Status::completed) return {sql::list_archived, params_of(first, rows)};
  return {sql::list_rare, params_of(first, rows, name_of(*filter.status))};
}

StatementCall count_call(const ListFilter& filter) {
  std::optional<std::string_view> status;
  if (filter.status) status = name_of(*filter.status);
  if (!filter.queue) return {sql::read_count_all, params_of(status)};
  return {sql::read_count, params_of(*filter.queue, status)};
}

}  // namespace

Result<PostgresReader::Walked> PostgresReader::walk(const ListFilter& filter, std::size_t first_rows,
                                                    std::vector<StatementCall> beside,
                                                    const std::function<bool(Event&&)>& take) {
  const TimePoint end = clock_.now() + limits::kScan;
  std::size_t limit = std::clamp<std::size_t>(first_rows, 1, kRowsPerSnapshot);
  beside.push_back(list_call(filter, filter.after, limit));
  auto all = at_one_moment(std::move(beside));
  if (!all) return all.error();
  Rows rows = std::move(all->back());
  all->pop_back();
  for (;;) {
    const auto wants_more = take_matches(rows, filter, take);
    if (!wants_more) return wants_more.error();
    if (!*wants_more || rows.size() < limit) return Walked{std::move(*all), std::nullopt};
    const EventId last{rows.number(rows.size() - 1, EventColumn::id)};
    if (filter.worker_id && clock_.now() >= end) return Walked{std::move(*all), last};
    // The first statement read what a page usually needs. Few rows matched, so the next ones read more.
    limit = kRowsPerSnapshot;
    StatementCall next = list_call(filter, last, limit);
    auto more = run_one(next.sql, std::move(next.params));
    if (!more) return more.error();
    rows = std::move(*more);
  }
}

Result<bool> PostgresReader::take_matches(const Rows& rows, const ListFilter& filter,
                                          const std::function<bool(Event&&)>& take) {
  std::vector<Event> by_worker;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    auto stored = read_event(rows, row, Transaction::EventFields::all);
    if (!stored) return stored.error();
    if (!matches(stored->event, filter)) continue;
    if (filter.worker_id) {
      by_worker.push_back(std::move(stored->event));
    } else if (!take(std::move(stored->event))) {
      return false;
    }
  }
  if (by_worker.empty()) return true;
  const auto picked = picked_of(by_worker, *filter.worker_id);
  if (!picked) return picked.error();
  for (Event& event : by_worker) {
    if (picked->contains(event.id) && !take(std::move(event))) return false;
  }
  return true;
}

Result<std::set<EventId>> PostgresReader::picked_of(const std::vector<Event>& events,
                                                    const std::string& worker_id) {
  std::set<EventId> picked;
  std::vector<std::int64_t> see_log;
  for (const Event& event : events) {
    const PickedBy answer = picked_by(event, worker_id);
    if (answer == PickedBy::yes) picked.insert(event.id);
    if (answer == PickedBy::see_log) see_log.push_back(number(event.id));
  }
  if (see_log.empty()) return picked;
  const auto rows = run_one(sql::picked_by, params_of(see_log, worker_id));
  if (!rows) return rows.error();
  for (std::size_t row = 0; row < rows->size(); ++row) picked.insert(EventId{rows->number(row, 0)});
  return picked;
}

Result<void> PostgresReader::read_last_errors(const std::vector<Event>& events, LastErrors& errors) {
  std::vector<std::int64_t> ids;
  for (const Event& event : events) {
    if (may_have_failed(event)) ids.push_back(number(event.id));
  }
  if (ids.empty()) return {};
  const auto rows = run_one(sql::last_errors, params_of(ids));
  if (!rows) return rows.error();
  for (std::size_t row = 0; row < rows->size(); ++row) {
    errors.emplace(EventId{rows->number(row, 0)}, rows->text(row, 1));
  }
  return {};
}

Result<EventPage> PostgresReader::list(const ListFilter& filter) {
  PageBuilder page(filter);
  const bool stored_count = page.has_stored_count();
  std::vector<StatementCall> beside;
  if (stored_count) beside.push_back(count_call(filter));
  // With a stored count, the walk ends with the page, so it needs no more rows than the page.
  const std::size_t first_rows =
      stored_count ? static_cast<std::size_t>(filter.offset) + filter.limit : kRowsPerSnapshot;
  const auto walked = walk(page.walked(), first_rows, std::move(beside),
                           [&](Event&& event) { return page.take(std::move(event)); });
  if (!walked) return walked.error();
  if (walked->stopped) page.stop(*walked->stopped);
  EventPage listed =
      page.finish(stored_count ? std::optional(walked->beside.at(0).number(0, 0)) : std::nullopt);
  if (const auto read = read_last_errors(listed.events, listed.last_errors); !read) return read.error();
  return listed;
}

Result<std::optional<Correlation>> PostgresReader::correlation(const std::string& id, EventId after,
                                                               std::size_t limit) {
  Correlation found{.id = id, .total = 0, .pending = 0, .completed = 0, .failed = 0, .events = {}};
  ListFilter filter;
  filter.correlation_id = id;
  filter.after = after;
  StatementCall find{sql::find_correlations, params_of(std::vector{id}, std::vector<std::int64_t>())};
  auto walked = walk(filter, limit, calls_of(std::move(find)), [&](Event&& event) {
    if (found.events.size() < limit) found.events.push_back(std::move(event));
    return found.events.size() < limit;
  });
  if (!walked) return walked.error();
  const Rows& rows = walked->beside.at(0);
  if (rows.empty()) return std::optional<Correlation>();
  found.total = rows.number(0, 1);
  found.pending = rows.number(0, 2);
  found.completed = rows.number(0, 3);
  found.failed = rows.number(0, 4);
  if (const auto read = read_last_errors(found.events, found.last_errors); !read) return read.error();
  return std::optional(std::move(found));
}

Result<WorkerLogPage> PostgresReader::worker_log(const WorkerLogFilter& filter) {
  WorkerLogPage page;
  const TimePoint end = clock_.now() + limits::kScan;
  LogCursor last = filter.before.value_or(kLogEnd);
  for (;;) {
    const std::int64_t event = number(last.event);
    const auto entry = static_cast<std::int64_t>(last.entry);
    const std::size_t wanted = filter.limit - page.entries.size();
    auto rows =
        at_one_moment({{sql::worker_log, params_of(event, entry, kRowsPerSnapshot, filter.worker_id, wanted)},
                       {sql::worker_log_end, params_of(event, entry, kRowsPerSnapshot)}});
    if (!rows) return rows.error();
    auto found = all_rows(rows->at(0), read_entry_row<RowView>);
    if (!found) return found.error();
    page.entries.insert(page.entries.end(), std::make_move_iterator(found->begin()),
                        std::make_move_iterator(found->end()));
    if (page.entries.size() == filter.limit) {
      page.next = LogCursor{page.entries.back().id, page.entries.back().log_id};
      return page;
    }
    const Rows& read_to = rows->at(1);
    if (read_to.empty()) return page;
    last = {EventId{read_to.number(0, 0)}, LogId{read_to.number(0, 1)}};
    if (clock_.now() < end) continue;
    page.next = last;
    page.complete = false;
    return page;
  }
}

}  // namespace eventq::postgres
