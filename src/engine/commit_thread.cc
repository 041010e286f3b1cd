// commit_thread.cc: see commit_thread.h.
#include "engine/commit_thread.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "base/steady.h"

namespace eventq {
namespace {

// Commands, and events in them, in one transaction: enough to share an fsync, few enough to
// answer soon. A command that holds more has a transaction of its own.
constexpr std::size_t kBatchMax = 1000;
constexpr std::size_t kBatchEvents = 10'000;
// The longest time between two looks at the clock, and the time between two tries of
// maintenance on a store that fails.
constexpr std::chrono::seconds kLookInterval{1};
// When the batch before it held that many commands, as many are waited for, and then more while they come in
// each pause, for so long at most.
constexpr std::size_t kGatherFrom = 8;
constexpr std::chrono::microseconds kGatherPause{100};
constexpr std::chrono::microseconds kGatherMax{600};

void stop_waiting(Command& command) {
  if (command.claim) command.claim->wait = Millis(0);
  if (command.wait) command.wait->timeout = Millis(0);
}

std::size_t events_in(const Command& command) {
  return command.changes.size() + (command.publication ? command.publication->events.size() : 0) +
         (command.claim ? command.claim->limit : 0);
}

}  // namespace

CommitThread::CommitThread(Store& store, Core& core, const Clock& clock, const Logger& logger,
                           std::function<void(const Happened&)> committed)
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
  if (dismissing_) stop_waiting(request.content);
  requests_.push_back(std::move(request));
  const bool reached = requests_.size() == goal_;
  lock.unlock();
  if (reached) work_.notify_one();
}

void CommitThread::forget(const ReplyTo& reply_to) {
  const std::scoped_lock lock(mutex_);
  for (Envelope<Command>& request : requests_) {
    if (request.reply_to != reply_to) continue;
    request.content.claim.reset();
    request.content.wait.reset();
  }
  forgotten_.push_back(reply_to);
  work_.notify_one();
}

void CommitThread::poke() {
  const std::scoped_lock lock(mutex_);
  poked_ = true;
  work_.notify_one();
}

void CommitThread::expect(TimePoint due) {
  const std::scoped_lock lock(mutex_);
  expected_ = std::min(expected_.value_or(due), due);
  if (wakes_at_ && *wakes_at_ > due) work_.notify_one();
}

void CommitThread::dismiss_waiters() {
  const std::scoped_lock lock(mutex_);
  dismissing_ = true;
  dismiss_now_ = true;
  for (Envelope<Command>& request : requests_) stop_waiting(request.content);
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
    gather(lock);
    const std::vector<ReplyTo> forgotten = std::exchange(forgotten_, {});
    std::vector<Envelope<Command>> batch = take_batch();
    last_batch_ = batch.size();
    if (const auto expected = std::exchange(expected_, {})) core_.expect(*expected);
    const bool dismiss = std::exchange(dismiss_now_, false);
    const bool last = stopping_ && requests_.empty();
    lock.unlock();
    for (const ReplyTo& reply_to : forgotten) core_.forget(reply_to);
    run_batch(std::move(batch));
    if (dismiss || last) deliver(core_.dismiss_waiters());
    lock.lock();
    ended_ = last && requests_.empty();
    if (ended_) break;
  }
  lock.unlock();
  close();
}

void CommitThread::close() {
  if (auto closed = core_.close(); !closed && logger_) {
    logger_(LogLevel::warning, LogLine("last checkpoint failed").add("error", closed.error().message).str());
  }
}

void CommitThread::wait_for_work(std::unique_lock<std::mutex>& lock) {
  const auto has_work = [this] {
    // What comes due later than it would wake anyway need not wake it.
    const bool sooner = wakes_at_ && expected_ && *expected_ < *wakes_at_;
    return !requests_.empty() || !forgotten_.empty() || poked_ || sooner || dismiss_now_ || stopping_;
  };
  if (!has_work()) {
    if (const auto expected = std::exchange(expected_, {})) core_.expect(*expected);
    const auto attention = core_.next_attention();
    std::chrono::milliseconds pause = kLookInterval;
    if (attention && !failing_) pause = std::clamp(*attention - now(), Millis(0), Millis(kLookInterval));
    wakes_at_ = now() + pause;
    work_.wait_for(lock, pause, has_work);
    wakes_at_.reset();
  }
  poked_ = false;
}

// Who was answered together comes back together, but not at once: on a store that is a network away, a batch
// of all of them is worth more than the wait.
void CommitThread::gather(std::unique_lock<std::mutex>& lock) {
  if (!store_.shared() || last_batch_ < kGatherFrom) return;
  const SteadyTime end = steady_now() + kGatherMax;
  goal_ = last_batch_;
  work_.wait_until(lock, end, [this] { return stopping_ || requests_.size() >= goal_; });
  goal_ = 1;
  for (std::size_t before = 0; before != requests_.size() && !stopping_ && steady_now() < end;) {
    before = requests_.size();
    work_.wait_for(lock, kGatherPause, [this] { return stopping_; });
  }
}

// The store's time, nearly.
TimePoint CommitThread::now() const { return clock_.now() + ahead_; }

// A command with its own time is alone in its batch.
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
  const bool maintenance = batch.empty();
  if (maintenance) {
    const auto attention = core_.next_attention();
    if (!attention || *attention > now()) return;
  }
  const SteadyTime start = steady_now();
  const TimePoint began = clock_.now();
  std::vector<Envelope<Answer>> answers = maintenance ? core_.run_once() : core_.run(std::move(batch));
  core_.note_commit(std::chrono::duration<double>(steady_now() - start).count());
  failing_ = core_.last_error().has_value();
  if (failing_ && logger_) {
    logger_(LogLevel::error, LogLine("commit failed").add("error", core_.last_error()->message).str());
  }
  deliver(std::move(answers));
  // Too far ahead by the time that it took to begin: at most one transaction comes too early, and corrects
  // it.
  if (store_.shared() && !failing_) ahead_ = core_.time() - began;
  if (committed_ && !failing_) committed_(core_.happened());
  if (auto tidied = store_.tidy(); !tidied && logger_) {
    logger_(LogLevel::warning,
            LogLine("checkpoint of the write-ahead log failed").add("error", tidied.error().message).str());
  }
}

}  // namespace eventq
