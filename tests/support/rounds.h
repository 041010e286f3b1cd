// rounds.h: how often a test throws its dice: fewer times in instrumented code, which is several times
// slower.
#pragma once

namespace eventq {

constexpr int rounds([[maybe_unused]] int plain, [[maybe_unused]] int instrumented) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return instrumented;
#else
  return plain;
#endif
}

}  // namespace eventq
