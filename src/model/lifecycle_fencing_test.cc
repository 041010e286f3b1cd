// lifecycle_fencing_test.cc: only the attempt that holds an event can end it, and a repeated report counts
// once.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "model/lifecycle.h"
#include "support/describe.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

const Policy kPatient{
    .retry = {RetryPolicy::Kind::fixed, 5min, 1h}, .lease = 60s, .max_retries = 3, .max_attempts = 9};

// Changes one event and its log as the queue does: decide() gets the log only when needs_log() is true.
class FencingTest : public testing::Test {
 protected:
  void claim_by(const std::string& worker_id) {
    for (LogEntry& entry : claim(event_, worker_id, now_, kPatient)) append(entry);
  }

  Result<Decision> apply(const Lease& lease, decltype(Change::what) what) {
    const Change change{lease, std::move(what)};
    const std::vector<LogEntry> shown = needs_log(event_, change) ? log_ : std::vector<LogEntry>();
    auto decision = decide(event_, change, shown, now_, kPatient);
    if (decision && decision->effect == ChangeEffect::recorded) append(decision->entry);
    return decision;
  }

  // "recorded 3 FAILED": the effect of the change, and the id and action of the returned entry.
  std::string report(const Lease& lease, decltype(Change::what) what) {
    const auto decision = apply(lease, std::move(what));
    if (!decision) return describe(decision.error().code);
    if (decision->effect == ChangeEffect::touched) return "touched";
    const std::string effect = decision->effect == ChangeEffect::recorded ? "recorded " : "repeated ";
    return effect + std::to_string(static_cast<std::int64_t>(decision->entry.log_id)) + " " +
           std::string(name_of(decision->entry.action));
  }

  void append(LogEntry& entry) {
    entry.log_id = LogId{static_cast<std::int64_t>(log_.size() + 1)};
    log_.push_back(entry);
  }

  static Lease lease(const std::string& worker_id, std::optional<int> attempt = {}) {
    return {EventId{7}, worker_id, attempt};
  }

  static Event new_event() {
    Event event = admit({.title = "mail", .tags = {"email"}}, "evt_1", TimePoint(1000s), kPatient);
    event.id = EventId{7};
    return event;
  }

  TimePoint now_{1000s};
  Event event_ = new_event();
  std::vector<LogEntry> log_;
};

TEST_F(FencingTest, TheHolderMayReportWithOrWithoutItsAttempt) {
  claim_by("w:1");

  EXPECT_EQ(report(lease("w:1", 1), Heartbeat{}), "touched");
  EXPECT_EQ(report(lease("w:1"), Heartbeat{}), "touched");
}

TEST_F(FencingTest, AnotherWorkerIsRefused) {
  claim_by("w:1");

  EXPECT_EQ(report(lease("x:9"), Complete{}), "lease_lost");
  EXPECT_EQ(report(lease("x:9", 1), Complete{}), "lease_lost");
}

TEST_F(FencingTest, TheHolderNamingAnotherAttemptIsRefused) {
  claim_by("w:1");

  EXPECT_EQ(report(lease("w:1", 2), Complete{}), "lease_lost");
}

TEST_F(FencingTest, ALateWorkerMayReportUntilAnotherClaimsTheEvent) {
  claim_by("w:1");
  now_ += 24h;

  EXPECT_EQ(report(lease("w:1", 1), Complete{}), "recorded 2 COMPLETED");
}

TEST_F(FencingTest, ALateHeartbeatRenewsTheLeaseUntilAnotherWorkerClaimsTheEvent) {
  claim_by("w:1");
  now_ += 24h;

  EXPECT_EQ(report(lease("w:1", 1), Heartbeat{}), "touched");

  EXPECT_EQ(describe(event_.due_at), describe(now_ + 60s));
}

TEST_F(FencingTest, ALateWorkerNeverOverwritesItsSuccessor) {
  claim_by("w:1");
  now_ += 60s;
  claim_by("x:9");
  const std::string before = describe(event_);

  EXPECT_EQ(report(lease("w:1", 1), Start{}), "lease_lost");
  EXPECT_EQ(report(lease("w:1", 1), Heartbeat{}), "lease_lost");
  EXPECT_EQ(report(lease("w:1", 1), Complete{}), "lease_lost");
  EXPECT_EQ(report(lease("w:1", 1), Fail{}), "lease_lost");
  EXPECT_EQ(report(lease("w:1", 1), Release{}), "lease_lost");
  EXPECT_EQ(report(lease("w:1"), Complete{}), "lease_lost");
  EXPECT_EQ(describe(event_), before);
}

