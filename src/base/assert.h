// assert.h: checks of our own invariants. Active in every build.
//
// Only a bug of eventq may fail an assertion. Request bytes and stored content must never fail one: they give
// an Error. A failed assertion aborts the process, because a queue with a broken invariant must not write to
// its store, and a restart is safe.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace eventq {

[[noreturn]] inline void assert_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace eventq

#define EVENTQ_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::eventq::assert_failed(#condition, __FILE__, __LINE__))
