// clock_test.cc: tests of system_clock(), ManualClock and steady.h.
#include "eventq/clock.h"

#include <gtest/gtest.h>

#include "base/steady.h"
#include "support/manual_clock.h"

namespace eventq {
namespace {

using std::chrono::sys_days;
using namespace std::chrono_literals;

TEST(SystemClock, ReturnsTheTimeOfDay) {
  // The bounds are decades apart, because the machine that runs the test may have a wrong clock.
  EXPECT_GT(system_clock().now(), TimePoint(sys_days(2024y / 1 / 1)));
  EXPECT_LT(system_clock().now(), TimePoint(sys_days(2124y / 1 / 1)));
}

TEST(SystemClock, IsOneObjectAndNeverGoesBack) {
  EXPECT_EQ(&system_clock(), &system_clock());

  TimePoint last = system_clock().now();
  for (int i = 0; i < 10'000; ++i) {
    const TimePoint now = system_clock().now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(ManualClock, MovesOnlyWhenMoved) {
  ManualClock clock(TimePoint(1000ms));
  EXPECT_EQ(clock.now(), TimePoint(1000ms));

  clock.advance(5min);
  EXPECT_EQ(clock.now(), TimePoint(301'000ms));

  clock.set(TimePoint(7ms));
  EXPECT_EQ(clock.now(), TimePoint(7ms));
}

TEST(SteadyTime, NeverRunsBackwards) {
  const SteadyTime start = steady_now();

  EXPECT_GE(micros_since(start), 0us);
  EXPECT_GE(millis_since(start), 0ms);
  EXPECT_LE(micros_since(steady_now() + 1h), -3599s);
}

}  // namespace
}  // namespace eventq
