// runtime_next.cc: claims events and reports on them. See runtime.h.
#include <algorithm>
#include <iterator>
#include <utility>

#include "eventq/limits.h"
#include "worker/runtime.h"

namespace eventq {
namespace {

// The lower limit of leaseMs. A server that sends less must not make the renewer spin.
constexpr Millis kShortestLease{100};

// JSON may write a byte of a detail as six, so the body of a request with these is below limits::kBatchBody.
constexpr std::size_t kReportBytes = limits::kBatchBody / 8;

std::size_t size_of(const Report& report) {
  const auto* const outcome = std::get_if<Outcome>(&report.what);
  const auto* const failure = std::get_if<Failure>(&report.what);
  if (outcome != nullptr) return outcome->result.size();
  return failure == nullptr ? 0 : failure->message.size() + failure->detail.size();
}

// Whether sending the same request again would fail again.
bool is_final(ErrorCode code) { return code == ErrorCode::invalid_argument || code == ErrorCode::too_large; }

}  // namespace

// How many events may be requested when `freed` of the held events are reported in the same request.
std::size_t Worker::Runtime::free_slots(std::size_t freed) const {
  if (stopping_) return 0;
  const std::size_t taken = held_.size() - freed + asked_;
  return taken >= capacity_ ? 0 : std::min(capacity_ - taken, batch_size_);
}

NextRequest Worker::Runtime::next_request(std::vector<Report> reports, std::size_t limit) const {
  return {.worker_id = options_.worker_id,
          .reports = std::move(reports),
          .limit = limit,
          .tags = tags_,
          .queue = options_.queue};
}

void Worker::Runtime::fetch() {
  Lock lock(mutex_);
  for (;;) {
    has_capacity_.wait(lock, [this] { return stopping_ || free_slots(0) > 0; });
    if (stopping_) break;
    NextRequest wanted = next_request({}, free_slots(0));
    wanted.wait = wait_;
    asked_ += wanted.limit;
    lock.unlock();

    const SteadyTime asked = steady_now();
    auto result = queue_.next(wanted);
    log_answer(fetching_, "next", result ? nullptr : &result.error());
    Millis pause{0};
    if (!result) {
      pause = fetching_.failed();
    } else {
      fetching_.succeeded();
      // A queue that is being closed answers at once. Pause, so that it is not called in a tight loop.
      if (result->claims.empty() && millis_since(asked) < wait_ / 2) pause = Backoff::kShortest;
    }

    lock.lock();
    if (result) accept(std::move(result->claims), asked);
    asked_ -= wanted.limit;
    if (pause > Millis(0)) has_capacity_.wait_for(lock, pause, [this] { return stopping_; });
  }
  // Give ready events back only now, because this thread could have claimed them again.
  for (const Attempt attempt : std::exchange(ready_, {})) give_back(attempt, *held_.at(attempt));
}

void Worker::Runtime::accept(std::vector<Claim> claims, SteadyTime asked) {
  const SteadyTime arrived = steady_now();
  // Wake the renewer and the watcher only when a new lease is due or expires before those that they wait for.
  const SteadyTime due = leases_.next_due();
  const SteadyTime end = leases_.next_end();
  for (Claim& claim : claims) {
    const Attempt attempt{claim.event.id, claim.event.attempts};
    // A duration, because the clocks of server and worker may differ.
    const Millis lease =
        std::clamp(claim.lease_until - claim.event.updated_at, kShortestLease, Millis(limits::kDelay));
    auto held = std::make_shared<HeldClaim>();
    held->event = std::move(claim.event);
    ++stats_.taken;
    leases_.add(attempt, asked, arrived, lease);
    held_[attempt] = held;
    if (stopping_) {
      give_back(attempt, *held);
    } else {
      ready_.push_back(attempt);
      has_ready_.notify_one();
    }
  }
  if (leases_.next_due() < due || leases_.next_end() < end) has_leases_.notify_all();
}

// Queues the final report on an event.
void Worker::Runtime::add_report(Attempt attempt, HeldClaim& held, decltype(Report::what) what) {
  held.stage = HeldStage::reported;
  reports_.push_back({attempt.id, attempt.number, std::move(what)});
  has_reports_.notify_one();
}

void Worker::Runtime::give_back(Attempt attempt, HeldClaim& held, std::string reason) {
  add_report(attempt, held, Return{.delay = Millis(0), .reason = std::move(reason)});
}

void Worker::Runtime::report() {
  Lock lock(mutex_);
  for (;;) {
    has_reports_.wait(lock, [this] { return closing_ || !reports_.empty(); });
    if (reports_.empty()) return;
    std::vector<Report> sent = take_reports();
    // After the queue refused a whole request, each report is sent alone, so that the bad report is found.
    const NextRequest request = next_request(sent, reports_at_once_ > 1 ? free_slots(sent.size()) : 0);
    asked_ += request.limit;
    lock.unlock();

    const SteadyTime asked = steady_now();
    auto result = queue_.next(request);
    log_answer(reporting_, "report", result ? nullptr : &result.error());

    lock.lock();
    std::vector<Report> again;
    if (result) {
      reporting_.succeeded();
      reports_at_once_ = kReportsAtOnce;
      again = settle(lock, std::move(sent), result->results);
      accept(std::move(result->claims), asked);
    } else if (is_final(result.error().code)) {
      refused(lock, std::move(sent), result.error());
    } else {
      again = std::move(sent);
    }
    // Only after accept(): until the claimed events are held, the request occupies their slots.
    asked_ -= request.limit;
    has_capacity_.notify_one();
    if (!again.empty() && !retry_reports(lock, std::move(again))) return;
  }
}

// Takes no more than kReportBytes of results and details, because a request has a limit, too.
std::vector<Report> Worker::Runtime::take_reports() {
  std::ptrdiff_t count = 0;
  std::size_t bytes = 0;
  for (const Report& report : reports_) {
    bytes += size_of(report);
    if (count == static_cast<std::ptrdiff_t>(reports_at_once_) || (count > 0 && bytes > kReportBytes)) break;
    ++count;
  }
  std::vector<Report> taken(std::move_iterator(reports_.begin()),
                            std::move_iterator(reports_.begin() + count));
  reports_.erase(reports_.begin(), reports_.begin() + count);
  return taken;
}

// Processes the answers to `sent`. Returns the reports that must be sent again.
std::vector<Report> Worker::Runtime::settle(Lock& lock, std::vector<Report> sent,
                                            const std::vector<Result<LogEntry>>& results) {
  static const Result<LogEntry> unanswered =
      Error{ErrorCode::unavailable, "The queue's answer has no result for this event.", ""};
  std::vector<Report> again;
  std::vector<LogLine> lines;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const Result<LogEntry>& result = i < results.size() ? results[i] : unanswered;
    if (result) {
      count(result->action);
    } else if (is_refusal(result.error().code) || is_final(result.error().code)) {
      ++stats_.lost;
      lines.push_back(about("report refused", {sent[i].id, sent[i].attempt}));
      lines.back().add("error", result.error().message);
    } else {
      again.push_back(std::move(sent[i]));
      continue;
    }
    forget({sent[i].id, sent[i].attempt});
  }
  if (lines.empty()) return again;
  lock.unlock();
  for (const LogLine& line : lines) log(LogLevel::warning, line);
  lock.lock();
  return again;
}

