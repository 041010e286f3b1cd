// commit_thread.cc: see commit_thread.h.
#include "engine/commit_thread.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/steady.h"

namespace eventq {
namespace {

// Commands, and events in them, in one transaction: enough to share an fsync, few enough to answer soon. A
// command with more events has a transaction of its own.
constexpr std::size_t kBatchMax = 1000;
constexpr std::size_t kBatchEvents = 10'000;
// The longest time between two readings of the clock, and the time between two tries of maintenance on a
// store that fails.
constexpr std::chrono::seconds kClockInterval{1};
// See fill_batch(). After a batch of kFillFrom commands or more the thread waits for as many again, then as
// long as each kFillPause brings more, but at most kFillMax.
constexpr std::size_t kFillFrom = 8;
constexpr std::chrono::microseconds kFillPause{100};
constexpr std::chrono::microseconds kFillMax{600};

std::size_t events_in(const Command& command) {
  return command.changes.size() + (command.publication ? command.publication->events.size() : 0) +
         (command.claim ? command.claim->limit : 0);
}

}  // namespace

CommitThread::CommitThread(Store& store, Core& core, const Clock& clock, const Logger& logger,
                           std::function<void(const CommitEffects&)> committed)
    : store_(store),
      core_(core),
      clock_(clock),
      logger_(logger),
      committed_(std::move(committed)),
      thread_([this] { loop(); }) {}

CommitThread::~CommitThread() { stop(); }

void CommitThread::submit(Envelope<Command> request) {
  std::unique_lock lock(mutex_);
  if (ended_) {
    lock.unlock();
    refuse_closed(request.reply_to);
    return;
  }
  if (dismissing_) request.content.stop_waiting();
  requests_.push_back(std::move(request));
  const bool reached = requests_.size() == goal_;
  lock.unlock();
  if (reached) work_.notify_one();
}

void CommitThread::cancel_wait(const ReplyTo& reply_to) {
  const std::scoped_lock lock(mutex_);
  for (Envelope<Command>& request : requests_) {
    if (request.reply_to != reply_to) continue;
    request.content.claim.reset();
    request.content.wait.reset();
  }
  cancelled_waits_.push_back(reply_to);
  work_.notify_one();
}

void CommitThread::recheck_clock() {
  const std::scoped_lock lock(mutex_);
  recheck_clock_ = true;
  work_.notify_one();
}

void CommitThread::expect_due(TimePoint due) {
  const std::scoped_lock lock(mutex_);
  expected_ = std::min(expected_.value_or(due), due);
  if (wakes_at_ && *wakes_at_ > due) work_.notify_one();
}

void CommitThread::end_all_waits() {
  const std::scoped_lock lock(mutex_);
  dismissing_ = true;
  dismiss_now_ = true;
  for (Envelope<Command>& request : requests_) request.content.stop_waiting();
  work_.notify_one();
}

void CommitThread::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    work_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void CommitThread::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wait_for_work(lock);
    fill_batch(lock);
    const std::vector<ReplyTo> forgotten = std::exchange(cancelled_waits_, {});
    std::vector<Envelope<Command>> batch = take_batch();
    last_batch_ = batch.size();
    if (const auto expected = std::exchange(expected_, {})) core_.expect_due(*expected);
    const bool dismiss = std::exchange(dismiss_now_, false);
    const bool last = stopping_ && requests_.empty();
    // The batch runs without the lock, so that callers can submit the next one meanwhile.
    lock.unlock();
    for (const ReplyTo& reply_to : forgotten) core_.cancel_wait(reply_to, now());
    run_batch(std::move(batch));
    if (dismiss || last) deliver(core_.end_all_waits());
    lock.lock();
    ended_ = last && requests_.empty();  // a command that arrived during the last batch gets one more
    if (ended_) break;
  }
  lock.unlock();
  if (auto closed = core_.close(); !closed) log(LogLevel::warning, "last checkpoint failed", closed.error());
}

void CommitThread::log(LogLevel level, std::string_view what, const Error& error) const {
  if (logger_) logger_(level, LogLine(what).add("error", error.message).str());
}

