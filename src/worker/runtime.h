// runtime.h: a worker's threads, and the state that they share.
//
// The main header of worker/, which implements eventq/worker.h on the public Queue only, so that a worker
// runs the same on an embedded queue and on a server. A claimed event passes through accept(), run_one(),
// handler_report() and report().
//
//   fetcher    claims events while slots are free, with a long poll          Queue::next, waits
//   pool       runs the handlers of one event after the other                no call of the queue
//   reporter   sends all reports that have gathered in one request, and      Queue::next, does not wait
//              claims as many new events as they free slots
//   renewer    renews the leases of all held events, many in one request     Queue::next, does not wait
//   watcher    requests handlers to stop whose lease expired or was lost,    no call of the queue
//              and logs for the renewer, because a slow logger or token
//              callback must not delay a heartbeat
//
// An event is held from its claim until the queue has answered its report. Held events and events being
// requested together never exceed threads + prefetch.
//
// When a lease expires by our clock, its handler is asked to stop but may still report: the queue decides by
// the attempt whether it accepts the report. An event is lost when the queue refuses its report or renewal.
//
// Threads: start() and stop() from one thread at a time, stats() from any. The mutex is never held during a
//          call of the queue, a handler, the logger or a token's callbacks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/backoff.h"
#include "base/log.h"
#include "base/steady.h"
#include "eventq/worker.h"
#include "worker/handlers.h"
#include "worker/leases.h"

namespace eventq {

class Worker::Runtime {
 public:
  Runtime(Queue& queue, WorkerOptions options) : queue_(queue), options_(std::move(options)) {}

  // Changed only before start(), and only read after it.
  Handlers handlers;

  // The threads of the pool share ownership of `self`, because a thread that stop() detaches still uses it.
  // Errors: invalid_argument or too_large for a bad option or handler; conflict after an earlier start();
  // unavailable when a thread cannot be started; errors of the queue, whose settings it reads.
  static Result<void> start(const std::shared_ptr<Runtime>& self);
  // Sends the remaining reports and ends all threads. Detaches threads whose handlers still run after
  // WorkerOptions::stop_within; then it returns false.
  bool stop();

  [[nodiscard]] bool started() const;
  [[nodiscard]] Stats stats() const;

 private:
  enum class HeldStage : std::uint8_t {
    ready,     // waits for a thread of the pool
    running,   // its handlers run
    reported,  // its report waits to be sent or answered
    lost,      // the queue refused to renew its lease, and its handlers still run
  };
  struct HeldClaim {
    Event event;
    HeldStage stage = HeldStage::ready;
    std::stop_source stop;
  };
  // A request to stop and a log line, both to be made when the mutex is not held.
  struct Notice {
    std::stop_source stop{std::nostopstate};  // of the handler concerned, if there is one
    LogLevel level{};
    LogLine line;
  };
  struct PoolThread {
    std::thread thread;
    bool busy = false;  // guarded by mutex_
  };
  using Lock = std::unique_lock<std::mutex>;

  // runtime.cc: start, stop, and the pool.
  Result<void> prepare();
  Result<void> start_threads(const std::shared_ptr<Runtime>& self);
  void work(PoolThread& self);
  void run_one(Lock& lock);
  void fire_tokens(Lock& lock);
  void leave_behind();
  [[nodiscard]] std::int64_t busy() const;

  // runtime_next.cc: the fetcher and the reporter.
  void fetch();
  void accept(std::vector<Claim> claims, SteadyTime asked);
  void add_report(Attempt attempt, HeldClaim& held, decltype(Report::what) what);
  void give_back(Attempt attempt, HeldClaim& held, std::string reason = "The worker stops.");
  void report();
  std::vector<Report> take_reports();
  [[nodiscard]] std::vector<Report> settle(Lock& lock, std::vector<Report> sent,
                                           const std::vector<Result<LogEntry>>& results);
  void count(Action action);
  void refused(Lock& lock, std::vector<Report> sent, const Error& error);
  void put_back(std::vector<Report> sent);
  bool retry_reports(Lock& lock, std::vector<Report> sent);
  [[nodiscard]] NextRequest next_request(std::vector<Report> reports, std::size_t limit) const;
  [[nodiscard]] std::size_t free_slots(std::size_t freed) const;

  // runtime_leases.cc: the renewer and the watcher.
  void keep_leases();
  [[nodiscard]] Millis renew(Lock& lock, const std::vector<Attempt>& attempts);
  void lose(Attempt attempt);
  void forget(Attempt attempt);
  void watch_leases();
  void end(Attempt attempt);
  void deliver_notices(Lock& lock);

  // Whether the error means that another worker holds the event, or that it has ended.
  static bool is_refusal(ErrorCode code) {
    return code == ErrorCode::lease_lost || code == ErrorCode::not_found || code == ErrorCode::conflict;
  }

  // A log line about one attempt.
  static LogLine about(const char* message, Attempt attempt);

  // REQUIRES: the mutex is not held. Of consecutive failures only the first is logged, and then their end.
  void log(LogLevel level, const LogLine& line) const;
  void log_answer(const Backoff& before, const char* call, const Error* error) const;
  static std::optional<Notice> notice_of(const Backoff& before, const char* call, const Error* error);

  // Few enough for one request when every report has a message of limits::kErrorMessage bytes.
  static constexpr std::size_t kReportsAtOnce = 100;

  // Set by start(), never changed after that.
  Queue& queue_;
  const WorkerOptions options_;
  std::vector<std::string> tags_;
  std::size_t capacity_ = 0;
  std::size_t batch_size_ = 0;
  Millis wait_{0};  // of a long poll
  std::vector<std::unique_ptr<PoolThread>> pool_;
  std::thread fetcher_;
  std::thread reporter_;
  std::thread renewer_;
  std::thread watcher_;

  // Each is used by one thread only.
  Backoff fetching_;
  Backoff reporting_;
  Backoff keeping_;
  std::size_t reports_at_once_ = kReportsAtOnce;

  // Guarded by mutex_.
  mutable std::mutex mutex_;
  std::condition_variable has_ready_;     // wakes the pool: an event is ready, or stopping
  std::condition_variable has_capacity_;  // wakes the fetcher: a slot is free, or stopping
  std::condition_variable has_reports_;   // wakes the reporter: there is a report, or closing
  std::condition_variable has_leases_;    // wakes renewer and watcher: an earlier time, a notice, or finished
  std::condition_variable is_idle_;       // wakes stop(): a handler has returned
  std::map<Attempt, std::shared_ptr<HeldClaim>> held_;
  std::deque<Attempt> ready_;
  std::deque<Report> reports_;  // not yet sent
  Leases leases_;
  std::vector<Notice> notices_;  // for the watcher to deliver
  std::size_t asked_ = 0;        // events that unanswered requests may return
  Stats stats_;
  bool started_ = false;
  bool stopping_ = false;                    // no event is claimed and no handler begun any more
  bool closing_ = false;                     // no report will be added to reports_ any more
  bool finished_ = false;                    // no lease needs to be renewed any more
  std::optional<bool> stopped_;              // what stop() returned
  SteadyTime deadline_ = SteadyTime::max();  // of stop()
};

}  // namespace eventq
