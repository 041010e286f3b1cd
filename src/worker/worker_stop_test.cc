// worker_stop_test.cc: what stop() waits for, which events it gives back, and which threads it detaches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "base/steady.h"
#include "eventq/worker.h"
#include "support/gate.h"
#include "support/shown_lease.h"
#include "support/worker_queue.h"
#include "support/wrapped_queue.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using WorkerStop = WorkerQueueTest;
INSTANTIATE_TEST_SUITE_P(AllStores, WorkerStop, testing::Values("memory", "real"), name_of_worker_queue);

// Opens a gate when so many events were claimed, and one when so many were given back.
class NextCount final : public WrappedQueue {
 public:
  NextCount(Queue& inner, std::size_t claims, std::size_t returns)
      : WrappedQueue(inner), claims_(claims), returns_(returns) {}

  Result<NextResult> next(const NextRequest& request) override {
    auto result = WrappedQueue::next(request);
    const std::scoped_lock lock(mutex_);
    seen_claims_ += result.value().claims.size();
    for (const Report& report : request.reports) seen_returns_ += std::holds_alternative<Return>(report.what);
    if (seen_claims_ >= claims_) taken.open();
    if (seen_returns_ >= returns_) given_back.open();
    return result;
  }

  Gate taken;
  Gate given_back;

 private:
  const std::size_t claims_;
  const std::size_t returns_;
  std::mutex mutex_;
  std::size_t seen_claims_ = 0;
  std::size_t seen_returns_ = 0;
};

// Counts sign-offs, and the calls of next() after one.
class SignOffs final : public WrappedQueue {
 public:
  using WrappedQueue::WrappedQueue;

  Result<NextResult> next(const NextRequest& request) override {
    if (!workers.empty()) ++calls_after;
    return WrappedQueue::next(request);
  }
  Result<void> sign_off(const std::string& worker_id) override {
    workers.push_back(worker_id);
    return WrappedQueue::sign_off(worker_id);
  }

  std::vector<std::string> workers;
  int calls_after = 0;
};

TEST_P(WorkerStop, AStoppingWorkerSignsOffAfterItsLastCall) {
  SignOffs signs_off(*queue);
  Worker worker(signs_off, {.worker_id = "w:1"});
  worker.on_tag("email", [](const Event&, const std::stop_token&) { return Handled::done(); });
  ASSERT_TRUE(worker.start());
  EXPECT_THAT(signs_off.workers, IsEmpty());

  EXPECT_TRUE(worker.stop());
  EXPECT_THAT(signs_off.workers, ElementsAre("w:1"));
  EXPECT_EQ(signs_off.calls_after, 0);
}

TEST_P(WorkerStop, WaitsForTheHandlersThatRun) {
  Gate began;
  Worker worker(*queue);
  worker.on_tag("email", [&](const Event&, const std::stop_token& stop) {
    began.open();
    return stop.stop_requested() ? Handled::fail("told to stop") : Handled::done();
  });
  ASSERT_TRUE(worker.start());
  const EventId id = publish("email");
  ASSERT_TRUE(began.wait());

  EXPECT_TRUE(worker.stop());

  EXPECT_EQ(queue->get(id).value().status, Status::completed);
  EXPECT_EQ(worker.stats().completed, 1U);
  EXPECT_EQ(worker.stats().held, 0U);
}

TEST_P(WorkerStop, ClaimsNoMoreEvents) {
  Worker worker(*queue);
  worker.on_tag("email", [](const Event&, const std::stop_token&) { return Handled::done(); });
  ASSERT_TRUE(worker.start());
  EXPECT_TRUE(worker.stop());

  const EventId id = publish("email");

  EXPECT_EQ(queue->get(id).value().attempts, 0);
  EXPECT_EQ(worker.stats().taken, 0U);
}

TEST_P(WorkerStop, GivesBackEventsThatNoHandlerHasBegun) {
  NextCount counted(*queue, 4, 3);
  Worker worker(counted, {.threads = 1, .prefetch = 3});
  Gate began;
  worker.on_tag("email", [&](const Event&, const std::stop_token&) {
    began.open();
    counted.given_back.wait();
    return Handled::done();
  });
  std::vector<EventId> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(publish("email"));
  ASSERT_TRUE(worker.start());
  ASSERT_TRUE(counted.taken.wait());
  ASSERT_TRUE(began.wait());

  EXPECT_TRUE(worker.stop());

  EXPECT_EQ(worker.stats().completed, 1U);
  EXPECT_EQ(worker.stats().given_back, 3U);
  EXPECT_EQ(queue->get(ids[0]).value().status, Status::completed);
  for (std::size_t i = 1; i < 4; ++i) {
    const Event event = queue->get(ids[i]).value();
    EXPECT_EQ(event.status, Status::pending);
    EXPECT_EQ(event.retry_count, 0);
    EXPECT_LE(event.due_at, clock.now());
    EXPECT_THAT(entries(ids[i], Action::released), SizeIs(1));
  }
}

// A request whose answer is on its way when the worker stops.
class SlowAnswer final : public WrappedQueue {
 public:
  explicit SlowAnswer(Queue& inner) : WrappedQueue(inner) {}

  Result<NextResult> next(const NextRequest& request) override {
    auto result = WrappedQueue::next(request);
    if (result.value().claims.empty() || calls_with_claims_++ == 0) return result;
    under_way.open();
    stop_began.wait();
    return result;
  }

  Gate under_way;
  Gate stop_began;

 private:
  int calls_with_claims_ = 0;  // made by the fetcher only, because nothing is reported before the stop
};

