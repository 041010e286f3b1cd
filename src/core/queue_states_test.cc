// queue_states_test.cc: the counters of queues, and how fast their events end.
#include "core/queue_states.h"

#include <gtest/gtest.h>

#include <string>

#include "support/times.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

const Policy kDefaults = default_policy(Options{});

TEST(DrainRate, IsZeroWhenNoEventEnded) {
  DrainRate rate;
  EXPECT_EQ(rate.per_second(kStart), 0);

  rate.note(0, kStart);
  EXPECT_EQ(rate.per_second(kStart), 0);
}

TEST(DrainRate, EventsThatEndedJustNowCountOverAWholeSecond) {
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

TEST(DrainRate, ForgetsEventsThatEndedMoreThanTenSecondsAgo) {
  DrainRate rate;
  rate.note(100, kStart);

  EXPECT_DOUBLE_EQ(rate.per_second(kStart + 10s), 10);
  EXPECT_DOUBLE_EQ(rate.per_second(kStart + 10s + 1ms), 0);

  rate.note(4, kStart + 20s);
  EXPECT_DOUBLE_EQ(rate.per_second(kStart + 20s), 4);
}

class QueueStatesTest : public testing::Test {
 protected:
  QueueState& put(const std::string& queue, const QueueConfig& config) {
    queue_states_.put(queue_states_.make({.id = queue, .config = config}));
    return *queue_states_.find(queue);
  }
  static QueueDelta delta(Status status, std::int64_t n) {
    QueueDelta delta;
    delta.counts.at(static_cast<std::size_t>(status)) = n;
    return delta;
  }

  QueueStates queue_states_{kDefaults};
};

TEST_F(QueueStatesTest, AQueueIsUnknownUntilItIsPut) {
  EXPECT_EQ(queue_states_.find("orders"), nullptr);
  put("orders", {});
  EXPECT_NE(queue_states_.find("orders"), nullptr);
}

TEST_F(QueueStatesTest, TheDepthCountsPendingEventsAndEventsInWork) {
  QueueState& state = put("orders", {});
  for (std::size_t i = 0; i < kStatuses; ++i)
    queue_states_.add("orders", delta(static_cast<Status>(i), 1), kStart);

  EXPECT_EQ(state.depth(), 2);
  EXPECT_EQ(delta(Status::processing, 3).depth(), 3);
  EXPECT_EQ(delta(Status::failed, 3).depth(), 0);
}

TEST_F(QueueStatesTest, TotalsAddUp) {
  QueueState& state = put("orders", {});
  QueueDelta delta;
  delta.totals = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};

  queue_states_.add("orders", delta, kStart);
  queue_states_.add("orders", delta, kStart);

  EXPECT_EQ(state.totals, (Totals{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26}));
}

TEST_F(QueueStatesTest, OnlyEndsMakeTheDrainRate) {
  QueueState& state = put("orders", {});
  queue_states_.add("orders", delta(Status::pending, 5), kStart);
  QueueDelta ended = delta(Status::completed, 2);
  ended.ended = 2;
  queue_states_.add("orders", ended, kStart);
  queue_states_.add("orders", delta(Status::completed, -2), kStart);  // removed by retention

  EXPECT_DOUBLE_EQ(state.drain_rate.per_second(kStart), 2);
}

TEST_F(QueueStatesTest, BackpressureFollowsTheDepth) {
  QueueState& state = put("orders", {.max_queue_depth = 20, .high_watermark = 10});
  queue_states_.add("orders", delta(Status::pending, 10), kStart);
  EXPECT_FALSE(state.backpressure);
  queue_states_.add("orders", delta(Status::pending, 1), kStart);
  EXPECT_TRUE(state.backpressure);
  queue_states_.add("orders", delta(Status::pending, -2), kStart);
  EXPECT_TRUE(state.backpressure);
  queue_states_.add("orders", delta(Status::pending, -1), kStart);
  EXPECT_FALSE(state.backpressure);
}

