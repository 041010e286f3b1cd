// top_history.h: the samples of server metrics behind `eventq top`, and the rates computed from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/steady.h"
#include "eventq/error.h"

namespace eventq::cli {

struct TopQueue {
  std::string name;
  std::string state;  // "active", "paused", "draining"
  std::int64_t waiting = 0;
  std::int64_t running = 0;
  std::int64_t failed = 0;  // events that are FAILED now
  // Counters since the queue was created.
  std::int64_t published = 0;
  std::int64_t completions = 0;
  std::int64_t failures = 0;
  std::optional<double> oldest_seconds;  // the age of the oldest waiting event
  std::int64_t unattended = 0;           // events that wait and no worker asks for
};

struct TopWorker {
  std::string id;
  std::string state;  // "active", "idle", "stale"
  std::size_t holding = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
};

struct TopSample {
  std::vector<TopQueue> queues;
  std::vector<TopWorker> workers;
  std::int64_t file_bytes = 0;
  std::int64_t log_bytes = 0;
};

// Null when there is no queue of this name.
[[nodiscard]] const TopQueue* find_queue(const TopSample& sample, const std::string& name);

// Reads the bodies of GET /metrics (as JSON), /queues and /workers. Errors: invalid_argument.
Result<TopSample> read_top_sample(std::string_view metrics, std::string_view queues,
                                  std::string_view workers);

// Events per second.
struct TopRates {
  double in = 0;
  double done = 0;
  double failed = 0;
};

class TopHistory {
 public:
  static constexpr std::size_t kCells = 20;
  static constexpr std::chrono::seconds kCell{15};  // twenty of them are five minutes

  void add(TopSample sample, SteadyTime at);

  [[nodiscard]] const TopSample& last() const { return last_; }
  // The rates between the last two samples; nothing for a queue that is not in both.
  [[nodiscard]] std::optional<TopRates> rates(const std::string& queue) const;
  // The sum over all queues; nothing before the second sample.
  [[nodiscard]] std::optional<TopRates> rates() const;
  // Completed events per second, one number for each kCell of the last five minutes, the newest last.
  [[nodiscard]] std::vector<double> done(const std::string& queue) const;

 private:
  struct Cell {
    double events = 0;
    double seconds = 0;
  };

  TopSample last_;
  std::optional<SteadyTime> at_;  // of last_
  std::map<std::string, TopRates> rates_;
  std::map<std::string, std::deque<Cell>> cells_;
};

}  // namespace eventq::cli
