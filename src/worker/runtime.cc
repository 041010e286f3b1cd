// runtime.cc: start, stop and the pool. See runtime.h.
#include "worker/runtime.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/range.h"
#include "eventq/limits.h"
#include "model/validate.h"
#include "worker/handler_report.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

constexpr int kThreads = 1000;
constexpr int kPrefetch = 1000;

// Bounds for the long poll, whose length is the queue's processingInterval. stop() must wait for a running
// poll, so it must not be long; a very short one would call the queue without pause.
constexpr Millis kShortestWait = 100ms;
constexpr Millis kLongestWait = 5s;

void join(std::thread& thread) {
  if (thread.joinable()) thread.join();
}

std::optional<Error> validate(const WorkerOptions& options) {
  if (auto fault = out_of_range("threads", options.threads, 1, kThreads)) return fault;
  if (auto fault = out_of_range("prefetch", options.prefetch, 0, kPrefetch)) return fault;
  if (options.stop_within < Millis(0)) {
    return Error{ErrorCode::invalid_argument, "stop_within is negative; it must be 0 or more.",
                 "stop_within"};
  }
  if (!options.worker_id.empty()) {
    if (auto fault = validate_worker_id(options.worker_id)) return fault;
  }
  return validate_queue_name(options.queue);
}

}  // namespace

Result<void> Worker::Runtime::prepare() {
  if (auto fault = validate(options_)) return *fault;
  auto tags = handlers.subscription(options_.tags);
  if (!tags) return tags.error();
  tags_ = std::move(*tags);
  const auto settings = queue_.settings(options_.queue);
  if (!settings) return settings.error();
  capacity_ = options_.threads + options_.prefetch.value_or(options_.threads);
  batch_size_ = static_cast<std::size_t>(settings->batch_size.value_or(100));
  const Millis longest = std::clamp(options_.stop_within, kShortestWait, kLongestWait);
  wait_ = std::clamp(settings->processing_interval.value_or(1s), kShortestWait, longest);
  return {};
}

Result<void> Worker::Runtime::start(const std::shared_ptr<Runtime>& self) {
  if (self->started()) return Error{ErrorCode::conflict, "A worker is started once; make another one.", ""};
  if (auto prepared = self->prepare(); !prepared) return prepared;
  return self->start_threads(self);
}

Result<void> Worker::Runtime::start_threads(const std::shared_ptr<Runtime>& self) {
  {
    const std::scoped_lock lock(mutex_);
    started_ = true;
  }
  try {
    watcher_ = std::thread([this] { watch_leases(); });
    renewer_ = std::thread([this] { keep_leases(); });
    for (std::size_t i = 0; i < options_.threads; ++i) {
      PoolThread& made = *pool_.emplace_back(std::make_unique<PoolThread>());
      made.thread = std::thread([self, &made] { self->work(made); });
    }
    reporter_ = std::thread([this] { report(); });
    // Last, so that no event is claimed when another thread could not be started.
    fetcher_ = std::thread([this] { fetch(); });
  } catch (const std::system_error& refused) {
    stop();
    return Error{ErrorCode::unavailable,
                 std::string("The system gives no more threads: ") + refused.what() + ".", "threads"};
  }
  return {};
}

bool Worker::Runtime::stop() {
  Lock lock(mutex_);
  if (stopped_ || !started_) return stopped_.value_or(true);
  deadline_ = steady_now() + std::min(options_.stop_within, Millis(limits::kDelay));
  stopping_ = true;
  has_ready_.notify_all();
  has_capacity_.notify_all();
  lock.unlock();
  log(LogLevel::info, LogLine("worker stops"));

  lock.lock();
  is_idle_.wait_until(lock, deadline_, [this] { return busy() == 0; });
  fire_tokens(lock);
  // Give events back only after the fetcher has ended, because it could claim them again.
  lock.unlock();
  join(fetcher_);
  lock.lock();
  leave_behind();
  closing_ = true;
  has_reports_.notify_all();
  lock.unlock();
  join(reporter_);
  // The last reports were sent or given up. A failure is no loss: the worker counts as gone after a while.
  if (const auto done = queue_.sign_off(options_.worker_id); !done) {
    log(LogLevel::info, LogLine("worker could not sign off").add("error", done.error().message));
  }

  lock.lock();
  finished_ = true;
  has_leases_.notify_all();
  lock.unlock();
  join(renewer_);
  join(watcher_);
  for (const auto& one : pool_) join(one->thread);
  return *stopped_;
}

