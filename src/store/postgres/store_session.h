// store_session.h: what the transactions of one PostgresStore share: its connection, and what they remember
// for the next transaction.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/steady.h"
#include "eventq/clock.h"
#include "store/postgres/connection.h"
#include "store/postgres/postgres_store.h"

namespace eventq::postgres {

// An event's position in the ready order: the highest priority first, then the lowest turn.
struct ReadyCursor {
  std::int64_t priority = 0;
  std::int64_t turn = 0;
  [[nodiscard]] bool before(const ReadyCursor& other) const {
    return priority != other.priority ? priority > other.priority : turn < other.turn;
  }
  friend bool operator==(const ReadyCursor&, const ReadyCursor&) = default;
};

// Decides whether a scan begins at the start of an index. While an old snapshot keeps dead entries there,
// such a scan reads all of them. Then most scans begin where the last one found an event. The decision counts
// entries, not time, because a busy machine is no reason to skip the first events.
struct FullScans {
  int slow = 0;       // scans from the start, in a row, that read many dead entries
  SteadyTime next{};  // when the next scan may begin at the start, once they are slow

  [[nodiscard]] bool allowed(SteadyTime now) const { return slow < kSlowMax || now >= next; }
  // `dead`: dead entries that a scan from the start read. `found`: events that it returned.
  void note(std::int64_t dead, std::int64_t found, SteadyTime now) {
    const bool is_slow = dead >= kDeadMax + found * kDeadPerEvent;
    slow = is_slow ? std::min(slow + 1, kSlowMax) : 0;
    next = now + std::min<std::chrono::microseconds>(kPauseMax, dead * kPausePerEntry);
  }

  static constexpr int kSlowMax = 3;
  static constexpr std::int64_t kDeadMax = 1000;
  static constexpr std::int64_t kDeadPerEvent =
      20;  // an event that is found costs as much as this many entries
  // More than ten times the cost of an entry, so that scans from the start take less than a tenth of the
  // time. The pause is at most 1 s, because other servers may add events before the entry where scans begin.
  static constexpr std::chrono::microseconds kPausePerEntry{5};
  static constexpr std::chrono::seconds kPauseMax{1};
};

// Where the claims of one selector begin in the index.
struct ClaimStart {
  std::optional<ReadyCursor> first;  // first event that the last claim found
  FullScans full_scans;

  // Null: the start of the index.
  [[nodiscard]] std::optional<ReadyCursor> scan_from(SteadyTime now) const {
    return full_scans.allowed(now) ? std::nullopt : first;
  }
};

// Where next_due() begins in the index.
struct DueStart {
  std::int64_t first = INT64_MIN;  // due time that the last scan found, or an earlier one written since
  FullScans full_scans;
};

struct StoreSession {
  using SelectorKey = std::pair<std::string, std::vector<std::string>>;  // queue, tags

  std::unique_ptr<PgConnection> connection;  // null, or broken(): connect before the next transaction
  ShardPosition position;
  const Clock* clock = nullptr;      // null: the database's clock
  bool later_allowed = false;        // commits may skip the wait for the disk; see Store::allow_later
  std::int64_t queues_version = -1;  // queue_news.version at the last changed_queues()
  std::map<std::string, QueueRow> announced_queues;  // last returned by changed_queues() or recall()
  // Callers choose the selectors, so their number is limited. Above it, all starts are dropped.
  static constexpr std::size_t kClaimStartsMax = 1000;
  std::map<SelectorKey, ClaimStart> claim_starts;
  DueStart due_start;
  // When plan() may try its plain form again, after an event was not plain; see PostgresTransaction::plan().
  static constexpr std::chrono::seconds kPlainPause{1};
  SteadyTime plain_from{};
};

}  // namespace eventq::postgres
