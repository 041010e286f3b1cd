// lifecycle_end_test.cc: what an event tells about its end: when, and whether it may have failed on its way.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "model/lifecycle.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kChanged{3'000'000s};

Event changed_event(Status status) {
  Event event;
  event.id = EventId{7};
  event.status = status;
  event.max_retries = 3;
  event.updated_at = kChanged;
  return event;
}

TEST(FinishedAt, IsTheTimeOfAnyEnd) {
  for (const Status status : {Status::completed, Status::completed_with_errors, Status::failed,
                              Status::superseded, Status::cancelled}) {
    EXPECT_EQ(finished_at(changed_event(status)), kChanged);
  }
  EXPECT_FALSE(finished_at(changed_event(Status::pending)));
  EXPECT_FALSE(finished_at(changed_event(Status::processing)));
}

TEST(ProcessedAt, IsNothingForAnEventThatNoWorkerEnded) {
  for (const Status status : {Status::completed, Status::completed_with_errors, Status::failed}) {
    EXPECT_EQ(processed_at(changed_event(status)), kChanged);
  }
  for (const Status status : {Status::superseded, Status::cancelled, Status::pending, Status::processing}) {
    EXPECT_FALSE(processed_at(changed_event(status)));
  }
}

// Makes one step of a walk, and returns whether the event failed by it. A step that the lifecycle refuses
// changes nothing.
bool step_fails(Event& event, int step) {
  const Policy policy{.retry = {RetryPolicy::Kind::fixed, 0s, 1h}, .lease = 0s, .max_attempts = 2};
  const Lease holder{event.id, "w:1", event.attempts};
  const Lease person{event.id, "", std::nullopt};
  if (step == 0 && !has_ended(event.status)) {
    const bool gives_up = out_of_attempts(event, policy);
    gives_up ? give_up(event, kChanged) : claim(event, "w:1", kChanged, policy);
    return gives_up;
  }
  const std::array<Change, 6> changes = {
      Change{holder, Fail{}},     Change{holder, Fail{{.permanent = true}}},
      Change{holder, Complete{}}, Change{holder, Release{}},
      Change{person, Reset{}},    Change{person, Cancel{}}};
  const Change& change = changes.at(static_cast<std::size_t>(std::max(step, 1) - 1));
  return decide(event, change, {}, kChanged, policy) && std::holds_alternative<Fail>(change.what);
}

TEST(MayHaveFailed, IsTrueForEveryEventThatFailedOnItsWay) {
  int failed_walks = 0;
  for (int walk = 0; walk < 7 * 7 * 7 * 7 * 7; ++walk) {  // all walks of five steps
    Event event = changed_event(Status::pending);
    bool failed = false;
    for (int left = walk, i = 0; i < 5; ++i, left /= 7) {
      if (step_fails(event, left % 7)) failed = true;
      EXPECT_TRUE(!failed || may_have_failed(event)) << "walk " << walk << ", step " << i;
    }
    if (failed) ++failed_walks;
  }
  EXPECT_GT(failed_walks, 1000);
}

TEST(MayHaveFailed, IsFalseForAnEventWhoseFirstAttemptIsHeldOrCompleted) {
  Event event = changed_event(Status::pending);
  EXPECT_FALSE(may_have_failed(event));
  claim(event, "w:1", kChanged, {});
  EXPECT_FALSE(may_have_failed(event));
  ASSERT_TRUE(decide(event, Change{{event.id, "w:1", 1}, Complete{}}, {}, kChanged, {}));
  EXPECT_FALSE(may_have_failed(event));
}

}  // namespace
}  // namespace eventq