TEST_P(WorkerStop, GivesBackEventsThatArriveAfterItBegan) {
  open({.queues = {{"main", {.batch_size = 2}}}});
  SlowAnswer slow(*queue);
  const Logger hears_stop = [&](LogLevel, std::string_view line) {
    if (line == R"(msg="worker stops")") slow.stop_began.open();
  };
  Worker worker(slow, {.threads = 1, .prefetch = 2, .logger = hears_stop});
  Gate began;
  worker.on_tag("email", [&](const Event&, const std::stop_token&) {
    began.open();
    slow.stop_began.wait();
    return Handled::done();
  });
  std::vector<EventId> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(publish("email"));
  ASSERT_TRUE(worker.start());
  ASSERT_TRUE(slow.under_way.wait());
  ASSERT_TRUE(began.wait());

  EXPECT_TRUE(worker.stop());

  EXPECT_EQ(worker.stats().taken, 3U);
  EXPECT_EQ(worker.stats().given_back, 2U);
  EXPECT_EQ(queue->get(ids[2]).value().status, Status::pending);
  EXPECT_THAT(entries(ids[2], Action::released), SizeIs(1));
}

TEST_P(WorkerStop, AfterStopWithinRequestsTokensToStopGivesBackAndDetachesThreads) {
  struct Shared {
    Gate began;
    Gate fired;
    Gate end;
    Gate ended;
  };
  const auto shared = std::make_shared<Shared>();
  const EventId id = publish("email");
  {
    Worker worker(*queue, {.threads = 2, .stop_within = 50ms});
    worker.on_tag("email", [shared](const Event& event, const std::stop_token& stop) {
      const std::stop_callback tell(stop, [&] { shared->fired.open(); });
      shared->began.open();
      shared->end.wait();
      // The handler may still use the event after the worker was destroyed.
      if (event.title == "email") shared->ended.open();
      return Handled::done();
    });
    ASSERT_TRUE(worker.start());
    ASSERT_TRUE(shared->began.wait());

    EXPECT_FALSE(worker.stop());
    EXPECT_FALSE(worker.stop());

    EXPECT_TRUE(shared->fired.is_open());
    EXPECT_EQ(worker.stats().given_back, 1U);
    EXPECT_EQ(worker.stats().completed, 0U);
  }
  EXPECT_EQ(queue->get(id).value().status, Status::pending);
  EXPECT_THAT(entries(id, Action::released), SizeIs(1));

  queue.reset();
  shared->end.open();
  EXPECT_TRUE(shared->ended.wait());
}

TEST_P(WorkerStop, GivesBackAnEventWhoseHandlersDidNotAllRun) {
  Gate began;
  Worker worker(*queue, {.threads = 1, .stop_within = 50ms});
  worker.on_tag("email", [&](const Event&, const std::stop_token& stop) {
    Gate fired;
    const std::stop_callback opens(stop, [&] { fired.open(); });
    began.open();
    fired.wait();
    return Handled::done();
  });
  worker.on_tag("email", [](const Event&, const std::stop_token&) { return Handled::done(); });
  const EventId id = publish("email");
  ASSERT_TRUE(worker.start());
  ASSERT_TRUE(began.wait());

  worker.stop();

  EXPECT_EQ(queue->get(id).value().status, Status::pending);
  EXPECT_EQ(worker.stats().given_back, 1U);
  EXPECT_EQ(worker.stats().lost, 0U);
}

TEST_P(WorkerStop, RenewsLeasesWhileItWaits) {
  open({.lease = kTrueLease});
  HeartbeatCount counted(*queue, clock, 3, kTrueLease * 9 / 10);
  Gate began;
  Gate end;
  Worker worker(counted, {.worker_id = "host:1", .threads = 1});
  worker.on_tag("email", [&](const Event&, const std::stop_token&) {
    began.open();
    end.wait();
    return Handled::done();
  });
  ASSERT_TRUE(worker.start());
  const EventId id = publish("email");
  ASSERT_TRUE(began.wait());

  auto stopped = std::async(std::launch::async, [&] { return worker.stop(); });
  // Another worker polls for more than two leases and finds nothing.
  while (!counted.reached.is_open()) {
    const auto rival = queue->next({.worker_id = "host:2", .limit = 1, .wait = 50ms});
    EXPECT_THAT(rival.value().claims, IsEmpty());
  }
  end.open();

  EXPECT_TRUE(stopped.get());
  EXPECT_EQ(queue->get(id).value().status, Status::completed);
}

TEST_P(WorkerStop, ReturnsAtOnceBeforeAStart) {
  Worker worker(*queue);

  EXPECT_TRUE(worker.stop());
}

// A queue that accepts no reports.
class DeafQueue final : public WrappedQueue {
 public:
  explicit DeafQueue(Queue& inner) : WrappedQueue(inner) {}

  Result<NextResult> next(const NextRequest& request) override {
    if (request.reports.empty()) return WrappedQueue::next(request);
    asked.open();
    return Error{ErrorCode::unavailable, "No connection.", ""};
  }

  Gate asked;
};

TEST_P(WorkerStop, GivesUpOnReportsThatTheQueueDoesNotTakeInTime) {
  DeafQueue deaf(*queue);
  Worker worker(deaf, {.stop_within = 300ms});
  worker.on_tag("email", [](const Event&, const std::stop_token&) { return Handled::done(); });
  ASSERT_TRUE(worker.start());
  const EventId id = publish("email");
  ASSERT_TRUE(deaf.asked.wait());

  const SteadyTime start = steady_now();
  EXPECT_TRUE(worker.stop());

  EXPECT_LT(millis_since(start), WorkerOptions{}.stop_within);
  EXPECT_EQ(queue->get(id).value().status, Status::processing);
  EXPECT_EQ(worker.stats().held, 1U);
}

}  // namespace
}  // namespace eventq
