// switched_shard.h: a shard that wraps another one and can be made silent: it then holds commands, answers
// none, and passes them on when it is switched back.
//
// Threads: every method may be called from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "shards/shard.h"

namespace eventq {

class SwitchedShard final : public Shard {
 public:
  explicit SwitchedShard(std::unique_ptr<Shard> inner) : inner_(std::move(inner)) {}

  void fall_silent() {
    const std::scoped_lock lock(mutex_);
    silent_ = true;
  }
  // Reports the shard as down, as a notifier would.
  void notice() { observer_->on_health(shard_, false); }
  void come_back() {
    std::vector<std::function<void()>> held;
    {
      const std::scoped_lock lock(mutex_);
      silent_ = false;
      held.swap(held_);
    }
    for (const auto& send : held) send();
    observer_->on_health(shard_, true);
  }
  // The number of commands it holds.
  [[nodiscard]] std::size_t held() const {
    const std::scoped_lock lock(mutex_);
    return held_.size();
  }

  void start(ShardObserver& observer, int shard) override {
    observer_ = &observer;
    shard_ = shard;
    inner_->start(observer, shard);
  }
  [[nodiscard]] std::string name() const override { return inner_->name(); }
  [[nodiscard]] std::size_t commit_threads() const override { return inner_->commit_threads(); }
  void submit(std::size_t commit_thread, Envelope<Command> request) override {
    pass([this, commit_thread, request = std::move(request)] { inner_->submit(commit_thread, request); });
  }
  void read(Envelope<Command> request) override {
    pass([this, request = std::move(request)] { inner_->read(request); });
  }
  void expect_answers(bool any) override { inner_->expect_answers(any); }
  void recheck_clock() override { inner_->recheck_clock(); }
  void stop() override { inner_->stop(); }

 private:
  void pass(std::function<void()> send) {
    {
      const std::scoped_lock lock(mutex_);
      if (silent_) return held_.push_back(std::move(send));
    }
    send();
  }

  const std::unique_ptr<Shard> inner_;
  ShardObserver* observer_ = nullptr;
  int shard_ = 0;

  // Guarded by mutex_.
  mutable std::mutex mutex_;
  bool silent_ = false;
  std::vector<std::function<void()>> held_;
};

}  // namespace eventq
