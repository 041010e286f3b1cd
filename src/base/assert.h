// assert.h: for what only a bug of ours can break. On in every build.
//
// Never reachable from request bytes or stored content: those give an Error. A
// queue that lost its own invariant must not write on, and restarting it is safe.
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
