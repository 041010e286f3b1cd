// options.h: every setting of a queue, its default and its unit.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
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
};

enum class LogLevel : std::uint8_t { debug, info, warning, error };

// Receives one line of `key=value` pairs per fact; never a payload. Called on the queue's threads,
// which it holds up while it runs; must not throw.
using Logger = std::function<void(LogLevel, std::string_view line)>;

struct Options {
  RetryPolicy retry;
  Millis lease = std::chrono::seconds(60);  // without a sign of life, a claim ends after this
  int max_retries = 3;                      // the failure that reaches it is final
  int max_attempts = 20;                    // claims in a row without a report before an event is given up
  std::string worker_id;                    // who poll() claims for; "{hostname}:{pid}" when empty
  const Clock* clock = nullptr;             // the system's when null; must outlive the queue
  Logger logger;                            // silent when empty
};

}  // namespace eventq
