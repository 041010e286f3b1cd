// asks_test.cc: which requests of workers are stored, and what is kept of them.
#include "wait/asks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/describe_records.h"
#include "support/times.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;
using ToStore = Asks::ToStore;

class AsksTest : public testing::Test {
 protected:
  ToStore note(TimePoint now, const Selector& selector = kMail) { return asks_.note("w:1", selector, now); }

  inline static const Selector kMail{"mail", {"a"}};
  Asks asks_{30s};
};

TEST_F(AsksTest, TheFirstRequestIsStoredAtOnceAndTheNextAfterAThirdOfStaleAfter) {
  EXPECT_EQ(note(kStart), ToStore::at_once);
  asks_.note_stored();

  EXPECT_EQ(note(kStart + 10s - 1ms), ToStore::nothing);
  EXPECT_THAT(asks_.to_store(), IsEmpty());
  EXPECT_EQ(note(kStart + 10s), ToStore::soon);
  EXPECT_THAT(asks_.to_store(), SizeIs(1));
  EXPECT_EQ(asks_.to_store()[0].asked_at, kStart + 10s);
}

TEST_F(AsksTest, ARequestAfterASilenceLongerThanStaleAfterIsStoredAtOnce) {
  note(kStart);
  asks_.note_stored();

  EXPECT_EQ(note(kStart + 30s + 1ms), ToStore::at_once);
}

TEST_F(AsksTest, RequestsForOtherEventsAreStoredAtOnceOncePerThirdOfStaleAfter) {
  note(kStart);
  asks_.note_stored();

  EXPECT_EQ(note(kStart + 10s - 1ms, {"mail", {"b"}}), ToStore::soon);
  EXPECT_THAT(asks_.to_store(), SizeIs(1));
  EXPECT_EQ(note(kStart + 10s, {"mail", {"c"}}), ToStore::at_once);
  EXPECT_EQ(note(kStart + 10s, {"mail", {"d"}}), ToStore::soon);
  EXPECT_EQ(asks_.note("w:2", kMail, kStart + 10s), ToStore::at_once) << "each worker has its own interval";
}

TEST_F(AsksTest, AWorkerWithMoreThanSixteenSelectorsIsStoredAtOnceOncePerInterval) {
  int at_once = 0;
  for (int i = 0; i < 200; ++i) {
    const bool now = note(kStart + i * 100ms, {"q" + std::to_string(i % 20), {}}) == ToStore::at_once;
    at_once += now ? 1 : 0;
    asks_.note_stored();
  }
  EXPECT_EQ(at_once, 2) << "in 20 s";
}

TEST_F(AsksTest, AVeryShortStaleAfterStoresARequestOncePerSecond) {
  Asks hasty(1ms);
  EXPECT_EQ(hasty.note("w:1", kMail, kStart), ToStore::at_once);
  hasty.note_stored();

  EXPECT_EQ(hasty.note("w:1", kMail, kStart + 1s - 1ms), ToStore::nothing);
  EXPECT_EQ(hasty.note("w:1", kMail, kStart + 1s), ToStore::at_once);
}

TEST_F(AsksTest, AWorkerThatSignedOffAndAsksAgainIsStoredAtOnce) {
  note(kStart);
  asks_.note_stored();
  asks_.sign_off("w:1");
  EXPECT_THAT(asks_.all(), IsEmpty());

  EXPECT_EQ(note(kStart + 1s), ToStore::at_once);
  EXPECT_THAT(asks_.to_store(), SizeIs(1));
}

TEST_F(AsksTest, RecalledRequestsAreNotStoredAgain) {
  asks_.recall({{"w:1", kMail, kStart}});

  EXPECT_EQ(note(kStart + 1s), ToStore::nothing);
  EXPECT_EQ(describe(asks_.all()[0]), describe(WorkerAsk{"w:1", kMail, kStart + 1s}));
}

TEST_F(AsksTest, AWorkerHasAtMostSixteenSelectorsAndTheOldestIsReplaced) {
  for (int i = 0; i < 17; ++i) note(kStart + i * 1s, {"q" + std::to_string(i), {}});

  ASSERT_THAT(asks_.all(), SizeIs(16));
  EXPECT_EQ(asks_.all()[0].selector.queue, "q16");
}

TEST_F(AsksTest, BeyondTenThousandWorkersSilentOnesMakeRoom) {
  for (int i = 0; i < 10'000; ++i) asks_.note("w:" + std::to_string(i), kMail, kStart);
  EXPECT_EQ(asks_.note("new", kMail, kStart + 1min), ToStore::nothing);
  EXPECT_THAT(asks_.all(), SizeIs(10'000));

  EXPECT_EQ(asks_.note("new", kMail, kStart + 2min), ToStore::at_once);
  EXPECT_THAT(asks_.all(), SizeIs(1));
}

TEST_F(AsksTest, OldRequestsAreDropped) {
  note(kStart);
  note(kStart + 1s, {"other", {}});
  asks_.drop(kStart + 1s);

  ASSERT_THAT(asks_.all(), SizeIs(1));
  EXPECT_EQ(asks_.all()[0].selector.queue, "other");
}

}  // namespace
}  // namespace eventq
