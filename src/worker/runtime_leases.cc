// runtime_leases.cc: keeping leases, and noticing those that are over. See runtime.h.
#include <algorithm>
#include <utility>

#include "worker/runtime.h"

namespace eventq {
namespace {

LogLine about(const char* message, Attempt attempt) {
  LogLine line(message);
  line.add("event", static_cast<std::int64_t>(attempt.id)).add("attempt", attempt.number);
  return line;
}

}  // namespace

void Worker::Runtime::keep_leases() {
  Lock lock(mutex_);
  while (!finished_) {
    const SteadyTime next = leases_.next_due();
    if (next > steady_now()) {
      has_leases_.wait_until(lock, next, [&] { return finished_ || leases_.next_due() < next; });
      continue;
    }
    for (const Attempt attempt : leases_.due(steady_now())) {
      if (finished_) return;
      const Millis pause = renew(lock, attempt);
      if (pause == Millis(0)) continue;
      has_leases_.wait_for(lock, pause, [this] { return finished_; });
      break;
    }
  }
}

// Returns how long to wait before the next one: a queue that does not answer this one answers none.
Millis Worker::Runtime::renew(Lock& lock, Attempt attempt) {
  const Millis third = leases_.length(attempt) / 3;
  if (third == Millis(0)) return Millis(0);  // let go meanwhile
  // What the queue calls us, when we have no name of our own.
  const Event& event = held_.at(attempt)->event;
  const std::string& name = options_.worker_id.empty() ? event.worker_id : options_.worker_id;
  const Lease lease{attempt.id, name, attempt.number};
  lock.unlock();

  const SteadyTime asked = steady_now();
  const auto renewed = queue_.heartbeat(lease);
  const bool answered = renewed || is_refusal(renewed.error().code);
  log_answer(keeping_, "heartbeat", answered ? nullptr : &renewed.error());

  lock.lock();
  if (!answered) return std::min(keeping_.failed(), third);
  keeping_.succeeded();
  if (renewed) {
    leases_.renew(attempt, asked);
    has_leases_.notify_all();
  } else {
    std::vector<Loss> losses;
    lose(attempt, "lease lost", losses);
    tell(lock, std::move(losses));
  }
  return Millis(0);
}

// The event is another's. Of one that was reported on, the answer to the report says so itself.
void Worker::Runtime::lose(Attempt attempt, const char* why, std::vector<Loss>& losses) {
  leases_.remove(attempt);
  const auto found = held_.find(attempt);
  if (found == held_.end() || found->second->stage == Stage::reported) return;
  ++stats_.lost;
  losses.push_back({found->second->stop, about(why, attempt)});
  if (found->second->stage == Stage::running) {
    found->second->stage = Stage::lost;
  } else {
    ready_.erase(std::find(ready_.begin(), ready_.end(), attempt));
    forget(attempt);
  }
}

void Worker::Runtime::tell(Lock& lock, std::vector<Loss> losses) {
  lock.unlock();
  for (Loss& loss : losses) {
    loss.stop.request_stop();
    log(LogLevel::warning, loss.line);
  }
  lock.lock();
}

void Worker::Runtime::forget(Attempt attempt) {
  leases_.remove(attempt);
  held_.erase(attempt);
  has_room_.notify_one();
}

void Worker::Runtime::watch_leases() {
  Lock lock(mutex_);
  while (!finished_) {
    const SteadyTime next = leases_.next_end();
    if (next > steady_now()) {
      has_leases_.wait_until(lock, next, [&] { return finished_ || leases_.next_end() < next; });
      continue;
    }
    std::vector<Loss> losses;
    for (const Attempt attempt : leases_.take_ended(steady_now())) end(attempt, losses);
    tell(lock, std::move(losses));
  }
}

// Our clock says that the lease is over. Nothing is begun any more; what runs is told, and may still report.
void Worker::Runtime::end(Attempt attempt, std::vector<Loss>& losses) {
  const std::shared_ptr<Held> held = held_.at(attempt);
  if (held->stage == Stage::ready) {
    lose(attempt, "lease over before a handler began", losses);
  } else if (held->stage == Stage::running) {
    losses.push_back({held->stop, about("lease over while handlers run", attempt)});
  }
}

}  // namespace eventq
