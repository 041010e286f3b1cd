// queue_test.cc: the contract of eventq/queue.h, call by call, on every store.
#include "eventq/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "support/open_queue.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

using QueueTest = OpenQueueTest;
INSTANTIATE_TEST_SUITE_P(AllStores, QueueTest, testing::Values("memory", "real"), name_of_url);

TEST_P(QueueTest, PublishStoresAPendingEvent) {
  const Event event = queue
                          ->publish({.title = "Send mail",
                                     .description = "A welcome",
                                     .tags = {"email", "urgent"},
                                     .payload = R"({"to": "alice"})",
                                     .queue = "mails",
                                     .priority = 7,
                                     .max_retries = 5,
                                     .event_id = "mail-1",
                                     .correlation_id = "signup-9"})
                          .value();

  EXPECT_EQ(event.id, EventId{1});
  EXPECT_EQ(event.event_id, "mail-1");
  EXPECT_EQ(event.queue, "mails");
  EXPECT_EQ(event.title, "Send mail");
  EXPECT_EQ(event.description, "A welcome");
  EXPECT_THAT(event.tags, ElementsAre("email", "urgent"));
  EXPECT_EQ(event.payload, R"({"to": "alice"})");
  EXPECT_EQ(event.correlation_id, "signup-9");
  EXPECT_EQ(event.priority, 7);
  EXPECT_EQ(event.max_retries, 5);
  EXPECT_EQ(event.status, Status::pending);
  EXPECT_EQ(event.attempts, 0);
  EXPECT_EQ(event.created_at, kStart);
}

TEST_P(QueueTest, GetReturnsTheEventThatPublishReturned) {
  const Event published = queue->publish({.title = "mail", .tags = {"email"}, .payload = " [1, 2] "}).value();

  const Event got = queue->get(published.id).value();

  EXPECT_EQ(got.event_id, published.event_id);
  EXPECT_EQ(got.payload, " [1, 2] ");
  EXPECT_EQ(got.status, Status::pending);
  EXPECT_EQ(got.max_retries, 3);
  EXPECT_EQ(got.updated_at, kStart);
}

TEST_P(QueueTest, PublishNormalizesTags) {
  EXPECT_THAT(queue->publish({.title = "mail", .tags = {" b", "a ", "b"}}).value().tags,
              ElementsAre("b", "a"));
}

TEST_P(QueueTest, PublishOfAnEventIdThatExistsGivesTheExistingEvent) {
  const EventId id = publish({.title = "first", .tags = {"a"}, .event_id = "mail-1"});

  const Event again = queue->publish({.title = "second", .tags = {"a"}, .event_id = "mail-1"}).value();

  EXPECT_EQ(again.id, id);
  EXPECT_EQ(again.title, "first");
  poll();
  EXPECT_EQ(queue->poll().value(), std::nullopt);
}

TEST_P(QueueTest, PublishBatchStoresAllInOrderUnderOneCorrelationId) {
  const std::vector<NewEvent> batch = {{.title = "1", .tags = {"a"}}, {.title = "2", .tags = {"b"}}};

  const std::vector<Event> events = queue->publish_batch(batch).value();

  EXPECT_THAT(events, ElementsAre(Field(&Event::title, "1"), Field(&Event::title, "2")));
  EXPECT_THAT(events.at(0).correlation_id, StartsWith("corr_"));
  EXPECT_EQ(events.at(1).correlation_id, events.at(0).correlation_id);
}

TEST_P(QueueTest, PublishBatchKeepsTheCorrelationIdsOfItsEvents) {
  const std::vector<NewEvent> batch = {{.title = "1", .tags = {"a"}, .correlation_id = "one"},
                                       {.title = "2", .tags = {"a"}, .correlation_id = "two"}};

  const std::vector<Event> events = queue->publish_batch(batch).value();

  EXPECT_THAT(events,
              ElementsAre(Field(&Event::correlation_id, "one"), Field(&Event::correlation_id, "two")));
}

TEST_P(QueueTest, PublishBatchStoresNothingWhenOneEventIsBad) {
  const std::vector<NewEvent> batch = {{.title = "1", .tags = {"a"}}, {.title = "", .tags = {"a"}}};

  EXPECT_EQ(queue->publish_batch(batch).error().field, "title");
  EXPECT_EQ(queue->poll().value(), std::nullopt);
}

