// same_admin_test.cc: eventq/admin.h gives the same results on an embedded queue and over HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "eventq/admin.h"
#include "eventq/client.h"
#include "eventq/limits.h"
#include "support/local_server.h"
#include "support/manual_clock.h"
#include "support/temporary_directory.h"
#include "support/wrapped_queue.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class SameAdmin : public testing::TestWithParam<std::string> {
 protected:
  // 2026-01-01T00:00:00Z
  static constexpr TimePoint kBegin{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};

  void SetUp() override {
    Options options;
    options.clock = &clock;
    options.worker_id = "host:1";
    std::string url = GetParam() == "file" ? "sqlite:" + directory.file("events.db") : "memory:";
    if (GetParam() == "http") {
      server = std::make_unique<LocalServer>("memory:", options);
      url = "http://127.0.0.1:" + std::to_string(server->port());
    }
    queue = Queue::open(url, options).value();
    admin.emplace(*queue);
  }

  EventId publish(const std::string& title, const std::string& name = "main",
                  const std::vector<std::string>& tags = {"email"}) {
    NewEvent event;
    event.title = title;
    event.tags = tags;
    event.queue = name;
    return queue->publish(event).value().id;
  }
  Claim poll(const std::string& name = "main") {
    PollRequest request;
    request.queue = name;
    return queue->poll(request).value().value();
  }
  // Claims the next event and fails it without a retry.
  void fail_next(const std::string& message, const std::string& name = "main") {
    const Claim claim = poll(name);
    Failure failure;
    failure.message = message;
    failure.permanent = true;
    ASSERT_TRUE(queue->fail({claim.event.id, claim.event.worker_id, claim.event.attempts}, failure));
  }
  std::vector<std::string> titles(const EventQuery& query) {
    const EventList list = admin->list(query).value();
    std::vector<std::string> found;
    for (const EventSummary& event : list.events) found.push_back(event.title);
    return found;
  }

  const TemporaryDirectory directory;
  ManualClock clock{kBegin};
  std::unique_ptr<LocalServer> server;
  std::unique_ptr<Queue> queue;
  std::optional<Admin> admin;
};

INSTANTIATE_TEST_SUITE_P(All, SameAdmin, testing::Values("memory", "file", "http"),
                         [](const auto& kind) { return kind.param; });

TEST_P(SameAdmin, AListedEventHasWhatAListShows) {
  NewEvent event;
  event.title = "mail";
  event.tags = {"email", "urgent"};
  event.queue = "outbox";
  event.priority = 5;
  event.event_id = "own";
  event.correlation_id = "c";
  event.pattern = "mail.sent";
  ASSERT_TRUE(queue->publish(event));
  clock.advance(1s);
  fail_next("no such mailbox", "outbox");

  const EventList list = admin->list().value();

  const EventSummary expected{.id = EventId{1},
                              .event_id = "own",
                              .queue = "outbox",
                              .title = "mail",
                              .tags = {"email", "urgent"},
                              .status = Status::failed,
                              .priority = 5,
                              .attempts = 1,
                              .retry_count = 1,
                              .worker_id = "host:1",
                              .correlation_id = "c",
                              .pattern = "mail.sent",
                              .last_error = "no such mailbox",
                              .created_at = kBegin,
                              .updated_at = kBegin + 1s};
  ASSERT_THAT(list.events, SizeIs(1));
  EXPECT_EQ(list.events[0], expected);
  EXPECT_EQ(list.total, 1);
  EXPECT_TRUE(list.total_exact);
  EXPECT_FALSE(list.next);
  EXPECT_THAT(list.missing_shards, IsEmpty());
}

TEST_P(SameAdmin, AListSelectsByEachMemberOfTheQuery) {
  publish("a", "main", {"email"});
  publish("b", "outbox", {"print"});
  publish("c", "main", {"print", "fax"});
  poll("outbox");

  EXPECT_THAT(titles({}), ElementsAre("a", "b", "c"));
  EXPECT_THAT(titles({.status = Status::processing}), ElementsAre("b"));
  EXPECT_THAT(titles({.tags = {"email", "fax"}}), ElementsAre("a", "c"));
  EXPECT_THAT(titles({.queue = "outbox"}), ElementsAre("b"));
  EXPECT_THAT(titles({.worker_id = "host:1"}), ElementsAre("b"));
  EXPECT_THAT(titles({.correlation_id = "none"}), IsEmpty());
  EXPECT_THAT(titles({.after = EventId{2}}), ElementsAre("c"));
}

