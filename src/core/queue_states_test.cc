// queue_states_test.cc: the counters of queues, and how fast their events end.
#include "core/queue_states.h"

#include <gtest/gtest.h>

#include <string>

#include "support/times.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

const Policy kDefaults = default_policy(Options{});

TEST(DrainRate, IsNothingWhenNothingEnded) {
  DrainRate rate;
  EXPECT_EQ(rate.per_second(kStart), 0);

  rate.note(0, kStart);
  EXPECT_EQ(rate.per_second(kStart), 0);
}

TEST(DrainRate, WhatEndedJustNowCountsAsOfASecond) {
  DrainRate rate;
  rate.note(3, kStart);
  rate.note(2, kStart + 1ms);

  EXPECT_DOUBLE_EQ(rate.per_second(kStart + 1ms), 5);
}

TEST(DrainRate, IsTheMeanSinceTheFirstEnd) {
  DrainRate rate;
  rate.note(10, kStart);
  rate.note(10, kStart + 2s);

  EXPECT_DOUBLE_EQ(rate.per_second(kStart + 4s), 5);
}

TEST(DrainRate, ForgetsWhatEndedMoreThanTenSecondsAgo) {
  DrainRate rate;
  rate.note(100, kStart);

  EXPECT_DOUBLE_EQ(rate.per_second(kStart + 10s), 10);
  EXPECT_DOUBLE_EQ(rate.per_second(kStart + 10s + 1ms), 0);

  rate.note(4, kStart + 20s);
  EXPECT_DOUBLE_EQ(rate.per_second(kStart + 20s), 4);
}

class LedgerTest : public testing::Test {
 protected:
  QueueState& put(const std::string& queue, const QueueConfig& config) {
    ledger_.put(ledger_.make({.id = queue}, config));
    return *ledger_.find(queue);
  }
  static QueueDelta delta(Status status, std::int64_t n) {
    QueueDelta delta;
    delta.counts.at(static_cast<std::size_t>(status)) = n;
    return delta;
  }

  Ledger ledger_{kDefaults};
};

TEST_F(LedgerTest, AQueueIsUnknownUntilItIsPut) {
  EXPECT_EQ(ledger_.find("orders"), nullptr);
  put("orders", {});
  EXPECT_NE(ledger_.find("orders"), nullptr);
}

TEST_F(LedgerTest, TheDepthIsWhatIsPendingOrInWork) {
  QueueState& state = put("orders", {});
  for (std::size_t i = 0; i < kStatuses; ++i) ledger_.add("orders", delta(static_cast<Status>(i), 1), kStart);

  EXPECT_EQ(state.depth(), 2);
  EXPECT_EQ(delta(Status::processing, 3).depth(), 3);
  EXPECT_EQ(delta(Status::failed, 3).depth(), 0);
}

TEST_F(LedgerTest, TotalsAddUp) {
  QueueState& state = put("orders", {});
  QueueDelta delta;
  delta.totals = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};

  ledger_.add("orders", delta, kStart);
  ledger_.add("orders", delta, kStart);

  EXPECT_EQ(state.totals, (Totals{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26}));
}

TEST_F(LedgerTest, OnlyEndsMakeTheDrainRate) {
  QueueState& state = put("orders", {});
  ledger_.add("orders", delta(Status::pending, 5), kStart);
  QueueDelta ended = delta(Status::completed, 2);
  ended.ended = 2;
  ledger_.add("orders", ended, kStart);
  ledger_.add("orders", delta(Status::completed, -2), kStart);  // they left for good

  EXPECT_DOUBLE_EQ(state.drain_rate.per_second(kStart), 2);
}

TEST_F(LedgerTest, BackpressureFollowsTheDepth) {
  QueueState& state = put("orders", {.max_queue_depth = 20, .high_watermark = 10});
  ledger_.add("orders", delta(Status::pending, 10), kStart);
  EXPECT_FALSE(state.backpressure);
  ledger_.add("orders", delta(Status::pending, 1), kStart);
  EXPECT_TRUE(state.backpressure);
  ledger_.add("orders", delta(Status::pending, -2), kStart);
  EXPECT_TRUE(state.backpressure);
  ledger_.add("orders", delta(Status::pending, -1), kStart);
  EXPECT_FALSE(state.backpressure);
}

