// worker_test.cc: the contract of eventq/worker.h for handlers and their results, on every store.
#include "eventq/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>
#include <variant>

#include "eventq/limits.h"
#include "support/gate.h"
#include "support/worker_queue.h"
#include "support/wrapped_queue.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

using WorkerTest = WorkerQueueTest;
INSTANTIATE_TEST_SUITE_P(AllStores, WorkerTest, testing::Values("memory", "real"), name_of_worker_queue);

// A handler that always returns the same result.
Handler always(const Handled& handled) {
  return [handled](const Event&, const std::stop_token&) { return handled; };
}

TEST_P(WorkerTest, AnEventWhoseHandlerIsDoneIsCompleted) {
  Worker worker(*queue, {.worker_id = "host:7"});
  worker.on_tag("email", always(Handled::done()));
  ASSERT_TRUE(worker.start());

  const EventId id = publish("email");

  EXPECT_EQ(ended(id).status, Status::completed);
  const auto completed = entries(id, Action::completed);
  ASSERT_THAT(completed, SizeIs(1));
  EXPECT_EQ(completed[0].worker_id, "host:7");
  EXPECT_GE(completed[0].execution_time_ms.value(), 0);
}

TEST_P(WorkerTest, AnEventHasTheResultOfItsHandler) {
  Worker worker(*queue);
  worker.on_tag("sum", [](const Event& event, const std::stop_token&) {
    return Handled::done(R"({"of":)" + event.payload + "}");
  });
  ASSERT_TRUE(worker.start());

  const EventId id = queue->publish({.title = "s", .tags = {"sum"}, .payload = "[1,2]"}).value().id;

  EXPECT_EQ(ended(id).result, R"({"of":[1,2]})");
}

TEST_P(WorkerTest, AFailureHasTheDetailOfItsHandler) {
  Worker worker(*queue);
  worker.on_tag("email", always(Handled::fail("no such customer", "at line 7")));
  ASSERT_TRUE(worker.start());

  const EventId id = publish("email");

  EXPECT_EQ(ended(id).status, Status::failed);
  EXPECT_EQ(entries(id, Action::failed).at(0).error_detail, "at line 7");
}

TEST_P(WorkerTest, AWorkerWithoutAnIdHasTheQueuesId) {
  Worker worker(*queue);
  worker.on_tag("email", always(Handled::done()));
  ASSERT_TRUE(worker.start());

  EXPECT_EQ(ended(publish("email")).worker_id, "host:0");
}

TEST_P(WorkerTest, AllHandlersThatMatchRunAndEachErrorIsInTheLog) {
  Worker worker(*queue);
  worker.on_tag("email", always(Handled::error("no printer")));
  worker.on_pattern("invoice.>", always(Handled::error("no archive")));
  worker.on_pattern("order.>", always(Handled::error("not mine")));
  worker.on_tag("email", always(Handled::done()));
  ASSERT_TRUE(worker.start());

  const EventId id =
      queue->publish({.title = "i", .tags = {"email"}, .pattern = "invoice.line.added"}).value().id;

  EXPECT_EQ(ended(id).status, Status::completed_with_errors);
  const auto completed = entries(id, Action::completed);
  ASSERT_THAT(completed, SizeIs(1));
  EXPECT_THAT(completed[0].errors, ElementsAre("no printer", "no archive"));
}

TEST_P(WorkerTest, RetryIsAFailureThatIsRetried) {
  Worker worker(*queue);
  worker.on_tag("email", [](const Event& event, const std::stop_token&) {
    return event.attempts == 1 ? Handled::retry("timeout") : Handled::done();
  });
  ASSERT_TRUE(worker.start());

  const EventId id = publish("email");

  const Event event = ended(id);
  EXPECT_EQ(event.status, Status::completed);
  EXPECT_EQ(event.attempts, 2);
  EXPECT_EQ(event.retry_count, 1);
  const auto failed = entries(id, Action::failed);
  ASSERT_THAT(failed, SizeIs(1));
  EXPECT_EQ(failed[0].error_message, "timeout");
}