TEST_P(SameAdmin, TheNextPageBeginsWhereTheListSays) {
  for (const char* title : {"a", "b", "c"}) publish(title);

  const EventList first = admin->list({.limit = 2}).value();
  ASSERT_TRUE(first.next);
  const EventList second = admin->list({.after = *first.next, .limit = 2}).value();

  EXPECT_THAT(first.events, SizeIs(2));
  EXPECT_EQ(first.total, 3);
  ASSERT_THAT(second.events, SizeIs(1));
  EXPECT_EQ(second.events[0].title, "c");
  EXPECT_FALSE(second.next);
}

TEST_P(SameAdmin, AListByTimeOrPatternHasTheNewestEventFirstWhereAsked) {
  for (const char* title : {"a", "b", "c"}) {
    NewEvent event;
    event.title = title;
    event.tags = {"email"};
    event.pattern = "mail." + std::string(title);
    ASSERT_TRUE(queue->publish(event));
    clock.advance(1min);
  }

  EXPECT_THAT(titles({.newest_first = true}), ElementsAre("c", "b", "a"));
  EXPECT_THAT(titles({.since = kBegin + 1min, .until = kBegin + 2min}), ElementsAre("b"));
  EXPECT_THAT(titles({.pattern = "mail.*", .newest_first = true}), ElementsAre("c", "b", "a"));
  EXPECT_THAT(titles({.pattern = "mail.b"}), ElementsAre("b"));
  EXPECT_EQ(admin->list({.pattern = "mail..b"}).error().field, "pattern");
  EXPECT_EQ(admin->list({.since = kBegin, .until = kBegin}).error().field, "until");
  const EventList first = admin->list({.newest_first = true, .limit = 2}).value();
  ASSERT_TRUE(first.next);
  EXPECT_THAT(titles({.newest_first = true, .after = *first.next}), ElementsAre("a"));
}

TEST_P(SameAdmin, AListTakesLimitsFromOneToAThousand) {
  EXPECT_EQ(admin->list({.limit = 0}).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(admin->list({.limit = 1}));
  EXPECT_TRUE(admin->list({.limit = limits::kPage}));
  EXPECT_EQ(admin->list({.limit = limits::kPage + 1}).error().code, ErrorCode::invalid_argument);
}

TEST_P(SameAdmin, GetReturnsTheEventWithItsPayload) {
  const EventId id = publish("a");
  EXPECT_EQ(admin->get(id).value().payload, "null");
  EXPECT_EQ(admin->get(EventId{99}).error().code, ErrorCode::not_found);
}

TEST_P(SameAdmin, CancelEndsAnEventAndRecordsTheActor) {
  const EventId id = publish("a");

  const LogEntry entry = admin->cancel(id, {.by = "ann", .reason = "not needed"}).value();

  EXPECT_EQ(entry.action, Action::cancelled);
  EXPECT_EQ(entry.by, "ann");
  EXPECT_EQ(entry.reason, "not needed");
  EXPECT_EQ(queue->get(id).value().status, Status::cancelled);
  EXPECT_EQ(admin->cancel(EventId{99}).error().code, ErrorCode::not_found);
}

TEST_P(SameAdmin, RetryMakesAFailedEventPendingAgain) {
  const EventId id = publish("a");
  fail_next("timeout");

  const LogEntry entry = admin->retry(id, {.by = "ann", .reason = "the bank is back"}).value();

  EXPECT_EQ(entry.action, Action::reset);
  EXPECT_EQ(entry.reason, "the bank is back");
  EXPECT_EQ(poll().event.id, id);
  EXPECT_EQ(admin->retry(EventId{99}).error().code, ErrorCode::not_found);
}

TEST_P(SameAdmin, ACompletedEventCannotBeRetriedOrCancelled) {
  const EventId id = publish("a");
  const Claim claim = poll();
  ASSERT_TRUE(queue->complete({id, claim.event.worker_id, claim.event.attempts}));

  EXPECT_EQ(admin->retry(id).error().code, ErrorCode::conflict);
  EXPECT_EQ(admin->cancel(id).error().code, ErrorCode::conflict);
}

TEST_P(SameAdmin, APausedQueueDeliversNothingUntilItIsResumed) {
  publish("a");

  ASSERT_TRUE(admin->pause("main", {.by = "ann", .reason = "maintenance"}));
  EXPECT_FALSE(queue->poll().value());
  ASSERT_TRUE(admin->resume("main"));

  EXPECT_TRUE(queue->poll().value());
}

TEST_P(SameAdmin, OnlyAQueueThatExistsCanBePaused) {
  EXPECT_EQ(admin->pause("nowhere").error().code, ErrorCode::not_found);
  EXPECT_EQ(admin->resume("nowhere").error().code, ErrorCode::not_found);
  EXPECT_EQ(admin->pause("no name").error().code, ErrorCode::invalid_argument);
}

TEST_P(SameAdmin, FailuresAreGroupedByQueueAndCauseTheLargestGroupFirst) {
  publish("a");
  publish("b");
  publish("c", "outbox");
  fail_next("no route for event 1");
  clock.advance(1min);
  fail_next("no route for event 2");
  clock.advance(1min);
  fail_next("no mailbox", "outbox");

  const auto all = admin->failures().value().failures;
  const auto of_main = admin->failures("main").value().failures;

  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].queue, "main");  // although the newest failure is of the other
  EXPECT_EQ(all[1].queue, "outbox");
  ASSERT_THAT(of_main, SizeIs(1));
  EXPECT_EQ(of_main[0].queue, "main");
  EXPECT_EQ(of_main[0].cause, "no route for event #");
  EXPECT_EQ(of_main[0].sample, "no route for event 2");
  EXPECT_EQ(of_main[0].events, 2);
  EXPECT_EQ(of_main[0].first_at, kBegin);
  EXPECT_EQ(of_main[0].last_at, kBegin + 1min);
  EXPECT_EQ(of_main[0].last_event, EventId{2});
}