TEST_F(LedgerTest, NewSettingsKeepTheCountersAndLookAtTheWatermarkAnew) {
  put("orders", {});
  ledger_.add("orders", delta(Status::pending, 11), kStart);

  const QueueState& state = put("orders", {.max_queue_depth = 20, .high_watermark = 10});

  EXPECT_EQ(state.depth(), 11);
  EXPECT_TRUE(state.backpressure);
}

TEST_F(LedgerTest, KnowsWhetherAnyQueueIsBuffered) {
  put("strict", {});
  EXPECT_FALSE(ledger_.any_buffered());
  put("buffered", {.durability = Durability::buffered});
  EXPECT_TRUE(ledger_.any_buffered());
  put("buffered", {});
  EXPECT_FALSE(ledger_.any_buffered());
}

TEST_F(LedgerTest, StoredCountersReplaceThoseThatAreKnown) {
  QueueState& state = put("orders", {.max_queue_depth = 20, .high_watermark = 10});
  ledger_.add("orders", delta(Status::pending, 3), kStart);
  QueueRecord record{.row = state.row, .counts = delta(Status::pending, 11).counts, .totals = {}};
  record.totals.completed = 5;
  record.checkpoint_id = "evt_5";

  ledger_.refresh(record, kStart);

  EXPECT_EQ(state.depth(), 11);
  EXPECT_EQ(state.totals.completed, 5);
  EXPECT_EQ(state.checkpoint_id, "evt_5");
  EXPECT_TRUE(state.backpressure);
  EXPECT_DOUBLE_EQ(state.drain_rate.per_second(kStart), 5) << "what others ended counts, too";
}

TEST_F(LedgerTest, CountersOfAnUnknownQueueAreLeftAlone) {
  ledger_.refresh({.row = {.id = "nowhere"}}, kStart);

  EXPECT_EQ(ledger_.find("nowhere"), nullptr);
}

TEST_F(LedgerTest, LiveEventsOfAllQueuesAreCounted) {
  put("a", {});
  put("b", {});
  ledger_.add("a", delta(Status::pending, 2), kStart);
  ledger_.add("b", delta(Status::processing, 1), kStart);
  ledger_.add("b", delta(Status::completed, 7), kStart);

  EXPECT_EQ(ledger_.depth(), 3);
}

TEST(Share, OfALimitAddUpToIt) {
  for (const std::int64_t limit : {1, 2, 3, 6, 7, 8}) {
    EXPECT_EQ(share_of(limit, {0, 3}) + share_of(limit, {1, 3}) + share_of(limit, {2, 3}), limit) << limit;
  }
  EXPECT_EQ(share_of(7, {0, 3}), 3);
  EXPECT_EQ(share_of(7, {1, 3}), 2);
  EXPECT_EQ(share_of(10'000, {0, 1}), 10'000);
}

TEST(Share, OfAQueueIsWhatItsPolicySays) {
  const Ledger ledger(kDefaults, {1, 2});
  const QueueState state = ledger.make({.id = "orders"}, {.max_queue_depth = 7, .high_watermark = 5});

  EXPECT_EQ(state.policy.max_queue_depth, 3);
  EXPECT_EQ(state.share_max, 4);
  EXPECT_EQ(state.policy.high_watermark, 2);
}

TEST(Share, OfAWatermarkIsOneAtLeast) {
  const Ledger ledger(kDefaults, {1, 2});

  EXPECT_EQ(ledger.make({.id = "orders"}, {.high_watermark = 1}).policy.high_watermark, 1);
}

TEST_F(LedgerTest, WhatIsOnDiskIsNoLongerToBeLost) {
  put("a", {}).unpersisted = 3;
  put("b", {}).unpersisted = 4;

  ledger_.note_persisted();

  EXPECT_EQ(ledger_.find("a")->unpersisted, 0);
  EXPECT_EQ(ledger_.find("b")->unpersisted, 0);
}

}  // namespace
}  // namespace eventq