TEST_P(WorkerTest, FailEndsTheEventWithoutARetry) {
  Worker worker(*queue);
  worker.on_tag("email", always(Handled::fail("no such customer")));
  ASSERT_TRUE(worker.start());

  const EventId id = publish("email");

  EXPECT_EQ(ended(id).status, Status::failed);
  EXPECT_EQ(ended(id).attempts, 1);
  EXPECT_EQ(entries(id, Action::failed).at(0).error_message, "no such customer");
}

TEST_P(WorkerTest, LaterGivesBackWithoutCountingAFailure) {
  Gate ran;
  Worker worker(*queue);
  worker.on_tag("email", [&](const Event&, const std::stop_token&) {
    ran.open();
    return Handled::later(1h, "closed on Sundays");
  });
  ASSERT_TRUE(worker.start());

  const EventId id = publish("email");
  ASSERT_TRUE(ran.wait());
  EXPECT_TRUE(worker.stop());

  const Event event = queue->get(id).value();
  EXPECT_EQ(event.status, Status::pending);
  EXPECT_EQ(event.retry_count, 0);
  EXPECT_GE(event.due_at, clock.now() + 59min);
  EXPECT_EQ(entries(id, Action::released).at(0).reason, "closed on Sundays");
  EXPECT_EQ(worker.stats().given_back, 1U);
}

TEST_P(WorkerTest, AnExceptionIsAFailureWithItsMessage) {
  Worker worker(*queue);
  worker.on_tag("email", [](const Event& event, const std::stop_token&) -> Handled {
    if (event.attempts == 1) throw std::runtime_error("no connection");
    throw 7;
  });
  ASSERT_TRUE(worker.start());

  const EventId id = publish("email", 2);

  EXPECT_EQ(ended(id).status, Status::failed);
  const auto failed = entries(id, Action::failed);
  ASSERT_THAT(failed, SizeIs(2));
  EXPECT_EQ(failed[0].error_message, "no connection");
  EXPECT_EQ(failed[1].error_message, "The handler threw something that is not a std::exception.");
}

TEST_P(WorkerTest, AMessageThatIsTooLongOrNotUtf8IsAccepted) {
  Worker worker(*queue);
  worker.on_tag("email", always(Handled::fail("\xFF" + std::string(limits::kErrorMessage, 'x'))));
  ASSERT_TRUE(worker.start());

  const EventId id = publish("email");

  EXPECT_EQ(ended(id).status, Status::failed);
  EXPECT_THAT(entries(id, Action::failed).at(0).error_message.value(), SizeIs(limits::kErrorMessage));
}

TEST_P(WorkerTest, AnEventThatNoHandlerMatchesIsFailed) {
  Worker worker(*queue);
  worker.on_pattern("invoice.*", always(Handled::done()));
  ASSERT_TRUE(worker.start());

  const EventId id = publish("email", 1);

  EXPECT_EQ(ended(id).status, Status::failed);
  EXPECT_THAT(entries(id, Action::failed).at(0).error_message.value(), HasSubstr("No handler"));
}

TEST_P(WorkerTest, EventsWithOtherTagsOrQueuesAreNotClaimed) {
  Worker worker(*queue);
  worker.on_tag("email", always(Handled::done()));
  const EventId print = publish("print");
  const EventId elsewhere =
      queue->publish({.title = "e", .tags = {"email"}, .queue = "elsewhere"}).value().id;
  ASSERT_TRUE(worker.start());

  ended(publish("email"));
  worker.stop();

  EXPECT_EQ(queue->get(print).value().attempts, 0);
  EXPECT_EQ(queue->get(elsewhere).value().attempts, 0);
  EXPECT_EQ(worker.stats().taken, 1U);
}

