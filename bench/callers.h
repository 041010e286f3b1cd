// callers.h: many callers of one Engine in this process, each with one pending command.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace eventq::bench {

// Resources used since a fixed point in the past; subtract two samples.
struct Used {
  double cpu = 0;           // seconds, of this process
  double database_cpu = 0;  // seconds
  double log_bytes = 0;     // write-ahead log of the database
};

struct Cycles {
  std::int64_t completed = 0;
  double seconds = 0;
  Used used;  // in `seconds`
  [[nodiscard]] double rate() const { return static_cast<double>(completed) / seconds; }
};

// Each caller repeats: publish `take` events, one per command; then one command that completes the events it
// holds and claims the next `take`.
struct CallerLoad {
  int callers = 64;
  int take = 1;
};

// Runs the load for `warm_up` seconds, then measures for `seconds`. Calls `used` before and after the
// measured time.
Cycles run_callers(
    Engine& engine, CallerLoad load, double warm_up, double seconds,
    const std::function<Used()>& used = [] { return Used{}; });

// Publishes `count` events with these tags, 1000 per call.
void publish(Engine& engine, int count, const std::vector<std::string>& tags);

// Claims `count` events with this tag and fails them, so that they wait for their retry.
void postpone(Engine& engine, int count, const std::string& tag);

// Microseconds of one poll that claims an event with this tag and commits: one caller, sequential polls.
// Returns the median of `polls`.
double poll_microseconds(Engine& engine, const std::string& tag, int polls);

}  // namespace eventq::bench