TEST_P(SameAdmin, FailuresTakeAValidQueueAndALimitFromOneToAThousand) {
  EXPECT_EQ(admin->failures("no name").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(admin->failures("", 0).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(admin->failures("", limits::kPage));
  EXPECT_EQ(admin->failures("", limits::kPage + 1).error().code, ErrorCode::invalid_argument);
}

TEST_P(SameAdmin, AWorkerIsListedWithWhatItHolds) {
  const EventId id = publish("a");
  poll();

  const auto workers = admin->workers().value().workers;

  ASSERT_THAT(workers, SizeIs(1));
  EXPECT_EQ(workers[0].worker_id, "host:1");
  EXPECT_EQ(workers[0].first_seen, kBegin);
  EXPECT_EQ(workers[0].last_seen, kBegin);
  EXPECT_THAT(workers[0].holding, ElementsAre(id));
  EXPECT_EQ(workers[0].queue, "main");
  EXPECT_THAT(workers[0].tags, IsEmpty());
  EXPECT_EQ(workers[0].state, WorkerState::active);
}

TEST_P(SameAdmin, MetricsCountEventsAndWorkers) {
  publish("a");
  publish("b");
  fail_next("no route");
  clock.advance(90s);

  const Figures figures = admin->metrics().value();

  ASSERT_THAT(figures.queues, SizeIs(1));
  const QueueFigures& main = figures.queues[0];
  EXPECT_EQ(main.queue, "main");
  EXPECT_EQ(main.events.at(Status::pending), 1);
  EXPECT_EQ(main.events.at(Status::failed), 1);
  EXPECT_THAT(main.events, SizeIs(7));
  EXPECT_EQ(main.oldest_pending, 90s);
  EXPECT_FALSE(main.backpressure);
  EXPECT_EQ(main.published, 2);
  EXPECT_EQ(main.claimed, 1);
  EXPECT_EQ(main.failed, 1);
  EXPECT_EQ(main.completed + main.retried + main.abandoned, 0);
  EXPECT_EQ(figures.failed_24h, 1);
  EXPECT_EQ(figures.workers, 1);
  EXPECT_EQ(figures.waiting_claims, 0);
}

TEST_P(SameAdmin, AQueueOfAnotherClassIsRefused) {
  WrappedQueue wrapped(*queue);
  Admin foreign(wrapped);

  EXPECT_EQ(foreign.list().error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(foreign.workers().error().field, "queue");
}

}  // namespace
}  // namespace eventq
