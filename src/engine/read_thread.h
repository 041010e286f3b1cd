// read_thread.h: the thread that answers reads of committed rows, so that they do not wait for a commit.
//
// Threads: submit() from any thread. Answers are delivered on the read thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "command/envelope.h"
#include "store/store.h"

namespace eventq {

class ReadThread {
 public:
  explicit ReadThread(std::unique_ptr<Reader> reader);
  ~ReadThread();  // stops
  ReadThread(const ReadThread&) = delete;
  ReadThread& operator=(const ReadThread&) = delete;

  // REQUIRES: the command is_read(). Errors: `unavailable` after stop().
  void submit(Envelope<Command> request);

  // Answers the submitted commands, then ends the thread. Safe twice.
  void stop();

 private:
  void loop();
  Answer answer(const Command& command);
  Result<FoundEvents> find(const EventIdsQuery& ask);
  Result<std::vector<QueueLogEntry>> queue_log(const QueueLogFilter& filter);
  Result<std::vector<Checkpoint>> checkpoints(const CheckpointsQuery& ask);

  // Used by the thread only.
  const std::unique_ptr<Reader> reader_;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Envelope<Command>> requests_;
  bool stopping_ = false;
  bool ended_ = false;  // the thread takes no more requests

  std::thread thread_;
};

}  // namespace eventq
