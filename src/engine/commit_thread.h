// commit_thread.h: the thread round the Core. Commands that arrive while one commit is under way
// form the next batch; when idle, a command is committed at once.
//
// Threads: submit() and forget() from any thread; deliver() is called on the commit thread's own.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/core.h"
#include "eventq/clock.h"
#include "eventq/options.h"

namespace eventq {

class CommitThread {
 public:
  // `committed` is told, on the commit thread's thread, what each commit did.
  CommitThread(Store& store, Core& core, const Clock& clock, const Logger& logger,
               std::function<void(const Happened&)> committed = nullptr);
  ~CommitThread();  // stops
  CommitThread(const CommitThread&) = delete;
  CommitThread& operator=(const CommitThread&) = delete;

  // The answer goes to the reply_to's sink; after the stop it is `unavailable`, given at once.
  void submit(Envelope<Command> request);

  // The reply_to takes no events any more: its wait is over without an answer, a claim of it that
  // has not had its turn is left out of its command. An answer under way still arrives.
  void forget(const ReplyTo& reply_to);

  // Looks at the clock again; for tests that move it.
  void poke();

  // Another commit thread knows of something that comes due then, by the store's time.
  void expect(TimePoint due);

  // Answers every waiter with nothing, also those that come later: they no longer wait.
  void dismiss_waiters();

  // Finishes what was submitted, closes the core, then ends the thread. Safe twice.
  void stop();

 private:
  void loop();
  void close();
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  void gather(std::unique_lock<std::mutex>& lock);
  std::vector<Envelope<Command>> take_batch();
  void run_batch(std::vector<Envelope<Command>> batch);
  [[nodiscard]] TimePoint now() const;

  // Set in the constructor, never changed.
  Store& store_;
  Core& core_;  // touched by the thread only
  const Clock& clock_;
  const Logger& logger_;
  const std::function<void(const Happened&)> committed_;

  // Touched by the thread only.
  bool failing_ = false;        // the last batch failed; maintenance alone waits a little
  std::size_t last_batch_ = 0;  // commands
  Millis ahead_{0};             // how far the store's clock was ahead of ours

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable work_;
  std::size_t goal_ = 1;  // so many of requests_ wake the thread
  std::deque<Envelope<Command>> requests_;
  std::vector<ReplyTo> forgotten_;
  bool poked_ = false;
  std::optional<TimePoint> expected_;  // the first that the core has not been told of
  std::optional<TimePoint> wakes_at_;  // by itself, while it waits
  bool dismissing_ = false;            // nobody waits any more
  bool dismiss_now_ = false;           // those who still do are to be answered
  bool stopping_ = false;
  bool ended_ = false;  // the thread takes nothing any more

  std::thread thread_;
};

}  // namespace eventq