TEST_F(QueueStatesTest, NewSettingsKeepTheCountersAndCheckTheWatermarkAgain) {
  put("orders", {});
  queue_states_.add("orders", delta(Status::pending, 11), kStart);

  const QueueState& state = put("orders", {.max_queue_depth = 20, .high_watermark = 10});

  EXPECT_EQ(state.depth(), 11);
  EXPECT_TRUE(state.backpressure);
}

TEST_F(QueueStatesTest, AnyBufferedIsTrueWhileAQueueIsBuffered) {
  put("strict", {});
  EXPECT_FALSE(queue_states_.any_buffered());
  put("buffered", {.durability = Durability::buffered});
  EXPECT_TRUE(queue_states_.any_buffered());
  put("buffered", {});
  EXPECT_FALSE(queue_states_.any_buffered());
}

TEST_F(QueueStatesTest, StoredCountersReplaceTheCountersInMemory) {
  QueueState& state = put("orders", {.max_queue_depth = 20, .high_watermark = 10});
  queue_states_.add("orders", delta(Status::pending, 3), kStart);
  QueueRecord record{.row = state.row, .counts = delta(Status::pending, 11).counts, .totals = {}};
  record.totals.completed = 5;
  record.checkpoint_id = "evt_5";

  queue_states_.refresh(record, kStart);

  EXPECT_EQ(state.depth(), 11);
  EXPECT_EQ(state.totals.completed, 5);
  EXPECT_EQ(state.checkpoint_id, "evt_5");
  EXPECT_TRUE(state.backpressure);
  EXPECT_DOUBLE_EQ(state.drain_rate.per_second(kStart), 5) << "what others ended counts, too";
}

TEST_F(QueueStatesTest, CountersOfAnUnknownQueueAreLeftAlone) {
  queue_states_.refresh({.row = {.id = "nowhere"}}, kStart);

  EXPECT_EQ(queue_states_.find("nowhere"), nullptr);
}

TEST_F(QueueStatesTest, LiveEventsOfAllQueuesAreCounted) {
  put("a", {});
  put("b", {});
  queue_states_.add("a", delta(Status::pending, 2), kStart);
  queue_states_.add("b", delta(Status::processing, 1), kStart);
  queue_states_.add("b", delta(Status::completed, 7), kStart);

  EXPECT_EQ(queue_states_.depth(), 3);
}

TEST(Share, SharesOfALimitAddUpToTheLimit) {
  for (const std::int64_t limit : {1, 2, 3, 6, 7, 8}) {
    EXPECT_EQ(share_of(limit, {0, 3}) + share_of(limit, {1, 3}) + share_of(limit, {2, 3}), limit) << limit;
  }
  EXPECT_EQ(share_of(7, {0, 3}), 3);
  EXPECT_EQ(share_of(7, {1, 3}), 2);
  EXPECT_EQ(share_of(10'000, {0, 1}), 10'000);
}

TEST(Share, TheShareOfALimitIsTheLimitInThePolicy) {
  const QueueStates queue_states(kDefaults, {1, 2});
  const QueueState state =
      queue_states.make({.id = "orders", .config = {.max_queue_depth = 7, .high_watermark = 5}});

  EXPECT_EQ(state.policy.max_queue_depth, 3);
  EXPECT_EQ(state.share_max, 4);
  EXPECT_EQ(state.policy.high_watermark, 2);
}

TEST(Share, TheShareOfAWatermarkIsAtLeastOne) {
  const QueueStates queue_states(kDefaults, {1, 2});

  EXPECT_EQ(queue_states.make({.id = "orders", .config = {.high_watermark = 1}}).policy.high_watermark, 1);
}

TEST_F(QueueStatesTest, AfterNotePersistedNoChangeIsUnpersisted) {
  put("a", {}).unpersisted = 3;
  put("b", {}).unpersisted = 4;

  queue_states_.note_persisted();

  EXPECT_EQ(queue_states_.find("a")->unpersisted, 0);
  EXPECT_EQ(queue_states_.find("b")->unpersisted, 0);
}

}  // namespace
}  // namespace eventq
