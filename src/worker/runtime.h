// runtime.h: a worker's threads, and what they share.
//
//   fetcher    asks for events when there is room, and waits for them        Queue::next, long poll
//   pool       runs the handlers of one event after the other                no call of the queue
//   reporter   tells what became of events, all that gathered in one turn,   Queue::next, no wait
//              and takes as many new ones as have thereby room
//   heart      renews the leases of all that is held, many in one turn       Queue::next, no wait
//   watch      fires the tokens of handlers whose lease is over or lost, and no call of the queue
//              logs what the heart saw: neither may hold up the heart
//
// An event is held from its claim until the queue has answered its report, or refused it. What is held,
// together with what is asked for, never exceeds threads + prefetch.
//
// Whose lease is over by our clock is told so by its token, but may report all the same: the queue decides,
// by the attempt. What the queue has refused is lost.
//
// Threads: start() and stop() one at a time, stats() from any. The mutex is never held during a call of
//          the queue, a handler, the logger or a token's callbacks.
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

  // Changed before start() only, and then only read.
  Handlers handlers;

  // The threads of the pool share `self`, so that one that is left behind has all it touches.
  // Errors: of the options, the handlers and the queue; conflict when it was started before.
  static Result<void> start(const std::shared_ptr<Runtime>& self);
  bool stop();

  [[nodiscard]] bool started() const;
  [[nodiscard]] Stats stats() const;

 private:
  enum class HeldStage : std::uint8_t {
    ready,     // waits for a thread of the pool
    running,   // its handlers run
    reported,  // its report waits to be sent, or for an answer
    lost,      // the queue has refused it, and its handlers still run
  };
  struct HeldEvent {
    Event event;
    HeldStage stage = HeldStage::ready;
    std::stop_source stop;
  };
  // To be told once the mutex is free.
  struct Notice {
    std::stop_source stop{std::nostopstate};  // of the handler that it is about
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
  void add_report(Attempt attempt, HeldEvent& held, decltype(Report::what) what);
  void give_back(Attempt attempt, HeldEvent& held, std::string reason = "The worker stops.");
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

  // runtime_leases.cc: the heart and the watch.
  void keep_leases();
  [[nodiscard]] Millis renew(Lock& lock, const std::vector<Attempt>& attempts);
  void lose(Attempt attempt);
  void forget(Attempt attempt);
  void watch_leases();
  void end(Attempt attempt);
  void deliver_notices(Lock& lock);

  // Such an answer says that the event is another's, or has ended.
  static bool is_refusal(ErrorCode code) {
    return code == ErrorCode::lease_lost || code == ErrorCode::not_found || code == ErrorCode::conflict;
  }

  // Without the lock. Of a row of failures the first is told, and its end.
  void log(LogLevel level, const LogLine& line) const;
  void log_answer(const Backoff& before, const char* call, const Error* error) const;
  static std::optional<Notice> notice_of(const Backoff& before, const char* call, const Error* error);

  // Few enough for one request, also when each has a long message.
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
  std::thread heart_;
  std::thread watch_;

  // Each belongs to one thread.
  Backoff fetching_;
  Backoff reporting_;
  Backoff keeping_;
  std::size_t reports_at_once_ = kReportsAtOnce;

  // Guarded by mutex_.
  mutable std::mutex mutex_;
  std::condition_variable has_ready_;     // the pool: something is ready, or stopping
  std::condition_variable has_capacity_;  // the fetcher: there is room, or stopping
  std::condition_variable has_reports_;   // the reporter: something to say, or closing
  std::condition_variable has_leases_;    // the heart and the watch: an earlier time, a notice, or finished
  std::condition_variable is_idle_;       // stop(): a handler has returned
  std::map<Attempt, std::shared_ptr<HeldEvent>> held_;
  std::deque<Attempt> ready_;
  std::deque<Report> reports_;  // not yet sent
  Leases leases_;
  std::vector<Notice> notices_;  // for the watch to tell
  std::size_t asked_ = 0;        // events that a turn under way may bring
  Stats stats_;
  bool started_ = false;
  bool stopping_ = false;  // nothing is taken or begun any more
  bool closing_ = false;   // nothing will be added to reports_ any more
  bool finished_ = false;  // no lease needs to be kept any more
  std::optional<bool> stopped_;
  SteadyTime deadline_ = SteadyTime::max();  // of stop()
};

}  // namespace eventq
