// why_test.cc: the reason that the Core gives for each state of an event, and which claims count as demand.
// The sentences are tested in model/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/core.h"
#include "support/core_driver.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class CoreWhy : public CoreTest {
 protected:
  Explanation explain(EventId id) { return driver.answer(driver.run(why(id))).explanation->value(); }
  std::string_view reason(EventId id) { return explain(id).why.reason; }
  EventId publish_mail() { return driver.publish({.title = "mail", .tags = {"email", "urgent"}}); }
};
INSTANTIATE_TEST_SUITE_P(AllStores, CoreWhy, testing::Values(StoreKind::memory, StoreKind::real),
                         name_of_store);

TEST_P(CoreWhy, AReadyEventWithoutAnyClaimHasNoSubscriber) {
  const EventId id = publish_mail();

  const Explanation explanation = explain(id);

  EXPECT_EQ(explanation.id, id);
  EXPECT_EQ(explanation.status, Status::pending);
  EXPECT_EQ(explanation.why.reason, "nobody_subscribes");
  EXPECT_THAT(explanation.why.explanation, HasSubstr("\"email,urgent\" of queue main"));
}

TEST_P(CoreWhy, AReadyEventThatAClaimAskedForWaitsForAWorker) {
  driver.run(claim({"urgent"}, "host:1"));
  clock().advance(90s);
  const EventId id = publish_mail();

  const Explanation explanation = explain(id);

  EXPECT_EQ(explanation.why.reason, "waiting_for_worker");
  EXPECT_THAT(explanation.why.explanation, HasSubstr("1m30s ago"));
}

TEST_P(CoreWhy, AClaimThatNamesNoTagAsksForEveryEvent) {
  driver.run(claim({}, "host:1"));

  EXPECT_EQ(reason(publish_mail()), "waiting_for_worker");
}

TEST_P(CoreWhy, AClaimOfOtherTagsDoesNotAskForTheEvent) {
  driver.run(claim({"printer"}, "host:1"));

  EXPECT_EQ(reason(publish_mail()), "nobody_subscribes");
}

TEST_P(CoreWhy, AClaimInAnotherQueueDoesNotAskForTheEvent) {
  Command other = claim({"email"}, "host:1");
  other.claim->selector.queue = "other";
  driver.run(other);

  EXPECT_EQ(reason(publish_mail()), "nobody_subscribes");
}

TEST_P(CoreWhy, AClaimThatWaitedAsksForTheEventAlsoWhenItIsOver) {
  driver.run(claim_or_wait({"email"}, "host:1"));
  clock().advance(20s);
  driver.run_once();

  EXPECT_EQ(reason(publish_mail()), "waiting_for_worker");
}

TEST_P(CoreWhy, AFailedEventWaitsForItsRetry) {
  const EventId id = publish_mail();
  driver.run(fail(driver.claim("email", "host:1"), "no network"));
  clock().advance(2min);

  const Explanation explanation = explain(id);

  EXPECT_EQ(explanation.status, Status::pending);
  EXPECT_EQ(explanation.why.reason, "waiting_for_retry");
  EXPECT_THAT(explanation.why.explanation, HasSubstr("in 3m."));
  EXPECT_THAT(explanation.why.explanation, HasSubstr("It said: no network"));
}

TEST_P(CoreWhy, AnEventWithAWorkerIsWorkedOn) {
  const EventId id = publish_mail();
  driver.claim("email", "host:1");
  clock().advance(20s);

  const Explanation explanation = explain(id);

  EXPECT_EQ(explanation.status, Status::processing);
  EXPECT_EQ(explanation.why.reason, "working");
  EXPECT_THAT(explanation.why.explanation, HasSubstr("attempt 1 by host:1"));
  EXPECT_THAT(explanation.why.explanation, HasSubstr("20s ago"));
  EXPECT_THAT(explanation.why.explanation, HasSubstr("ends in 40s"));
}

TEST_P(CoreWhy, AnEventWhoseLeaseHasEndedIsAbandoned) {
  const EventId id = publish_mail();
  driver.claim("email", "host:1");
  clock().advance(65s);

  const Explanation explanation = explain(id);

  EXPECT_EQ(explanation.status, Status::processing);
  EXPECT_EQ(explanation.why.reason, "abandoned");
  EXPECT_THAT(explanation.why.explanation, HasSubstr("attempt 1 by host:1 ended 5s ago"));
}

TEST_P(CoreWhy, ACompletedEventIsCompleted) {
  const EventId id = publish_mail();
  driver.run(complete(driver.claim("email", "host:1")));

  EXPECT_EQ(explain(id).status, Status::completed);
  EXPECT_EQ(explain(id).why.reason, "completed");
  EXPECT_THAT(explain(id).why.explanation, HasSubstr("host:1"));
}

TEST_P(CoreWhy, AnEventCompletedWithErrorsSaysSo) {
  const EventId id = publish_mail();
  driver.run(change({driver.claim("email", "host:1"), Complete{{.errors = {"no fax"}}}}));

  EXPECT_EQ(explain(id).status, Status::completed_with_errors);
  EXPECT_EQ(explain(id).why.reason, "completed_with_errors");
}

TEST_P(CoreWhy, AnEventThatFailedForGoodSaysHowOftenItWasTried) {
  const EventId id = driver.publish({.title = "mail", .tags = {"email"}, .max_retries = 1});
  driver.run(fail(driver.claim("email", "host:1"), "no network"));

  EXPECT_EQ(explain(id).why.reason, "failed");
  EXPECT_THAT(explain(id).why.explanation, HasSubstr("failures reported 1"));
  EXPECT_THAT(explain(id).why.explanation, HasSubstr("It said: no network"));
}

TEST_P(CoreWhy, AnEventThatWasGivenUpSaysWhy) {
  Policy policy = kPolicy;
  policy.max_attempts = 1;
  driver.restart(policy);
  const EventId id = publish_mail();
  driver.claim("email", "host:1");
  clock().advance(60s);

  EXPECT_EQ(explain(id).why.reason, "failed");
  EXPECT_THAT(explain(id).why.explanation, HasSubstr("Reason: Claimed 1 times in a row without a report."));
}

TEST_P(CoreWhy, ACancelledEventSaysWhy) {
  const EventId id = publish_mail();
  driver.run(cancel(id, "not wanted"));

  EXPECT_EQ(explain(id).why.reason, "cancelled");
  EXPECT_THAT(explain(id).why.explanation, HasSubstr("Reason: not wanted"));
}

TEST_P(CoreWhy, AnUnknownEventIsNotFound) {
  const Token token = driver.run(why(EventId{99}));

  EXPECT_EQ(driver.answer(token).explanation->error().code, ErrorCode::not_found);
  EXPECT_EQ(driver.answer(token).explanation->error().message, "There is no event 99.");
}

TEST_P(CoreWhy, AnExplanationShowsTheStateAfterTheOtherCommandsOfItsRun) {
  publish_mail();

  const auto [asking, claiming] = driver.run_together(claim({"email"}, "host:1"), why(EventId{1}));

  EXPECT_EQ((*driver.answer(claiming).explanation)->status, Status::processing);
}

}  // namespace
}  // namespace eventq
