// leases_test.cc: when leases are due and when they expire.
#include "worker/leases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr SteadyTime kStart{1000s};
constexpr Attempt kFirst{EventId{1}, 1};
constexpr Attempt kSecond{EventId{2}, 1};

TEST(Leases, WithoutLeasesNothingIsDue) {
  Leases leases;

  EXPECT_EQ(leases.next_due(), SteadyTime::max());
  EXPECT_EQ(leases.next_end(), SteadyTime::max());
  EXPECT_THAT(leases.due(kStart), IsEmpty());
  EXPECT_THAT(leases.take_ended(kStart), IsEmpty());
}

TEST(Leases, ALeaseIsDueAfterAThirdAndExpiresAtItsEnd) {
  Leases leases;
  leases.add(kFirst, kStart, kStart, 60s);

  EXPECT_EQ(leases.length(kFirst), 60s);
  EXPECT_EQ(leases.next_due(), kStart + 20s);
  EXPECT_EQ(leases.next_end(), kStart + 60s);
  EXPECT_THAT(leases.due(kStart + 10s - 1ns), IsEmpty());
  EXPECT_THAT(leases.due(kStart + 10s), ElementsAre(kFirst));
  EXPECT_THAT(leases.take_ended(kStart + 60s - 1ns), IsEmpty());
  EXPECT_THAT(leases.take_ended(kStart + 60s), ElementsAre(kFirst));
}

TEST(Leases, ALeaseGrantedAfterALongWaitIsDueAtOnceAndLastsFromItsArrival) {
  Leases leases;
  leases.add(kFirst, kStart, kStart + 90s, 60s);

  EXPECT_THAT(leases.due(kStart + 90s), ElementsAre(kFirst));
  EXPECT_THAT(leases.take_ended(kStart + 150s - 1ns), IsEmpty());
  EXPECT_THAT(leases.take_ended(kStart + 150s), ElementsAre(kFirst));
}

TEST(Leases, ALeaseStaysDueUntilItIsRenewed) {
  Leases leases;
  leases.add(kFirst, kStart, kStart, 60s);

  EXPECT_THAT(leases.due(kStart + 30s), ElementsAre(kFirst));
  EXPECT_THAT(leases.due(kStart + 31s), ElementsAre(kFirst));
  leases.renew(kFirst, kStart + 31s);

  EXPECT_THAT(leases.due(kStart + 31s), IsEmpty());
  EXPECT_EQ(leases.next_due(), kStart + 51s);
  EXPECT_EQ(leases.next_end(), kStart + 91s);
}

TEST(Leases, AnExpiredLeaseIsReturnedOnceAndAgainOnlyAfterARenewal) {
  Leases leases;
  leases.add(kFirst, kStart, kStart, 60s);

  EXPECT_THAT(leases.take_ended(kStart + 60s), ElementsAre(kFirst));
  EXPECT_THAT(leases.take_ended(kStart + 61s), IsEmpty());
  EXPECT_EQ(leases.next_end(), SteadyTime::max());
  EXPECT_THAT(leases.due(kStart + 61s), ElementsAre(kFirst));

  leases.renew(kFirst, kStart + 61s);
  EXPECT_THAT(leases.take_ended(kStart + 121s), ElementsAre(kFirst));
}

TEST(Leases, TheLeaseThatExpiresFirstIsReturnedFirst) {
  Leases leases;
  leases.add(kFirst, kStart, kStart, 60s);
  leases.add(kSecond, kStart, kStart, 30s);

  EXPECT_EQ(leases.next_due(), kStart + 10s);
  EXPECT_THAT(leases.due(kStart + 10s - 1ns), ElementsAre(kSecond));
  EXPECT_THAT(leases.due(kStart + 10s), ElementsAre(kFirst, kSecond));
  EXPECT_THAT(leases.take_ended(kStart + 60s), ElementsAre(kSecond, kFirst));
}

TEST(Leases, ARemovedLeaseIsNotDueAndCannotBeRenewed) {
  Leases leases;
  leases.add(kFirst, kStart, kStart, 60s);
  leases.add(kSecond, kStart, kStart, 60s);

  leases.remove(kFirst);
  leases.remove(kFirst);
  leases.renew(kFirst, kStart);

  EXPECT_THAT(leases.due(kStart + 60s), ElementsAre(kSecond));
  EXPECT_THAT(leases.take_ended(kStart + 60s), ElementsAre(kSecond));
  EXPECT_EQ(leases.length(kFirst), 0ms);
}

TEST(Leases, TwoAttemptsAtOneEventAreTwoLeases) {
  constexpr Attempt kAgain{EventId{1}, 2};
  Leases leases;
  leases.add(kFirst, kStart, kStart, 30s);
  leases.add(kAgain, kStart + 30s, kStart + 30s, 30s);

  leases.remove(kFirst);

  EXPECT_THAT(leases.due(kStart + 60s), ElementsAre(kAgain));
}

}  // namespace
}  // namespace eventq