TEST_P(QueueTest, PublishBatchOfNothingIsNothing) {
  EXPECT_THAT(queue->publish_batch({}).value(), IsEmpty());
}

TEST_P(QueueTest, PollTakesTheHighestPriorityFirstAndTheOldestAmongEquals) {
  publish({.title = "old", .tags = {"a"}});
  publish({.title = "new", .tags = {"a"}});
  publish({.title = "high", .tags = {"a"}, .priority = 1});

  EXPECT_EQ(poll().event.title, "high");
  EXPECT_EQ(poll().event.title, "old");
  EXPECT_EQ(poll().event.title, "new");
}

TEST_P(QueueTest, PollIsEmptyWhenNothingIsDue) { EXPECT_EQ(queue->poll().value(), std::nullopt); }

TEST_P(QueueTest, PollTakesAnEventThatCarriesAnyOfItsTags) {
  publish({.title = "mail", .tags = {"email"}});
  publish({.title = "print", .tags = {"printer", "urgent"}});

  EXPECT_EQ(poll({.tags = {"fax", "urgent"}}).event.title, "print");
  EXPECT_EQ(queue->poll({.tags = {"fax", "urgent"}}).value(), std::nullopt);
}

TEST_P(QueueTest, PollWithoutTagsTakesAnyEventOfItsQueue) {
  publish({.title = "other", .tags = {"email"}, .queue = "other"});
  publish({.title = "mail", .tags = {"email"}});

  EXPECT_EQ(poll().event.title, "mail");
  EXPECT_EQ(queue->poll().value(), std::nullopt);
  EXPECT_EQ(poll({.queue = "other"}).event.title, "other");
}

TEST_P(QueueTest, PollLeasesTheEventToTheQueuesWorker) {
  publish({.title = "mail", .tags = {"email"}});

  const Claim claim = poll();

  EXPECT_EQ(claim.event.status, Status::processing);
  EXPECT_EQ(claim.event.attempts, 1);
  EXPECT_EQ(claim.event.worker_id, "host:1");
  EXPECT_EQ(claim.lease_until, kStart + 60s);
}

TEST_P(QueueTest, TheWorkerIsThisProcessUnlessNamed) {
  Options options;
  options.clock = &clock;
  queue.reset();
  queue = Queue::open(url(), options).value();
  publish({.title = "mail", .tags = {"email"}});

  EXPECT_THAT(poll().event.worker_id, EndsWith(":" + std::to_string(getpid())));
}

TEST_P(QueueTest, PollWithAnotherClockTakesEventsThatAreDueByThatClock) {
  publish({.title = "mail", .tags = {"email"}});
  ASSERT_TRUE(queue->fail(lease(), {.message = "no network"}));
  ManualClock later(kStart + 5min);

  EXPECT_EQ(queue->poll().value(), std::nullopt);
  EXPECT_EQ(poll({.clock = &later}).event.attempts, 2);
}

TEST_P(QueueTest, PollWithALaterClockDoesNotMakeOtherEventsDueForTheQueuesOwn) {
  publish({.title = "one", .tags = {"email"}});
  publish({.title = "two", .tags = {"email"}});
  poll();
  poll();
  ManualClock later(kStart + 60s);

  EXPECT_EQ(poll({.clock = &later}).event.title, "one");

  EXPECT_EQ(queue->poll().value(), std::nullopt);
}

TEST_P(QueueTest, CompleteEndsTheEventAndRecordsTheOutcome) {
  const EventId id = publish({.title = "mail", .tags = {"email"}});
  const Lease held = lease();
  clock.advance(2s);

  const LogEntry entry = queue->complete(held, {.status_code = 200, .execution_time_ms = 1250}).value();

  EXPECT_EQ(entry.id, id);
  EXPECT_EQ(entry.worker_id, "host:1");
  EXPECT_EQ(entry.attempt, 1);
  EXPECT_EQ(entry.action, Action::completed);
  EXPECT_EQ(entry.status_code, 200);
  EXPECT_EQ(entry.execution_time_ms, 1250);
  EXPECT_EQ(entry.created_at, kStart + 2s);
  EXPECT_EQ(queue->get(id).value().status, Status::completed);
}

