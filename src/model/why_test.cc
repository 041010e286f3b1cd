// why_test.cc: the reason and the explanation for each state of an event.
#include "model/why.h"

#include <gtest/gtest.h>

namespace eventq {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kAsked{1'000'000s};
const Demand kNobodyAsked{};
const std::optional<LogEntry> kNoEntry;

Event event_that_is(Status status) {
  return {.id = EventId{7},
          .queue = "main",
          .tags = {"email", "priority-high"},
          .max_retries = 3,
          .status = status,
          .attempts = 2,
          .worker_id = "host-a:1",
          .due_at = kAsked,
          .updated_at = kAsked};
}

Why explain(const Event& event, const std::optional<LogEntry>& last_entry, const Demand& demand,
            TimePoint now) {
  return eventq::explain(event, WhyContext{.demand = demand, .last_entry = last_entry}, now);
}

LogEntry failure_saying(const std::string& message) {
  return {.action = Action::failed, .error_message = message};
}

LogEntry entry_because(Action action, const std::string& reason) {
  return {.action = action, .reason = reason};
}

TEST(Why, APendingEventThatFailedWaitsForItsRetry) {
  Event event = event_that_is(Status::pending);
  event.retry_count = 1;
  event.due_at = kAsked + 3min + 20s;

  const Why why = explain(event, failure_saying("mail server unreachable"), kNobodyAsked, kAsked);

  EXPECT_EQ(why.reason, "waiting_for_retry");
  EXPECT_EQ(why.explanation,
            "Failure 1 of 3 was reported; it may run again in 3m20s. It said: mail server unreachable");
}

TEST(Why, APendingEventSaysThatNoWorkerAskedForIt) {
  const Why why = explain(event_that_is(Status::pending), kNoEntry, kNobodyAsked, kAsked);

  EXPECT_EQ(why.reason, "nobody_subscribes");
  EXPECT_EQ(why.explanation,
            "It is ready, but no worker has asked for any of its tags \"email,priority-high\" of queue main "
            "lately.");
}

TEST(Why, APendingEventSaysWhenAWorkerLastAsked) {
  const Why why =
      explain(event_that_is(Status::pending), kNoEntry, {.waiting = 0, .last_poll = kAsked - 90s}, kAsked);

  EXPECT_EQ(why.reason, "waiting_for_worker");
  EXPECT_EQ(
      why.explanation,
      "It is ready. A worker last asked for one of its tags \"email,priority-high\" of queue main 1m30s "
      "ago; the next one to ask gets it, after those of higher priority or published before.");
}

TEST(Why, APendingEventThatWorkersWaitForIsNext) {
  const Why why =
      explain(event_that_is(Status::pending), kNoEntry, {.waiting = 2, .last_poll = kAsked}, kAsked);

  EXPECT_EQ(why.reason, "waiting_for_worker");
  EXPECT_EQ(why.explanation,
            "It is ready and workers wait for its tags \"email,priority-high\" of queue main; it is next.");
}

TEST(Why, TheDemoWorkerIsNamedWhereItIsTheReason) {
  Event event = event_that_is(Status::pending);
  WhyContext context{.demand = kNobodyAsked, .demo_leaves_to = "laptop:1"};
  EXPECT_EQ(eventq::explain(event, context, kAsked).explanation,
            "It is ready, but no worker has asked for any of its tags \"email,priority-high\" of queue main "
            "lately. "
            "The demo worker of `eventq dev` leaves it to worker laptop:1, which asks for its tags.");

  event.status = Status::completed;
  event.worker_id = kDemoWorker;
  EXPECT_EQ(eventq::explain(event, {}, kAsked).explanation,
            "It was completed by the demo worker of `eventq dev`.");
}

TEST(Why, AnEventWhoseRetryHasComeDueWaitsForAWorkerNotForTheRetry) {
  Event event = event_that_is(Status::pending);
  event.retry_count = 1;
  event.due_at = kAsked;

  EXPECT_EQ(explain(event, failure_saying("x"), kNobodyAsked, kAsked).reason, "nobody_subscribes");
}

TEST(Why, AnEventBeingWorkedOnNamesItsWorkerAndTheEndOfItsLease) {
  Event event = event_that_is(Status::processing);
  event.updated_at = kAsked - 15s;
  event.due_at = kAsked + 45s;

  const Why why = explain(event, kNoEntry, kNobodyAsked, kAsked);

  EXPECT_EQ(why.reason, "working");
  EXPECT_EQ(
      why.explanation,
      "It is being worked on: attempt 2 by host-a:1, whose last sign of life was 15s ago; the lease ends "
      "in 45s.");
}

TEST(Why, AWaitIsShownInWholeSecondsUnlessItIsShorterThanOne) {
  Event event = event_that_is(Status::processing);
  event.updated_at = kAsked - 999ms;
  event.due_at = kAsked + 59s + 989ms;

  EXPECT_EQ(
      explain(event, kNoEntry, kNobodyAsked, kAsked).explanation,
      "It is being worked on: attempt 2 by host-a:1, whose last sign of life was 999ms ago; the lease ends "
      "in 59s.");
}

TEST(Why, AnEventIsAbandonedFromTheMomentItsLeaseEnds) {
  Event event = event_that_is(Status::processing);
  event.due_at = kAsked + 1ms;
  EXPECT_EQ(explain(event, kNoEntry, kNobodyAsked, kAsked).reason, "working");

  event.due_at = kAsked;
  EXPECT_EQ(explain(event, kNoEntry, kNobodyAsked, kAsked).reason, "abandoned");

  event.due_at = kAsked - 10s;
  EXPECT_EQ(
      explain(event, kNoEntry, kNobodyAsked, kAsked).explanation,
      "The lease of attempt 2 by host-a:1 ended 10s ago without a report; the next worker to ask for its "
      "tags gets it.");
}

TEST(Why, AnEndedEventSaysHowItEnded) {
  struct Row {
    Status status;
    std::optional<LogEntry> last;
    std::string_view reason;
    std::string_view explanation;
  };
  const Row rows[] = {
      {Status::completed, kNoEntry, "completed", "It was completed by host-a:1."},
      {Status::completed_with_errors, kNoEntry, "completed_with_errors",
       "It was completed by host-a:1, which reported errors."},
      {Status::failed, failure_saying("timeout"), "failed",
       "It failed for good: attempts made 2, failures reported 3. A retry makes it pending again. It "
       "said: timeout"},
      {Status::failed, entry_because(Action::failed, "Claimed 20 times in a row without a report."), "failed",
       "It failed for good: attempts made 2, failures reported 3. A retry makes it pending again. "
       "Reason: Claimed 20 times in a row without a report."},
      {Status::superseded, kNoEntry, "superseded", "It was superseded."},
      {Status::cancelled, entry_because(Action::cancelled, "wrong customer"), "cancelled",
       "It was cancelled. Reason: wrong customer"},
      {Status::cancelled, kNoEntry, "cancelled", "It was cancelled."},
  };
  for (const Row& row : rows) {
    Event event = event_that_is(row.status);
    event.retry_count = 3;

    const Why why = explain(event, row.last, kNobodyAsked, kAsked);

    EXPECT_EQ(why.reason, row.reason);
    EXPECT_EQ(why.explanation, row.explanation);
  }
}

TEST(Why, AnEventOfAPausedQueueShowsTheReasonOfThePause) {
  const WhyContext paused{.demand = {}, .paused = true, .pause_reason = "disk is nearly full"};
  const Why why = eventq::explain(event_that_is(Status::pending), paused, kAsked);

  EXPECT_EQ(why.reason, "queue_paused");
  EXPECT_EQ(
      why.explanation,
      "It is ready, but queue main is paused (disk is nearly full). A resume of the queue lets it run.");
}

TEST(Why, AnEventBehindAnotherInLineNamesIt) {
  Event event = event_that_is(Status::pending);
  event.ordering_key = "invoice-1";
  const auto behind = [&](Status head) {
    return eventq::explain(event, WhyContext{.line_head = WhyContext::LineHead{EventId{3}, head}}, kAsked);
  };

  EXPECT_EQ(behind(Status::processing).reason, "behind_in_line");
  EXPECT_EQ(behind(Status::processing).explanation,
            "It waits behind event 3 with the same ordering_key \"invoice-1\", which is PROCESSING; one at a "
            "time is delivered, in the order of publishing.");
  EXPECT_EQ(behind(Status::failed).reason, "line_blocked");
  EXPECT_EQ(
      behind(Status::failed).explanation,
      "It waits behind event 3 with the same ordering_key \"invoice-1\", which failed for good. Reset or "
      "cancel that one, and it may run.");
}

TEST(Why, AnEventPublishedForLaterSaysWhen) {
  Event event = event_that_is(Status::pending);
  event.due_at = kAsked + 90s;

  const Why why = explain(event, kNoEntry, kNobodyAsked, kAsked);
  EXPECT_EQ(why.reason, "waiting_for_time");
  EXPECT_EQ(why.explanation, "It is to run at 1970-01-12T13:48:10.000Z, in 1m30s.");
}

}  // namespace
}  // namespace eventq
