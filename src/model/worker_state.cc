// worker_state.cc: see worker_state.h.
#include "model/worker_state.h"

#include "eventq/limits.h"

namespace eventq {

std::string_view name_of(WorkerState state) {
  switch (state) {
    case WorkerState::gone: return "gone";
    case WorkerState::idle: return "idle";
    case WorkerState::active: return "active";
    case WorkerState::stale: return "stale";
  }
  return "";
}

std::optional<WorkerState> worker_state_named(std::string_view name) {
  for (std::size_t i = 0; i < kWorkerStates; ++i) {
    const auto state = static_cast<WorkerState>(i);
    if (name_of(state) == name) return state;
  }
  return std::nullopt;
}

WorkerState state_of(const WorkerFacts& facts, Millis stale_after) {
  if (facts.stale) return WorkerState::stale;
  if (facts.holds) return WorkerState::active;
  if (!facts.asked_ago) return WorkerState::gone;
  if (*facts.asked_ago <= stale_after) return WorkerState::active;
  return *facts.asked_ago <= limits::kWorkerIdle ? WorkerState::idle : WorkerState::gone;
}

}  // namespace eventq