void CommitThread::wait_for_work(std::unique_lock<std::mutex>& lock) {
  const auto has_work = [this] {
    // A due time after wakes_at_ need not wake the thread, because it reads expected_ again then.
    const bool sooner = wakes_at_ && expected_ && *expected_ < *wakes_at_;
    return !requests_.empty() || !cancelled_waits_.empty() || recheck_clock_ || sooner || dismiss_now_ ||
           stopping_;
  };
  if (!has_work()) {
    if (const auto expected = std::exchange(expected_, {})) core_.expect_due(*expected);
    const auto attention = core_.next_attention();
    std::chrono::milliseconds pause = kClockInterval;
    if (attention && !failing_) pause = std::clamp(*attention - now(), Millis(0), Millis(kClockInterval));
    wakes_at_ = now() + pause;
    work_.wait_for(lock, pause, has_work);
    wakes_at_.reset();
  }
  recheck_clock_ = false;
}

// Callers that were answered together send their next commands nearly together. On a store across a network a
// commit costs a round trip, so one batch for all of them is worth a wait of some hundred microseconds.
void CommitThread::fill_batch(std::unique_lock<std::mutex>& lock) {
  if (!store_.shared() || last_batch_ < kFillFrom) return;
  const SteadyTime end = steady_now() + kFillMax;
  goal_ = last_batch_;
  work_.wait_until(lock, end, [this] { return stopping_ || requests_.size() >= goal_; });
  goal_ = 1;
  for (std::size_t before = 0; before != requests_.size() && !stopping_ && steady_now() < end;) {
    before = requests_.size();
    work_.wait_for(lock, kFillPause, [this] { return stopping_; });
  }
}

// The store's time, estimated from its time in past transactions.
TimePoint CommitThread::now() const { return clock_.now() + ahead_; }

// The store read its clock between `began` and now, so each transaction bounds the difference of the clocks
// from both sides. Only an estimate outside of the bounds changes: the bounds of a slow transaction are far
// apart, and an estimate that is too high would start each maintenance transaction too early, for nothing.
void CommitThread::correct_ahead(TimePoint began) {
  const Millis at_least = core_.time() - clock_.now();
  const Millis at_most = core_.time() - began;
  // Not std::clamp(): at_least exceeds at_most when our clock was set back meanwhile.
  ahead_ = std::min(std::max(ahead_, at_least), at_most);
}

// A command with its own time is alone in its batch, because a transaction has one time.
std::vector<Envelope<Command>> CommitThread::take_batch() {
  std::vector<Envelope<Command>> batch;
  std::size_t events = 0;
  while (!requests_.empty() && batch.size() < kBatchMax) {
    const bool own_time = requests_.front().content.now.has_value();
    events += events_in(requests_.front().content);
    if (!batch.empty() && (own_time || events > kBatchEvents)) break;
    batch.push_back(std::move(requests_.front()));
    requests_.pop_front();
    if (own_time) break;
  }
  return batch;
}

void CommitThread::run_batch(std::vector<Envelope<Command>> batch) {
  if (batch.empty()) {
    const auto attention = core_.next_attention();
    if (!attention || *attention > now()) return;
  }
  const bool own_time = !batch.empty() && batch.front().content.now.has_value();
  const SteadyTime start = steady_now();
  const TimePoint began = clock_.now();
  std::vector<Envelope<Answer>> answers = core_.run(std::move(batch));
  core_.note_commit(std::chrono::duration<double>(steady_now() - start).count());
  failing_ = core_.last_error().has_value();
  if (failing_) log(LogLevel::error, "commit failed", *core_.last_error());
  // After a command with its own time, core_.time() is still that of an older transaction.
  if (store_.shared() && !failing_ && !own_time) correct_ahead(began);
  deliver(std::move(answers));
  if (committed_ && !failing_) committed_(core_.last_effects());
  if (auto tidied = store_.tidy(); !tidied) {
    log(LogLevel::warning, "checkpoint of the write-ahead log failed", tidied.error());
  }
}

}  // namespace eventq
