// commit_thread.h: the thread that runs a Core. Commands that arrive during a commit form the next batch; an
// idle thread commits a command at once.
//
// Threads: every public method may be called from any thread, but stop() not from two at once. Answers are
// delivered on the commit thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "core/core.h"
#include "eventq/clock.h"
#include "eventq/options.h"

namespace eventq {

class CommitThread {
 public:
  // `committed` is called on the commit thread with the effects of each commit.
  // REQUIRES: the arguments outlive this object.
  CommitThread(Store& store, Core& core, const Clock& clock, const Logger& logger,
               std::function<void(const CommitEffects&)> committed = nullptr);
  ~CommitThread();  // stops
  CommitThread(const CommitThread&) = delete;
  CommitThread& operator=(const CommitThread&) = delete;

  // The answer goes to the sink of `request`. After stop() it is `unavailable`, delivered before this
  // returns.
  void submit(Envelope<Command> request);

  // The caller takes no events any more. A wait ends without an answer. A command that is not in a batch yet
  // loses its claim and its wait, and is answered. An answer that is being delivered still arrives.
  void cancel_wait(const ReplyTo& reply_to);

  // Reads the clock again, for tests that move it.
  void recheck_clock();

  // Another commit thread knows of an event that comes due at `due`, by the store's time.
  void expect_due(TimePoint due);

  // Answers every waiter with nothing. Later commands do not wait either.
  void end_all_waits();

  // Commits what was submitted, closes the core, then ends the thread. Safe twice.
  void stop();

 private:
  void loop();
  void log(LogLevel level, std::string_view what, const Error& error) const;
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  void fill_batch(std::unique_lock<std::mutex>& lock);
  std::vector<Envelope<Command>> take_batch();
  void run_batch(std::vector<Envelope<Command>> batch);
  [[nodiscard]] TimePoint now() const;
  void correct_ahead(TimePoint began);

  // Set in the constructor, never changed.
  Store& store_;
  Core& core_;  // used by the thread only
  const Clock& clock_;
  const Logger& logger_;
  const std::function<void(const CommitEffects&)> committed_;

  // Used by the thread only.
  bool failing_ = false;        // the last batch failed, so maintenance waits kClockInterval
  std::size_t last_batch_ = 0;  // commands in it
  Millis ahead_{0};             // how far the store's clock is ahead of ours, as an estimate

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable work_;
  std::size_t goal_ = 1;  // submit() wakes the thread when requests_ has so many
  std::deque<Envelope<Command>> requests_;
  std::vector<ReplyTo> cancelled_waits_;
  bool recheck_clock_ = false;
  std::optional<TimePoint> expected_;  // the first due time that the core does not know yet
  std::optional<TimePoint> wakes_at_;  // while it waits: it wakes by itself then
  bool dismissing_ = false;            // submit() takes waits out of commands
  bool dismiss_now_ = false;           // the thread has to answer the waiters
  bool stopping_ = false;
  bool ended_ = false;  // the thread takes no more requests

  std::thread thread_;
};

}  // namespace eventq
