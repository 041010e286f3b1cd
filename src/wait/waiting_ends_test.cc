// waiting_ends_test.cc: which waits a key ends, and which are forgotten or expire.
#include "wait/waiting_ends.h"

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

// A wait, identified by its number.
WaitingEnd wait(std::uint64_t number, std::string key, Millis time = 20s) {
  return {.reply_to = {nullptr, number}, .key = std::move(key), .deadline = kStart + time, .answer = {}};
}

std::vector<std::uint64_t> numbers(const std::vector<WaitingEnd>& waits) {
  std::vector<std::uint64_t> numbers;
  for (const WaitingEnd& wait : waits) numbers.push_back(wait.reply_to.token);
  return numbers;
}

TEST(WaitKey, EventsCorrelationsAndQueuesNeverShareAKey) {
  EXPECT_NE(wait_key(EventId{1}), wait_key(EventId{11}));
  EXPECT_NE(wait_key(EventId{1}), wait_key(WaitRequest::Correlated{"1"}));
  EXPECT_NE(wait_key(WaitRequest::Correlated{"1"}), wait_key(WaitRequest::Drained{"1"}));
  EXPECT_NE(wait_key(EventId{1}), wait_key(WaitRequest::Drained{"1"}));
}

TEST(WaitingEnds, AllWaitsForAKeyAreTakenInTheOrderOfArrival) {
  WaitingEnds waits;
  waits.add(wait(1, "a"));
  waits.add(wait(2, "b"));
  waits.add(wait(3, "a"));

  EXPECT_THAT(numbers(waits.take("a")), ElementsAre(1, 3));
  EXPECT_THAT(numbers(waits.take("a")), IsEmpty());
  EXPECT_EQ(waits.size(), 1U);
}

TEST(WaitingEnds, AWaitTakenByItsKeyDoesNotExpire) {
  WaitingEnds waits;
  waits.add(wait(1, "a"));
  waits.take("a");

  EXPECT_THAT(numbers(waits.take_expired(kStart + 1h)), IsEmpty());
  EXPECT_EQ(waits.next_deadline(), std::nullopt);
}

TEST(WaitingEnds, AWaitExpiresAtItsDeadlineAndNotBefore) {
  WaitingEnds waits;
  waits.add(wait(1, "a", 20s));

  EXPECT_THAT(numbers(waits.take_expired(kStart + 20s - 1ms)), IsEmpty());
  EXPECT_THAT(numbers(waits.take_expired(kStart + 20s)), ElementsAre(1));
  EXPECT_THAT(numbers(waits.take("a")), IsEmpty());
}

TEST(WaitingEnds, TheNextDeadlineIsTheEarliest) {
  WaitingEnds waits;
  waits.add(wait(1, "a", 30s));
  waits.add(wait(2, "a", 10s));
  waits.add(wait(3, "b", 20s));
  EXPECT_EQ(waits.next_deadline(), kStart + 10s);

  EXPECT_THAT(numbers(waits.take_expired(kStart + 20s)), ElementsAre(2, 3));
  EXPECT_EQ(waits.next_deadline(), kStart + 30s);
}

TEST(WaitingEnds, AForgottenWaitIsNeitherTakenNorExpires) {
  WaitingEnds waits;
  waits.add(wait(1, "a"));
  waits.add(wait(2, "a"));

  waits.forget({nullptr, 1});
  waits.forget({nullptr, 99});

  EXPECT_THAT(numbers(waits.take("a")), ElementsAre(2));
  EXPECT_EQ(waits.next_deadline(), std::nullopt);
}

TEST(WaitingEnds, ACallerIsASinkAndAToken) {
  class Nowhere final : public AnswerSink {
    void deliver(std::vector<Envelope<Answer>>) override {}
  };
  Nowhere sink;
  WaitingEnds waits;
  waits.add(wait(1, "a"));

  waits.forget({&sink, 1});

  EXPECT_EQ(waits.size(), 1U);
}

TEST(WaitingEnds, TakingAllEmptiesTheList) {
  WaitingEnds waits;
  waits.add(wait(1, "a"));
  waits.add(wait(2, "b"));

  EXPECT_THAT(numbers(waits.take_all()), UnorderedElementsAre(1, 2));
  EXPECT_EQ(waits.size(), 0U);
  EXPECT_EQ(waits.next_deadline(), std::nullopt);
}

TEST(WaitingEnds, TheAnswerToTheOtherPartsOfTheCommandIsKept) {
  WaitingEnds waits;
  WaitingEnd with_answer = wait(1, "a");
  with_answer.answer.backpressure = true;
  waits.add(std::move(with_answer));

  EXPECT_TRUE(waits.take("a").at(0).answer.backpressure);
}

}  // namespace
}  // namespace eventq
