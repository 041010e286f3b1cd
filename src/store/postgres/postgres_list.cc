// postgres_list.cc: the lists of a PostgresReader. Each filter uses the index that fits it best. Lists by
// worker have no index: they read all events or entries, for a limited time.
#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "eventq/limits.h"
#include "generated/postgres_sql.h"
#include "model/lifecycle.h"
#include "model/names.h"
#include "model/page.h"
#include "store/postgres/postgres_reader.h"
#include "store/postgres/rows.h"

namespace eventq::postgres {
namespace {

// The most events that one statement reads, so that no snapshot is held for long.
constexpr std::size_t kRowsPerSnapshot = 5000;

// The events whose results, or logs, one statement reads. A result has 64 KiB at most. A log may have 1000
// failures with a detail of 64 KiB each, so one statement reads few of them.
constexpr std::size_t kResultsPerStatement = 100;
constexpr std::size_t kLogsPerStatement = 10;

// Ended events other than completed ones are rare, so they have an index of their own.
StatementCall list_call(const ListFilter& filter, const IdRange& range, std::size_t rows) {
  const auto in_range = [&](std::string_view ascending, std::string_view descending, const auto&... key) {
    return StatementCall{filter.order == ListOrder::ascending ? ascending : descending,
                         params_of(number(range.after), number(range.before), rows, key...)};
  };
  if (filter.event_id) return in_range(sql::list_event_id, sql::list_event_id, *filter.event_id);
  if (filter.correlation_id) {
    return in_range(sql::list_correlation, sql::list_correlation_down, *filter.correlation_id);
  }
  if (!filter.status) return in_range(sql::list_all, sql::list_all_down);
  if (!has_ended(*filter.status)) {
    return filter.queue ? in_range(sql::list_queue, sql::list_queue_down, *filter.queue)
                        : in_range(sql::list_live, sql::list_live_down);
  }
  if (*filter.status == Status::completed) return in_range(sql::list_archived, sql::list_archived_down);
  return in_range(sql::list_rare, sql::list_rare_down, name_of(*filter.status));
}

StatementCall count_call(const ListFilter& filter) {
  std::optional<std::string_view> status;
  if (filter.status) status = name_of(*filter.status);
  if (!filter.queue) return {sql::read_count_all, params_of(status)};
  return {sql::read_count, params_of(*filter.queue, status)};
}

}  // namespace

Result<IdRange> PostgresReader::walked_range(const ListFilter& filter) {
  IdRange range = range_of(filter);
  if (!is_list_by_time(filter)) return range;
  // The smallest and the largest time, which a filter without a bound has, find the ends of all ids.
  const std::int64_t since = filter.since ? millis(with_disorder_before(*filter.since)) : 0;
  const std::int64_t until =
      filter.until ? millis(with_disorder_after(*filter.until)) : std::numeric_limits<std::int64_t>::max();
  const auto rows = run({{sql::created_around, params_of(since, limits::kEventId + 1)},
                         {sql::created_around, params_of(until, limits::kEventId + 1)}});
  if (!rows) return rows.error();
  range.narrow({EventId{rows->at(0).number(0, 0)}, EventId{rows->at(1).number(0, 1)}});
  return range;
}

Result<std::optional<EventId>> PostgresReader::walk(const ListFilter& filter, std::size_t first_rows,
                                                    Beside beside, const std::function<bool(Event&&)>& take) {
  auto range = walked_range(filter);
  if (!range) return range.error();
  const TimePoint end = clock_.now() + limits::kScan;
  std::size_t limit = std::clamp<std::size_t>(first_rows, 1, kRowsPerSnapshot);
  beside.calls.push_back(list_call(filter, *range, limit));
  auto all = at_one_moment(std::move(beside.calls));
  if (!all) return all.error();
  Rows rows = std::move(all->back());
  if (all->size() > 1) beside.take(all->front());
  for (;;) {
    const auto wants_more = take_matches(rows, filter, take);
    if (!wants_more) return wants_more.error();
    if (!*wants_more || rows.size() < limit) return std::optional<EventId>();
    const EventId last{rows.number(rows.size() - 1, EventColumn::id)};
    if (filter.scans() && clock_.now() >= end) return std::optional(last);
    // The first statement read what a page usually needs. Few rows matched, so the next ones read more.
    limit = kRowsPerSnapshot;
    range->skip(filter.order, last);
    StatementCall next = list_call(filter, *range, limit);
    auto more = run_one(next.sql, std::move(next.params));
    if (!more) return more.error();
    rows = std::move(*more);
  }
}

Result<bool> PostgresReader::take_matches(const Rows& rows, const ListFilter& filter,
                                          const std::function<bool(Event&&)>& take) {
  const bool by_log = filter.worker_id || filter.error;
  std::vector<Event> matched;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    auto stored = read_event(rows, row, Transaction::EventFields::all);
    if (!stored) return stored.error();
    if (!matches(stored->event, filter)) continue;
    if (by_log) {
      matched.push_back(std::move(stored->event));
    } else if (!take(std::move(stored->event))) {
      return false;
    }
  }
  if (const auto kept = keep_matching_logs(matched, filter); !kept) return kept.error();
  for (Event& event : matched) {
    if (!take(std::move(event))) return false;
  }
  return true;
}