TEST_P(QueueTest, CompleteWithErrorsEndsTheEventWithErrors) {
  const EventId id = publish({.title = "mail", .tags = {"email"}});

  ASSERT_TRUE(queue->complete(lease(), {.errors = {"no fax", "no phone"}}));

  EXPECT_EQ(queue->get(id).value().status, Status::completed_with_errors);
  EXPECT_THAT(queue->log(id).value().back().errors, ElementsAre("no fax", "no phone"));
}

TEST_P(QueueTest, CompleteRepeatedReturnsTheFirstEntryAndWritesNothing) {
  const EventId id = publish({.title = "mail", .tags = {"email"}});
  const Lease held = lease();
  const LogEntry first = queue->complete(held, {.status_code = 200}).value();
  clock.advance(1h);

  const LogEntry again = queue->complete(held, {.status_code = 500}).value();

  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(again.status_code, 200);
  EXPECT_EQ(again.created_at, kStart);
  EXPECT_THAT(queue->log(id).value(), SizeIs(2));
}

TEST_P(QueueTest, FailMakesTheEventDueAgainAfterTheRetryDelay) {
  const EventId id = publish({.title = "mail", .tags = {"email"}});

  const LogEntry entry =
      queue->fail(lease(), {.status_code = 500, .execution_time_ms = 5000, .message = "no network"}).value();

  EXPECT_EQ(entry.action, Action::failed);
  EXPECT_EQ(entry.status_code, 500);
  EXPECT_EQ(entry.execution_time_ms, 5000);
  EXPECT_EQ(entry.error_message, "no network");
  EXPECT_EQ(entry.retry_count, 1);
  EXPECT_EQ(entry.next_retry_at, kStart + 5min);
  EXPECT_EQ(queue->get(id).value().status, Status::pending);
  clock.advance(5min - 1ms);
  EXPECT_EQ(queue->poll().value(), std::nullopt);
  clock.advance(1ms);
  EXPECT_EQ(poll().event.attempts, 2);
}

TEST_P(QueueTest, TheFailureThatReachesMaxRetriesIsFinal) {
  const EventId id = publish({.title = "mail", .tags = {"email"}});
  ASSERT_TRUE(queue->fail(lease(), {}));
  clock.advance(5min);
  ASSERT_TRUE(queue->fail(lease(), {}));
  clock.advance(5min);

  const LogEntry third = queue->fail(lease(), {}).value();

  EXPECT_EQ(third.retry_count, 3);
  EXPECT_EQ(third.next_retry_at, std::nullopt);
  EXPECT_EQ(queue->get(id).value().status, Status::failed);
}

TEST_P(QueueTest, APermanentFailureIsFinalHoweverManyRetriesAreLeft) {
  const EventId id = publish({.title = "mail", .tags = {"email"}, .max_retries = 1000});

  ASSERT_TRUE(queue->fail(lease(), {.message = "no such address", .permanent = true}));

  EXPECT_EQ(queue->get(id).value().status, Status::failed);
}

TEST_P(QueueTest, FailRepeatedReturnsTheFirstEntryAndWritesNothing) {
  const EventId id = publish({.title = "mail", .tags = {"email"}});
  const Lease held = lease();
  const LogEntry first = queue->fail(held, {.message = "no network"}).value();

  const LogEntry again = queue->fail(held, {.message = "no network"}).value();

  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(queue->get(id).value().retry_count, 1);
}

TEST_P(QueueTest, RetriesBackOffExponentiallyUpToTheCapWhenAsked) {
  Options options;
  options.retry = {.kind = RetryPolicy::Kind::exponential, .base = 1s, .cap = 3s};
  options.max_retries = 10;
  open(options);
  publish({.title = "mail", .tags = {"email"}});

  EXPECT_EQ(queue->fail(lease(), {}).value().next_retry_at, kStart + 1s);
  clock.advance(1s);
  EXPECT_EQ(queue->fail(lease(), {}).value().next_retry_at, kStart + 1s + 2s);
  clock.advance(2s);
  EXPECT_EQ(queue->fail(lease(), {}).value().next_retry_at, kStart + 3s + 3s);
}

