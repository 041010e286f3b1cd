// retention_test.cc: the thread of retention.h. What it does in a step is in retirement_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "retention/retention.h"
#include "support/manual_clock.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// Never within a test.
constexpr Millis kNever = 1h;

// Steps with given results; counts them.
class Steps {
 public:
  // Step number `n`, from 1, comes to this.
  explicit Steps(std::function<Result<std::size_t>(int n)> result) : result_(std::move(result)) {}

  RetentionThread::Step taken() {
    return [this](TimePoint now) {
      const std::scoped_lock lock(mutex_);
      times_.push_back(now);
      changed_.notify_all();
      return result_(static_cast<int>(times_.size()));
    };
  }

  // Returns when there were this many.
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
  std::vector<std::string> lines;  // read them when the retention thread has stopped
  const Logger logger = [this](LogLevel, std::string_view line) { lines.emplace_back(line); };
};

TEST_F(RetentionThreadTest, GoesOnWhileThereIsSomethingToRemove) {
  Steps steps([](int n) { return n <= 3 ? std::size_t{200} : std::size_t{0}; });
  RetentionThread retention_thread(steps.taken(), clock, logger, {.breath = 1ms, .look = kNever});

  steps.await(4);
  retention_thread.stop();

  EXPECT_EQ(steps.times().size(), 4U);
}

TEST_F(RetentionThreadTest, LooksAgainAfterAWhile) {
  Steps steps([](int) { return std::size_t{0}; });
  RetentionThread retention_thread(steps.taken(), clock, logger, {.breath = kNever, .look = 1ms});

  steps.await(3);
}

TEST_F(RetentionThreadTest, LooksAgainWhenPoked) {
  Steps steps([](int) { return std::size_t{0}; });
  RetentionThread retention_thread(steps.taken(), clock, logger, {.breath = kNever, .look = kNever});
  steps.await(1);
  clock.advance(1min);

  retention_thread.poke();
  steps.await(2);

  EXPECT_THAT(steps.times(), ElementsAre(TimePoint(1h), TimePoint(1h + 1min)));
}

TEST_F(RetentionThreadTest, LogsAnErrorAndTriesAgainAfterAWhile) {
  Steps steps([](int n) -> Result<std::size_t> {
    if (n == 1) return Error{ErrorCode::no_space, "The disk is full.", ""};
    return std::size_t{0};
  });
  RetentionThread retention_thread(steps.taken(), clock, logger, {.breath = kNever, .look = 1ms});

  steps.await(2);
  retention_thread.stop();

  EXPECT_THAT(lines, ElementsAre("msg=\"ended events could not be removed\" error=\"The disk is full.\""));
}

TEST_F(RetentionThreadTest, IsNotPokedIntoRepeatingAnError) {
  Steps steps([](int) -> Result<std::size_t> { return Error{ErrorCode::no_space, "The disk is full.", ""}; });
  RetentionThread retention_thread(steps.taken(), clock, logger, {.breath = kNever, .look = kNever});
  steps.await(1);

  retention_thread.poke();
  retention_thread.stop();

  EXPECT_EQ(steps.times().size(), 1U);
}

TEST_F(RetentionThreadTest, NeedsNoLogger) {
  const Logger silent;
  Steps steps([](int) -> Result<std::size_t> { return Error{ErrorCode::no_space, "The disk is full.", ""}; });
  RetentionThread retention_thread(steps.taken(), clock, silent, {.breath = kNever, .look = 1ms});

  steps.await(2);
}

TEST_F(RetentionThreadTest, StopsAtOnceAndTwice) {
  Steps steps([](int n) { return n == 1 ? std::size_t{1} : std::size_t{0}; });
  RetentionThread retention_thread(steps.taken(), clock, logger, {.breath = kNever, .look = kNever});
  steps.await(1);

  retention_thread.stop();
  retention_thread.stop();
  retention_thread.poke();

  EXPECT_EQ(steps.times().size(), 1U);
}

}  // namespace
}  // namespace eventq
