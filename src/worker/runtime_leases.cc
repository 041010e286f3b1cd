// runtime_leases.cc: renews leases, and notices those that have expired. See runtime.h.
#include <algorithm>
#include <utility>

#include "worker/runtime.h"

namespace eventq {

LogLine Worker::Runtime::about(const char* message, Attempt attempt) {
  LogLine line(message);
  line.add("event", static_cast<std::int64_t>(attempt.id)).add("attempt", attempt.number);
  return line;
}

void Worker::Runtime::keep_leases() {
  Lock lock(mutex_);
  while (!finished_) {
    const SteadyTime next = leases_.next_due();
    if (next > steady_now()) {
      has_leases_.wait_until(lock, next, [&] { return finished_ || leases_.next_due() < next; });
      continue;
    }
    const Millis pause = renew(lock, leases_.due(steady_now()));
    if (pause > Millis(0)) has_leases_.wait_for(lock, pause, [this] { return finished_; });
  }
}

// Renews these leases in one request. Returns how long to wait before the next request: 0 after a success. A
// pause is never longer than a third of the shortest lease, so that the lease does not expire meanwhile.
Millis Worker::Runtime::renew(Lock& lock, const std::vector<Attempt>& attempts) {
  NextRequest heartbeats = next_request({}, 0);
  Millis third = Millis::max();
  for (const Attempt attempt : attempts) {
    heartbeats.alive.push_back({attempt.id, attempt.number});
    third = std::min(third, leases_.length(attempt) / 3);
  }
  lock.unlock();
  const SteadyTime asked = steady_now();
  const auto result = queue_.next(heartbeats);
  lock.lock();

  static const Error unanswered{ErrorCode::unavailable, "The queue's answer has no result for this event.",
                                ""};
  const Error* failure = result ? nullptr : &result.error();
  if (result && result->leases.size() < attempts.size()) failure = &unanswered;
  const std::size_t answers = result ? std::min(result->leases.size(), attempts.size()) : 0;
  for (std::size_t i = 0; i < answers; ++i) {
    const Result<TimePoint>& renewed = result->leases[i];
    if (renewed) {
      leases_.renew(attempts[i], asked);
    } else if (is_refusal(renewed.error().code)) {
      lose(attempts[i]);
    } else {
      failure = &renewed.error();
    }
  }
  if (auto notice = notice_of(keeping_, "heartbeat", failure)) notices_.push_back(std::move(*notice));
  has_leases_.notify_all();
  if (failure != nullptr) return std::min(keeping_.failed(), third);
  keeping_.succeeded();
  return Millis(0);
}

// The queue refused to renew the lease. An event with a report is left to the answer of that report.
void Worker::Runtime::lose(Attempt attempt) {
  leases_.remove(attempt);
  const auto found = held_.find(attempt);
  if (found == held_.end() || found->second->stage == HeldStage::reported) return;
  ++stats_.lost;
  notices_.push_back({found->second->stop, LogLevel::warning, about("lease lost", attempt)});
  if (found->second->stage == HeldStage::running) {
    found->second->stage = HeldStage::lost;
  } else {
    ready_.erase(std::find(ready_.begin(), ready_.end(), attempt));
    forget(attempt);
  }
}

void Worker::Runtime::forget(Attempt attempt) {
  leases_.remove(attempt);
  held_.erase(attempt);
  has_capacity_.notify_one();
}

void Worker::Runtime::watch_leases() {
  Lock lock(mutex_);
  while (!finished_ || !notices_.empty()) {
    const SteadyTime next = leases_.next_end();
    has_leases_.wait_until(lock, next,
                           [&] { return finished_ || !notices_.empty() || leases_.next_end() < next; });
    for (const Attempt attempt : leases_.take_ended(steady_now())) end(attempt);
    deliver_notices(lock);
  }
}

// The lease expired by our clock. No handler is begun for the event any more. A running handler is asked to
// stop, and may still report.
void Worker::Runtime::end(Attempt attempt) {
  const std::shared_ptr<HeldClaim> held = held_.at(attempt);
  if (held->stage == HeldStage::ready) {
    ready_.erase(std::find(ready_.begin(), ready_.end(), attempt));
    give_back(attempt, *held, "Its lease expired before a handler began.");
    notices_.push_back(
        {held->stop, LogLevel::warning, about("lease expired before a handler began", attempt)});
  } else if (held->stage == HeldStage::running) {
    notices_.push_back({held->stop, LogLevel::warning, about("lease expired while handlers run", attempt)});
  }
}

void Worker::Runtime::deliver_notices(Lock& lock) {
  std::vector<Notice> notices = std::exchange(notices_, {});
  lock.unlock();
  for (Notice& notice : notices) {
    notice.stop.request_stop();
    log(notice.level, notice.line);
  }
  lock.lock();
}

}  // namespace eventq