TEST_P(QueueTest, AnEventPolledTooOftenWithoutAReportIsNotPolledAgain) {
  Options options;
  options.max_attempts = 2;
  open(options);
  const EventId id = publish({.title = "poison", .tags = {"email"}});
  poll();
  clock.advance(60s);
  poll();
  clock.advance(60s);

  EXPECT_EQ(queue->poll().value(), std::nullopt);
  EXPECT_EQ(queue->get(id).value().status, Status::failed);
}

TEST_P(QueueTest, AReportOnAnUnknownEventIsNotFound) {
  const Lease unknown{EventId{99}, "host:1", 1};

  EXPECT_EQ(queue->complete(unknown).error().code, ErrorCode::not_found);
  EXPECT_EQ(queue->fail(unknown, {}).error().code, ErrorCode::not_found);
  EXPECT_EQ(queue->heartbeat(unknown).error().code, ErrorCode::not_found);
}

TEST_P(QueueTest, AReportOfAnAttemptThatWasTakenOverHasLostItsLease) {
  const EventId id = publish({.title = "mail", .tags = {"email"}});
  const Lease late = lease();
  clock.advance(60s);
  const Lease current = lease();

  EXPECT_EQ(queue->complete(late).error().code, ErrorCode::lease_lost);
  EXPECT_EQ(queue->fail(late, {}).error().code, ErrorCode::lease_lost);
  EXPECT_EQ(queue->heartbeat(late).error().code, ErrorCode::lease_lost);
  EXPECT_EQ(queue->get(id).value().status, Status::processing);
  EXPECT_TRUE(queue->complete(current));
}

TEST_P(QueueTest, AReportOnAnEventThatHasEndedOtherwiseHasLostItsLease) {
  publish({.title = "mail", .tags = {"email"}});
  const Lease held = lease();
  ASSERT_TRUE(queue->complete(held));

  EXPECT_EQ(queue->fail(held, {}).error().code, ErrorCode::lease_lost);
  EXPECT_EQ(queue->heartbeat(held).error().code, ErrorCode::lease_lost);
}

TEST_P(QueueTest, AReportOfAWorkerThatNeverHadTheEventHasNoLease) {
  const EventId id = publish({.title = "mail", .tags = {"email"}});
  poll();

  EXPECT_EQ(queue->complete({id, "stranger:1", 1}).error().code, ErrorCode::lease_lost);
  EXPECT_EQ(queue->get(id).value().status, Status::processing);
}

TEST_P(QueueTest, HeartbeatMovesTheEndOfTheLease) {
  publish({.title = "mail", .tags = {"email"}});
  const Lease held = lease();
  clock.advance(40s);

  EXPECT_EQ(queue->heartbeat(held).value(), kStart + 100s);

  clock.advance(60s - 1ms);
  EXPECT_EQ(queue->poll().value(), std::nullopt);
  clock.advance(1ms);
  EXPECT_EQ(poll().event.attempts, 2);
}

TEST_P(QueueTest, TheLeaseIsAsLongAsAsked) {
  Options options;
  options.lease = 5min;
  open(options);
  publish({.title = "mail", .tags = {"email"}});

  EXPECT_EQ(poll().lease_until, kStart + 5min);
}

TEST_P(QueueTest, FinalizeOfAnUnknownEventIsNotFound) {
  EXPECT_EQ(queue->finalize(EventId{99}).error().code, ErrorCode::not_found);
  EXPECT_EQ(queue->finalize(EventId{99}, Queue::Verdict::failure).error().code, ErrorCode::not_found);
}

TEST_P(QueueTest, FinalizeOfAnEventThisObjectDidNotPollHasNoLease) {
  const EventId id = publish({.title = "mail", .tags = {"email"}});

  EXPECT_EQ(queue->finalize(id).error().code, ErrorCode::lease_lost);
  EXPECT_EQ(queue->get(id).value().status, Status::pending);
}

TEST_P(QueueTest, FinalizeOfAnEventThatIsPendingAgainHasLostItsLease) {
  const EventId id = publish({.title = "mail", .tags = {"email"}});
  ASSERT_TRUE(queue->fail(lease(), {}));

  EXPECT_EQ(queue->finalize(id).error().code, ErrorCode::lease_lost);
  EXPECT_EQ(queue->get(id).value().status, Status::pending);
}

