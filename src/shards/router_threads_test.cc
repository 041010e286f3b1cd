// router_threads_test.cc: which of a shard's commit threads a command goes to.
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

// A shard with two commit threads in front of the one of another shard. They hold commands until a test lets
// them go.
class TwoCommitThreads final : public Shard {
 public:
  explicit TwoCommitThreads(std::unique_ptr<Shard> inner) : inner_(std::move(inner)) {}

  // The number of commands that each commit thread got.
  std::array<int, 2> sent() const {
    const std::scoped_lock lock(mutex_);
    return sent_;
  }
  void let_go(std::size_t commit_thread) {
    std::vector<Envelope<Command>> held;
    {
      const std::scoped_lock lock(mutex_);
      open_.at(commit_thread) = true;
      held.swap(held_.at(commit_thread));
    }
    for (Envelope<Command>& request : held) inner_->submit(0, std::move(request));
  }

  void start(ShardObserver& observer, int shard) override { inner_->start(observer, shard); }
  std::string name() const override { return inner_->name(); }
  std::size_t commit_threads() const override { return 2; }
  void submit(std::size_t commit_thread, Envelope<Command> request) override {
    {
      const std::scoped_lock lock(mutex_);
      sent_.at(commit_thread) += 1;
      if (!open_.at(commit_thread)) return held_.at(commit_thread).push_back(std::move(request));
    }
    inner_->submit(0, std::move(request));
  }
  void read(Envelope<Command> request) override { inner_->read(std::move(request)); }
  void expect_answers(bool any) override { inner_->expect_answers(any); }
  void recheck_clock() override { inner_->recheck_clock(); }
  void stop() override {
    for (const std::size_t commit_thread : {0U, 1U}) let_go(commit_thread);
    inner_->stop();
  }

 private:
  const std::unique_ptr<Shard> inner_;

  // Guarded by mutex_.
  mutable std::mutex mutex_;
  std::array<int, 2> sent_{};
  std::array<bool, 2> open_{};
  std::array<std::vector<Envelope<Command>>, 2> held_;
};

class RouterThreadsTest : public testing::Test {
 protected:
  void open(const RouterOptions& options) {
    std::vector<std::unique_ptr<Shard>> made;
    for (int shard_index = 0; shard_index < kShards; ++shard_index) made.push_back(make_shard(shard_index));
    router = std::make_unique<Router>(std::move(made), clock, options);
  }
  ~RouterThreadsTest() override {
    for (const std::size_t commit_thread : {0U, 1U}) let_go(commit_thread);
  }

  std::unique_ptr<Shard> make_shard(int shard_index) {
    auto store = memory::open_store(clock, shard_index, kShards);
    std::vector<std::unique_ptr<Reader>> readers;
    readers.push_back(store->reader().value());
    CoreOptions options{.policy = default_policy(Options())};
    options.share = {shard_index, kShards};
    auto core = std::make_unique<Core>(*store, options, Uuid7Source(static_cast<std::uint64_t>(shard_index)));
    EXPECT_TRUE(core->recover());
    std::vector<ShardWriter> writers;
    writers.push_back({std::move(store), std::move(core)});
    auto shard = std::make_unique<TwoCommitThreads>(
        std::make_unique<ThreadShard>("memory", std::move(writers), std::move(readers), clock, logger));
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
  // Without a key: goes to the least loaded commit thread.
  void submit(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t token = first; token <= last; ++token) {
      router->submit(publish(some_event()), mailbox, token);
    }
  }
  void expect_answers(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t token = first; token <= last; ++token) EXPECT_FALSE(mailbox.wait(token).error);
  }
  void let_go(std::size_t commit_thread) {
    for (TwoCommitThreads* shard : shards) shard->let_go(commit_thread);
  }
  std::vector<std::array<int, 2>> sent() const {
    std::vector<std::array<int, 2>> all;
    for (const TwoCommitThreads* shard : shards) all.push_back(shard->sent());
    return all;
  }

  ManualClock clock{kStart};
  const Logger logger;
  Mailbox mailbox;
  std::vector<TwoCommitThreads*> shards;
  std::unique_ptr<Router> router;
};

TEST_F(RouterThreadsTest, TheRouterUsesAsManyCommitThreadsAsItsOptionsAllow) {
  open({.commit_threads = 4, .stalled_after = 1h});
  submit(1, 4);
  EXPECT_THAT(sent(), Each(ElementsAre(1, 1)));
}

TEST_F(RouterThreadsTest, EachShardUsesOneCommitThreadEvenIfTheOptionsAllowFewer) {
  for (const std::size_t commit_threads : {0U, 1U, 2U, 3U}) {
    open({.commit_threads = commit_threads, .stalled_after = 1h});
    submit(10 * commit_threads + 1, 10 * commit_threads + 4);
    EXPECT_THAT(sent(), Each(ElementsAre(2, 0))) << commit_threads;
    let_go(0);
    expect_answers(10 * commit_threads + 1, 10 * commit_threads + 4);
    router.reset();
    shards.clear();
  }
}

TEST_F(RouterThreadsTest, KeysAreSpreadOverTheCommitThreadsInUse) {
  for (const std::size_t commit_threads : {2U, 4U}) {
    open({.commit_threads = commit_threads, .stalled_after = 1h});
    for (const std::size_t commit_thread : {0U, 1U}) let_go(commit_thread);
    for (int i = 0; i < 40; ++i) {
      NewEvent event = some_event();
      event.ordering_key = "key-" + std::to_string(i);
      ASSERT_FALSE(router->call(publish(std::move(event))).error);
    }
    int second = 0;
    for (const auto& [to_first, to_second] : sent()) second += to_second;
    EXPECT_EQ(second > 0, commit_threads == 4);
    router.reset();
    shards.clear();
  }
}

TEST_F(RouterThreadsTest, AStalledCommitThreadDoesNotDelayLaterCommands) {
  open({.commit_threads = 1, .stalled_after = 0ms});
  let_go(1);
  submit(1, 4);
  expect_answers(3, 4);
  EXPECT_THAT(sent(), Each(ElementsAre(1, 1)));
  let_go(0);
  expect_answers(1, 2);
  submit(5, 5);
  expect_answers(5, 5);
  EXPECT_THAT(sent(), Contains(ElementsAre(2, 1))) << "the first is used again, because it answers again";
}

TEST_F(RouterThreadsTest, ABusyCommitThreadIsPreferredToAStalledOne) {
  // When a loaded machine needs so long for a few submits that the second commit thread is stalled too, the
  // test starts over.
  constexpr Millis kStalledAfter{1000};
  for (std::uint64_t first = 1;; first += 10) {
    open({.commit_threads = 1, .stalled_after = kStalledAfter});
    submit(first, first + 1);
    const SteadyTime sent_by = steady_now();
    while (steady_now() - sent_by <= kStalledAfter) std::this_thread::yield();
    const SteadyTime before = steady_now();
    submit(first + 2, first + 9);
    if (steady_now() - before < kStalledAfter) break;
    for (const std::size_t commit_thread : {0U, 1U}) let_go(commit_thread);
    router.reset();
    shards.clear();
  }
  EXPECT_THAT(sent(), Each(ElementsAre(1, 4)));
}

}  // namespace
}  // namespace eventq
