// thread_shard.h: a shard in this process: commit threads, each with its own connection and core, and read
// threads.
//
// Threads: as Shard.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/core.h"
#include "engine/commit_thread.h"
#include "engine/read_thread.h"
#include "shards/shard.h"

namespace eventq {

// What one commit thread works with.
struct ShardWriter {
  std::unique_ptr<Store> store;
  std::unique_ptr<Core> core;  // recovered
};

class ThreadShard final : public Shard {
 public:
  // The first writer maintains the store. REQUIRES: at least one writer and one reader.
  ThreadShard(std::string name, std::vector<ShardWriter> writers,
              std::vector<std::unique_ptr<Reader>> readers, const Clock& clock, const Logger& logger);
  ~ThreadShard() override;
  ThreadShard(const ThreadShard&) = delete;
  ThreadShard& operator=(const ThreadShard&) = delete;

  void start(ShardObserver& observer, int shard) override;
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::size_t commit_threads() const override { return writers_.size(); }
  void submit(std::size_t commit_thread, Envelope<Command> request) override;
  void read(Envelope<Command> request) override;
  void expect_answers(bool) override {}
  void recheck_clock() override;
  void stop() override;

 private:
  void committed(std::size_t commit_thread, const CommitEffects& effects);

  // Set in the constructor, never changed.
  const std::string name_;
  const Clock& clock_;
  const Logger& logger_;
  const std::vector<ShardWriter> writers_;

  // Set by start(), before the commit threads exist.
  std::vector<std::unique_ptr<Reader>> readers_;
  ShardObserver* observer_ = nullptr;
  int shard_ = 0;

  std::vector<std::unique_ptr<CommitThread>> commit_threads_;
  std::vector<std::unique_ptr<ReadThread>> read_threads_;
  std::atomic<std::size_t> next_read_ = 0;
};

}  // namespace eventq
