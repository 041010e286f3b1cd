// thread_shard.cc: see thread_shard.h.
#include "shards/thread_shard.h"

#include <utility>

namespace eventq {

ThreadShard::ThreadShard(std::string name, std::vector<ShardWriter> writers,
                         std::vector<std::unique_ptr<Reader>> readers, const Clock& clock,
                         const Logger& logger)
    : name_(std::move(name)),
      clock_(clock),
      logger_(logger),
      writers_(std::move(writers)),
      readers_(std::move(readers)) {}

ThreadShard::~ThreadShard() { stop(); }

void ThreadShard::start(ShardObserver& observer, int shard) {
  observer_ = &observer;
  shard_ = shard;
  for (std::unique_ptr<Reader>& reader : readers_) {
    read_threads_.push_back(std::make_unique<ReadThread>(std::move(reader)));
  }
  commit_threads_.reserve(writers_.size());  // committed() reads the first while others are added
  for (std::size_t i = 0; i < writers_.size(); ++i) {
    commit_threads_.push_back(
        std::make_unique<CommitThread>(*writers_[i].store, *writers_[i].core, clock_, logger_,
                                       [this, i](const CommitEffects& effects) { committed(i, effects); }));
  }
}

void ThreadShard::submit(std::size_t commit_thread, Envelope<Command> request) {
  commit_threads_[commit_thread]->submit(std::move(request));
}

void ThreadShard::read(Envelope<Command> request) {
  read_threads_[next_read_.fetch_add(1) % read_threads_.size()]->submit(std::move(request));
}

void ThreadShard::recheck_clock() {
  for (const std::unique_ptr<CommitThread>& commit_thread : commit_threads_) commit_thread->recheck_clock();
}

void ThreadShard::stop() {
  for (const std::unique_ptr<CommitThread>& commit_thread : commit_threads_) commit_thread->stop();
  for (const std::unique_ptr<ReadThread>& read_thread : read_threads_) read_thread->stop();
}

// Called on a commit thread after each commit. The first commit thread maintains the store, so it must know
// of due times that the others created.
void ThreadShard::committed(std::size_t commit_thread, const CommitEffects& effects) {
  if (commit_thread > 0 && effects.next_due) commit_threads_.front()->expect_due(*effects.next_due);
  if (effects.ready.empty() && effects.ended.empty()) return;
  observer_->on_activity(shard_, ShardActivity{effects.ready, false, effects.ended, false});
}

}  // namespace eventq
