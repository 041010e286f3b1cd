// handler_report_test.cc: which result decides, and how messages are combined.
#include "worker/handler_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "base/utf8.h"
#include "eventq/limits.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Outcome outcome(const std::vector<Handled>& handled) {
  return std::get<Outcome>(handler_report(handled, 7ms));
}
Failure failure(const std::vector<Handled>& handled) {
  return std::get<Failure>(handler_report(handled, 7ms));
}
Return given_back(const std::vector<Handled>& handled) {
  return std::get<Return>(handler_report(handled, 7ms));
}

TEST(HandlerReport, DoneIsAnOutcomeWithoutErrors) {
  EXPECT_THAT(outcome({Handled::done()}).errors, IsEmpty());
  EXPECT_EQ(outcome({Handled::done(), Handled::done()}).execution_time_ms, 7);
}

TEST(HandlerReport, TheLastResultIsThatOfTheEvent) {
  EXPECT_EQ(outcome({Handled::done("[1]")}).result, "[1]");
  EXPECT_EQ(outcome({Handled::done("[1]"), Handled::error("late", "[2]"), Handled::done()}).result, "[2]");
  EXPECT_EQ(outcome({Handled::done()}).result, "");
}

TEST(HandlerReport, AResultThatTheQueueWouldRefuseIsAPermanentFailure) {
  const auto text_of = [](std::size_t bytes) { return '"' + std::string(bytes - 2, 'x') + '"'; };

  EXPECT_EQ(outcome({Handled::done(text_of(limits::kResult))}).result.size(), limits::kResult);
  const Failure too_large = failure({Handled::done(text_of(limits::kResult + 1))});
  EXPECT_TRUE(too_large.permanent);
  EXPECT_EQ(too_large.message, "The result has 65537 bytes; at most 65536 are allowed.");
  EXPECT_THAT(failure({Handled::done("{")}).message, testing::HasSubstr("The result is not JSON"));
}

TEST(HandlerReport, AFailureHasItsDetailAndNoResult) {
  const Failure retry = failure({Handled::done("[1]"), Handled::retry("timeout", "at line 7")});

  EXPECT_EQ(retry.message, "timeout");
  EXPECT_EQ(retry.detail, "at line 7");
  EXPECT_EQ(failure({Handled::fail("no", std::string("a\0\xFF", 3))}).detail, "a \xEF\xBF\xBD");
}

TEST(HandlerReport, OfALongDetailTheEndIsKept) {
  const std::string last = "the error";
  const auto detail = [&](std::size_t bytes) {
    return failure({Handled::retry("no", std::string(bytes - last.size(), 'x') + last)}).detail;
  };

  for (const std::size_t bytes : {limits::kErrorDetail - 1, limits::kErrorDetail}) {
    EXPECT_EQ(detail(bytes).size(), bytes);
  }
  EXPECT_EQ(detail(limits::kErrorDetail + 1).size(), limits::kErrorDetail);
  EXPECT_TRUE(detail(limits::kErrorDetail + 1).ends_with(last));
}

TEST(HandlerReport, EveryErrorIsKeptInTheOrderOfTheHandlers) {
  EXPECT_THAT(outcome({Handled::error("no printer"), Handled::done(), Handled::error("no ink")}).errors,
              ElementsAre("no printer", "no ink"));
}

TEST(HandlerReport, RetryIsAFailureThatMayBeRetried) {
  const Failure retry = failure({Handled::done(), Handled::retry("timeout")});

  EXPECT_EQ(retry.message, "timeout");
  EXPECT_FALSE(retry.permanent);
  EXPECT_EQ(retry.execution_time_ms, 7);
}

TEST(HandlerReport, FailIsAPermanentFailure) {
  EXPECT_TRUE(failure({Handled::fail("no such customer")}).permanent);
  EXPECT_EQ(failure({Handled::fail("no such customer")}).message, "no such customer");
}

