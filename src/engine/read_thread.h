// read_thread.h: the thread that answers reads, beside the commits and not behind them.
//
// Threads: submit() from any thread; answers are delivered on the commit thread's own.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "core/core.h"
#include "store/store.h"

namespace eventq {

class ReadThread {
 public:
  explicit ReadThread(std::unique_ptr<Reader> reader);
  ~ReadThread();  // stops
  ReadThread(const ReadThread&) = delete;
  ReadThread& operator=(const ReadThread&) = delete;

  // A command that is_read(). After the stop it is refused as `unavailable`.
  void submit(Envelope<Command> request);

  // Answers what was submitted, then ends the thread. Safe twice.
  void stop();

 private:
  void loop();
  Answer answer(const Command& command);
  Result<Details> details(const Command::Get& get);
  Result<std::vector<Checkpoint>> checkpoints(const CheckpointsRequest& ask);

  // Touched by the thread only.
  const std::unique_ptr<Reader> reader_;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Envelope<Command>> requests_;
  bool stopping_ = false;
  bool ended_ = false;  // the thread takes nothing any more

  std::thread thread_;
};

}  // namespace eventq
