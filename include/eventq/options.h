// options.h: settings of a store and of its queues, with units; the initializers of Options are the defaults.
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
  double jitter = 0;  // 0.2: 20 % shorter to 20 % longer, so that events that failed together spread out
  friend bool operator==(const RetryPolicy&, const RetryPolicy&) = default;
};

// When an acknowledged change is on disk.
enum class Durability : std::uint8_t {
  strict,    // before it is acknowledged
  buffered,  // soon after: a power cut may lose the newest changes, but never a part of one
};

// What happens to the events of a line (same ordering_key) when one of them fails without a retry.
enum class OnFailure : std::uint8_t {
  skip,   // the next event of the line runs
  block,  // the line waits until the failed event is reset or cancelled
};

// One queue's own settings. An absent member has the default in docs/queues.md and src/model/policy.h.
struct QueueConfig {
  std::optional<std::int64_t> max_queue_depth = {};  // live events; publishing more gives queue_full
  // Live events above which publishers are asked to slow down.
  std::optional<std::int64_t> high_watermark = {};
  std::optional<int> batch_size = {};              // recommended events per claim; when set, also the maximum
  std::optional<Millis> processing_interval = {};  // buffered: the longest time before a change is on disk
  // Buffered: the most changed events not yet on disk.
  std::optional<std::int64_t> persistence_threshold = {};
  std::optional<Millis> lease = {};       // as in Options
  std::optional<int> max_attempts = {};   // as in Options
  std::optional<int> max_retries = {};    // as in Options
  std::optional<RetryPolicy> retry = {};  // as in Options
  std::optional<Durability> durability = {};
  std::optional<OnFailure> on_failure = {};
  // How long ended events are kept: all but failed ones, and failed ones.
  std::optional<std::chrono::seconds> completed_retention = {};
  std::optional<std::chrono::seconds> failed_retention = {};
  friend bool operator==(const QueueConfig&, const QueueConfig&) = default;
};

enum class LogLevel : std::uint8_t { debug, info, warning, error };

// Receives one line of `key=value` pairs per fact, never a payload.
//
// Threads: called on the queue's threads, which wait until it returns. It must not throw.
using Logger = std::function<void(LogLevel, std::string_view line)>;

// Settings of Queue::open(). `retry` to `max_attempts` hold for every queue that has no value of its own.
struct Options {
  RetryPolicy retry = {};
  Millis lease = std::chrono::seconds(60);  // how long a claim lasts without a heartbeat
  int max_retries = 3;                      // the failure that reaches this number is final
  int max_attempts = 20;                    // claims in a row without a report before an event fails
  std::string worker_id = {};               // the worker that poll() claims for; empty: "{hostname}:{pid}"
  std::map<std::string, QueueConfig> queues = {};  // by name; replaces settings that were stored before
  std::string archive_dir = {};  // where retention writes removed events; empty: it deletes them
  Millis stale_after = std::chrono::seconds(30);  // without a heartbeat: stale; without a request: not active
  Millis start_within = std::chrono::minutes(5);  // so is one that starts none of its events
  const Clock* clock = nullptr;                   // null: the system clock; must outlive the queue
  Logger logger = {};                             // no logging when empty
};

}  // namespace eventq