TEST_P(QueueTest, FinalizeDoesNothingForAnEventThatWasCompletedByItsLease) {
  const EventId id = publish({.title = "mail", .tags = {"email"}});
  ASSERT_TRUE(queue->complete(lease()));

  EXPECT_TRUE(queue->finalize(id, Queue::Verdict::failure));

  EXPECT_EQ(queue->get(id).value().status, Status::completed);
  EXPECT_THAT(queue->log(id).value(), SizeIs(2));
}

TEST_P(QueueTest, FinalizeDoesNothingForAnEventThatWasGivenUp) {
  Options options;
  options.max_attempts = 1;
  open(options);
  const EventId id = publish({.title = "poison", .tags = {"email"}});
  poll();
  clock.advance(60s);
  ASSERT_EQ(queue->poll().value(), std::nullopt);

  EXPECT_TRUE(queue->finalize(id));

  EXPECT_EQ(queue->get(id).value().status, Status::failed);
}

TEST_P(QueueTest, GetAndLogOfAnUnknownEventAreNotFound) {
  EXPECT_EQ(queue->get(EventId{99}).error().code, ErrorCode::not_found);
  EXPECT_EQ(queue->get(EventId{99}).error().message, "There is no event 99.");
  EXPECT_EQ(queue->log(EventId{99}).error().code, ErrorCode::not_found);
}

TEST_P(QueueTest, TheLogHasEveryActionOldestFirst) {
  const EventId id = publish({.title = "mail", .tags = {"email"}});
  EXPECT_THAT(queue->log(id).value(), IsEmpty());
  ASSERT_TRUE(queue->fail(lease(), {.message = "no network"}));
  clock.advance(5min);
  poll();
  clock.advance(60s);
  ASSERT_TRUE(queue->complete(lease()));

  const std::vector<LogEntry> log = queue->log(id).value();

  const auto entry = [](Action action, int attempt, TimePoint at) {
    return AllOf(Field(&LogEntry::action, action), Field(&LogEntry::attempt, attempt),
                 Field(&LogEntry::created_at, at));
  };
  EXPECT_THAT(
      log, ElementsAre(entry(Action::picked, 1, kStart), entry(Action::failed, 1, kStart),
                       entry(Action::picked, 2, kStart + 5min), entry(Action::abandoned, 2, kStart + 6min),
                       entry(Action::picked, 3, kStart + 6min), entry(Action::completed, 3, kStart + 6min)));
}

TEST_P(QueueTest, AnEndedEventIsStillThereToRead) {
  const EventId id = publish({.title = "mail", .description = "long", .tags = {"email"}, .payload = "[1]"});
  ASSERT_TRUE(queue->complete(lease()));

  const Event event = queue->get(id).value();

  EXPECT_EQ(event.title, "mail");
  EXPECT_EQ(event.description, "long");
  EXPECT_EQ(event.payload, "[1]");
  EXPECT_EQ(event.worker_id, "host:1");
}

TEST_P(QueueTest, IdsAreNotUsedAgainAfterAnEventHasEnded) {
  publish({.title = "one", .tags = {"email"}});
  ASSERT_TRUE(queue->complete(lease()));

  EXPECT_EQ(publish({.title = "two", .tags = {"email"}}), EventId{2});
}

TEST_P(QueueTest, WaitReturnsTheEventAsItEnded) {
  const EventId id = publish({.title = "mail", .tags = {"email"}});
  std::thread worker([&] {
    queue->poll({.tags = {"email"}}).value();
    EXPECT_TRUE(queue->finalize(id));
  });

  EXPECT_EQ(queue->wait(id, 1h).value().status, Status::completed);
  worker.join();
  EXPECT_EQ(queue->wait(id, 0s).value().status, Status::completed);
}

TEST_P(QueueTest, WaitWithoutAnEndIsATimeout) {
  const EventId id = publish({.title = "mail", .tags = {"email"}});

  EXPECT_EQ(queue->wait(id, 0s).error().code, ErrorCode::timeout);
  EXPECT_EQ(queue->wait(EventId{99}, 0s).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace eventq
