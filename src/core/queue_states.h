// queue_states.h: what the engine knows of each queue as of the last commit: settings, status, counters.
//
// Small, and read whole when the store is opened: no question about a queue needs a count over
// its events. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/event.h"
#include "model/histogram.h"
#include "model/policy.h"
#include "model/query.h"
#include "store/store.h"

namespace eventq {

// How fast a queue's events ended lately.
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
  std::int64_t share_max = 0;  // with a depth limit: the largest share of it that a database has
  Counts counts{};
  Totals totals;
  std::string checkpoint_id;  // event_id of the last event completed

  bool backpressure = false;
  DrainRate drain_rate;
  std::int64_t unpersisted = 0;    // changed events that a power cut would lose
  std::int64_t at_checkpoint = 0;  // totals.completed when the last one was made
  TimePoint checkpoint_at;         // when it was made
  Histogram wait;
  Histogram run;

  [[nodiscard]] std::int64_t depth() const;
};

// What one transaction changes of a queue.
struct QueueDelta {
  Counts counts{};
  Totals totals;
  std::int64_t changed = 0;  // events
  std::int64_t ended = 0;    // of them, that were live
  std::optional<EventId> last_completed;
  std::string checkpoint_id;  // its event_id
  std::vector<double> waits;  // seconds, of the claims
  std::vector<double> runs;   // seconds, of the reports

  [[nodiscard]] std::int64_t depth() const;  // live events more, or fewer
};

// Which of the databases that share a queue this one is.
struct Share {
  int place = 0;
  int of = 1;
};

// What this database may take of a limit, so that all of them together take that much.
std::int64_t share_of(std::int64_t limit, const Share& share);

class QueueStates {
 public:
  explicit QueueStates(const Policy& defaults, const Share& share = {})
      : defaults_(defaults), share_(share) {}

  // Null when there is no such queue.
  [[nodiscard]] const QueueState* find(const std::string& queue) const;
  QueueState* find(const std::string& queue);
  [[nodiscard]] const std::map<std::string, QueueState>& queues() const { return queues_; }

  // A state for a row: new, or with its old counters.
  QueueState make(QueueRow row, const QueueConfig& config) const;
  void put(QueueState state);

  void add(const std::string& queue, const QueueDelta& delta, TimePoint now);

  // The counters of a known queue as they are stored, which others change, too.
  void refresh(const QueueRecord& record, TimePoint now);

  // Live events of all queues.
  [[nodiscard]] std::int64_t depth() const;

  // There is a queue whose commits may leave the disk out.
  [[nodiscard]] bool any_buffered() const { return buffered_ > 0; }

  // Everything is on disk.
  void note_persisted();

 private:
  const Policy defaults_;
  const Share share_;
  std::map<std::string, QueueState> queues_;
  std::size_t buffered_ = 0;
};

}  // namespace eventq