Result<void> PostgresReader::keep_matching_logs(std::vector<Event>& events, const ListFilter& filter) {
  if (filter.worker_id && !events.empty()) {
    const auto picked = picked_of(events, *filter.worker_id);
    if (!picked) return picked.error();
    std::erase_if(events, [&](const Event& event) { return !picked->contains(event.id); });
  }
  if (filter.error && !events.empty()) {
    LastErrors errors;
    if (const auto read = read_last_errors(events, errors); !read) return read.error();
    std::erase_if(events, [&](const Event& event) {
      const auto found = errors.find(event.id);
      return found == errors.end() || !matches_error(found->second, filter);
    });
  }
  return {};
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
  return read_last_errors(ids, errors);
}

Result<void> PostgresReader::read_last_errors(const std::vector<std::int64_t>& ids, LastErrors& errors) {
  if (ids.empty()) return {};
  const auto rows = run_one(sql::last_errors, params_of(ids));
  if (!rows) return rows.error();
  for (std::size_t row = 0; row < rows->size(); ++row) {
    errors.emplace(EventId{rows->number(row, 0)}, rows->text(row, 1));
  }
  return {};
}

// The statement stops at kClaimBytes of payloads, and so returns fewer events than the page has.
Result<void> PostgresReader::read_contents(EventPage& page) {
  std::vector<std::int64_t> ids;
  for (const Event& event : page.events) ids.push_back(number(event.id));
  const auto rows = run_one(sql::read_contents, params_of(ids, kClaimBytes));
  if (!rows) return rows.error();
  std::map<EventId, std::size_t> row_of;
  for (std::size_t row = 0; row < rows->size(); ++row) row_of.emplace(EventId{rows->number(row, 0)}, row);
  std::set<EventId> removed;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < page.events.size(); ++i) {
    Event& event = page.events[i];
    const auto found = row_of.find(event.id);
    if (found == row_of.end()) {
      removed.insert(event.id);
      continue;
    }
    const RowView row{*rows, found->second};
    event.description = row.optional_text(1);
    event.payload = row.text(2);
    bytes += event.payload.size();
    if (bytes < kClaimBytes) continue;
    end_page_behind(page, i + 1);
    break;
  }
  drop_removed(page, removed);
  return {};
}

Result<void> PostgresReader::read_logs(EventPage& page) {
  std::size_t bytes = 0;
  for (std::size_t first = 0; first < page.events.size(); first += kLogsPerStatement) {
    const std::size_t end = std::min(first + kLogsPerStatement, page.events.size());
    std::vector<std::int64_t> ids;
    for (std::size_t i = first; i < end; ++i) ids.push_back(number(page.events[i].id));
    const auto rows = run_one(sql::event_logs, params_of(ids));
    if (!rows) return rows.error();
    auto entries = read_log(*rows);
    if (!entries) return entries.error();
    for (const std::int64_t id : ids) page.logs[EventId{id}];
    for (LogEntry& entry : *entries) page.logs[entry.id].push_back(std::move(entry));
    for (std::size_t i = first; i < end; ++i) bytes += included_bytes(page, page.events[i]);
    if (bytes >= kClaimBytes) end_page_behind(page, end);
  }
  return {};
}