TEST(HandlerReport, LaterGivesBackForTheLongestRequestedTime) {
  const Return later =
      given_back({Handled::later(10s, "busy"), Handled::later(60s, "closed"), Handled::done()});

  EXPECT_EQ(later.delay, 60s);
  EXPECT_EQ(later.reason, "busy; closed");
}

TEST(HandlerReport, TheMostSevereResultDecidesAndItsMessageComesFirst) {
  const Handled error = Handled::error("error");
  const Handled later = Handled::later(1s, "later");
  const Handled retry = Handled::retry("retry");
  const Handled fail = Handled::fail("fail");

  EXPECT_EQ(given_back({error, later}).reason, "later; error");
  EXPECT_EQ(failure({error, later, retry}).message, "retry\nlater\nerror");
  EXPECT_FALSE(failure({error, later, retry}).permanent);
  EXPECT_EQ(failure({error, later, retry, fail}).message, "fail\nretry\nlater\nerror");
  EXPECT_TRUE(failure({fail, retry, later, error, Handled::done()}).permanent);
}

TEST(HandlerReport, NoResultAtAllIsAFailureThatMayBeRetried) {
  EXPECT_EQ(failure({}).message, "No handler of this worker matches the event.");
  EXPECT_FALSE(failure({}).permanent);
}

TEST(HandlerReport, MessagesAreCutAtACharacter) {
  const std::string fits(limits::kErrorMessage, 'x');

  EXPECT_EQ(failure({Handled::retry(fits)}).message, fits);
  EXPECT_EQ(failure({Handled::retry(fits + "x")}).message, fits);
  EXPECT_EQ(failure({Handled::retry(fits.substr(1) + "\xC3\xA9")}).message, fits.substr(1));
  EXPECT_THAT(outcome({Handled::error(fits + "x")}).errors, ElementsAre(fits));
}

TEST(HandlerReport, MessagesBecomeTextThatTheQueueAccepts) {
  EXPECT_EQ(failure({Handled::retry("a\xFF"s)}).message, "a\xEF\xBF\xBD");
  EXPECT_EQ(failure({Handled::retry("a\0b"s)}).message, "a b");
  EXPECT_THAT(outcome({Handled::error("")}).errors, ElementsAre("An error without a message."));
  EXPECT_EQ(given_back({Handled::later(1s, "a\nb\x7F")}).reason, "a b ");
}

TEST(HandlerReport, MessagesOfInvalidBytesAreCutAfterTheyGrew) {
  const std::string message = failure({Handled::retry(std::string(limits::kErrorMessage, '\xFF'))}).message;

  EXPECT_LE(message.size(), limits::kErrorMessage);
  EXPECT_GT(message.size(), limits::kErrorMessage - 3);
  EXPECT_TRUE(valid_utf8(message));
}

TEST(HandlerReport, AReasonHasAtMost1000Characters) {
  EXPECT_THAT(given_back({Handled::later(1s, std::string(1000, 'x'))}).reason, SizeIs(1000));
  EXPECT_THAT(given_back({Handled::later(1s, std::string(1001, 'x'))}).reason, SizeIs(1000));
}

TEST(HandlerReport, TheHundredthErrorCountsTheErrorsAfterIt) {
  const std::vector<Handled> handled(limits::kErrors, Handled::error("e"));
  EXPECT_THAT(outcome(handled).errors, AllOf(SizeIs(100), Each("e")));

  std::vector<Handled> more = handled;
  more.push_back(Handled::error("e"));
  EXPECT_THAT(outcome(more).errors, SizeIs(100));
  EXPECT_EQ(outcome(more).errors.back(), "And 2 more errors.");
}

TEST(HandlerReport, TimesAreKeptWithinTheirLimits) {
  EXPECT_EQ(given_back({Handled::later(-1s)}).delay, 0s);
  EXPECT_EQ(given_back({Handled::later(limits::kDelay + 1ms)}).delay, limits::kDelay);
  EXPECT_EQ(std::get<Outcome>(handler_report({Handled::done()}, Millis::max())).execution_time_ms,
            limits::kExecutionTimeMs);
}

}  // namespace
}  // namespace eventq
