// options.h: every setting of a queue, its default and its unit.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "eventq/clock.h"

namespace eventq {

// How long a failed event waits before it may run again.
struct RetryPolicy {
  enum class Kind : std::uint8_t {
    fixed,        // always `base`
    exponential,  // `base` doubled with each failure, at most `cap`
  };
  Kind kind = Kind::fixed;
  Millis base = std::chrono::minutes(5);
  Millis cap = std::chrono::hours(1);
  double jitter =
      0;  // 0.2: up to a fifth shorter or longer, so that what failed together is not retried together
  friend bool operator==(const RetryPolicy&, const RetryPolicy&) = default;
};

// When an acknowledged change is on disk.
enum class Durability : std::uint8_t {
  strict,    // before it is acknowledged
  buffered,  // soon after: a power cut may lose the last of them, never part of one
};

// What becomes of the events behind one of their ordering_key that failed for good.
enum class OnFailure : std::uint8_t {
  skip,   // the next one runs
  block,  // they wait until somebody resets or cancels it
};

// One queue's own settings. What is absent has the default of docs/queues.md.
struct QueueConfig {
  std::optional<std::int64_t> max_queue_depth;  // live events; publishing more is refused
  std::optional<std::int64_t> high_watermark;   // live events above which publishers are asked to slow down
  std::optional<int> batch_size;  // events a worker does well to take at once; when set, a claim gets no more
  std::optional<Millis> processing_interval;          // buffered: the longest time before a change is on disk
  std::optional<std::int64_t> persistence_threshold;  // buffered: the most changed events not yet on disk
  std::optional<Millis> lease;
  std::optional<int> max_attempts;
  std::optional<int> max_retries;
  std::optional<RetryPolicy> retry;
  std::optional<Durability> durability;
  std::optional<OnFailure> on_failure;
  std::optional<std::chrono::seconds> completed_retention;  // how long ended events stay, and
  std::optional<std::chrono::seconds> failed_retention;     // how long failed ones do
  friend bool operator==(const QueueConfig&, const QueueConfig&) = default;
};

enum class LogLevel : std::uint8_t { debug, info, warning, error };

// Receives one line of `key=value` pairs per fact; never a payload. Called on the queue's threads,
// which it holds up while it runs; must not throw.
using Logger = std::function<void(LogLevel, std::string_view line)>;

struct Options {
  RetryPolicy retry;
  Millis lease = std::chrono::seconds(60);    // without a sign of life, a claim ends after this
  int max_retries = 3;                        // the failure that reaches it is final
  int max_attempts = 20;                      // claims in a row without a report before an event is given up
  std::string worker_id;                      // who poll() claims for; "{hostname}:{pid}" when empty
  std::map<std::string, QueueConfig> queues;  // by name; replaces what was configured before
  std::string archive_dir;                    // where events go when they leave; nowhere when empty
  Millis stale_after = std::chrono::seconds(30);  // without a sign of life, a worker counts as stale
  Millis start_within = std::chrono::minutes(5);  // so does one that began nothing of what it claimed
  const Clock* clock = nullptr;                   // the system's when null; must outlive the queue
  Logger logger;                                  // silent when empty
};

}  // namespace eventq
