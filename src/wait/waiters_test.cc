// waiters_test.cc: who is served next, who is gone, and whose time is over.
#include "wait/waiters.h"

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

// A waiter known by its number.
Waiter waiter(std::uint64_t number, std::vector<std::string> tags, Millis wait = 20s,
              std::string queue = "main") {
  Waiter waiter;
  waiter.reply_to = {nullptr, number};
  waiter.request.selector = {std::move(queue), std::move(tags)};
  waiter.request.wait = wait;
  waiter.deadline = kStart + wait;
  return waiter;
}

std::vector<std::uint64_t> numbers(const std::vector<Waiter>& waiters) {
  std::vector<std::uint64_t> numbers;
  for (const Waiter& waiter : waiters) numbers.push_back(waiter.reply_to.token);
  return numbers;
}

// The numbers of those served when one event of these tags comes after another, until nobody wants one.
std::vector<std::uint64_t> served(Waiters& waiters, const std::vector<std::string>& tags) {
  std::vector<std::uint64_t> numbers;
  while (auto first = waiters.take_first("main", tags)) numbers.push_back(first->second.reply_to.token);
  return numbers;
}

TEST(Waiters, TheOneThatCameFirstIsTakenFirst) {
  Waiters waiters;
  waiters.add(waiter(1, {"a"}));
  waiters.add(waiter(2, {"a"}));
  waiters.add(waiter(3, {"a"}));

  EXPECT_THAT(served(waiters, {"a"}), ElementsAre(1, 2, 3));
}

TEST(Waiters, AnEventOfSeveralTagsTakesTheOneThatCameFirstForAnyOfThem) {
  Waiters waiters;
  waiters.add(waiter(1, {"c"}));
  waiters.add(waiter(2, {"b"}));
  waiters.add(waiter(3, {"a"}));

  EXPECT_THAT(served(waiters, {"a", "b"}), ElementsAre(2, 3));
}

TEST(Waiters, AWaiterWithoutTagsStandsInLineForEveryEvent) {
  Waiters waiters;
  waiters.add(waiter(1, {"b"}));
  waiters.add(waiter(2, {}));
  waiters.add(waiter(3, {"a"}));

  EXPECT_THAT(served(waiters, {"a"}), ElementsAre(2, 3));
}

TEST(Waiters, AWaiterOfSeveralTagsIsTakenOnce) {
  Waiters waiters;
  waiters.add(waiter(1, {"a", "b"}));

  EXPECT_THAT(served(waiters, {"a"}), ElementsAre(1));
  EXPECT_THAT(served(waiters, {"b"}), IsEmpty());
}

TEST(Waiters, AnEventOfAnotherQueueTakesNobody) {
  Waiters waiters;
  waiters.add(waiter(1, {"a"}, 20s, "other"));

  EXPECT_FALSE(waiters.take_first("main", {"a"}));
}

TEST(Waiters, OnePutBackKeepsItsPlaceBeforeThoseThatCameLater) {
  Waiters waiters;
  waiters.add(waiter(1, {"a"}));
  waiters.add(waiter(2, {"a"}));
  auto first = waiters.take_first("main", {"a"});
  waiters.add(waiter(3, {"a"}));

  waiters.put_back(first->first, std::move(first->second));

  EXPECT_THAT(served(waiters, {"a"}), ElementsAre(1, 2, 3));
}

TEST(Waiters, OnePutBackIsFoundByItsOriginAndItsDeadline) {
  Waiters waiters;
  waiters.add(waiter(1, {"a"}, 5s));
  waiters.add(waiter(2, {"a"}, 9s));
  auto first = waiters.take_first("main", {"a"});

  waiters.put_back(first->first, std::move(first->second));

  EXPECT_EQ(waiters.next_deadline(), kStart + 5s);
  waiters.forget({nullptr, 1});
  EXPECT_EQ(waiters.next_deadline(), kStart + 9s);
}

TEST(Waiters, AForgottenOneIsNotTaken) {
  Waiters waiters;
  waiters.add(waiter(1, {"a"}));
  waiters.add(waiter(2, {"a"}));

  waiters.forget({nullptr, 1});

  EXPECT_THAT(served(waiters, {"a"}), ElementsAre(2));
}

TEST(Waiters, ForgettingSomebodyUnknownChangesNothing) {
  Waiters waiters;
  waiters.add(waiter(1, {"a"}));

  waiters.forget({nullptr, 7});

  EXPECT_THAT(served(waiters, {"a"}), ElementsAre(1));
}

TEST(Waiters, TimeIsOverAtTheDeadlineAndNotBefore) {
  Waiters waiters;
  waiters.add(waiter(1, {"a"}, 5s));

  EXPECT_THAT(waiters.take_expired(kStart + 5s - 1ms), IsEmpty());
  EXPECT_THAT(numbers(waiters.take_expired(kStart + 5s)), ElementsAre(1));
}

TEST(Waiters, ThoseWhoseTimeIsOverAreTakenAndTheOthersStay) {
  Waiters waiters;
  waiters.add(waiter(1, {"a"}, 9s));
  waiters.add(waiter(2, {"a"}, 5s));
  waiters.add(waiter(3, {"b"}, 5s));

  EXPECT_THAT(numbers(waiters.take_expired(kStart + 7s)), ElementsAre(2, 3));
  EXPECT_THAT(served(waiters, {"a", "b"}), ElementsAre(1));
}

TEST(Waiters, TheNextDeadlineIsTheEarliestAndThereIsNoneWhenNobodyWaits) {
  Waiters waiters;
  EXPECT_EQ(waiters.next_deadline(), std::nullopt);

  waiters.add(waiter(1, {"a"}, 9s));
  waiters.add(waiter(2, {"a"}, 5s));

  EXPECT_EQ(waiters.next_deadline(), kStart + 5s);
}

TEST(Waiters, TakingAllLeavesNobodyAndKeepsTheOrder) {
  Waiters waiters;
  waiters.add(waiter(1, {"b"}, 9s));
  waiters.add(waiter(2, {}, 5s));

  EXPECT_THAT(numbers(waiters.take_all()), ElementsAre(1, 2));
  EXPECT_EQ(waiters.next_deadline(), std::nullopt);
  EXPECT_THAT(served(waiters, {"b"}), IsEmpty());
}

TEST(Waiters, CountsThoseThatWaitForATagAndThoseThatNameNone) {
  Waiters waiters;
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
