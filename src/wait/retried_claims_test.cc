// retried_claims_test.cc: who waits looks where a hint says, one at a time, more when there is more, and gets
// an answer.
#include "wait/retried_claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/mailbox.h"
#include "support/times.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class RetriedClaimsTest : public testing::Test {
 protected:
  WaitingClaim waiter(std::uint64_t token, std::vector<std::string> tags = {}, std::size_t window = 0) {
    ClaimRequest request{{"q", std::move(tags)}, "w" + std::to_string(token), 1, 20s, window};
    return {{&mailbox, token}, std::move(request), kStart + Millis(token), {}};
  }
  // Whose look is next; 0: nobody's.
  std::uint64_t next() {
    auto look = room.next_look();
    if (!look) return 0;
    looks[look->waiter.reply_to.token] = *look;
    return look->waiter.reply_to.token;
  }

  Mailbox mailbox;
  RetriedClaims room{2};
  std::map<std::uint64_t, RetriedClaims::Look> looks;
};

TEST_F(RetriedClaimsTest, NobodyLooksWithoutAHint) {
  room.add(waiter(1), false);
  EXPECT_EQ(next(), 0U);
}

TEST_F(RetriedClaimsTest, AHintSendsTheFirstOfThoseWhoWaitForTheSameToItsShard) {
  room.add(waiter(1), false);
  room.add(waiter(2), false);
  room.note_ready(1, "q");
  EXPECT_EQ(next(), 1U);
  EXPECT_THAT(looks.at(1).shards, ElementsAre(1));
  EXPECT_EQ(next(), 0U);
}

TEST_F(RetriedClaimsTest, AHintForAnotherQueueSendsNobody) {
  room.add(waiter(1), false);
  room.note_ready(1, "other");
  EXPECT_EQ(next(), 0U);
}

TEST_F(RetriedClaimsTest, EachSelectorHasALookOfItsOwn) {
  room.add(waiter(1, {"a"}), false);
  room.add(waiter(2, {"b"}), false);
  room.note_ready(0, "q");
  EXPECT_EQ(next(), 1U);
  EXPECT_EQ(next(), 2U);
  EXPECT_EQ(next(), 0U);
}

TEST_F(RetriedClaimsTest, WhoFoundNothingWaitsOnInItsOldPlace) {
  room.add(waiter(1), false);
  room.add(waiter(2), false);
  room.note_ready(0, "q");
  next();
  room.found_nothing(looks.at(1));
  EXPECT_EQ(next(), 0U);
  room.note_ready(0, "q");
  EXPECT_EQ(next(), 1U);
}

TEST_F(RetriedClaimsTest, WhoFoundSomethingMakesEverMoreLook) {
  for (std::uint64_t token = 1; token <= 9; ++token) room.add(waiter(token), false);
  room.note_ready(0, "q");
  EXPECT_EQ(next(), 1U);
  room.found(looks.at(1), 0);
  EXPECT_EQ(next(), 2U);
  EXPECT_EQ(next(), 3U);
  EXPECT_EQ(next(), 0U);
  room.found(looks.at(2), 0);
  EXPECT_EQ(next(), 4U);
  EXPECT_EQ(next(), 5U);
  EXPECT_EQ(next(), 6U);
  EXPECT_EQ(next(), 0U) << "four at once";
}

TEST_F(RetriedClaimsTest, WhatALookDidNotGetToIsLookedAtByTheNext) {
  room.add(waiter(1), false);
  room.add(waiter(2), false);
  room.note_all();
  next();
  EXPECT_THAT(looks.at(1).shards, ElementsAre(0, 1));
  room.found(looks.at(1), 1);
  EXPECT_EQ(next(), 2U);
  EXPECT_THAT(looks.at(2).shards, ElementsAre(1));
}

TEST_F(RetriedClaimsTest, AHintThatComesDuringALookIsNotLost) {
  room.add(waiter(1), false);
  room.note_ready(0, "q");
  next();
  room.note_ready(0, "q");
  EXPECT_EQ(next(), 0U) << "one at a time";
  room.found_nothing(looks.at(1));
  EXPECT_EQ(next(), 1U);
}

TEST_F(RetriedClaimsTest, ThoseWithAWindowLookForThemselvesWhenTheyMayHoldFewer) {
  room.add(waiter(1, {}, 5), true);
  room.add(waiter(2, {}, 5), true);
  EXPECT_EQ(next(), 1U);
  EXPECT_EQ(next(), 2U);
  room.found_nothing(looks.at(1));
  room.found_nothing(looks.at(2));
  room.note_moved("w2");
  EXPECT_EQ(next(), 2U);
  EXPECT_THAT(looks.at(2).shards, ElementsAre(0, 1));
  EXPECT_EQ(next(), 0U);
}

TEST_F(RetriedClaimsTest, OfTheStreamsOfOneWorkerOneLooksAtATime) {
  const auto stream = [&](std::uint64_t token, std::vector<std::string> tags) {
    WaitingClaim one = waiter(token, std::move(tags), 5);
    one.request.worker_id = "w";
    return one;
  };
  room.add(stream(1, {}), true);
  room.add(stream(2, {}), true);
  room.add(stream(3, {"a"}), true);
  EXPECT_EQ(next(), 1U);
  EXPECT_EQ(next(), 0U);
  room.found(looks.at(1), 0);
  EXPECT_EQ(next(), 2U);
  EXPECT_EQ(next(), 0U) << "nor more of them when one found something";
  room.found_nothing(looks.at(2));
  EXPECT_EQ(next(), 3U);
  EXPECT_EQ(next(), 0U);
}

TEST_F(RetriedClaimsTest, WhoseTimeIsOverLeavesUnlessItLooks) {
  room.add(waiter(1, {"a"}), false);
  room.add(waiter(2, {"b"}), true);
  room.add(waiter(3, {"c"}), false);
  EXPECT_EQ(next(), 2U);
  const std::vector<WaitingClaim> over = room.take_expired(kStart + 2ms);
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over.front().reply_to.token, 1U);
  room.found_nothing(looks.at(2));
  EXPECT_EQ(room.next_deadline(), kStart + 2ms);
}

TEST_F(RetriedClaimsTest, WhoIsForgottenDoesNotLook) {
  room.add(waiter(1), false);
  EXPECT_TRUE(room.forget({&mailbox, 1}));
  EXPECT_FALSE(room.forget({&mailbox, 1}));
  room.note_all();
  EXPECT_EQ(next(), 0U);
  EXPECT_EQ(room.size(), 0U);
}

}  // namespace
}  // namespace eventq
