// retried_ends_test.cc: a hint retries the ends it may concern, once for all callers that wait for the same.
#include "wait/retried_ends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/times.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class RetriedEndsTest : public testing::Test {
 protected:
  void add(std::uint64_t token, decltype(WaitRequest::what) what, bool retry_now = false) {
    ends.add({std::move(what), 20s}, {{nullptr, token}, "", kStart + Millis(token), {}}, retry_now);
  }
  // The keys of all ends that are retried now.
  std::vector<std::string> retries() {
    std::vector<std::string> keys;
    while (auto retry = ends.next_retry()) {
      EXPECT_EQ(retry->timeout, 0s);
      keys.push_back(key_of(*retry));
      retrying[keys.back()] = *retry;
    }
    return keys;
  }
  static std::string key_of(const WaitRequest& request) {
    if (const auto* id = std::get_if<EventId>(&request.what)) return wait_key(*id);
    if (const auto* id = std::get_if<WaitRequest::Correlated>(&request.what)) return wait_key(*id);
    return wait_key(std::get<WaitRequest::Drained>(request.what));
  }
  static std::vector<std::uint64_t> tokens(const std::vector<WaitingEnd>& waits) {
    std::vector<std::uint64_t> found;
    for (const WaitingEnd& wait : waits) found.push_back(wait.reply_to.token);
    std::sort(found.begin(), found.end());
    return found;
  }

  const std::string first = wait_key(EventId{1});
  const std::string second = wait_key(EventId{2});
  const std::string batch = wait_key(WaitRequest::Correlated{"batch"});
  const std::string queue = wait_key(WaitRequest::Drained{"main"});
  RetriedEnds ends;
  std::map<std::string, WaitRequest> retrying;
};

TEST_F(RetriedEndsTest, NoEndIsRetriedWithoutAHint) {
  add(1, EventId{1});
  EXPECT_THAT(retries(), IsEmpty());
  EXPECT_EQ(ends.size(), 1U);
}

TEST_F(RetriedEndsTest, AnEndAddedWithRetryNowIsRetriedAtOnce) {
  add(1, EventId{1}, true);
  EXPECT_THAT(retries(), ElementsAre(first));
}

TEST_F(RetriedEndsTest, OneRetryServesAllCallersOfTheSameEnd) {
  add(1, EventId{1});
  add(2, EventId{1});
  ends.note_all();
  EXPECT_THAT(retries(), ElementsAre(first));
  EXPECT_THAT(tokens(ends.ended(retrying.at(first))), ElementsAre(1, 2));
  EXPECT_EQ(ends.size(), 0U);
}

TEST_F(RetriedEndsTest, AnEndedEventMayEndACorrelationAndAQueue) {
  add(1, EventId{1});
  add(2, EventId{2});
  add(3, WaitRequest::Correlated{"batch"});
  add(4, WaitRequest::Drained{"main"});
  ends.note({EventId{2}, EventId{3}});
  EXPECT_THAT(retries(), UnorderedElementsAre(second, batch, queue));
}

TEST_F(RetriedEndsTest, AHintWithoutEventsRetriesEveryEnd) {
  add(1, EventId{1});
  add(2, WaitRequest::Correlated{"batch"});
  ends.note_all();
  EXPECT_THAT(retries(), UnorderedElementsAre(first, batch));
}

TEST_F(RetriedEndsTest, HintsDuringARetryLeadToOneMoreRetry) {
  add(1, EventId{1});
  ends.note({EventId{1}});
  EXPECT_THAT(retries(), ElementsAre(first));
  ends.note({EventId{1}});
  ends.note({EventId{1}});
  EXPECT_THAT(retries(), IsEmpty());

  ends.not_ended(retrying.at(first));
  EXPECT_THAT(retries(), ElementsAre(first));
  ends.not_ended(retrying.at(first));
  EXPECT_THAT(retries(), IsEmpty());
  EXPECT_EQ(ends.size(), 1U);
}

TEST_F(RetriedEndsTest, ACallerAddedDuringARetryGetsItsResult) {
  add(1, EventId{1}, true);
  EXPECT_THAT(retries(), ElementsAre(first));
  add(2, EventId{1});
  EXPECT_THAT(tokens(ends.ended(retrying.at(first))), ElementsAre(1, 2));
}

TEST_F(RetriedEndsTest, ACallerAddedAfterAnEndIsRetriedAnew) {
  add(1, EventId{1}, true);
  EXPECT_THAT(retries(), ElementsAre(first));
  ends.ended(retrying.at(first));
  add(2, EventId{1});
  EXPECT_THAT(retries(), IsEmpty());
  ends.note({EventId{1}});
  EXPECT_THAT(retries(), ElementsAre(first));
}

TEST_F(RetriedEndsTest, AnEndWithoutCallersIsNotRetried) {
  add(1, EventId{1});
  ends.forget({nullptr, 1});
  EXPECT_EQ(ends.size(), 0U);
  ends.note_all();
  EXPECT_THAT(retries(), IsEmpty());
}

TEST_F(RetriedEndsTest, AWaitForgottenDuringItsRetryIsNotAnswered) {
  add(1, EventId{1}, true);
  EXPECT_THAT(retries(), ElementsAre(first));
  ends.forget({nullptr, 1});
  EXPECT_THAT(ends.ended(retrying.at(first)), IsEmpty());

  add(2, EventId{1}, true);
  EXPECT_THAT(retries(), ElementsAre(first));
}

TEST_F(RetriedEndsTest, AWaitExpiresAtItsDeadlineAndNotBefore) {
  add(10, EventId{1});
  add(20, WaitRequest::Drained{"main"});
  EXPECT_EQ(ends.next_deadline(), kStart + 10ms);
  EXPECT_THAT(ends.take_expired(kStart + 9ms), IsEmpty());
  EXPECT_THAT(tokens(ends.take_expired(kStart + 10ms)), ElementsAre(10));
  EXPECT_THAT(tokens(ends.take_expired(kStart + 21ms)), ElementsAre(20));
  EXPECT_EQ(ends.next_deadline(), std::nullopt);
}

TEST_F(RetriedEndsTest, TakingTheWaitsOfAShardTakesThoseForItsEventsAndThoseThatConcernAllShards) {
  add(1, EventId{1});
  add(2, EventId{2});
  add(3, WaitRequest::Correlated{"batch"});
  add(4, WaitRequest::Drained{"main"});
  EXPECT_THAT(tokens(ends.take_of(1, 2)), ElementsAre(1, 3, 4));
  EXPECT_THAT(tokens(ends.take_all()), ElementsAre(2));
  EXPECT_EQ(ends.size(), 0U);
}

}  // namespace
}  // namespace eventq
