// retry_test.cc: how long a failed event waits.
#include "model/retry.h"

#include <gtest/gtest.h>

namespace eventq {
namespace {

using namespace std::chrono_literals;
using Kind = RetryPolicy::Kind;

TEST(Retry, TheDefaultIsFiveMinutesAfterEveryFailure) {
  EXPECT_EQ(retry_delay(RetryPolicy(), 1, 1), 5min);
  EXPECT_EQ(retry_delay(RetryPolicy(), 2, 1), 5min);
  EXPECT_EQ(retry_delay(RetryPolicy(), 1000, 1), 5min);
}

TEST(Retry, TheDelayFollowsThePolicy) {
  struct Row {
    RetryPolicy policy;
    int failures;
    Millis delay;
  };
  const Row rows[] = {
      {{Kind::fixed, 250ms, 1h}, 1, 250ms},
      {{Kind::fixed, 250ms, 1h}, 7, 250ms},
      {{Kind::fixed, 2h, 1h}, 1, 2h},  // the cap applies to exponential only
      {{Kind::fixed, 0ms, 1h}, 3, 0ms},
      {{Kind::exponential, 1s, 1h}, 1, 1s},
      {{Kind::exponential, 1s, 1h}, 2, 2s},
      {{Kind::exponential, 1s, 1h}, 3, 4s},
      {{Kind::exponential, 1s, 1h}, 12, 2048s},
      {{Kind::exponential, 1s, 1h}, 13, 3600s},
      {{Kind::exponential, 1s, 1h}, 14, 3600s},
      {{Kind::exponential, 1s, 4s}, 3, 4s},
      {{Kind::exponential, 2h, 1h}, 1, 1h},
      {{Kind::exponential, 0ms, 1h}, 1000, 0ms},
      {{Kind::exponential, 1s, 0ms}, 5, 0ms},
      // The largest base that validate() accepts, doubled as often as it allows.
      {{Kind::exponential, 8760h, 8760h}, 1000, 8760h},
      {{Kind::exponential, 1ms, 8760h}, 1000, 8760h},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(retry_delay(row.policy, row.failures, 1).count(), row.delay.count())
        << (row.policy.kind == Kind::fixed ? "fixed" : "exponential") << " base=" << row.policy.base.count()
        << "ms cap=" << row.policy.cap.count() << "ms failures=" << row.failures;
  }
}

TEST(RetryDelay, JitterChangesAWaitByAtMostItsShare) {
  const RetryPolicy policy{.kind = RetryPolicy::Kind::fixed, .base = 1000s, .cap = 1h, .jitter = 0.2};
  bool shorter = false;
  bool longer = false;
  for (int event = 1; event <= 1000; ++event) {
    const Millis delay = retry_delay(policy, 1, event);
    EXPECT_GE(delay, 800s);
    EXPECT_LE(delay, 1200s);
    shorter = shorter || delay < 850s;
    longer = longer || delay > 1150s;
  }
  EXPECT_TRUE(shorter);
  EXPECT_TRUE(longer);
}

TEST(RetryDelay, JitterIsTheSameForTheSameFailureOfTheSameEvent) {
  const RetryPolicy policy{.base = 1000s, .jitter = 1};
  EXPECT_EQ(retry_delay(policy, 2, 7), retry_delay(policy, 2, 7));
  EXPECT_NE(retry_delay(policy, 2, 7), retry_delay(policy, 3, 7));
  EXPECT_NE(retry_delay(policy, 2, 7), retry_delay(policy, 2, 8));
}

}  // namespace
}  // namespace eventq
