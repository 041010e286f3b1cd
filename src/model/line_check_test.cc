// line_check_test.cc: which claims of one line are found to be out of order.
#include "model/line_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eventq {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

LogStep picked(std::int64_t id) { return {.action = "PICKED", .attempt = 1, .worker_id = "w", .id = id}; }
LogStep completed(std::int64_t id) {
  return {.action = "COMPLETED", .attempt = 1, .worker_id = "w", .id = id};
}
LogStep failed(std::int64_t id, bool retries) {
  return {.action = "FAILED", .attempt = 1, .worker_id = "w", .retries = retries, .id = id};
}
LogStep step(const char* action, std::int64_t id) { return {.action = action, .attempt = 1, .id = id}; }

TEST(LineCheck, EventsThatRunOneAfterTheOtherAreInOrder) {
  LineCheck line;
  EXPECT_THAT(line.add(1, {picked(1), completed(2)}), IsEmpty());
  EXPECT_THAT(line.add(2, {picked(3), failed(4, true), picked(5), completed(6)}), IsEmpty());
  EXPECT_THAT(line.add(3, {}), IsEmpty());
}

TEST(LineCheck, AClaimBeforeThePreviousEventEndedIsFound) {
  LineCheck line;
  EXPECT_THAT(line.add(1, {picked(1), completed(4)}), IsEmpty());

  const auto faults = line.add(2, {picked(3), completed(5)});

  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_EQ(faults[0].entry, 3);
  EXPECT_THAT(faults[0].text, HasSubstr("before event 1 had ended"));
}

TEST(LineCheck, AClaimWhileThePreviousEventWaitsForItsRetryIsFound) {
  LineCheck line;
  line.add(1, {picked(1), failed(2, true), picked(5), completed(6)});
  EXPECT_THAT(line.add(2, {picked(3), completed(4)}), SizeIs(1));
}

TEST(LineCheck, AClaimAfterAnEventThatNeverEndedIsFound) {
  LineCheck line;
  line.add(1, {});
  EXPECT_THAT(line.add(2, {picked(1), completed(2)}), SizeIs(1));
}

TEST(LineCheck, AfterAFinalFailureTheNextEventMayRun) {
  LineCheck line;
  line.add(1, {picked(1), failed(2, false)});
  EXPECT_THAT(line.add(2, {picked(3), completed(4)}), IsEmpty());
}

TEST(LineCheck, AResetEventRunsBeforeYoungerOnesAgain) {
  LineCheck line;
  line.add(1, {picked(1), failed(2, false), step("RESET", 5), picked(6), completed(7)});
  EXPECT_THAT(line.add(2, {picked(3), completed(4)}), IsEmpty());
  EXPECT_THAT(line.add(3, {picked(8), completed(9)}), IsEmpty());
}

TEST(LineCheck, AClaimWhileAnOlderEventIsLiveAgainIsFound) {
  LineCheck line;
  line.add(1, {picked(1), failed(2, false), step("RESET", 3), picked(6), completed(7)});
  EXPECT_THAT(line.add(2, {picked(4), completed(5)}), SizeIs(1));
}

TEST(LineCheck, AnotherWorkerMayTakeOverAnEventWhileAnOlderOneIsLiveAgain) {
  LineCheck line;
  line.add(1, {picked(1), failed(2, false), step("RESET", 4), picked(8), completed(9)});
  EXPECT_THAT(line.add(2, {picked(3), step("ABANDONED", 5), picked(6), completed(7)}), IsEmpty());
}

TEST(LineCheck, TwoEventsInWorkAtOnceAreFound) {
  LineCheck line;
  line.add(1, {picked(1), failed(2, false), step("RESET", 4), picked(5), completed(7)});
  EXPECT_THAT(line.add(2, {picked(3), completed(6)}), SizeIs(1));
}

}  // namespace
}  // namespace eventq
