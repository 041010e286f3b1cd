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

// An event's place in the ready order: the highest priority first, then the lowest turn.
struct ReadyCursor {
  std::int64_t priority = 0;
  std::int64_t turn = 0;
  [[nodiscard]] bool before(const ReadyCursor& other) const {
    return priority != other.priority ? priority > other.priority : turn < other.turn;
  }
  friend bool operator==(const ReadyCursor&, const ReadyCursor&) = default;
};

// Decides whether a scan begins at the start of an index. While an old snapshot keeps dead entries there,
// such a scan reads all of them. Then most scans begin where the last one found an event. The pace counts
// entries, not time, because a busy machine is no reason to skip the first events.
struct ScanPace {
  int slow_looks = 0;      // scans from the start, in a row, that read many dead entries
  SteadyTime next_look{};  // when the next scan may begin at the start, once they are slow

  [[nodiscard]] bool from_start(SteadyTime now) const { return slow_looks < kSlowLooks || now >= next_look; }
  // `waded`: dead entries that the scan read. `found`: events that it returned.
  void note_look(std::int64_t waded, std::int64_t found, SteadyTime now) {
    const bool slow = waded >= kWadedMuch + found * kWadedEach;
    slow_looks = slow ? std::min(slow_looks + 1, kSlowLooks) : 0;
    next_look = now + std::min<std::chrono::microseconds>(kRestMax, waded * kRestEach);
  }

  static constexpr int kSlowLooks = 3;
  static constexpr std::int64_t kWadedMuch = 1000;
  static constexpr std::int64_t kWadedEach = 20;  // an event that is found costs as much as this many entries
  // More than ten times the cost of an entry, so that scans from the start take less than a tenth of the
  // time. The pause is at most 1 s, because other servers may add events before the place where scans begin.
  static constexpr std::chrono::microseconds kRestEach{5};
  static constexpr std::chrono::seconds kRestMax{1};
};

// Where the claims of one selector begin in the index.
struct ClaimStart {
  std::optional<ReadyCursor> first;  // first event that the last claim found
  ScanPace pace;

  // Null: the start of the index.
  [[nodiscard]] std::optional<ReadyCursor> look_from(SteadyTime now) const {
    return pace.from_start(now) ? std::nullopt : first;
  }
};

// Where next_due() begins in the index.
struct DueStart {
  std::int64_t first = INT64_MIN;  // due time that the last scan found, or an earlier one written since
  ScanPace pace;
};

struct StoreSession {
  using SelectorKey = std::pair<std::string, std::vector<std::string>>;  // queue, tags

  std::unique_ptr<PgConnection> connection;  // null, or broken(): connect before the next transaction
  ShardPosition position;
  const Clock* clock = nullptr;    // null: the database's clock
  bool later_allowed = false;      // commits may skip the wait for the disk; see Store::allow_later
  std::int64_t news_version = -1;  // queue_news.version at the last changed_queues()
  std::map<std::string, QueueRow> queues_told;  // last returned by changed_queues() or recall()
  // Callers choose the selectors, so their number is limited. Above it, all starts are dropped.
  static constexpr std::size_t kClaimStartsMax = 1000;
  std::map<SelectorKey, ClaimStart> claim_starts;
  DueStart due_start;
  // When plan() may try its plain form again, after an event was not plain; see PostgresTransaction::plan().
  static constexpr std::chrono::seconds kPlainPause{1};
  SteadyTime plain_from{};
};

}  // namespace eventq::postgres
