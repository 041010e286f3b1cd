// retried_ends_test.cc: whose end is looked for when, by one look for all who wait for the same, and who is
// let go.
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
  void add(std::uint64_t token, decltype(WaitRequest::what) what, bool look = false) {
    ends.add({std::move(what), 20s}, {{nullptr, token}, "", kStart + Millis(token), {}}, look);
  }
  // What is to be looked for now, all of it.
  std::vector<std::string> looks() {
    std::vector<std::string> keys;
    while (auto look = ends.next_retry()) {
      EXPECT_EQ(look->timeout, 0s);
      keys.push_back(key_of(*look));
      looking[keys.back()] = *look;
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
  std::map<std::string, WaitRequest> looking;
};

TEST_F(RetriedEndsTest, NothingIsLookedForWithoutAHint) {
  add(1, EventId{1});
  EXPECT_THAT(looks(), IsEmpty());
  EXPECT_EQ(ends.size(), 1U);
}

TEST_F(RetriedEndsTest, OneWhoMissedAHintIsLookedForAtOnce) {
  add(1, EventId{1}, true);
  EXPECT_THAT(looks(), ElementsAre(first));
}

TEST_F(RetriedEndsTest, OneLookIsForAllWhoWaitForTheSame) {
  add(1, EventId{1});
  add(2, EventId{1});
  ends.note_all();
  EXPECT_THAT(looks(), ElementsAre(first));
  EXPECT_THAT(tokens(ends.ended(looking.at(first))), ElementsAre(1, 2));
  EXPECT_EQ(ends.size(), 0U);
}

TEST_F(RetriedEndsTest, AnEventThatEndedMayEndWhatHoldsIt) {
  add(1, EventId{1});
  add(2, EventId{2});
  add(3, WaitRequest::Correlated{"batch"});
  add(4, WaitRequest::Drained{"main"});
  ends.note({EventId{2}, EventId{3}});
  EXPECT_THAT(looks(), UnorderedElementsAre(second, batch, queue));
}

TEST_F(RetriedEndsTest, AnythingMayHaveEnded) {
  add(1, EventId{1});
  add(2, WaitRequest::Correlated{"batch"});
  ends.note_all();
  EXPECT_THAT(looks(), UnorderedElementsAre(first, batch));
}

TEST_F(RetriedEndsTest, AHintDuringALookLeadsToOneMoreBehindIt) {
  add(1, EventId{1});
  ends.note({EventId{1}});
  EXPECT_THAT(looks(), ElementsAre(first));
  ends.note({EventId{1}});
  ends.note({EventId{1}});
  EXPECT_THAT(looks(), IsEmpty());

  ends.not_ended(looking.at(first));
  EXPECT_THAT(looks(), ElementsAre(first));
  ends.not_ended(looking.at(first));
  EXPECT_THAT(looks(), IsEmpty());
  EXPECT_EQ(ends.size(), 1U);
}

TEST_F(RetriedEndsTest, OneWhoComesDuringALookGetsItsResult) {
  add(1, EventId{1}, true);
  EXPECT_THAT(looks(), ElementsAre(first));
  add(2, EventId{1});
  EXPECT_THAT(tokens(ends.ended(looking.at(first))), ElementsAre(1, 2));
}

TEST_F(RetriedEndsTest, OneWhoComesAfterTheEndIsLookedForAnew) {
  add(1, EventId{1}, true);
  EXPECT_THAT(looks(), ElementsAre(first));
  ends.ended(looking.at(first));
  add(2, EventId{1});
  EXPECT_THAT(looks(), IsEmpty());
  ends.note({EventId{1}});
  EXPECT_THAT(looks(), ElementsAre(first));
}

TEST_F(RetriedEndsTest, WhatNobodyWaitsForAnyMoreIsNotLookedFor) {
  add(1, EventId{1});
  ends.forget({nullptr, 1});
  EXPECT_EQ(ends.size(), 0U);
  ends.note_all();
  EXPECT_THAT(looks(), IsEmpty());
}

TEST_F(RetriedEndsTest, AWaitThatIsForgottenDuringItsLookIsNobodysWhenItEnds) {
  add(1, EventId{1}, true);
  EXPECT_THAT(looks(), ElementsAre(first));
  ends.forget({nullptr, 1});
  EXPECT_THAT(ends.ended(looking.at(first)), IsEmpty());

  add(2, EventId{1}, true);
  EXPECT_THAT(looks(), ElementsAre(first));
}

TEST_F(RetriedEndsTest, TimeEndsAWaitAtItsDeadlineAndNotBefore) {
  add(10, EventId{1});
  add(20, WaitRequest::Drained{"main"});
  EXPECT_EQ(ends.next_deadline(), kStart + 10ms);
  EXPECT_THAT(ends.take_expired(kStart + 9ms), IsEmpty());
  EXPECT_THAT(tokens(ends.take_expired(kStart + 10ms)), ElementsAre(10));
  EXPECT_THAT(tokens(ends.take_expired(kStart + 21ms)), ElementsAre(20));
  EXPECT_EQ(ends.next_deadline(), std::nullopt);
}

TEST_F(RetriedEndsTest, AShardThatIsAwayEndsTheWaitsForItsEventsAndForWhatIsOnAllShards) {
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
