// postgres_claim.cc: how a PostgresTransaction finds and locks what may be claimed.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "generated/postgres_sql.h"
#include "model/tags.h"
#include "store/postgres/postgres_transaction.h"
#include "store/postgres/rows.h"

namespace eventq::postgres {
namespace {

// In the columns of claim.sql, behind those of load_live.sql.
constexpr int kLockedColumn = 37;
constexpr int kCandidatesColumn = 38;
constexpr int kNumberColumn = 39;
constexpr int kTookColumn = 40;

constexpr ReadyPlace kStart{INT64_MIN,
                            INT64_MIN};  // behind everything by priority, so that nothing is left out

bool matches(const Event& event, const std::string& queue, const std::vector<std::string>& tags) {
  return event.queue == queue && has_any(event.tags, tags);
}

std::string_view statement_for(const Selector& selector, const ReadyPlace& from) {
  if (selector.tags.size() > 1) return sql::claim_tags;
  if (from == kStart) return selector.tags.empty() ? sql::claim : sql::claim_tag;
  return selector.tags.empty() ? sql::claim_from : sql::claim_tag_from;
}

}  // namespace

ReadyPlace PostgresTransaction::place_of(EventId id) const {
  const Stored& stored = known_.at(id).stored;
  return {stored.event.priority, stored.turn};
}

// Ready events that match, in order: of those fetched, and of those that this transaction made ready, as far
// as they come before what was not fetched.
std::vector<EventId> PostgresTransaction::candidates(const Selector& selector, const Pool& pool) const {
  std::vector<EventId> found;
  const auto is_ready = [&](EventId id) {
    const Known& known = known_.at(id);
    return known.stored.ready && !known.removed;
  };
  std::copy_if(pool.events.begin(), pool.events.end(), std::back_inserter(found), is_ready);
  for (const EventId id : made_ready_) {
    if (!is_ready(id) || !matches(known_.at(id).stored.event, selector.queue, selector.tags)) continue;
    if (pool.exhausted || place_of(id).before(pool.last)) found.push_back(id);
  }
  std::sort(found.begin(), found.end(),
            [&](EventId a, EventId b) { return place_of(a).before(place_of(b)); });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Result<std::vector<Stored>> PostgresTransaction::claim(const Selector& selector, std::size_t limit) {
  std::vector<Stored> claimed;
  if (limit == 0) return claimed;
  Pool& pool = pools_[{selector.queue, selector.tags}];
  for (bool fetched = false;; fetched = true) {
    std::vector<EventId> found = candidates(selector, pool);
    const bool all = found.size() >= limit || pool.exhausted;
    found.resize(std::min(found.size(), limit));
    const bool whole =
        std::all_of(found.begin(), found.end(), [&](EventId id) { return known_.at(id).whole; });
    if (!fetched && (!all || !whole)) {
      if (auto done = fetch(selector, pool, std::max(limit, pool.planned)); !done) return done.error();
      continue;
    }
    std::size_t bytes = 0;
    for (const EventId id : found) {
      Known& known = known_.at(id);
      // Behind a fetch, only what it left out for its size has no body.
      if (bytes >= kClaimBytes || !known.whole) break;
      bytes += known.stored.event.payload.size();
      claimed.push_back(known.stored);
    }
    pool.planned -= std::min(pool.planned, claimed.size());
    return claimed;
  }
}

Result<void> PostgresTransaction::fetch(const Selector& selector, Pool& pool, std::size_t wanted) {
  if (session_.claim_starts.size() >= Session::kClaimStartsMax) session_.claim_starts.clear();
  ClaimStart& start = session_.claim_starts[{selector.queue, selector.tags}];
  const bool from_start = !start.first || start.pace.from_start(steady_now());
  if (!from_start) note_made_ready();
  auto rows = look(selector, wanted, from_start ? kStart : *start.first);
  if (!rows) return rows.error();
  const Rows& events = rows->front();
  if (from_start) start.pace.note_look(Millis(events.number(0, kTookColumn)), steady_now());
  pool.events.clear();
  std::vector<std::int64_t> numbers;
  for (std::size_t row = 0; row < events.size(); ++row) {
    if (events.is_null(row, 0)) continue;
    auto stored = read_event(events, row, Part::whole);
    if (!stored) return stored.error();
    pool.events.push_back(stored->event.id);
    pool.last = {stored->event.priority, stored->turn};
    if (pool.events.size() == 1) start.first = pool.last;
    numbers.push_back(events.number(row, kNumberColumn));
    take_known(std::move(*stored), Part::whole, true);
  }
  pool.exhausted = static_cast<std::size_t>(events.number(0, kLockedColumn)) < wanted &&
                   pool.events.size() == static_cast<std::size_t>(events.number(0, kLockedColumn));
  std::sort(numbers.begin(), numbers.end());
  log_numbers_.insert(log_numbers_.end(), numbers.begin(), numbers.end());
  take_log_numbers(rows->back());
  return {};
}

// Whether the database takes other events for ready than this transaction does, new ones aside: those are
// known whole.
bool PostgresTransaction::hides_ready() const {
  return std::any_of(changed_.begin(), changed_.end(), [&](EventId id) {
    const Known& known = known_.at(id);
    if (!known.written) return false;
    const bool was_ready = known.written->ready == kReady;
    const bool is_ready = known.stored.ready && !known.removed;
    return was_ready != is_ready || (is_ready && known.stored.turn != known.written->turn);
  });
}

// Locks up to `wanted`. Of events with any of several tags it looks at some more than that, since others may
// be at them, and at more again when that was not enough.
Result<std::vector<Rows>> PostgresTransaction::look(const Selector& selector, std::size_t wanted,
                                                    const ReadyPlace& from) {
  constexpr std::size_t kMore = 16;
  constexpr std::size_t kWider = 8;
  for (std::size_t width = 2 * wanted + kMore;; width *= kWider) {
    Params params;
    params.add(std::string_view(selector.queue))
        .add(static_cast<std::int64_t>(wanted))
        .add(static_cast<std::int64_t>(kClaimBytes));
    const bool tags = selector.tags.size() > 1;
    if (tags) params.add(std::span(selector.tags));
    if (selector.tags.size() == 1) params.add(std::string_view(selector.tags.front()));
    if (tags || !(from == kStart)) params.add(from.priority).add(from.turn);
    if (tags) params.add(static_cast<std::int64_t>(width));
    std::vector<Call> calls;
    calls.push_back({statement_for(selector, from), std::move(params)});
    redraw_log_numbers(calls, 0);
    auto rows = hides_ready() ? flush_and_run(std::move(calls)) : run(std::move(calls));
    if (!rows) return rows;
    const auto locked = static_cast<std::size_t>(rows->front().number(0, kLockedColumn));
    const auto candidates = static_cast<std::size_t>(rows->front().number(0, kCandidatesColumn));
    if (locked >= wanted || candidates < width) return rows;
    take_log_numbers(rows->back());
  }
}

// What this Store made ready comes to the sight of its claims from now on, wherever they begin.
void PostgresTransaction::note_made_ready() {
  for (auto& [key, start] : session_.claim_starts) {
    if (!start.first) continue;
    for (const EventId id : made_ready_) {
      const Stored& stored = known_.at(id).stored;
      if (!stored.ready || !matches(stored.event, key.first, key.second)) continue;
      if (place_of(id).before(*start.first)) start.first = place_of(id);
    }
  }
}

}  // namespace eventq::postgres
