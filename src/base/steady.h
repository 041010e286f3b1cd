// steady.h: measures durations and deadlines with a clock that never jumps.
//
// Not the time of day: times that are stored or compared with stored times come from a Clock.
#pragma once

#include <chrono>

namespace eventq {

using SteadyTime = std::chrono::steady_clock::time_point;

[[nodiscard]] inline SteadyTime steady_now() { return std::chrono::steady_clock::now(); }

[[nodiscard]] inline std::chrono::microseconds micros_since(SteadyTime start) {
  return std::chrono::floor<std::chrono::microseconds>(steady_now() - start);
}

[[nodiscard]] inline std::chrono::milliseconds millis_since(SteadyTime start) {
  return std::chrono::floor<std::chrono::milliseconds>(steady_now() - start);
}

}  // namespace eventq