Result<void> PostgresReader::read_results(Correlation& found) {
  std::vector<std::int64_t> ids;
  for (const Event& event : found.events) {
    if (may_have_result(event)) ids.push_back(number(event.id));
  }
  if (ids.empty()) return {};
  const auto rows = run_one(sql::read_results, params_of(ids, kClaimBytes));
  if (!rows) return rows.error();
  std::size_t row = 0;  // both are in order of ids
  for (Event& event : found.events) {
    if (row == rows->size()) break;
    if (rows->number(row, 0) != number(event.id)) continue;
    event.result = rows->text(row, 1);
    if (rows->is_null(row, 1)) found.left_out.insert(event.id);
    ++row;
  }
  return {};
}

Result<void> PostgresReader::read_results(EventPage& page) {
  std::size_t bytes = 0;
  for (std::size_t first = 0; first < page.events.size(); first += kResultsPerStatement) {
    const std::size_t end = std::min(first + kResultsPerStatement, page.events.size());
    std::map<std::int64_t, Event*> events;
    for (std::size_t i = first; i < end; ++i) {
      if (may_have_result(page.events[i])) events.emplace(number(page.events[i].id), &page.events[i]);
    }
    if (!events.empty()) {
      std::vector<std::int64_t> ids;
      ids.reserve(events.size());
      for (const auto& [id, event] : events) ids.push_back(id);
      const auto rows = run_one(sql::read_results, params_of(ids, std::numeric_limits<std::int64_t>::max()));
      if (!rows) return rows.error();
      for (std::size_t row = 0; row < rows->size(); ++row) {
        events.at(rows->number(row, 0))->result = rows->text(row, 1);
      }
    }
    for (std::size_t i = first; i < end; ++i) bytes += included_bytes(page, page.events[i]);
    if (bytes >= kClaimBytes) end_page_behind(page, end);
  }
  return {};
}

Result<void> PostgresReader::read_included(EventPage& page, const ListIncludes& include) {
  if (page.events.empty() || !include.any()) return {};
  if (include.payload) {
    if (const auto read = read_contents(page); !read) return read.error();
  }
  if (include.result) {
    if (const auto read = read_results(page); !read) return read.error();
  }
  if (include.logs) {
    if (const auto read = read_logs(page); !read) return read.error();
  }
  limit_bytes(page, kClaimBytes);
  return {};
}

Result<EventPage> PostgresReader::list(const ListFilter& filter) {
  PageBuilder page(filter);
  const bool stored_count = page.has_stored_count();
  Beside beside;
  if (stored_count) beside.calls.push_back(count_call(filter));
  beside.take = [&](const Rows& rows) { page.set_stored_count(rows.number(0, 0)); };
  // With a stored count, the walk ends with the event behind the page.
  const std::size_t first_rows =
      stored_count ? static_cast<std::size_t>(filter.offset) + filter.limit + 1 : kRowsPerSnapshot;
  const auto stopped = walk(page.walked(), first_rows, std::move(beside),
                            [&](Event&& event) { return page.take(std::move(event)); });
  if (!stopped) return stopped.error();
  if (*stopped) page.stop(**stopped);
  EventPage listed = page.finish();
  if (const auto read = read_included(listed, filter.include); !read) return read.error();
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
  bool exists = false;
  const auto take_row = [&](const Rows& rows) {
    exists = !rows.empty();
    if (!exists) return;
    found.total = rows.number(0, 1);
    found.pending = rows.number(0, 2);
    found.completed = rows.number(0, 3);
    found.failed = rows.number(0, 4);
  };
  const auto walked = walk(filter, limit, {calls_of(std::move(find)), take_row}, [&](Event&& event) {
    if (found.events.size() < limit) found.events.push_back(std::move(event));
    return found.events.size() < limit;
  });
  if (!walked) return walked.error();
  if (!exists) return std::optional<Correlation>();
  if (const auto read = read_last_errors(found.events, found.last_errors); !read) return read.error();
  if (const auto read = read_results(found); !read) return read.error();
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
