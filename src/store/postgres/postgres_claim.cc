// postgres_claim.cc: how a PostgresTransaction finds and locks what may be claimed.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "eventq/limits.h"
#include "generated/postgres_sql.h"
#include "model/tags.h"
#include "store/postgres/postgres_transaction.h"
#include "store/postgres/rows.h"

namespace eventq::postgres {
namespace {

// The columns of claim.sql behind those of the event.
constexpr int kLockedColumn = EventColumn::payload + 1;
constexpr int kWastedColumn = kLockedColumn + 1;
constexpr int kCandidatesColumn = kWastedColumn + 1;  // claim_tags.sql only

// Of events with any of several tags a look sees some more than are wanted, since others may be at them.
constexpr std::size_t kMore = 16;

bool matches(const Event& event, const std::string& queue, const std::vector<std::string>& tags) {
  return event.queue == queue && has_any(event.tags, tags);
}

// Ranges of the index from a place on. A higher priority than the place's comes whole: whoever put something
// there since is served first.
void add_ranges(Params& params, const std::optional<ReadyCursor>& from) {
  std::vector<std::int64_t> ranks{INT64_MIN};
  std::vector<std::int64_t> turns{INT64_MIN};
  std::vector<std::int64_t> last{INT64_MAX};
  if (from) {
    last.front() = -from->priority - 1;
    ranks.push_back(-from->priority);
    turns.push_back(from->turn);
    last.push_back(INT64_MAX);
  }
  params.add(std::span(ranks)).add(std::span(turns)).add(std::span(last));
}

StatementCall claim_call(const Selector& selector, std::size_t wanted, std::size_t payload_max,
                         std::size_t width, const std::optional<ReadyCursor>& from) {
  Params params;
  params.add(std::string_view(selector.queue))
      .add(static_cast<std::int64_t>(wanted))
      .add(static_cast<std::int64_t>(payload_max));
  add_ranges(params, from);
  if (selector.tags.empty()) return {sql::claim, std::move(params)};
  if (selector.tags.size() == 1) {
    return {sql::claim_tag, std::move(params.add(std::string_view(selector.tags.front())))};
  }
  params.add(std::span(selector.tags)).add(static_cast<std::int64_t>(width));
  return {sql::claim_tags, std::move(params)};
}

}  // namespace

ReadyCursor PostgresTransaction::cursor_of(EventId id) const {
  const Stored& stored = event_cache_.at(id).stored;
  return {stored.event.priority, stored.turn};
}

// Ready events that match, in order: of those fetched, and of those that this transaction made ready, as far
// as they come before what was not fetched.
std::vector<EventId> PostgresTransaction::candidates(const Selector& selector, const ClaimPool& pool) const {
  std::vector<EventId> found;
  const auto is_ready = [&](EventId id) {
    const CachedEvent& known = event_cache_.at(id);
    return known.stored.ready && !known.removed;
  };
  std::copy_if(pool.events.begin(), pool.events.end(), std::back_inserter(found), is_ready);
  for (const EventId id : made_ready_) {
    if (!is_ready(id) || !matches(event_cache_.at(id).stored.event, selector.queue, selector.tags)) continue;
    if (pool.exhausted || cursor_of(id).before(pool.last)) found.push_back(id);
  }
  std::sort(found.begin(), found.end(),
            [&](EventId a, EventId b) { return cursor_of(a).before(cursor_of(b)); });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Result<std::vector<Stored>> PostgresTransaction::claim(const Selector& selector, std::size_t limit) {
  if (limit == 0) return std::vector<Stored>();
  ClaimPool& pool = pools_[{selector.queue, selector.tags}];
  std::vector<EventId> found = candidates(selector, pool);
  if (found.size() < limit && !pool.exhausted) {
    const std::size_t wanted = std::max(limit, std::min(pool.planned, limits::kClaim));
    if (auto done = fetch(selector, pool, wanted); !done) return done.error();
    found = candidates(selector, pool);
  }
  found.resize(std::min(found.size(), limit));
  if (auto done = complete(found); !done) return done.error();
  std::vector<Stored> claimed;
  claimed.reserve(found.size());
  for (const EventId id : found) claimed.push_back(event_cache_.at(id).stored);
  pool.planned -= std::min(pool.planned, claimed.size());
  return claimed;
}

// Reads what is missing of them, a few at once, and forgets those behind too many bytes.
Result<void> PostgresTransaction::complete(std::vector<EventId>& found) {
  constexpr std::ptrdiff_t kAtOnce = 16;
  std::size_t bytes = 0;
  for (auto it = found.begin(); it != found.end(); ++it) {
    if (bytes >= kClaimBytes) {
      found.erase(it, found.end());
      return {};
    }
    if (!event_cache_.at(*it).whole) {
      if (auto done = read_whole({it, it + std::min(kAtOnce, found.end() - it)}); !done) return done;
    }
    bytes += event_cache_.at(*it).stored.event.payload.size();
  }
  return {};
}

ClaimStart& PostgresTransaction::start_of(const Selector& selector) {
  auto& starts = session_.claim_starts;
  const StoreSession::SelectorKey key{selector.queue, selector.tags};
  if (starts.size() >= StoreSession::kClaimStartsMax && !starts.contains(key)) starts.clear();
  return starts[key];
}

// Before anything is changed, with the rest of a plan. Returns how many events may be found.
std::size_t PostgresTransaction::plan_claims(const TransactionPlan& plan, Reads& reads) {
  const auto wanted = [](const auto& claim) { return std::min(claim.second, limits::kClaim); };
  std::size_t all = 0;
  for (const auto& claim : plan.claims) all += wanted(claim);
  for (const auto& claim : plan.claims) {
    const Selector& selector = claim.first;
    if (claim.second == 0) continue;
    ClaimPool& pool = pools_[{selector.queue, selector.tags}];
    reads.add(look(selector, pool, wanted(claim), all),
              [this, &selector, &pool](const Rows& rows) { return take_claim(selector, pool, rows); });
  }
  return all;
}

StatementCall PostgresTransaction::look(const Selector& selector, ClaimPool& pool, std::size_t wanted,
                                        std::size_t fetched) {
  pool.wanted = wanted;
  pool.width = std::max(pool.width, 2 * wanted + kMore);
  pool.from = start_of(selector).look_from(steady_now());
  return claim_call(selector, wanted, kClaimBytes / fetched, pool.width, pool.from);
}

// Wider, as long as others are at all that was seen.
Result<void> PostgresTransaction::fetch(const Selector& selector, ClaimPool& pool, std::size_t wanted) {
  constexpr std::size_t kWider = 8;
  note_made_ready();
  while (true) {
    std::vector<StatementCall> calls;
    calls.push_back(look(selector, pool, wanted, wanted));
    redraw_log_numbers(calls, wanted);
    auto rows = hides_ready() ? flush_and_run(std::move(calls)) : run(std::move(calls));
    if (!rows) return rows.error();
    take_numbers(rows->back(), 0);
    if (auto done = take_claim(selector, pool, rows->front()); !done) return done.error();
    if (pool.exhausted || pool.events.size() >= wanted) return {};
    pool.width *= kWider;
  }
}

Result<void> PostgresTransaction::take_claim(const Selector& selector, ClaimPool& pool, const Rows& rows) {
  ClaimStart& start = start_of(selector);
  const std::int64_t locked = rows.number(0, kLockedColumn);
  if (!pool.from) start.pace.note_look(rows.number(0, kWastedColumn), locked, steady_now());
  pool.events.clear();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows.is_null(row, EventColumn::id)) continue;
    const EventFields fields =
        rows.is_null(row, EventColumn::payload) ? EventFields::state : EventFields::all;
    auto stored = read_event(rows, row, fields);
    if (!stored) return stored.error();
    pool.events.push_back(stored->event.id);
    cache_event(std::move(*stored), fields, true);
  }
  if (!pool.events.empty()) {
    const auto before = [&](EventId a, EventId b) { return cursor_of(a).before(cursor_of(b)); };
    const auto [first, last] = std::minmax_element(pool.events.begin(), pool.events.end(), before);
    start.first = cursor_of(*first);
    pool.last = cursor_of(*last);
  }
  const bool saw_all =
      selector.tags.size() < 2 || static_cast<std::size_t>(rows.number(0, kCandidatesColumn)) < pool.width;
  pool.exhausted = static_cast<std::size_t>(locked) < pool.wanted && saw_all;
  return {};
}

// Whether the database takes other events for ready than this transaction does, new ones aside: those are
// known whole.
bool PostgresTransaction::hides_ready() const {
  return std::any_of(changed_.begin(), changed_.end(), [&](EventId id) {
    const CachedEvent& known = event_cache_.at(id);
    if (!known.written) return false;
    const bool was_ready = known.written->ready == kReady;
    const bool is_ready = known.stored.ready && !known.removed;
    return was_ready != is_ready || (is_ready && known.stored.turn != known.written->turn);
  });
}

// What this Store made ready comes to the sight of its claims from now on, wherever they begin.
void PostgresTransaction::note_made_ready() {
  for (auto& [key, start] : session_.claim_starts) {
    if (!start.first) continue;
    for (const EventId id : made_ready_) {
      const Stored& stored = event_cache_.at(id).stored;
      if (!stored.ready || !matches(stored.event, key.first, key.second)) continue;
      if (cursor_of(id).before(*start.first)) start.first = cursor_of(id);
    }
  }
}

}  // namespace eventq::postgres
