// written.h: the text that a function writes to a JsonWriter, for tests.
#pragma once

#include <string>

#include "base/json_writer.h"
#include "eventq/clock.h"

namespace eventq::wire {

// 2025-12-24T10:30:00Z
inline constexpr TimePoint kNoon{Millis{1766572200000}};

template <typename Write>
std::string written(Write write) {
  std::string out;
  JsonWriter json(out);
  write(json);
  return out;
}

}  // namespace eventq::wire
