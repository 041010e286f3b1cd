// worker_leases_test.cc: leases that are kept, and what happens when they are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <optional>

#include "eventq/worker.h"
#include "support/gate.h"
#include "support/worker_queue.h"
#include "support/wrapped_queue.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::SizeIs;

class WorkerLeases : public WorkerQueueTest {
 protected:
  static constexpr Millis kLease = 600ms;

  void SetUp() override { open({.lease = kLease}); }
};
INSTANTIATE_TEST_SUITE_P(AllStores, WorkerLeases, testing::Values("memory", "sqlite"), name_of_worker_queue);

// Opens a gate after so many signs of life.
class HeartbeatCount final : public WrappedQueue {
 public:
  HeartbeatCount(Queue& inner, int wanted) : WrappedQueue(inner), wanted_(wanted) {}

  Result<TimePoint> heartbeat(const Lease& lease) override {
    auto until = WrappedQueue::heartbeat(lease);
    if (until && ++count_ == wanted_) reached.open();
    return until;
  }

  Gate reached;

 private:
  const int wanted_;
  std::atomic<int> count_ = 0;
};

TEST_P(WorkerLeases, AHandlerThatRunsForThreeLeasesIsNotRunTwice) {
  HeartbeatCount counted(*queue, 9);  // three for each lease
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
  HeartbeatCount counted(*queue, 12);  // two events, for two leases
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

// A network that lets no sign of life through until it is mended.
class CutOff final : public WrappedQueue {
 public:
  enum class How : std::uint8_t { silent, failing };
  CutOff(Queue& inner, How how) : WrappedQueue(inner), how_(how) {}

  Result<TimePoint> heartbeat(const Lease& lease) override {
    if (how_ == How::silent) mended.wait();
    if (!mended.is_open()) return Error{ErrorCode::unavailable, "No connection.", ""};
    return WrappedQueue::heartbeat(lease);
  }

  Result<TurnResult> next(const Turn& turn) override {
    auto result = WrappedQueue::next(turn);
    const std::scoped_lock lock(mutex_);
    for (const auto& answer : result.value().results) {
      if (!answer) refusals_.push_back(answer.error().code);
    }
    if (!turn.reports.empty()) reported.open();
    return result;
  }

  std::vector<ErrorCode> refusals() {
    const std::scoped_lock lock(mutex_);
    return refusals_;
  }

  Gate mended;
  Gate reported;

 private:
  const How how_;
  std::mutex mutex_;
  std::vector<ErrorCode> refusals_;
};

// Until the token fires.
void wait_for(const std::stop_token& stop) {
  Gate fired;
  const std::stop_callback opens(stop, [&] { fired.open(); });
  EXPECT_TRUE(fired.wait());
}

TEST_P(WorkerLeases, AnotherWorkerDoesWhatAFrozenOneHeldAndTheLateReportIsRefused) {
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

  Worker other(*queue, {.worker_id = "host:2"});
  other.on_tag("email", [](const Event&, const std::stop_token&) { return Handled::done(); });
  ASSERT_TRUE(other.start());
  EXPECT_EQ(ended(id).worker_id, "host:2");
  done_by_other.open();
  ASSERT_TRUE(frozen_network.reported.wait());
  frozen_network.mended.open();
  frozen.stop();

  EXPECT_THAT(frozen_network.refusals(), ElementsAre(ErrorCode::lease_lost));
  EXPECT_EQ(frozen.stats().completed, 0U);
  EXPECT_EQ(frozen.stats().lost, 1U);
  EXPECT_THAT(entries(id, Action::completed), SizeIs(1));
  EXPECT_THAT(entries(id, Action::abandoned), SizeIs(1));
}

TEST_P(WorkerLeases, ARefusedSignOfLifeFiresTheTokenAndNothingIsReported) {
  CutOff watched(*queue, CutOff::How::failing);
  watched.mended.open();
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

  clock.advance(kLease);
  const Claim taken = queue->poll().value().value();
  ASSERT_TRUE(queue->complete({id, taken.event.worker_id, taken.event.attempts}));
  ASSERT_TRUE(fired.wait());
  worker.stop();

  EXPECT_FALSE(watched.reported.is_open());
  EXPECT_EQ(worker.stats().lost, 1U);
  EXPECT_THAT(entries(id, Action::completed), SizeIs(1));
}

TEST_P(WorkerLeases, WhoseLeaseEndedWithoutARivalMayStillReport) {
  CutOff network(*queue, CutOff::How::failing);
  Worker worker(network, {.worker_id = "host:1", .threads = 1, .prefetch = 0});
  worker.on_tag("email", [&](const Event&, const std::stop_token& stop) {
    wait_for(stop);
    return Handled::done();
  });
  ASSERT_TRUE(worker.start());

  const EventId id = publish("email");

  EXPECT_EQ(ended(id).status, Status::completed);
  EXPECT_EQ(ended(id).attempts, 1);
}

TEST_P(WorkerLeases, AnEventWhoseLeaseEndedWhileItWaitedIsNotBegun) {
  CutOff network(*queue, CutOff::How::failing);
  std::mutex mutex;
  std::vector<int> attempts;
  Worker worker(network, {.worker_id = "host:1", .threads = 1, .prefetch = 1});
  worker.on_tag("first", [&](const Event& event, const std::stop_token& stop) {
    if (event.attempts > 1) return Handled::done();  // its own worker may be quick to take it again
    wait_for(stop);
    network.mended.open();
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
}

}  // namespace
}  // namespace eventq
