// assert_test.cc: a broken invariant aborts the process, in every build.
#include "base/assert.h"

#include <gtest/gtest.h>

namespace eventq {
namespace {

TEST(Assert, LetsATrueConditionPassAndEvaluatesItOnce) {
  int evaluated = 0;

  EVENTQ_ASSERT(++evaluated == 1);

  EXPECT_EQ(evaluated, 1);
}

TEST(AssertDeathTest, NamesTheFileAndTheConditionBeforeItAborts) {
  const int attempts = 0;

  EXPECT_EXIT(EVENTQ_ASSERT(attempts > 0), testing::KilledBySignal(SIGABRT),
              "assert_test.cc:[0-9]+: assertion failed: attempts > 0");
}

}  // namespace
}  // namespace eventq
