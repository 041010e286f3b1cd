// backoff_test.cc: how pauses grow, and that random parts differ.
#include "base/backoff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace eventq {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, PausesDoubleFrom100MsTo5SUntilASuccess) {
  Backoff backoff;

  for (const Millis pause : {100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 5000ms, 5000ms}) {
    EXPECT_EQ(backoff.failed(), pause);
  }
  backoff.succeeded();
  EXPECT_EQ(backoff.failed(), 100ms);
}

TEST(Backoff, KnowsWhetherTheLastCallFailed) {
  Backoff backoff;
  EXPECT_FALSE(backoff.has_failed());
  backoff.failed();
  EXPECT_TRUE(backoff.has_failed());
  backoff.succeeded();
  EXPECT_FALSE(backoff.has_failed());
}

TEST(Backoff, PartsAreSpreadOverTheWholePause) {
  Millis least = 100ms;
  Millis most = 0ms;
  for (int i = 0; i < 10'000; ++i) {
    const Millis part = random_part(100ms);
    least = std::min(least, part);
    most = std::max(most, part);
  }
  EXPECT_EQ(least, 0ms);
  EXPECT_EQ(most, 100ms);
  EXPECT_EQ(random_part(0ms), 0ms);
}

}  // namespace
}  // namespace eventq
