// queue_states.h: settings, status and counters of each queue in memory, as of the last commit.
//
// recover() loads all of it when the store is opened, so no command has to count the events of a queue.
//
// Threads: none; it belongs to the Core.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "eventq/event.h"
#include "model/histogram.h"
#include "model/policy.h"
#include "model/query.h"
#include "store/store.h"

namespace eventq {

// Counts the events of a queue that ended in the last seconds, to estimate when a full queue has capacity
// again.
class DrainRate {
 public:
  void note(std::int64_t ended, TimePoint now);
  [[nodiscard]] double per_second(TimePoint now) const;

 private:
  std::deque<std::pair<TimePoint, std::int64_t>> ends_;  // by the second, of the last kWindow
};

struct QueueState {
  QueueRow row;
  Policy policy;
  std::int64_t share_max = 0;  // with a depth limit: the largest share of any shard
  Counts counts{};
  Totals totals;
  std::string checkpoint_id;  // event_id of the last event completed

  bool backpressure = false;
  DrainRate drain_rate;
  std::int64_t unpersisted = 0;    // changed events that are not on disk yet
  std::int64_t at_checkpoint = 0;  // totals.completed at the last checkpoint
  TimePoint checkpoint_at;         // time of the last checkpoint
  Histogram wait;
  Histogram run;

  [[nodiscard]] std::int64_t depth() const;
};

// What one transaction changes in the counters of a queue.
struct QueueDelta {
  Counts counts{};
  Totals totals;
  std::int64_t changed = 0;  // writes of events
  std::int64_t ended = 0;    // events that were live and ended
  std::optional<EventId> last_completed;
  std::string checkpoint_id;  // its event_id
  std::vector<double> waits;  // seconds, of the claims
  std::vector<double> runs;   // seconds, of the reports

  [[nodiscard]] std::int64_t depth() const;  // live events added; negative: removed
};

// The number of this database among the databases that share a queue.
struct Share {
  int shard = 0;
  int shards = 1;
};

// The part of a limit that this shard enforces. The parts of all shards add up to the limit.
std::int64_t share_of(std::int64_t limit, const Share& share);

class QueueStates {
 public:
  explicit QueueStates(const Policy& defaults, const Share& share = {})
      : defaults_(defaults), share_(share) {}

  // Null if the queue is unknown.
  [[nodiscard]] const QueueState* find(const std::string& queue) const;
  QueueState* find(const std::string& queue);
  [[nodiscard]] const std::map<std::string, QueueState>& queues() const { return queues_; }

  // A state for the row with its new settings, and with the counters of a known queue or without any. Stores
  // nothing.
  enum class Counters : std::uint8_t { present, empty };
  QueueState make(QueueRow row, Counters counters = Counters::present) const;
  void put(QueueState state);
  void erase(const std::string& queue);  // no effect if the queue is unknown

  void add(const std::string& queue, const QueueDelta& delta, TimePoint now);

  // Replaces the counters of a known queue by the stored ones, because other servers change them too.
  void refresh(const QueueRecord& record, TimePoint now);

  // Live events of all queues.
  [[nodiscard]] std::int64_t depth() const;

  // True if a commit may be acknowledged before it is on disk, because a queue has buffered durability.
  [[nodiscard]] bool any_buffered() const { return buffered_ > 0; }

  // A commit was synced, so no change is unpersisted any more.
  void note_persisted();

 private:
  const Policy defaults_;
  const Share share_;
  std::map<std::string, QueueState> queues_;
  std::size_t buffered_ = 0;
};

}  // namespace eventq
