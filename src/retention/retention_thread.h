// retention_thread.h: the thread that repeats Retention::step().
//
// Threads: every method may be called from any thread, but stop() not from two at once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "eventq/options.h"

namespace eventq {

struct RetentionPauses {
  Millis between_steps{5};  // after a step that removed events, so that other commands reach the engine
  Millis when_idle{1000};   // after a step that removed nothing or failed
};

class RetentionThread {
 public:
  // As Retention::step(): returns how many events it removed.
  using StepFunction = std::function<Result<std::size_t>(TimePoint now)>;

  RetentionThread(StepFunction step, const Clock& clock, const Logger& logger, RetentionPauses pauses = {});
  ~RetentionThread();  // stops
  RetentionThread(const RetentionThread&) = delete;
  RetentionThread& operator=(const RetentionThread&) = delete;

  // Runs a step now, because a test moved the clock. After a failed step the thread keeps its pause, so that
  // a full disk is not tried in a loop.
  void recheck_clock();

  // Waits for the step that is running, then ends the thread. Safe twice.
  void stop();

 private:
  enum class StepOutcome : std::uint8_t { removed, idle, failed };
  void loop();
  StepOutcome run_step();

  // Set in the constructor, never changed.
  const StepFunction step_;  // called on the thread only
  const Clock& clock_;
  const Logger& logger_;
  const RetentionPauses pauses_;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable wake_;
  bool recheck_clock_ = false;
  bool stopping_ = false;

  std::thread thread_;
};

}  // namespace eventq