TEST_P(WorkerTest, TwoWorkersShareWithoutHandlingAnEventTwice) {
  std::mutex mutex;
  std::map<EventId, int> runs;
  const Handler count = [&](const Event& event, const std::stop_token&) {
    const std::scoped_lock lock(mutex);
    ++runs[event.id];
    return Handled::done();
  };
  Worker one(*queue, {.worker_id = "host:1"});
  Worker two(*queue, {.worker_id = "host:2"});
  ASSERT_TRUE(one.on_tag("email", count).start());
  ASSERT_TRUE(two.on_tag("email", count).start());

  std::vector<EventId> ids;
  for (int i = 0; i < 200; ++i) ids.push_back(publish("email"));
  for (const EventId id : ids) ended(id);
  one.stop();
  two.stop();

  EXPECT_THAT(runs, SizeIs(200));
  for (const EventId id : ids) {
    EXPECT_EQ(runs[id], 1);
    EXPECT_THAT(entries(id, Action::picked), SizeIs(1));
    EXPECT_THAT(entries(id, Action::completed), SizeIs(1));
  }
  EXPECT_EQ(one.stats().completed + two.stats().completed, 200U);
  EXPECT_EQ(one.stats().held, 0U);
}

// Counts the events that a worker holds, as the queue sees it.
class CountingQueue final : public WrappedQueue {
 public:
  explicit CountingQueue(Queue& inner) : WrappedQueue(inner) {}

  Result<NextResult> next(const NextRequest& request) override {
    auto result = WrappedQueue::next(request);
    const std::scoped_lock lock(mutex_);
    most_asked = std::max(most_asked, request.limit);
    held_ -= request.reports.size();
    held_ += result.value().claims.size();
    most_held = std::max(most_held, held_);
    return result;
  }

  std::size_t most_asked = 0;
  std::size_t most_held = 0;

 private:
  std::mutex mutex_;
  std::size_t held_ = 0;
};

// Holds the first report until `enough` events were handled, and keeps the most bytes of results in one call.
class SizedQueue final : public WrappedQueue {
 public:
  explicit SizedQueue(Queue& inner) : WrappedQueue(inner) {}

  Result<NextResult> next(const NextRequest& request) override {
    std::size_t bytes = 0;
    for (const Report& report : request.reports) bytes += std::get<Outcome>(report.what).result.size();
    const bool waited = bytes == 0 || enough.wait();
    EXPECT_TRUE(waited);
    most_bytes = std::max(most_bytes.load(), bytes);
    return WrappedQueue::next(request);
  }

  Gate enough;
  std::atomic<std::size_t> most_bytes = 0;
};

TEST_P(WorkerTest, OneCallReportsAtMostFourMebibytesOfResults) {
  SizedQueue sized(*queue);
  std::atomic<int> handled = 0;
  Worker worker(sized, {.threads = 4, .prefetch = 96});
  worker.on_tag("email", [&](const Event&, const std::stop_token&) {
    if (++handled == 90) sized.enough.open();
    return Handled::done('"' + std::string(limits::kResult - 2, 'x') + '"');
  });
  std::vector<EventId> ids;
  for (int i = 0; i < 90; ++i) ids.push_back(publish("email"));
  ASSERT_TRUE(worker.start());

  for (const EventId id : ids) EXPECT_EQ(ended(id).status, Status::completed);
  EXPECT_LE(sized.most_bytes, 4U * 1024 * 1024);
  EXPECT_GT(sized.most_bytes, 3U * 1024 * 1024);
}

TEST_P(WorkerTest, BatchSizeBoundsTheLimitOfNext) {
  open({.queues = {{"main", {.batch_size = 3}}}});
  CountingQueue counting(*queue);
  Worker worker(counting, {.threads = 8});
  worker.on_tag("email", always(Handled::done()));
  std::vector<EventId> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(publish("email"));

  ASSERT_TRUE(worker.start());
  for (const EventId id : ids) ended(id);
  worker.stop();

  EXPECT_EQ(counting.most_asked, 3U);
}

