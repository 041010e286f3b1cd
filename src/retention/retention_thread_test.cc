// retention_thread_test.cc: when the thread runs a step. What a step does is in retention_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "retention/retention_thread.h"
#include "support/manual_clock.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// Longer than any test runs.
constexpr Millis kNever = 1h;

// A step function with given results, which counts its calls.
class Steps {
 public:
  // `result` is called with the number of the step, from 1.
  explicit Steps(std::function<Result<std::size_t>(int n)> result) : result_(std::move(result)) {}

  RetentionThread::StepFunction taken() {
    return [this](TimePoint now) {
      const std::scoped_lock lock(mutex_);
      times_.push_back(now);
      changed_.notify_all();
      return result_(static_cast<int>(times_.size()));
    };
  }

  // Returns after `count` steps.
  void await(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return times_.size() >= count; });
  }

  std::vector<TimePoint> times() {
    const std::scoped_lock lock(mutex_);
    return times_;
  }

 private:
  const std::function<Result<std::size_t>(int)> result_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<TimePoint> times_;
};

class RetentionThreadTest : public testing::Test {
 protected:
  ManualClock clock{TimePoint(1h)};
  std::vector<std::string> lines;  // the log; read it after the retention thread has stopped
  const Logger logger = [this](LogLevel, std::string_view line) { lines.emplace_back(line); };
};

TEST_F(RetentionThreadTest, RepeatsStepsWhileTheyRemoveEvents) {
  Steps steps([](int n) { return n <= 3 ? std::size_t{200} : std::size_t{0}; });
  RetentionThread retention_thread(steps.taken(), clock, logger, {.between_steps = 1ms, .when_idle = kNever});

  steps.await(4);
  retention_thread.stop();

  EXPECT_EQ(steps.times().size(), 4U);
}

TEST_F(RetentionThreadTest, RunsAStepAgainAfterTheIdlePause) {
  Steps steps([](int) { return std::size_t{0}; });
  RetentionThread retention_thread(steps.taken(), clock, logger, {.between_steps = kNever, .when_idle = 1ms});

  steps.await(3);
}

TEST_F(RetentionThreadTest, RunsAStepWhenTheClockIsRechecked) {
  Steps steps([](int) { return std::size_t{0}; });
  RetentionThread retention_thread(steps.taken(), clock, logger,
                                   {.between_steps = kNever, .when_idle = kNever});
  steps.await(1);
  clock.advance(1min);

  retention_thread.recheck_clock();
  steps.await(2);

  EXPECT_THAT(steps.times(), ElementsAre(TimePoint(1h), TimePoint(1h + 1min)));
}

TEST_F(RetentionThreadTest, LogsAnErrorAndTriesAgainAfterTheIdlePause) {
  Steps steps([](int n) -> Result<std::size_t> {
    if (n == 1) return Error{ErrorCode::no_space, "The disk is full.", ""};
    return std::size_t{0};
  });
  RetentionThread retention_thread(steps.taken(), clock, logger, {.between_steps = kNever, .when_idle = 1ms});

  steps.await(2);
  retention_thread.stop();

  EXPECT_THAT(lines, ElementsAre("msg=\"ended events could not be removed\" error=\"The disk is full.\""));
}

TEST_F(RetentionThreadTest, ARecheckOfTheClockDoesNotRepeatAFailedStep) {
  Steps steps([](int) -> Result<std::size_t> { return Error{ErrorCode::no_space, "The disk is full.", ""}; });
  RetentionThread retention_thread(steps.taken(), clock, logger,
                                   {.between_steps = kNever, .when_idle = kNever});
  steps.await(1);

  retention_thread.recheck_clock();
  retention_thread.stop();

  EXPECT_EQ(steps.times().size(), 1U);
}

TEST_F(RetentionThreadTest, NeedsNoLogger) {
  const Logger silent;
  Steps steps([](int) -> Result<std::size_t> { return Error{ErrorCode::no_space, "The disk is full.", ""}; });
  RetentionThread retention_thread(steps.taken(), clock, silent, {.between_steps = kNever, .when_idle = 1ms});

  steps.await(2);
}

TEST_F(RetentionThreadTest, StopsAtOnceAndTwice) {
  Steps steps([](int n) { return n == 1 ? std::size_t{1} : std::size_t{0}; });
  RetentionThread retention_thread(steps.taken(), clock, logger,
                                   {.between_steps = kNever, .when_idle = kNever});
  steps.await(1);

  retention_thread.stop();
  retention_thread.stop();
  retention_thread.recheck_clock();

  EXPECT_EQ(steps.times().size(), 1U);
}

}  // namespace
}  // namespace eventq
