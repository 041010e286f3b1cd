// callers.h: many callers of one Engine in this process, each with one command under way.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace eventq::bench {

// What was used since some beginning.
struct Used {
  double cpu = 0;           // seconds, of this process
  double database_cpu = 0;  // seconds
  double log_bytes = 0;     // written by the database
};

struct Cycles {
  std::int64_t completed = 0;
  double seconds = 0;
  Used used;  // in these seconds
  [[nodiscard]] double rate() const { return static_cast<double>(completed) / seconds; }
};

// Callers who each publish `take` events, one in each command, then complete those they held and take the
// next `take` in one command, and so on.
struct Crowd {
  int callers = 64;
  int take = 1;
};

// The crowd for `warm_up` and then `seconds` seconds. `used` is asked before and after.
Cycles run_callers(
    Engine& engine, Crowd crowd, double warm_up, double seconds,
    const std::function<Used()>& used = [] { return Used{}; });

// Publishes `count` events with these tags, 1000 to a call.
void publish(Engine& engine, int count, const std::vector<std::string>& tags);

// Takes `count` events with this tag and fails them, so that they wait for their retry.
void postpone(Engine& engine, int count, const std::string& tag);

// Microseconds of one poll that finds an event with this tag, and commits: one caller, one poll after the
// other. The median of `polls`.
double poll_microseconds(Engine& engine, const std::string& tag, int polls);

}  // namespace eventq::bench
