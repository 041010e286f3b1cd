// postgres_list.cc: the lists of a PostgresReader. Each filter uses the index that fits it best.
#include <algorithm>
#include <utility>

#include "generated/postgres_sql.h"
#include "model/names.h"
#include "model/tags.h"
#include "store/postgres/postgres_reader.h"
#include "store/postgres/rows.h"

namespace eventq::postgres {
namespace {

// The most events that one statement reads, so that no snapshot is held for long.
constexpr std::size_t kLook = 5000;

bool matches(const Event& event, const ListFilter& filter) {
  return (!filter.status || event.status == *filter.status) &&
         (!filter.queue || event.queue == *filter.queue) &&
         (!filter.worker_id || event.worker_id == *filter.worker_id) &&
         (!filter.correlation_id || event.correlation_id == *filter.correlation_id) &&
         has_any(event.tags, filter.tags);
}

// Stored counters exist per queue and status. For any other filter the matches must be counted.
bool has_kept_count(const ListFilter& filter) {
  return filter.tags.empty() && !filter.worker_id && !filter.correlation_id;
}

StatementCall list_call(const ListFilter& filter, EventId after, std::size_t rows) {
  StatementCall call;
  call.params.add(number(after)).add(static_cast<std::int64_t>(rows));
  if (filter.correlation_id) {
    call.sql = sql::list_correlation;
    call.params.add(std::string_view(*filter.correlation_id));
  } else if (!filter.status) {
    call.sql = sql::list_all;
  } else if (!has_ended(*filter.status)) {
    call.sql = filter.queue ? sql::list_queue : sql::list_live;
    if (filter.queue) call.params.add(std::string_view(*filter.queue));
  } else if (*filter.status == Status::completed) {
    call.sql = sql::list_archived;
  } else {
    call.sql = sql::list_rare;
    call.params.add(name_of(*filter.status));
  }
  return call;
}

StatementCall count_call(const ListFilter& filter) {
  std::optional<std::string_view> status;
  if (filter.status) status = name_of(*filter.status);
  if (!filter.queue) return {sql::read_count_all, Params().add(status)};
  return {sql::read_count, Params().add(std::string_view(*filter.queue)).add(status)};
}

}  // namespace

Result<std::vector<Rows>> PostgresReader::walk(const ListFilter& filter, std::size_t first_look,
                                               std::vector<StatementCall> beside,
                                               const std::function<bool(Event&&)>& take) {
  std::size_t look = std::clamp<std::size_t>(first_look, 1, kLook);
  beside.push_back(list_call(filter, filter.after, look));
  auto all = at_one_moment(std::move(beside));
  if (!all) return all.error();
  Rows rows = std::move(all->back());
  all->pop_back();
  for (;;) {
    EventId last{};
    for (std::size_t row = 0; row < rows.size(); ++row) {
      auto stored = read_event(rows, row, Transaction::EventFields::all);
      if (!stored) return stored.error();
      last = stored->event.id;
      if (matches(stored->event, filter) && !take(std::move(stored->event))) return all;
    }
    if (rows.size() < look) return all;
    look = kLook;
    StatementCall next = list_call(filter, last, look);
    auto more = run_one(next.sql, std::move(next.params));
    if (!more) return more.error();
    rows = std::move(*more);
  }
}

Result<EventPage> PostgresReader::list(const ListFilter& filter) {
  EventPage page;
  const bool kept = has_kept_count(filter);
  std::vector<StatementCall> beside;
  if (kept) beside.push_back(count_call(filter));

  // Without a stored counter the total includes the matches that `after` and `offset` skip, so the walk
  // starts at the first event.
  ListFilter all = filter;
  if (!kept) all.after = EventId{};
  std::int64_t matched = 0;
  std::int64_t skipped = 0;
  const std::size_t first_look = kept ? static_cast<std::size_t>(filter.offset) + filter.limit : kLook;
  auto walked = walk(all, first_look, std::move(beside), [&](Event&& event) {
    ++matched;
    const bool behind = event.id > filter.after;
    if (behind && skipped < filter.offset) {
      ++skipped;
    } else if (behind && page.events.size() < filter.limit) {
      page.events.push_back(std::move(event));
    }
    const bool full = page.events.size() == filter.limit;
    return !(full && (kept || matched >= kCountedMax));
  });
  if (!walked) return walked.error();
  page.total = kept ? walked->at(0).number(0, 0) : matched;
  page.total_exact = kept || matched < kCountedMax;
  return page;
}

Result<std::optional<Correlation>> PostgresReader::correlation(const std::string& id, EventId after,
                                                               std::size_t limit) {
  Correlation found{.id = id, .total = 0, .pending = 0, .completed = 0, .failed = 0, .events = {}};
  ListFilter filter;
  filter.correlation_id = id;
  filter.after = after;
  const std::vector<std::string> asked = {id};
  Params params;
  params.add(std::span<const std::string>(asked)).add(std::span<const std::int64_t>());
  auto walked = walk(filter, limit, {{sql::find_correlations, std::move(params)}}, [&](Event&& event) {
    if (found.events.size() < limit) found.events.push_back(std::move(event));
    return found.events.size() < limit;
  });
  if (!walked) return walked.error();
  const Rows& rows = walked->at(0);
  if (rows.empty()) return std::optional<Correlation>();
  found.total = rows.number(0, 1);
  found.pending = rows.number(0, 2);
  found.completed = rows.number(0, 3);
  found.failed = rows.number(0, 4);
  return std::optional(std::move(found));
}

}  // namespace eventq::postgres
