// times.h: the time at which tests begin by default.
#pragma once

#include <chrono>

#include "eventq/clock.h"

namespace eventq {

inline constexpr TimePoint kStart{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};

}  // namespace eventq