std::int64_t Worker::Runtime::busy() const {
  return std::count_if(pool_.begin(), pool_.end(), [](const auto& one) { return one->busy; });
}

void Worker::Runtime::fire_tokens(Lock& lock) {
  std::vector<std::stop_source> running;
  for (const auto& [attempt, held] : held_) {
    if (held->stage == HeldStage::running || held->stage == HeldStage::lost) running.push_back(held->stop);
  }
  if (running.empty()) return;
  lock.unlock();
  for (std::stop_source& stop : running) stop.request_stop();
  log(LogLevel::warning,
      LogLine("handlers did not return in time").add("handlers", static_cast<std::int64_t>(running.size())));
  lock.lock();
}

// Gives back the events whose handlers still run, and detaches their threads. Such a thread ends when its
// handler returns.
void Worker::Runtime::leave_behind() {
  stopped_ = busy() == 0;
  for (const auto& [attempt, held] : held_) {
    if (held->stage == HeldStage::running) give_back(attempt, *held);
  }
  for (const auto& one : pool_) {
    if (one->busy) one->thread.detach();
  }
}

bool Worker::Runtime::started() const {
  const std::scoped_lock lock(mutex_);
  return started_;
}

Worker::Stats Worker::Runtime::stats() const {
  const std::scoped_lock lock(mutex_);
  Stats stats = stats_;
  stats.held = held_.size();
  return stats;
}

void Worker::Runtime::work(PoolThread& self) {
  Lock lock(mutex_);
  for (;;) {
    has_ready_.wait(lock, [this] { return stopping_ || !ready_.empty(); });
    if (stopping_) return;
    self.busy = true;
    run_one(lock);
    self.busy = false;
    if (stopping_) is_idle_.notify_all();
  }
}

// Runs the handlers of the first ready event.
void Worker::Runtime::run_one(Lock& lock) {
  const Attempt attempt = ready_.front();
  ready_.pop_front();
  const std::shared_ptr<HeldClaim> held = held_.at(attempt);
  held->stage = HeldStage::running;
  lock.unlock();

  const SteadyTime began = steady_now();
  const auto handled = handlers.run(held->event, held->stop.get_token());
  const Millis took = millis_since(began);

  lock.lock();
  if (held->stage == HeldStage::lost) {
    forget(attempt);
  } else if (held->stage == HeldStage::running) {
    if (handled) {
      add_report(attempt, *held, handler_report(*handled, took));
    } else if (!stopping_) {  // otherwise leave_behind() gives it back, after the fetcher has ended
      give_back(attempt, *held, "Its lease expired before all handlers had run.");
    }
  }
}

void Worker::Runtime::log(LogLevel level, const LogLine& line) const {
  if (options_.logger) options_.logger(level, line.str());
}

void Worker::Runtime::log_answer(const Backoff& before, const char* call, const Error* error) const {
  if (const auto notice = notice_of(before, call, error)) log(notice->level, notice->line);
}

std::optional<Worker::Runtime::Notice> Worker::Runtime::notice_of(const Backoff& before, const char* call,
                                                                  const Error* error) {
  if (before.has_failed() == (error != nullptr)) return std::nullopt;
  LogLine line(error == nullptr ? "call of the queue succeeds again" : "call of the queue failed, retrying");
  line.add("call", call);
  if (error != nullptr) line.add("error", error->message);
  return Notice{.level = error == nullptr ? LogLevel::info : LogLevel::warning, .line = std::move(line)};
}

}  // namespace eventq