TEST_P(WorkerTest, AWorkerHoldsAtMostThreadsAndPrefetch) {
  CountingQueue counting(*queue);
  Worker worker(counting, {.threads = 2, .prefetch = 1});
  std::atomic<int> running = 0;
  std::atomic<int> most_running = 0;
  worker.on_tag("email", [&](const Event&, const std::stop_token&) {
    most_running = std::max(most_running.load(), ++running);
    --running;
    return Handled::done();
  });
  std::vector<EventId> ids;
  for (int i = 0; i < 50; ++i) ids.push_back(publish("email"));

  ASSERT_TRUE(worker.start());
  for (const EventId id : ids) ended(id);
  worker.stop();

  EXPECT_EQ(counting.most_held, 3U);
  EXPECT_LE(most_running, 2);
}

TEST_P(WorkerTest, WithoutPrefetchOneThreadHoldsOneEvent) {
  CountingQueue counting(*queue);
  Worker worker(counting, {.threads = 1, .prefetch = 0});
  worker.on_tag("email", always(Handled::done()));
  std::vector<EventId> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(publish("email"));

  ASSERT_TRUE(worker.start());
  for (const EventId id : ids) ended(id);
  worker.stop();

  EXPECT_EQ(counting.most_held, 1U);
}

TEST_P(WorkerTest, AHandlerThatDoesNotReturnBlocksOnlyItsThread) {
  Gate end;
  Worker worker(*queue, {.threads = 2});
  worker.on_tag("stuck", [&](const Event&, const std::stop_token&) {
    end.wait();
    return Handled::done();
  });
  worker.on_tag("email", always(Handled::done()));
  ASSERT_TRUE(worker.start());

  const EventId stuck = publish("stuck");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ended(publish("email")).status, Status::completed);

  EXPECT_EQ(queue->get(stuck).value().status, Status::processing);
  end.open();
  EXPECT_EQ(ended(stuck).status, Status::completed);
}

TEST_P(WorkerTest, OptionsOutOfRangeAreRefusedByName) {
  struct Row {
    WorkerOptions options;
    std::string field;
  };
  const Row rows[] = {
      {{.threads = 0}, "threads"},
      {{.threads = 1001}, "threads"},
      {{.prefetch = 1001}, "prefetch"},
      {{.stop_within = -1ms}, "stop_within"},
      {{.worker_id = "two words"}, "worker_id"},
      {{.worker_id = std::string(256, 'x')}, "worker_id"},
      {{.queue = ""}, "queue"},
      {{.queue = "no spaces"}, "queue"},
      {{.tags = {"email"}}, "tags"},
  };
  for (const Row& row : rows) {
    Worker worker(*queue, row.options);
    worker.on_tag("email", always(Handled::done()));
    const auto started = worker.start();
    ASSERT_FALSE(started) << row.field;
    EXPECT_EQ(started.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(started.error().field, row.field);
  }
}

TEST_P(WorkerTest, OptionsAtTheirLimitsAreAccepted) {
  for (const WorkerOptions& options :
       {WorkerOptions{.threads = 1, .prefetch = 0}, WorkerOptions{.threads = 100, .prefetch = 1000}}) {
    Worker worker(*queue, options);
    worker.on_tag("email", always(Handled::done()));
    ASSERT_TRUE(worker.start());
    EXPECT_EQ(ended(publish("email")).status, Status::completed);
  }
}

TEST_P(WorkerTest, AWorkerWithoutHandlersDoesNotStart) {
  Worker worker(*queue);

  EXPECT_THAT(worker.start().error().message, HasSubstr("no handler"));
}

TEST_P(WorkerTest, AWorkerIsStartedOnce) {
  Worker worker(*queue);
  worker.on_tag("email", always(Handled::done()));
  ASSERT_TRUE(worker.start());

  EXPECT_EQ(worker.start().error().code, ErrorCode::conflict);
  worker.stop();
  EXPECT_EQ(worker.start().error().code, ErrorCode::conflict);
}

}  // namespace
}  // namespace eventq
