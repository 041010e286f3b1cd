// retention_thread.cc: see retention_thread.h.
#include "retention/retention_thread.h"

#include "base/log.h"

namespace eventq {

RetentionThread::RetentionThread(StepFunction step, const Clock& clock, const Logger& logger,
                                 RetentionPauses pauses)
    : step_(std::move(step)), clock_(clock), logger_(logger), pauses_(pauses), thread_([this] { loop(); }) {}

RetentionThread::~RetentionThread() { stop(); }

void RetentionThread::recheck_clock() {
  const std::scoped_lock lock(mutex_);
  recheck_clock_ = true;
  wake_.notify_one();
}

void RetentionThread::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    wake_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void RetentionThread::loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    recheck_clock_ = false;
    lock.unlock();
    const StepOutcome outcome = run_step();
    lock.lock();
    const Millis pause = outcome == StepOutcome::removed ? pauses_.between_steps : pauses_.when_idle;
    wake_.wait_for(lock, pause,
                   [&] { return stopping_ || (recheck_clock_ && outcome == StepOutcome::idle); });
  }
}

RetentionThread::StepOutcome RetentionThread::run_step() {
  const auto removed = step_(clock_.now());
  if (removed) return *removed > 0 ? StepOutcome::removed : StepOutcome::idle;
  if (logger_) {
    logger_(LogLevel::error,
            LogLine("ended events could not be removed").add("error", removed.error().message).str());
  }
  return StepOutcome::failed;
}

}  // namespace eventq
