// retried_claims_test.cc: a hint retries waiting claims on its shard, one at a time, and more of them after a
// retry found something.
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
  // The token of the claim that is retried next; 0: none.
  std::uint64_t next() {
    auto retry = claims.next_retry();
    if (!retry) return 0;
    retries[retry->claim.reply_to.token] = *retry;
    return retry->claim.reply_to.token;
  }

  Mailbox mailbox;
  RetriedClaims claims{2};
  std::map<std::uint64_t, ClaimRetry> retries;
};

TEST_F(RetriedClaimsTest, NoClaimIsRetriedWithoutAHint) {
  claims.add(waiter(1), false);
  EXPECT_EQ(next(), 0U);
}

TEST_F(RetriedClaimsTest, AHintRetriesTheFirstClaimOfAGroupOnItsShard) {
  claims.add(waiter(1), false);
  claims.add(waiter(2), false);
  claims.note_ready(1, "q");
  EXPECT_EQ(next(), 1U);
  EXPECT_THAT(retries.at(1).shards, ElementsAre(1));
  EXPECT_EQ(next(), 0U);
}

TEST_F(RetriedClaimsTest, AHintForAnotherQueueRetriesNothing) {
  claims.add(waiter(1), false);
  claims.note_ready(1, "other");
  EXPECT_EQ(next(), 0U);
}

TEST_F(RetriedClaimsTest, EachSelectorIsAGroupOfItsOwn) {
  claims.add(waiter(1, {"a"}), false);
  claims.add(waiter(2, {"b"}), false);
  claims.note_ready(0, "q");
  EXPECT_EQ(next(), 1U);
  EXPECT_EQ(next(), 2U);
  EXPECT_EQ(next(), 0U);
}

TEST_F(RetriedClaimsTest, AClaimThatFoundNothingKeepsItsPosition) {
  claims.add(waiter(1), false);
  claims.add(waiter(2), false);
  claims.note_ready(0, "q");
  next();
  claims.found_nothing(retries.at(1));
  EXPECT_EQ(next(), 0U);
  claims.note_ready(0, "q");
  EXPECT_EQ(next(), 1U);
}

TEST_F(RetriedClaimsTest, EverySuccessDoublesTheClaimsRetriedAtOnce) {
  for (std::uint64_t token = 1; token <= 9; ++token) claims.add(waiter(token), false);
  claims.note_ready(0, "q");
  EXPECT_EQ(next(), 1U);
  claims.found(retries.at(1), 0);
  EXPECT_EQ(next(), 2U);
  EXPECT_EQ(next(), 3U);
  EXPECT_EQ(next(), 0U);
  claims.found(retries.at(2), 0);
  EXPECT_EQ(next(), 4U);
  EXPECT_EQ(next(), 5U);
  EXPECT_EQ(next(), 6U);
  EXPECT_EQ(next(), 0U) << "four at once";
}

TEST_F(RetriedClaimsTest, ShardsThatARetryDidNotReachAreAskedByTheNext) {
  claims.add(waiter(1), false);
  claims.add(waiter(2), false);
  claims.note_all();
  next();
  EXPECT_THAT(retries.at(1).shards, ElementsAre(0, 1));
  claims.found(retries.at(1), 1);
  EXPECT_EQ(next(), 2U);
  EXPECT_THAT(retries.at(2).shards, ElementsAre(1));
}

TEST_F(RetriedClaimsTest, AHintDuringARetryIsNotLost) {
  claims.add(waiter(1), false);
  claims.note_ready(0, "q");
  next();
  claims.note_ready(0, "q");
  EXPECT_EQ(next(), 0U) << "one at a time";
  claims.found_nothing(retries.at(1));
  EXPECT_EQ(next(), 1U);
}

TEST_F(RetriedClaimsTest, AClaimWithAWindowIsRetriedWhenItsWorkerMayHoldFewerEvents) {
  claims.add(waiter(1, {}, 5), true);
  claims.add(waiter(2, {}, 5), true);
  EXPECT_EQ(next(), 1U);
  EXPECT_EQ(next(), 2U);
  claims.found_nothing(retries.at(1));
  claims.found_nothing(retries.at(2));
  claims.note_moved("w2");
  EXPECT_EQ(next(), 2U);
  EXPECT_THAT(retries.at(2).shards, ElementsAre(0, 1));
  EXPECT_EQ(next(), 0U);
}

TEST_F(RetriedClaimsTest, StreamsOfOneWorkerAreRetriedOneAtATime) {
  const auto stream = [&](std::uint64_t token, std::vector<std::string> tags) {
    WaitingClaim one = waiter(token, std::move(tags), 5);
    one.request.worker_id = "w";
    return one;
  };
  claims.add(stream(1, {}), true);
  claims.add(stream(2, {}), true);
  claims.add(stream(3, {"a"}), true);
  EXPECT_EQ(next(), 1U);
  EXPECT_EQ(next(), 0U);
  claims.found(retries.at(1), 0);
  EXPECT_EQ(next(), 2U);
  EXPECT_EQ(next(), 0U) << "still one at a time after one found something";
  claims.found_nothing(retries.at(2));
  EXPECT_EQ(next(), 3U);
  EXPECT_EQ(next(), 0U);
}

TEST_F(RetriedClaimsTest, AClaimExpiresUnlessItIsBeingRetried) {
  claims.add(waiter(1, {"a"}), false);
  claims.add(waiter(2, {"b"}), true);
  claims.add(waiter(3, {"c"}), false);
  EXPECT_EQ(next(), 2U);
  const std::vector<WaitingClaim> over = claims.take_expired(kStart + 2ms);
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over.front().reply_to.token, 1U);
  claims.found_nothing(retries.at(2));
  EXPECT_EQ(claims.next_deadline(), kStart + 2ms);
}

TEST_F(RetriedClaimsTest, AForgottenClaimIsNotRetried) {
  claims.add(waiter(1), false);
  claims.forget({&mailbox, 1});
  claims.forget({&mailbox, 1});
  claims.note_all();
  EXPECT_EQ(next(), 0U);
  EXPECT_EQ(claims.size(), 0U);
}

}  // namespace
}  // namespace eventq
