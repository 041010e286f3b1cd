// postgres_claim.cc: how a PostgresTransaction finds and locks events for claims.
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

// Columns that claim.sql returns after those of the event.
constexpr int kLockedColumn = EventColumn::payload + 1;
constexpr int kEntriesReadColumn = kLockedColumn + 1;
// claim_tags.sql only.
constexpr int kCandidatesColumn = kEntriesReadColumn + 1;
constexpr int kCandidateEntriesColumn = kCandidatesColumn + 1;

// A claim by several tags reads this many entries more than it wants, because other transactions may have
// locked some of the events.
constexpr std::size_t kMore = 16;

bool matches(const Event& event, const std::string& queue, const std::vector<std::string>& tags) {
  return event.queue == queue && has_any(event.tags, tags);
}

// The call that claims from the index ranges that start at `from`. Priorities above that of `from` are read
// in full, so that an event that was published there since is claimed first.
StatementCall claim_call(const Selector& selector, std::size_t wanted, std::size_t payload_max,
                         std::size_t width, const std::optional<ReadyCursor>& from) {
  std::vector<std::int64_t> ranks{INT64_MIN};
  std::vector<std::int64_t> turns{INT64_MIN};
  std::vector<std::int64_t> last{INT64_MAX};
  if (from) {
    last.front() = -from->priority - 1;
    ranks.push_back(-from->priority);
    turns.push_back(from->turn);
    last.push_back(INT64_MAX);
  }
  Params params = params_of(selector.queue, wanted, payload_max, ranks, turns, last);
  if (selector.tags.empty()) return {sql::claim, std::move(params)};
  if (selector.tags.size() == 1) {
    params.add(selector.tags.front());
    return {sql::claim_tag, std::move(params)};
  }
  params.add(std::span(selector.tags)).add(width);
  return {sql::claim_tags, std::move(params)};
}

}  // namespace

ReadyCursor PostgresTransaction::cursor_of(EventId id) const {
  const Stored& stored = event_cache_.at(id).stored;
  return {stored.event.priority, stored.turn};
}

// Ready events that match, in order: those in the pool, and those that this transaction made ready. An event
// after the last one in the pool is left out, because events that were not fetched may precede it.
std::vector<EventId> PostgresTransaction::candidates(const Selector& selector, const ClaimPool& pool) const {
  std::vector<EventId> found;
  const auto is_ready = [&](EventId id) {
    const CachedEvent& cached = event_cache_.at(id);
    return cached.stored.ready && !cached.removed;
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

// Loads missing envelopes, a few events at a time. Drops the events after the first kClaimBytes of payloads.
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
  // Callers choose the selectors, so without a limit this map could grow for ever.
  if (starts.size() >= StoreSession::kClaimStartsMax && !starts.contains(key)) starts.clear();
  return starts[key];
}

// Adds the claims of a plan to its first round trip, before anything is changed. Returns the largest number
// of events that they may find.
std::size_t PostgresTransaction::plan_claims(const TransactionPlan& plan, Reads& reads) {
  const auto wanted = [](const auto& claim) { return std::min(claim.second, limits::kClaim); };
  std::size_t all = 0;
  for (const auto& claim : plan.claims) all += wanted(claim);
  for (const auto& claim : plan.claims) {
    const Selector& selector = claim.first;
    if (claim.second == 0) continue;
    ClaimPool& pool = pools_[{selector.queue, selector.tags}];
    reads.add(scan_call(selector, pool, wanted(claim), all),
              [this, &selector, &pool](const Rows& rows) { return take_claim(selector, pool, rows); });
  }
  return all;
}

StatementCall PostgresTransaction::scan_call(const Selector& selector, ClaimPool& pool, std::size_t wanted,
                                             std::size_t fetched) {
  pool.wanted = wanted;
  pool.width = std::max(pool.width, 2 * wanted + kMore);
  pool.from = start_of(selector).scan_from(steady_now());
  return claim_call(selector, wanted, kClaimBytes / fetched, pool.width, pool.from);
}

// Reads more entries per tag for as long as other transactions have locked all events that were read.
Result<void> PostgresTransaction::fetch(const Selector& selector, ClaimPool& pool, std::size_t wanted) {
  constexpr std::size_t kWider = 8;
  note_made_ready();
  while (true) {
    std::vector<StatementCall> calls;
    calls.push_back(scan_call(selector, pool, wanted, wanted));
    redraw_log_numbers(calls, wanted);
    // The statement reads the database's index, so changes of ready events must be written before it runs.
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
  const bool several_tags = selector.tags.size() > 1;
  // Entries of locked events, or with several tags of all candidates, are alive. The others are dead, or
  // belong to events that another transaction has locked.
  const std::int64_t alive = several_tags ? rows.number(0, kCandidateEntriesColumn) : locked;
  // Only a scan from the start of the index counts the dead entries there.
  if (!pool.from) start.full_scans.note(rows.number(0, kEntriesReadColumn) - alive, locked, steady_now());
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
  // claim_tags.sql reads at most `width` entries of each tag; fewer candidates than that are all there are.
  const bool saw_all =
      !several_tags || static_cast<std::size_t>(rows.number(0, kCandidatesColumn)) < pool.width;
  pool.exhausted = static_cast<std::size_t>(locked) < pool.wanted && saw_all;
  return {};
}

// True if the database's ready events differ from those of this transaction. New events do not count, because
// the cache holds them whole.
bool PostgresTransaction::hides_ready() const {
  return std::any_of(changed_.begin(), changed_.end(), [&](EventId id) {
    const CachedEvent& cached = event_cache_.at(id);
    if (!cached.written) return false;
    const bool was_ready = cached.written->ready == kReady;
    const bool is_ready = cached.stored.ready && !cached.removed;
    return was_ready != is_ready || (is_ready && cached.stored.turn != cached.written->turn);
  });
}

// Moves the starts of later claims back to the events that this transaction made ready, so that a scan that
// begins later in the index finds them.
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