void Worker::Runtime::count(Action action) {
  if (action == Action::completed) ++stats_.completed;
  if (action == Action::failed) ++stats_.failed;
  if (action == Action::released) ++stats_.given_back;
}

// The queue refused the request as a whole. Sends the reports one by one; the bad report, once found, is
// dropped, and its lease expires.
void Worker::Runtime::refused(Lock& lock, std::vector<Report> sent, const Error& error) {
  if (reports_at_once_ > 1) {
    reports_at_once_ = 1;
    put_back(std::move(sent));
    return;
  }
  reports_at_once_ = kReportsAtOnce;
  const Result<LogEntry> answer = error;
  (void)settle(lock, std::move(sent), {answer});  // a refused report is not sent again
}

// Reports keep their order: those that were sent are older than those in the queue.
void Worker::Runtime::put_back(std::vector<Report> sent) {
  reports_.insert(reports_.begin(), std::move_iterator(sent.begin()), std::move_iterator(sent.end()));
}

// Queues the reports again and waits. Returns false when the deadline of stop() has passed.
bool Worker::Runtime::retry_reports(Lock& lock, std::vector<Report> sent) {
  put_back(std::move(sent));
  Millis pause = reporting_.failed();
  const bool was_closing = closing_;
  if (was_closing) {
    const Millis left = std::chrono::ceil<Millis>(deadline_ - steady_now());
    if (left <= Millis(0)) {
      const auto unsent = static_cast<std::int64_t>(reports_.size());
      lock.unlock();
      log(LogLevel::warning,
          LogLine("stopped with reports that the queue did not take").add("reports", unsent));
      lock.lock();
      return false;
    }
    pause = std::min(pause, left);
  }
  has_reports_.wait_for(lock, pause, [&] { return closing_ && !was_closing; });
  return true;
}

}  // namespace eventq
