// worker_outage_test.cc: a queue that is unreachable, or returns errors, for some time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "eventq/worker.h"
#include "support/gate.h"
#include "support/worker_queue.h"
#include "support/wrapped_queue.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

using WorkerOutage = WorkerQueueTest;
INSTANTIATE_TEST_SUITE_P(AllStores, WorkerOutage, testing::Values("memory", "real"), name_of_worker_queue);

const Error kUnavailable{ErrorCode::unavailable, "No connection.", ""};

// Refuses the first calls of each kind, and loses the answer to the first report that arrives.
class BadNetwork final : public WrappedQueue {
 public:
  explicit BadNetwork(Queue& inner) : WrappedQueue(inner) {}

  Result<NextResult> next(const NextRequest& request) override {
    const std::scoped_lock lock(mutex_);
    if (request.reports.empty()) {
      if (failed_fetches_++ < 3) return kUnavailable;
    } else {
      if (failed_reports_++ < 2) return kUnavailable;
      if (!std::exchange(lost_answer_, true)) {
        NextRequest only_reports = request;
        only_reports.limit = 0;
        EXPECT_TRUE(WrappedQueue::next(only_reports));
        return Error{ErrorCode::unknown_outcome, "The connection broke.", ""};
      }
    }
    NextRequest prompt = request;
    prompt.wait = 0ms;
    return WrappedQueue::next(prompt);
  }

 private:
  std::mutex mutex_;
  int failed_fetches_ = 0;
  int failed_reports_ = 0;
  bool lost_answer_ = false;
};

TEST_P(WorkerOutage, NoReportIsLostOrRecordedTwice) {
  BadNetwork network(*queue);
  Worker worker(network);
  worker.on_tag("email", [](const Event&, const std::stop_token&) { return Handled::done(); });
  std::vector<EventId> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(publish("email"));

  ASSERT_TRUE(worker.start());
  for (const EventId id : ids) EXPECT_EQ(ended(id).attempts, 1);
  worker.stop();

  for (const EventId id : ids) EXPECT_THAT(entries(id, Action::completed), SizeIs(1));
  EXPECT_EQ(worker.stats().completed, 20U);
}

TEST_P(WorkerOutage, UnsentReportsAreSentAtTheStop) {
  BadNetwork network(*queue);
  Gate ran;
  Worker worker(network);
  worker.on_tag("email", [&](const Event&, const std::stop_token&) {
    ran.open();
    return Handled::done();
  });
  const EventId id = publish("email");
  ASSERT_TRUE(worker.start());
  ASSERT_TRUE(ran.wait());

  EXPECT_TRUE(worker.stop());

  EXPECT_EQ(queue->get(id).value().status, Status::completed);
}

TEST_P(WorkerOutage, AnOutageIsLoggedOnceAndSoIsItsEnd) {
  BadNetwork network(*queue);
  std::mutex mutex;
  std::vector<std::string> lines;
  Worker worker(network, {.logger = [&](LogLevel, std::string_view line) {
                  const std::scoped_lock lock(mutex);
                  lines.emplace_back(line);
                }});
  worker.on_tag("email", [](const Event&, const std::stop_token&) { return Handled::done(); });
  ASSERT_TRUE(worker.start());
  ended(publish("email"));
  worker.stop();

  std::erase_if(lines, [](const std::string& line) { return line.find("call=next") == line.npos; });
  EXPECT_THAT(lines, ElementsAre(HasSubstr("call of the queue failed"), HasSubstr("succeeds again")));
}

// Refuses a whole request because of one report in it.
class PickyQueue final : public WrappedQueue {
 public:
  PickyQueue(Queue& inner, EventId refused) : WrappedQueue(inner), refused_(refused) {}

  Result<NextResult> next(const NextRequest& request) override {
    const auto bad = [this](const Report& report) { return report.id == refused_; };
    if (std::any_of(request.reports.begin(), request.reports.end(), bad)) {
      return Error{ErrorCode::invalid_argument, "That makes no sense.", ""};
    }
    return WrappedQueue::next(request);
  }

 private:
  const EventId refused_;
};

TEST_P(WorkerOutage, ARefusedReportDoesNotDelayOtherReports) {
  const EventId refused = publish("email");
  std::vector<EventId> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(publish("email"));
  PickyQueue picky(*queue, refused);
  Worker worker(picky);
  worker.on_tag("email", [](const Event&, const std::stop_token&) { return Handled::done(); });

  ASSERT_TRUE(worker.start());
  for (const EventId id : ids) EXPECT_EQ(ended(id).status, Status::completed);
  worker.stop();

  EXPECT_EQ(queue->get(refused).value().status, Status::processing);
  EXPECT_EQ(worker.stats().completed, 10U);
  EXPECT_EQ(worker.stats().held, 0U);
}

// A queue that is closed while its worker runs.
class ClosedQueue final : public WrappedQueue {
 public:
  explicit ClosedQueue(Queue& inner) : WrappedQueue(inner) {}
  Result<QueueConfig> settings(const std::string&) override { return kUnavailable; }
};

TEST_P(WorkerOutage, AWorkerDoesNotStartOnAQueueThatDoesNotAnswer) {
  ClosedQueue closed(*queue);
  Worker worker(closed);
  worker.on_tag("email", [](const Event&, const std::stop_token&) { return Handled::done(); });

  EXPECT_EQ(worker.start().error().code, ErrorCode::unavailable);
  EXPECT_TRUE(worker.stop());
}

}  // namespace
}  // namespace eventq
