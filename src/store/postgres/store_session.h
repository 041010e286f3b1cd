// store_session.h: what the transactions of one PostgresStore share: its connection, and what it remembers
// between them.
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

// An event's place among the ready ones: the highest priority first, then the lowest turn.
struct ReadyCursor {
  std::int64_t priority = 0;
  std::int64_t turn = 0;
  [[nodiscard]] bool before(const ReadyCursor& other) const {
    return priority != other.priority ? priority > other.priority : turn < other.turn;
  }
  friend bool operator==(const ReadyCursor&, const ReadyCursor&) = default;
};

// How often a look begins at the start of an index. While somebody's old snapshot keeps there what is long
// gone, such a look wades through all of it; then most begin where the last one found something. What is
// counted is entries, not time: a busy machine is no reason to look past what comes first.
struct ScanPace {
  int slow_looks = 0;      // from the start, in a row
  SteadyTime next_look{};  // from the start, once they are slow

  [[nodiscard]] bool from_start(SteadyTime now) const { return slow_looks < kSlowLooks || now >= next_look; }
  // `waded`: entries that the look read in vain before it found so many events.
  void note_look(std::int64_t waded, std::int64_t found, SteadyTime now) {
    const bool slow = waded >= kWadedMuch + found * kWadedEach;
    slow_looks = slow ? std::min(slow_looks + 1, kSlowLooks) : 0;
    next_look = now + std::min<std::chrono::microseconds>(kRestMax, waded * kRestEach);
  }

  static constexpr int kSlowLooks = 3;
  static constexpr std::int64_t kWadedMuch = 1000;
  static constexpr std::int64_t kWadedEach = 20;  // an event that is found costs as much as that many entries
  // More than ten times what an entry costs: one look in ten is worth its time. And one a second is owed to
  // what others put before the place.
  static constexpr std::chrono::microseconds kRestEach{5};
  static constexpr std::chrono::seconds kRestMax{1};
};

// Where the claims of one selector begin.
struct ClaimStart {
  std::optional<ReadyCursor> first;  // what the last look found first
  ScanPace pace;

  // Nothing: from the start of the index.
  [[nodiscard]] std::optional<ReadyCursor> look_from(SteadyTime now) const {
    return pace.from_start(now) ? std::nullopt : first;
  }
};

// Where next_due() begins.
struct DueStart {
  std::int64_t first = INT64_MIN;  // what the last look found, or this Store has put before it
  ScanPace pace;
};

struct StoreSession {
  using SelectorKey = std::pair<std::string, std::vector<std::string>>;  // queue, tags

  std::unique_ptr<PgConnection> connection;  // null, or broken(): connect before the next transaction
  ShardPosition position;
  const Clock* clock = nullptr;    // the database's own when null
  bool later_allowed = false;      // commits may leave the disk for later; see Store::allow_later
  std::int64_t news_version = -1;  // of queue_news, as last told by changed_queues()
  std::map<std::string, QueueRow> queues_told;  // by changed_queues(), or recalled
  // Selectors are whatever callers ask for; past this many, all are forgotten.
  static constexpr std::size_t kClaimStartsMax = 1000;
  std::map<SelectorKey, ClaimStart> claim_starts;
  DueStart due_start;
  // Until when plans expect that events name something; see PostgresTransaction::plan().
  static constexpr std::chrono::seconds kPlainPause{1};
  SteadyTime plain_from{};
};

}  // namespace eventq::postgres
