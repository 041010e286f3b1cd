// worker_state.h: the state of a worker, as lists, metrics and the page show it: the rule as a pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "eventq/admin.h"
#include "eventq/event.h"

namespace eventq {

// The states are in ascending order of weight: of those that several shards give, the last one counts.
inline constexpr std::size_t kWorkerStates = 4;

std::string_view name_of(WorkerState state);  // "active"
std::optional<WorkerState> worker_state_named(std::string_view name);

struct WorkerFacts {
  bool stale = false;  // it holds an event without a sign of life
  bool holds = false;  // an event
  // Since it last asked for events; 0 while a request waits. Absent: it asked for none since it signed off.
  std::optional<Millis> asked_ago = {};
};

WorkerState state_of(const WorkerFacts& facts, Millis stale_after);

}  // namespace eventq
