// rounds.h: how many rounds a random test runs: fewer in instrumented code, more in `./dev test long`, or as
// the environment says.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "base/numbers.h"

namespace eventq {

// Instrumented code is several times slower.
constexpr int rounds([[maybe_unused]] int plain, [[maybe_unused]] int instrumented) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return instrumented;
#else
  return plain;
#endif
}

// ctest sets the variable for tests with the label `long` (LONG in cmake/tests.cmake).
inline bool is_long_run() { return std::getenv("EVENTQ_TEST_LONG") != nullptr; }

// The number of rounds of a test that LONG names.
inline int rounds(int plain, int instrumented, int in_long_run) {
  return is_long_run() ? in_long_run : rounds(plain, instrumented);
}

// A seed or a number of rounds from an environment variable; `otherwise` when it is not set.
inline std::uint32_t number_from_environment(const char* variable, std::uint32_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? parse_whole<std::uint32_t>(text).value_or(otherwise) : otherwise;
}

}  // namespace eventq