TEST_F(FencingTest, ALateAttemptNeverOverwritesALaterOneOfTheSameWorker) {
  claim_by("w:1");
  now_ += 60s;
  claim_by("w:1");
  const std::string before = describe(event_);

  EXPECT_EQ(report(lease("w:1", 1), Heartbeat{}), "lease_lost");
  EXPECT_EQ(report(lease("w:1", 1), Complete{}), "lease_lost");
  EXPECT_EQ(report(lease("w:1", 1), Fail{}), "lease_lost");
  EXPECT_EQ(report(lease("w:1", 1), Release{}), "lease_lost");
  EXPECT_EQ(describe(event_), before);
  EXPECT_EQ(report(lease("w:1", 2), Complete{}), "recorded 4 COMPLETED");
}

TEST_F(FencingTest, AResetTakesTheEventFromItsWorker) {
  claim_by("w:1");
  static_cast<void>(apply(lease(""), Reset{"stuck"}));

  EXPECT_EQ(report(lease("w:1", 1), Complete{}), "lease_lost");
  EXPECT_EQ(report(lease("w:1"), Complete{}), "lease_lost");
}

TEST_F(FencingTest, ACancelTakesTheEventFromItsWorker) {
  claim_by("w:1");
  static_cast<void>(apply(lease(""), Cancel{"wrong"}));

  EXPECT_EQ(report(lease("w:1", 1), Complete{}), "lease_lost");
  EXPECT_EQ(report(lease("w:1"), Fail{}), "lease_lost");
}

TEST_F(FencingTest, AReportOnAnEventOutOfAttemptsIsRefused) {
  claim_by("w:1");
  now_ += 60s;
  for (LogEntry& entry : give_up(event_, now_)) append(entry);

  EXPECT_EQ(report(lease("w:1", 1), Complete{}), "lease_lost");
  EXPECT_EQ(report(lease("w:1", 1), Fail{}), "lease_lost");
}

TEST_F(FencingTest, ARepeatedStartIsAnsweredWithTheFirstAndExtendsNothing) {
  claim_by("w:1");
  EXPECT_EQ(report(lease("w:1", 1), Start{}), "recorded 2 STARTED");
  const std::string before = describe(event_);
  now_ += 10s;

  EXPECT_EQ(report(lease("w:1", 1), Start{}), "repeated 2 STARTED");
  EXPECT_EQ(report(lease("w:1"), Start{}), "repeated 2 STARTED");

  EXPECT_EQ(describe(event_), before);
}

TEST_F(FencingTest, ARepeatedCompletionIsAnsweredWithTheFirst) {
  claim_by("w:1");
  EXPECT_EQ(report(lease("w:1", 1), Complete{{.status_code = 200}}), "recorded 2 COMPLETED");
  const std::string before = describe(event_);
  now_ += 10s;

  const auto again = apply(lease("w:1", 1), Complete{{.status_code = 200}});

  ASSERT_TRUE(again);
  EXPECT_EQ(describe(again->entry), describe(log_[1]));
  EXPECT_EQ(report(lease("w:1"), Complete{}), "repeated 2 COMPLETED");
  EXPECT_EQ(describe(event_), before);
  EXPECT_EQ(actions_of(log_), "PICKED,COMPLETED");
}

TEST_F(FencingTest, ARepeatedFailureIsAnsweredWithTheFirstWhileTheEventWaits) {
  claim_by("w:1");
  EXPECT_EQ(report(lease("w:1", 1), Fail{}), "recorded 2 FAILED");
  const std::string before = describe(event_);

  EXPECT_EQ(report(lease("w:1", 1), Fail{}), "repeated 2 FAILED");
  EXPECT_EQ(report(lease("w:1"), Fail{}), "repeated 2 FAILED");

  EXPECT_EQ(describe(event_), before);
  EXPECT_EQ(event_.retry_count, 1);
}

TEST_F(FencingTest, ARepeatedFailureIsAnsweredWithTheFirstWhenAnotherWorkerHoldsTheEvent) {
  claim_by("w:1");
  static_cast<void>(apply(lease("w:1", 1), Fail{}));
  now_ += 5min;
  claim_by("x:9");
  const std::string before = describe(event_);

  EXPECT_EQ(report(lease("w:1", 1), Fail{}), "repeated 2 FAILED");
  EXPECT_EQ(report(lease("w:1"), Fail{}), "repeated 2 FAILED");

  EXPECT_EQ(describe(event_), before);
}

TEST_F(FencingTest, ARepeatedFinalFailureIsAnsweredWithTheFirst) {
  claim_by("w:1");
  EXPECT_EQ(report(lease("w:1", 1), Fail{{.permanent = true}}), "recorded 2 FAILED");
  const std::string before = describe(event_);

  EXPECT_EQ(report(lease("w:1", 1), Fail{{.permanent = true}}), "repeated 2 FAILED");
  EXPECT_EQ(report(lease("w:1"), Fail{}), "repeated 2 FAILED");

  EXPECT_EQ(describe(event_), before);
  EXPECT_FALSE(log_[1].next_retry_at);
}

