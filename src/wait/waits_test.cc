// waits_test.cc: who waits for which end, who is gone, and whose time is over.
#include "wait/waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/times.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// A wait known by its number.
Waits::Wait wait(std::uint64_t number, Millis time = 20s) {
  return {.reply_to = {nullptr, number}, .deadline = kStart + time, .answer = {}};
}

std::vector<std::uint64_t> numbers(const std::vector<Waits::Wait>& waits) {
  std::vector<std::uint64_t> numbers;
  for (const Waits::Wait& wait : waits) numbers.push_back(wait.reply_to.token);
  return numbers;
}

TEST(WaitKey, NoTwoThingsToWaitForShareOne) {
  EXPECT_NE(wait_key(EventId{1}), wait_key(EventId{11}));
  EXPECT_NE(wait_key(EventId{1}), wait_key(WaitRequest::Correlated{"1"}));
  EXPECT_NE(wait_key(WaitRequest::Correlated{"1"}), wait_key(WaitRequest::Drained{"1"}));
  EXPECT_NE(wait_key(EventId{1}), wait_key(WaitRequest::Drained{"1"}));
}

TEST(Waits, AllWhoWaitForAKeyAreTakenInTheOrderTheyCame) {
  Waits waits;
  waits.add("a", wait(1));
  waits.add("b", wait(2));
  waits.add("a", wait(3));

  EXPECT_THAT(numbers(waits.take("a")), ElementsAre(1, 3));
  EXPECT_THAT(numbers(waits.take("a")), IsEmpty());
  EXPECT_EQ(waits.size(), 1U);
}

TEST(Waits, AWaitTakenByItsKeyDoesNotExpire) {
  Waits waits;
  waits.add("a", wait(1));
  waits.take("a");

  EXPECT_THAT(numbers(waits.take_expired(kStart + 1h)), IsEmpty());
  EXPECT_EQ(waits.next_deadline(), std::nullopt);
}

TEST(Waits, AWaitEndsWithItsDeadlineAndNotBefore) {
  Waits waits;
  waits.add("a", wait(1, 20s));

  EXPECT_THAT(numbers(waits.take_expired(kStart + 20s - 1ms)), IsEmpty());
  EXPECT_THAT(numbers(waits.take_expired(kStart + 20s)), ElementsAre(1));
  EXPECT_THAT(numbers(waits.take("a")), IsEmpty());
}

TEST(Waits, TheNextDeadlineIsTheEarliest) {
  Waits waits;
  waits.add("a", wait(1, 30s));
  waits.add("a", wait(2, 10s));
  waits.add("b", wait(3, 20s));
  EXPECT_EQ(waits.next_deadline(), kStart + 10s);

  EXPECT_THAT(numbers(waits.take_expired(kStart + 20s)), ElementsAre(2, 3));
  EXPECT_EQ(waits.next_deadline(), kStart + 30s);
}

TEST(Waits, OneThatIsForgottenIsNeitherTakenNorExpires) {
  Waits waits;
  waits.add("a", wait(1));
  waits.add("a", wait(2));

  waits.forget({nullptr, 1});
  waits.forget({nullptr, 99});

  EXPECT_THAT(numbers(waits.take("a")), ElementsAre(2));
  EXPECT_EQ(waits.next_deadline(), std::nullopt);
}

TEST(Waits, AnOriginIsASinkAndAToken) {
  class Nowhere final : public AnswerSink {
    void deliver(std::vector<Envelope<Answer>>) override {}
  };
  Nowhere sink;
  Waits waits;
  waits.add("a", wait(1));

  waits.forget({&sink, 1});

  EXPECT_EQ(waits.size(), 1U);
}

TEST(Waits, TakeAllLeavesNobody) {
  Waits waits;
  waits.add("a", wait(1));
  waits.add("b", wait(2));

  EXPECT_THAT(numbers(waits.take_all()), UnorderedElementsAre(1, 2));
  EXPECT_EQ(waits.size(), 0U);
  EXPECT_EQ(waits.next_deadline(), std::nullopt);
}

TEST(Waits, TheAnswerOfTheRestOfTheCommandIsKept) {
  Waits waits;
  Waits::Wait with_answer = wait(1);
  with_answer.answer.backpressure = true;
  waits.add("a", std::move(with_answer));

  EXPECT_TRUE(waits.take("a").at(0).answer.backpressure);
}

}  // namespace
}  // namespace eventq
