// worker.h: runs your handlers on the events of a queue.
//
//   eventq::Worker worker(*queue, {.threads = 8});
//   worker.on_tag("email", [](const eventq::Event& event, std::stop_token) {
//     send_mail(event.payload);
//     return eventq::Handled::done();
//   });
//   worker.on_pattern("invoice.>", archive_invoice);
//   worker.start();
//
// The queue may be embedded or behind HTTP: only Queue::open()'s URL differs. While a
// handler runs its lease is kept by heartbeats. When the lease is lost all the same
// (the process was frozen, the server was out of reach) another worker may have the event:
// the handler's stop token fires, and if there is such a worker the queue refuses the report.
//
// Delivery is at least once: make handlers idempotent.
//
// Threads: start() and stop() from one thread at a time, stop() not from a handler; stats() from any.
//          Handlers run on the pool, several at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "eventq/event.h"
#include "eventq/options.h"
#include "eventq/queue.h"

namespace eventq {

// What a handler came to. When several ran for one event, the gravest decides, in the order
// fail, retry, later, error, done; every message is kept.
class Handled {
 public:
  enum class Kind : std::uint8_t { done, error, later, retry, fail };

  static Handled done() { return {Kind::done, {}, Millis{0}}; }
  // Done, but this went wrong on the way: the event ends COMPLETED_WITH_ERRORS.
  static Handled error(std::string message) { return {Kind::error, std::move(message), Millis{0}}; }
  // Given back for that long. No failure is counted.
  static Handled later(Millis delay, std::string reason = {}) {
    return {Kind::later, std::move(reason), delay};
  }
  // A failure, to be retried as the queue's settings say. What an exception means, too.
  static Handled retry(std::string message) { return {Kind::retry, std::move(message), Millis{0}}; }
  // A failure that no retry would mend.
  static Handled fail(std::string message) { return {Kind::fail, std::move(message), Millis{0}}; }

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] Millis delay() const { return delay_; }

 private:
  Handled(Kind kind, std::string message, Millis delay)
      : kind_(kind), message_(std::move(message)), delay_(delay) {}

  Kind kind_;
  std::string message_;
  Millis delay_;
};

// The token fires when the lease is lost, or when stop() has waited long enough.
using Handler = std::function<Handled(const Event& event, const std::stop_token& stop)>;

struct WorkerOptions {
  std::string queue = "main";
  std::string worker_id;                // the queue object's own when empty
  std::vector<std::string> tags;        // for on_pattern(): which events to look at; empty: all
  std::size_t threads = 4;              // handlers that run at once, from 1 to 1000
  std::optional<std::size_t> prefetch;  // events held ready beside those; as many as threads when absent
  Millis stop_within = std::chrono::seconds(30);  // how long stop() waits for handlers
  Logger logger;                                  // silent when empty
};

class Worker {
 public:
  struct Stats {
    std::uint64_t taken = 0;
    std::uint64_t completed = 0;  // also with errors
    std::uint64_t failed = 0;     // also those that are retried
    std::uint64_t given_back = 0;
    std::uint64_t lost = 0;  // leases that went to another worker, or ended before a handler began
    std::size_t held = 0;    // now: running, ready or not yet reported
  };

  // `queue` must outlive the worker. What a handler uses must outlive the handler, also one that stop() left
  // behind.
  explicit Worker(Queue& queue, WorkerOptions options = {});
  ~Worker();  // stops
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Events with this tag; events whose pattern fits: "invoice.created", "invoice.*" (one more word),
  // "invoice.>" (one or more). All handlers that match an event run, in the order of registration, one after
  // the other; none is begun any more once the token fired. REQUIRES: start() was not called.
  Worker& on_tag(std::string tag, Handler handler);
  Worker& on_pattern(std::string pattern, Handler handler);

  // Begins to take events, as the queue's settings say at that time. An event that no handler matches is a
  // failure that is retried: another worker may know it.
  // Errors: invalid_argument, too_large (no handler, a bad tag, pattern or option); conflict when it was
  // started before; what the queue answers.
  Result<void> start();

  // Takes no more, gives back what no handler has begun, waits for the handlers and sends what is left to
  // report. Handlers that run after `stop_within` have their token fired and their events given back; their
  // threads are left behind. A call of the queue that is under way is waited for, however long it takes.
  // True when no thread was left. Safe twice.
  bool stop();

  [[nodiscard]] Stats stats() const;

 private:
  class Runtime;
  std::shared_ptr<Runtime> runtime_;
};

}  // namespace eventq