TEST_F(FencingTest, ARepeatedFinalFailureIsAnsweredWithTheFirstAfterAReset) {
  claim_by("w:1");
  static_cast<void>(apply(lease("w:1", 1), Fail{{.permanent = true}}));
  static_cast<void>(apply(lease(""), Reset{}));

  EXPECT_EQ(report(lease("w:1", 1), Fail{{.permanent = true}}), "repeated 2 FAILED");

  EXPECT_EQ(event_.status, Status::pending);
}

TEST_F(FencingTest, ARepeatedReleaseIsAnsweredWithTheFirst) {
  claim_by("w:1");
  EXPECT_EQ(report(lease("w:1", 1), Release{}), "recorded 2 RELEASED");
  now_ += 1s;
  claim_by("x:9");

  EXPECT_EQ(report(lease("w:1", 1), Release{}), "repeated 2 RELEASED");
  EXPECT_EQ(report(lease("w:1"), Release{}), "repeated 2 RELEASED");

  EXPECT_EQ(event_.worker_id, "x:9");
}

TEST_F(FencingTest, ARepeatedCancelIsAnsweredWithTheFirst) {
  EXPECT_EQ(report(lease(""), Cancel{"wrong"}), "recorded 1 CANCELLED");

  const auto again = apply(lease(""), Cancel{"another reason"});

  ASSERT_TRUE(again);
  EXPECT_EQ(again->effect, ChangeEffect::repeated);
  EXPECT_EQ(again->entry.reason, "wrong");
}

TEST_F(FencingTest, AResetMadeTwiceIsTwoResets) {
  EXPECT_EQ(report(lease(""), Reset{}), "recorded 1 RESET");
  EXPECT_EQ(report(lease(""), Reset{}), "recorded 2 RESET");
}

TEST_F(FencingTest, TheSameWorkerFailingALaterAttemptIsANewReport) {
  claim_by("w:1");
  EXPECT_EQ(report(lease("w:1", 1), Fail{}), "recorded 2 FAILED");
  now_ += 5min;
  claim_by("w:1");

  EXPECT_EQ(report(lease("w:1", 2), Fail{}), "recorded 4 FAILED");

  EXPECT_EQ(event_.retry_count, 2);
}

TEST_F(FencingTest, AFailureWithoutAnAttemptMeansTheCurrentAttempt) {
  claim_by("w:1");
  EXPECT_EQ(report(lease("w:1"), Fail{}), "recorded 2 FAILED");
  now_ += 5min;
  claim_by("w:1");

  EXPECT_EQ(report(lease("w:1"), Fail{}), "recorded 4 FAILED");
}

TEST_F(FencingTest, ARepeatThatNamesAnEarlierAttemptIsAnsweredWithItsEntry) {
  claim_by("w:1");
  static_cast<void>(apply(lease("w:1", 1), Fail{}));
  now_ += 5min;
  claim_by("w:1");
  static_cast<void>(apply(lease("w:1", 2), Fail{}));

  EXPECT_EQ(report(lease("w:1", 1), Fail{}), "repeated 2 FAILED");
  EXPECT_EQ(report(lease("w:1", 2), Fail{}), "repeated 4 FAILED");
  EXPECT_EQ(report(lease("w:1"), Fail{}), "repeated 4 FAILED");
}

TEST_F(FencingTest, ALateReportWithoutAnAttemptIsNotTakenForOneOfAnEarlierAttempt) {
  claim_by("w:1");
  static_cast<void>(apply(lease("w:1"), Fail{}));
  now_ += 5min;
  claim_by("w:1");
  now_ += 60s;
  claim_by("x:9");

  // The log has the failure of attempt 1, but this report is about attempt 2, which was lost.
  EXPECT_EQ(report(lease("w:1"), Fail{}), "lease_lost");
}

TEST_F(FencingTest, AReportOfAnotherKindIsNotARepeat) {
  claim_by("w:1");
  static_cast<void>(apply(lease("w:1", 1), Fail{}));

  EXPECT_EQ(report(lease("w:1", 1), Complete{}), "lease_lost");
  EXPECT_EQ(report(lease("w:1", 1), Release{}), "lease_lost");
  EXPECT_EQ(report(lease("w:1", 1), Start{}), "lease_lost");
}

TEST_F(FencingTest, ARepeatByAnotherWorkerIsRefused) {
  claim_by("w:1");
  static_cast<void>(apply(lease("w:1", 1), Complete{}));

  EXPECT_EQ(report(lease("x:9", 1), Complete{}), "lease_lost");
  EXPECT_EQ(report(lease("w:1", 2), Complete{}), "lease_lost");
}

}  // namespace
}  // namespace eventq
