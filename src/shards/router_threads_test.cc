// router_threads_test.cc: which of a shard's lanes a command goes to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <mutex>
#include <thread>

#include "model/policy.h"
#include "shards/router.h"
#include "shards/thread_shard.h"
#include "store/memory/memory_store.h"
#include "support/mailbox.h"
#include "support/manual_clock.h"
#include "support/queue_commands.h"
#include "support/times.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;

constexpr int kShards = 2;

// Two lanes that lead to the one of another shard. What is sent to them waits there until it is let go.
class TwoLanes final : public Shard {
 public:
  explicit TwoLanes(std::unique_ptr<Shard> inner) : inner_(std::move(inner)) {}

  // How many commands each of them was sent.
  std::array<int, 2> sent() const {
    const std::scoped_lock lock(mutex_);
    return sent_;
  }
  void let_go(std::size_t lane) {
    std::vector<Request> held;
    {
      const std::scoped_lock lock(mutex_);
      open_.at(lane) = true;
      held.swap(held_.at(lane));
    }
    for (Request& request : held) inner_->submit(0, std::move(request));
  }

  void start(Watcher& watcher, int place) override { inner_->start(watcher, place); }
  std::string name() const override { return inner_->name(); }
  std::size_t lanes() const override { return 2; }
  void submit(std::size_t lane, Request request) override {
    {
      const std::scoped_lock lock(mutex_);
      sent_.at(lane) += 1;
      if (!open_.at(lane)) return held_.at(lane).push_back(std::move(request));
    }
    inner_->submit(0, std::move(request));
  }
  void read(Request request) override { inner_->read(std::move(request)); }
  void care(bool anybody) override { inner_->care(anybody); }
  void poke() override { inner_->poke(); }
  void stop() override {
    for (const std::size_t lane : {0U, 1U}) let_go(lane);
    inner_->stop();
  }

 private:
  const std::unique_ptr<Shard> inner_;

  // Guarded by mutex_.
  mutable std::mutex mutex_;
  std::array<int, 2> sent_{};
  std::array<bool, 2> open_{};
  std::array<std::vector<Request>, 2> held_;
};

class RouterLanesTest : public testing::Test {
 protected:
  void open(const Router::Habits& habits) {
    std::vector<std::unique_ptr<Shard>> made;
    for (int place = 0; place < kShards; ++place) made.push_back(make_shard(place));
    router = std::make_unique<Router>(std::move(made), clock, habits);
  }
  ~RouterLanesTest() override {
    for (const std::size_t lane : {0U, 1U}) let_go(lane);
  }

  std::unique_ptr<Shard> make_shard(int place) {
    auto store = memory::open_store(clock, place, kShards);
    std::vector<std::unique_ptr<Reader>> readers;
    readers.push_back(store->reader().value());
    CoreOptions options{.policy = default_policy(Options())};
    options.place = place;
    options.of = kShards;
    auto core = std::make_unique<Core>(*store, options, Uuid7Source(static_cast<std::uint64_t>(place)));
    EXPECT_TRUE(core->recover());
    std::vector<LaneShard::Writer> writers;
    writers.push_back({std::move(store), std::move(core)});
    auto shard = std::make_unique<TwoLanes>(
        std::make_unique<LaneShard>("memory", std::move(writers), std::move(readers), clock, logger));
    shards.push_back(shard.get());
    return shard;
  }

  static NewEvent some_event() {
    NewEvent event;
    event.title = "event";
    event.tags = {"a"};
    event.payload = "{}";
    return event;
  }
  // Without a key: where the least is under way.
  void submit(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t token = first; token <= last; ++token) {
      router->submit(publish(some_event()), mailbox, token);
    }
  }
  void expect_answers(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t token = first; token <= last; ++token) EXPECT_FALSE(mailbox.wait(token).error);
  }
  void let_go(std::size_t lane) {
    for (TwoLanes* shard : shards) shard->let_go(lane);
  }
  std::vector<std::array<int, 2>> sent() const {
    std::vector<std::array<int, 2>> all;
    for (const TwoLanes* shard : shards) all.push_back(shard->sent());
    return all;
  }

  ManualClock clock{kStart};
  const Logger logger;
  Mailbox mailbox;
  std::vector<TwoLanes*> shards;
  std::unique_ptr<Router> router;
};

TEST_F(RouterLanesTest, AsManyAreUsedAtTheSameTimeAsMayBe) {
  open({.lanes = 4, .late = 1h});
  submit(1, 4);
  EXPECT_THAT(sent(), Each(ElementsAre(1, 1)));
}

TEST_F(RouterLanesTest, EachShardUsesOneHoweverFewMayBeUsed) {
  for (const std::size_t lanes : {0U, 1U, 2U, 3U}) {
    open({.lanes = lanes, .late = 1h});
    submit(10 * lanes + 1, 10 * lanes + 4);
    EXPECT_THAT(sent(), Each(ElementsAre(2, 0))) << lanes;
    let_go(0);
    expect_answers(10 * lanes + 1, 10 * lanes + 4);
    router.reset();
    shards.clear();
  }
}

TEST_F(RouterLanesTest, KeysAreSpreadOverTheLanesThatAreUsed) {
  for (const std::size_t lanes : {2U, 4U}) {
    open({.lanes = lanes, .late = 1h});
    for (const std::size_t lane : {0U, 1U}) let_go(lane);
    for (int i = 0; i < 40; ++i) {
      NewEvent event = some_event();
      event.ordering_key = "key-" + std::to_string(i);
      ASSERT_FALSE(router->call(publish(std::move(event))).error);
    }
    int second = 0;
    for (const auto& [to_first, to_second] : sent()) second += to_second;
    EXPECT_EQ(second > 0, lanes == 4);
    router.reset();
    shards.clear();
  }
}

TEST_F(RouterLanesTest, WhatIsHeldUpInOneLaneDoesNotHoldUpWhatComesLater) {
  open({.lanes = 1, .late = 0ms});
  let_go(1);
  submit(1, 4);
  expect_answers(3, 4);
  EXPECT_THAT(sent(), Each(ElementsAre(1, 1)));
  let_go(0);
  expect_answers(1, 2);
  submit(5, 5);
  expect_answers(5, 5);
  EXPECT_THAT(sent(), Contains(ElementsAre(2, 1))) << "back in the first, as it answers again";
}

TEST_F(RouterLanesTest, OfOneThatHangsAndOneThatHasMuchToDoTheBusyOneIsTaken) {
  constexpr Millis kLate{1000};  // far longer than it takes to submit a few
  open({.lanes = 1, .late = kLate});
  submit(1, 2);
  const SteadyTime sent_by = steady_now();
  while (steady_now() - sent_by <= kLate) std::this_thread::yield();
  submit(3, 10);
  EXPECT_THAT(sent(), Each(ElementsAre(1, 4)));
}

}  // namespace
}  // namespace eventq
