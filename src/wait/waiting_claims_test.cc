// waiting_claims_test.cc: which claim an event serves first, and which claims are forgotten or expire.
#include "wait/waiting_claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/times.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

// A waiting claim, identified by its number.
WaitingClaim waiter(std::uint64_t number, std::vector<std::string> tags, Millis wait = 20s,
                    std::string queue = "main") {
  WaitingClaim waiter;
  waiter.reply_to = {nullptr, number};
  waiter.request.selector = {std::move(queue), std::move(tags)};
  waiter.request.wait = wait;
  waiter.deadline = kStart + wait;
  return waiter;
}

std::vector<std::uint64_t> numbers(const std::vector<WaitingClaim>& waiters) {
  std::vector<std::uint64_t> numbers;
  for (const WaitingClaim& waiter : waiters) numbers.push_back(waiter.reply_to.token);
  return numbers;
}

// Offers events of these tags until no claim takes one. Returns the numbers of the claims in that order.
std::vector<std::uint64_t> served(WaitingClaims& waiters, const std::vector<std::string>& tags) {
  std::vector<std::uint64_t> numbers;
  while (auto first = waiters.take_first("main", tags)) numbers.push_back(first->second.reply_to.token);
  return numbers;
}

TEST(WaitingClaims, TheClaimThatArrivedFirstIsTakenFirst) {
  WaitingClaims waiters;
  waiters.add(waiter(1, {"a"}));
  waiters.add(waiter(2, {"a"}));
  waiters.add(waiter(3, {"a"}));

  EXPECT_THAT(served(waiters, {"a"}), ElementsAre(1, 2, 3));
}

TEST(WaitingClaims, AnEventOfSeveralTagsTakesTheFirstClaimForAnyOfThem) {
  WaitingClaims waiters;
  waiters.add(waiter(1, {"c"}));
  waiters.add(waiter(2, {"b"}));
  waiters.add(waiter(3, {"a"}));

  EXPECT_THAT(served(waiters, {"a", "b"}), ElementsAre(2, 3));
}

TEST(WaitingClaims, AClaimWithoutTagsWaitsForEveryEvent) {
  WaitingClaims waiters;
  waiters.add(waiter(1, {"b"}));
  waiters.add(waiter(2, {}));
  waiters.add(waiter(3, {"a"}));

  EXPECT_THAT(served(waiters, {"a"}), ElementsAre(2, 3));
}

TEST(WaitingClaims, AClaimOfSeveralTagsIsTakenOnce) {
  WaitingClaims waiters;
  waiters.add(waiter(1, {"a", "b"}));

  EXPECT_THAT(served(waiters, {"a"}), ElementsAre(1));
  EXPECT_THAT(served(waiters, {"b"}), IsEmpty());
}

TEST(WaitingClaims, AnEventOfAnotherQueueTakesNoClaim) {
  WaitingClaims waiters;
  waiters.add(waiter(1, {"a"}, 20s, "other"));

  EXPECT_FALSE(waiters.take_first("main", {"a"}));
}

TEST(WaitingClaims, AClaimThatIsPutBackKeepsItsPosition) {
  WaitingClaims waiters;
  waiters.add(waiter(1, {"a"}));
  waiters.add(waiter(2, {"a"}));
  auto first = waiters.take_first("main", {"a"});
  waiters.add(waiter(3, {"a"}));

  waiters.put_back(first->first, std::move(first->second));

  EXPECT_THAT(served(waiters, {"a"}), ElementsAre(1, 2, 3));
}

TEST(WaitingClaims, AClaimThatIsPutBackIsFoundByItsCallerAndItsDeadline) {
  WaitingClaims waiters;
  waiters.add(waiter(1, {"a"}, 5s));
  waiters.add(waiter(2, {"a"}, 9s));
  auto first = waiters.take_first("main", {"a"});

  waiters.put_back(first->first, std::move(first->second));

  EXPECT_EQ(waiters.next_deadline(), kStart + 5s);
  waiters.forget({nullptr, 1});
  EXPECT_EQ(waiters.next_deadline(), kStart + 9s);
}

TEST(WaitingClaims, AForgottenClaimIsNotTaken) {
  WaitingClaims waiters;
  waiters.add(waiter(1, {"a"}));
  waiters.add(waiter(2, {"a"}));

  waiters.forget({nullptr, 1});

  EXPECT_THAT(served(waiters, {"a"}), ElementsAre(2));
}

TEST(WaitingClaims, ForgettingAnUnknownCallerChangesNothing) {
  WaitingClaims waiters;
  waiters.add(waiter(1, {"a"}));

  waiters.forget({nullptr, 7});

  EXPECT_THAT(served(waiters, {"a"}), ElementsAre(1));
}

TEST(WaitingClaims, AClaimExpiresAtItsDeadlineAndNotBefore) {
  WaitingClaims waiters;
  waiters.add(waiter(1, {"a"}, 5s));

  EXPECT_THAT(waiters.take_expired(kStart + 5s - 1ms), IsEmpty());
  EXPECT_THAT(numbers(waiters.take_expired(kStart + 5s)), ElementsAre(1));
}

TEST(WaitingClaims, ExpiredClaimsAreTakenAndTheOthersStay) {
  WaitingClaims waiters;
  waiters.add(waiter(1, {"a"}, 9s));
  waiters.add(waiter(2, {"a"}, 5s));
  waiters.add(waiter(3, {"b"}, 5s));

  EXPECT_THAT(numbers(waiters.take_expired(kStart + 7s)), ElementsAre(2, 3));
  EXPECT_THAT(served(waiters, {"a", "b"}), ElementsAre(1));
}

TEST(WaitingClaims, TheNextDeadlineIsTheEarliestAndAnEmptyListHasNone) {
  WaitingClaims waiters;
  EXPECT_EQ(waiters.next_deadline(), std::nullopt);

  waiters.add(waiter(1, {"a"}, 9s));
  waiters.add(waiter(2, {"a"}, 5s));

  EXPECT_EQ(waiters.next_deadline(), kStart + 5s);
}

TEST(WaitingClaims, TakingAllEmptiesTheListAndKeepsTheOrder) {
  WaitingClaims waiters;
  waiters.add(waiter(1, {"b"}, 9s));
  waiters.add(waiter(2, {}, 5s));

  EXPECT_THAT(numbers(waiters.take_all()), ElementsAre(1, 2));
  EXPECT_EQ(waiters.next_deadline(), std::nullopt);
  EXPECT_THAT(served(waiters, {"b"}), IsEmpty());
}

TEST(WaitingClaims, ClaimsAreCountedPerTagAndClaimsWithoutTagsApart) {
  WaitingClaims waiters;
  waiters.add(waiter(1, {"a", "b"}));
  waiters.add(waiter(2, {"a"}));
  waiters.add(waiter(3, {}));

  EXPECT_EQ(waiters.waiting("main", "a"), 2U);
  EXPECT_EQ(waiters.waiting("main", "b"), 1U);
  EXPECT_EQ(waiters.waiting("main", ""), 1U);
  EXPECT_EQ(waiters.waiting("main", "c"), 0U);
  EXPECT_EQ(waiters.waiting("other", "a"), 0U);
}

}  // namespace
}  // namespace eventq
