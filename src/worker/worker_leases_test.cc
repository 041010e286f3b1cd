// worker_leases_test.cc: a worker renews its leases, and what happens when it cannot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "eventq/worker.h"
#include "support/gate.h"
#include "support/shown_lease.h"
#include "support/worker_queue.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::SizeIs;

class WorkerLeases : public WorkerQueueTest {
 protected:
  void SetUp() override { open({.lease = kTrueLease}); }

  // The next event with this tag, when its lease has expired. A heartbeat may renew the lease meanwhile.
  Claim take_over(const std::string& tag) {
    for (;;) {
      clock.advance(kTrueLease);
      if (auto claim = queue->poll({.tags = {tag}}).value()) return *std::move(claim);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(AllStores, WorkerLeases, testing::Values("memory", "real"), name_of_worker_queue);

TEST_P(WorkerLeases, AHandlerThatRunsForThreeLeasesIsNotRunTwice) {
  HeartbeatCount counted(*queue, clock, 4, kTrueLease * 9 / 10);
  std::atomic<int> runs = 0;
  const Handler long_one = [&](const Event&, const std::stop_token& stop) {
    ++runs;
    counted.reached.wait();
    return stop.stop_requested() ? Handled::fail("lost its lease") : Handled::done();
  };
  Worker first(counted, {.worker_id = "host:1"});
  Worker second(counted, {.worker_id = "host:2"});
  ASSERT_TRUE(first.on_tag("email", long_one).start());
  ASSERT_TRUE(second.on_tag("email", long_one).start());

  const EventId id = publish("email");

  EXPECT_EQ(ended(id).status, Status::completed);
  EXPECT_EQ(runs, 1);
  EXPECT_THAT(entries(id, Action::picked), SizeIs(1));
}

TEST_P(WorkerLeases, EventsThatWaitInTheWorkerKeepTheirLeases) {
  HeartbeatCount counted(*queue, clock, 6, kTrueLease * 2 / 5);  // two events, for two leases
  Worker holder(counted, {.worker_id = "host:1", .threads = 1, .prefetch = 1});
  Gate running;
  holder.on_tag("email", [&](const Event&, const std::stop_token&) {
    running.open();
    counted.reached.wait();
    return Handled::done();
  });
  const EventId first = publish("email");
  const EventId second = publish("email");
  ASSERT_TRUE(holder.start());
  ASSERT_TRUE(running.wait());
  Worker rival(*queue, {.worker_id = "host:2"});
  rival.on_tag("email", [](const Event&, const std::stop_token&) { return Handled::done(); });
  ASSERT_TRUE(rival.start());

  EXPECT_EQ(ended(first).worker_id, "host:1");
  EXPECT_EQ(ended(second).worker_id, "host:1");
}

// A network that passes no heartbeat until it is repaired.
class CutOff final : public ShownLease {
 public:
  enum class How : std::uint8_t { silent, failing };
  CutOff(Queue& inner, How how, Millis shown = 1s) : ShownLease(inner, shown), how_(how) {}

  Result<NextResult> next(const NextRequest& request) override {
    if (!request.alive.empty()) {
      if (how_ == How::silent) repaired.wait();
      if (!repaired.is_open()) return Error{ErrorCode::unavailable, "No connection.", ""};
    }
    auto result = ShownLease::next(request);
    const std::scoped_lock lock(mutex_);
    for (const auto& answer : result.value().results) {
      if (!answer) refusals_.push_back(answer.error().code);
    }
    if (!request.reports.empty()) reported.open();
    return result;
  }

  std::vector<ErrorCode> refusals() {
    const std::scoped_lock lock(mutex_);
    return refusals_;
  }

  Gate repaired;
  Gate reported;

 private:
  const How how_;
  std::mutex mutex_;
  std::vector<ErrorCode> refusals_;
};

// Blocks until the stop is requested.
void wait_for(const std::stop_token& stop) {
  Gate fired;
  const std::stop_callback opens(stop, [&] { fired.open(); });
  EXPECT_TRUE(fired.wait());
}

TEST_P(WorkerLeases, AnotherWorkerTakesOverFromASuspendedOneAndTheLateReportIsRefused) {
  CutOff frozen_network(*queue, CutOff::How::silent);
  Worker frozen(frozen_network, {.worker_id = "host:1", .threads = 1, .prefetch = 0});
  Gate began;
  Gate done_by_other;
  frozen.on_tag("email", [&](const Event&, const std::stop_token& stop) {
    began.open();
    wait_for(stop);
    done_by_other.wait();
    return Handled::done();
  });
  ASSERT_TRUE(frozen.start());
  const EventId id = publish("email");
  ASSERT_TRUE(began.wait());

  clock.advance(kTrueLease);
  Worker other(*queue, {.worker_id = "host:2"});
  other.on_tag("email", [](const Event&, const std::stop_token&) { return Handled::done(); });
  ASSERT_TRUE(other.start());
  EXPECT_EQ(ended(id).worker_id, "host:2");
  done_by_other.open();
  ASSERT_TRUE(frozen_network.reported.wait());
  frozen_network.repaired.open();
  frozen.stop();

  EXPECT_THAT(frozen_network.refusals(), ElementsAre(ErrorCode::lease_lost));
  EXPECT_EQ(frozen.stats().completed, 0U);
  EXPECT_EQ(frozen.stats().lost, 1U);
  EXPECT_THAT(entries(id, Action::completed), SizeIs(1));
  EXPECT_THAT(entries(id, Action::abandoned), SizeIs(1));
}

TEST_P(WorkerLeases, ARefusedHeartbeatStopsTheHandlerAndNothingIsReported) {
  CutOff watched(*queue, CutOff::How::failing, kShownLease);
  watched.repaired.open();
  Worker worker(watched, {.worker_id = "host:1", .threads = 1, .prefetch = 0});
  Gate began;
  Gate fired;
  worker.on_tag("email", [&](const Event&, const std::stop_token& stop) {
    began.open();
    wait_for(stop);
    fired.open();
    return Handled::done();
  });
  ASSERT_TRUE(worker.start());
  const EventId id = publish("email");
  ASSERT_TRUE(began.wait());

  const Claim taken = take_over("email");
  ASSERT_TRUE(queue->complete({id, taken.event.worker_id, taken.event.attempts}));
  ASSERT_TRUE(fired.wait());
  worker.stop();

  EXPECT_FALSE(watched.reported.is_open());
  EXPECT_EQ(worker.stats().lost, 1U);
  EXPECT_THAT(entries(id, Action::completed), SizeIs(1));
}

TEST_P(WorkerLeases, AWorkerWhoseLeaseExpiredMayReportUntilAnotherClaimsTheEvent) {
  CutOff network(*queue, CutOff::How::failing);
  Worker worker(network, {.worker_id = "host:1", .threads = 1, .prefetch = 0});
  worker.on_tag("email", [&](const Event&, const std::stop_token& stop) {
    wait_for(stop);
    clock.advance(kTrueLease);
    return Handled::done();
  });
  ASSERT_TRUE(worker.start());

  const EventId id = publish("email");

  EXPECT_EQ(ended(id).status, Status::completed);
  EXPECT_EQ(ended(id).attempts, 1);
}

TEST_P(WorkerLeases, AnEventWhoseLeaseExpiredBeforeAThreadWasFreeIsNotHandled) {
  CutOff network(*queue, CutOff::How::failing);
  std::mutex mutex;
  std::vector<int> attempts;
  Worker worker(network, {.worker_id = "host:1", .threads = 1, .prefetch = 1});
  worker.on_tag("first", [&](const Event& event, const std::stop_token& stop) {
    if (event.attempts > 1) return Handled::done();  // the same worker may claim it again first
    wait_for(stop);
    network.repaired.open();
    return Handled::done();
  });
  worker.on_tag("second", [&](const Event& event, const std::stop_token&) {
    const std::scoped_lock lock(mutex);
    attempts.push_back(event.attempts);
    return Handled::done();
  });
  const EventId first = publish("first");
  const EventId second = publish("second");
  ASSERT_TRUE(worker.start());

  EXPECT_EQ(ended(second).status, Status::completed);
  EXPECT_EQ(ended(first).status, Status::completed);
  worker.stop();

  EXPECT_THAT(attempts, ElementsAre(2));
  EXPECT_THAT(entries(second, Action::released), SizeIs(1));
}

// Opens a gate when one request has renewed so many leases.
class NextSize final : public ShownLease {
 public:
  NextSize(Queue& inner, std::size_t wanted) : ShownLease(inner), wanted_(wanted) {}

  Result<NextResult> next(const NextRequest& request) override {
    auto result = ShownLease::next(request);
    if (request.alive.size() >= wanted_) reached.open();
    return result;
  }

  Gate reached;

 private:
  const std::size_t wanted_;
};

TEST_P(WorkerLeases, OneRequestRenewsTheLeasesOfAllHeldEvents) {
  NextSize sized(*queue, 200);
  std::vector<NewEvent> events(200, {.title = "email", .tags = {"email"}});
  ASSERT_TRUE(queue->publish_batch(events));
  Worker worker(sized, {.worker_id = "host:1", .threads = 1, .prefetch = 199});
  worker.on_tag("email", [&](const Event&, const std::stop_token&) {
    EXPECT_TRUE(sized.reached.wait());
    return Handled::done();
  });
  ASSERT_TRUE(worker.start());
  EXPECT_TRUE(sized.reached.wait());
  worker.stop();
  EXPECT_EQ(worker.stats().lost, 0U);
}

TEST_P(WorkerLeases, AnEventClaimedAfterAWaitLongerThanItsLeaseKeepsItsLease) {
  constexpr Millis kTold = 1500ms;
  open({.lease = kTrueLease, .queues = {{"slow", {.processing_interval = 3 * kTold}}}});
  HeartbeatCount counted(*queue, clock, 3, 0ms, kTold);
  std::atomic<int> lost = 0;
  Worker worker(counted, {.queue = "slow", .worker_id = "host:1", .threads = 1, .prefetch = 0});
  worker.on_tag("email", [&](const Event&, const std::stop_token& stop) {
    EXPECT_TRUE(counted.reached.wait());
    if (stop.stop_requested()) ++lost;
    return Handled::done();
  });
  ASSERT_TRUE(worker.start());
  // The worker's long poll has lasted longer than a lease when the event arrives.
  ASSERT_TRUE(queue->next({.worker_id = "host:2", .limit = 1, .wait = kTold + 300ms}));
  const EventId id = queue->publish({.title = "email", .tags = {"email"}, .queue = "slow"}).value().id;

  EXPECT_EQ(ended(id).attempts, 1);
  EXPECT_EQ(lost, 0);
}

// Opens a gate when a request renews leases, but not that of one event.
class KeepsOthers final : public ShownLease {
 public:
  KeepsOthers(Queue& inner, EventId one) : ShownLease(inner), one_(one) {}

  Result<NextResult> next(const NextRequest& request) override {
    auto result = ShownLease::next(request);
    const auto is_one = [this](const Alive& alive) { return alive.id == one_; };
    const bool others =
        !request.alive.empty() && std::none_of(request.alive.begin(), request.alive.end(), is_one);
    if (others && armed) reached.open();
    return result;
  }

  std::atomic<bool> armed = false;
  Gate reached;

 private:
  const EventId one_;
};

TEST_P(WorkerLeases, ABlockingCallbackDoesNotDelayHeartbeats) {
  const EventId first =
      queue->publish({.title = "email", .tags = {"email", "first"}, .priority = 9}).value().id;
  publish("email");
  KeepsOthers kept(*queue, first);
  Gate began;
  Gate fired;
  Worker worker(kept, {.worker_id = "host:1", .threads = 1, .prefetch = 1});
  worker.on_tag("email", [&](const Event& event, const std::stop_token& stop) {
    if (event.id != first) return Handled::done();
    const std::stop_callback blocks(stop, [&] {
      EXPECT_TRUE(kept.reached.wait());
      fired.open();
    });
    began.open();
    EXPECT_TRUE(fired.wait());
    return Handled::done();
  });
  ASSERT_TRUE(worker.start());
  ASSERT_TRUE(began.wait());

  kept.armed = true;
  const Claim taken = take_over("first");
  ASSERT_EQ(taken.event.id, first);
  ASSERT_TRUE(queue->complete({first, taken.event.worker_id, taken.event.attempts}));

  EXPECT_TRUE(fired.wait());
}

}  // namespace
}  // namespace eventq
