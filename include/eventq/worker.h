// worker.h: runs your handlers on the events of a queue.
//
//   eventq::Worker worker(*queue, {.threads = 8});
//   worker.on_tag("email", [](const eventq::Event& event, const std::stop_token&) {
//     send_mail(event.payload);
//     return eventq::Handled::done();
//   });
//   worker.on_pattern("invoice.>", archive_invoice);
//   if (const auto started = worker.start(); !started) return report(started.error());
//
// The queue may be embedded or behind HTTP: only the URL of Queue::open() differs.
//
// While a handler runs, the worker renews its lease with heartbeats. A lease can still expire, because the
// process was suspended or the server was unreachable. Then the handler's stop token is requested to stop,
// and when another worker has claimed the event the queue refuses the report.
//
// Delivery is at least once: make handlers idempotent.
//
// Threads: call start() and stop() from one thread at a time, and never stop() from a handler. stats() may be
//          called from any thread. Handlers run on a pool of threads, several at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
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

// The result of a handler. When several handlers ran for one event, the most severe result decides, in the
// order fail, retry, later, error, done. Every message is kept, and of several results or details the last.
class Handled {
 public:
  enum class HandledKind : std::uint8_t { done, error, later, retry, fail };

  // `result` is JSON text that is stored with the event; empty: none. A result that is no JSON, or has more
  // than limits::kResult bytes, makes this a permanent failure, because the work would return it again.
  static Handled done(std::string result = {}) { return {HandledKind::done, {}, std::move(result)}; }
  // Done, with an error to record: the event ends as completed_with_errors.
  static Handled error(std::string message, std::string result = {}) {
    return {HandledKind::error, std::move(message), std::move(result)};
  }
  // Gives the event back; it is due after `delay`. No failure is counted.
  static Handled later(Millis delay, std::string reason = {}) {
    return {HandledKind::later, std::move(reason), {}, delay};
  }
  // A failure that is retried according to the queue's settings. An exception has the same effect. `detail`
  // is what helps to find the cause, such as a stack trace; of a longer one the end is kept.
  static Handled retry(std::string message, std::string detail = {}) {
    return {HandledKind::retry, std::move(message), std::move(detail)};
  }
  // A permanent failure: the event ends as failed, without a retry.
  static Handled fail(std::string message, std::string detail = {}) {
    return {HandledKind::fail, std::move(message), std::move(detail)};
  }

  [[nodiscard]] HandledKind kind() const { return kind_; }
  [[nodiscard]] const std::string& message() const { return message_; }
  [[nodiscard]] const std::string& result() const { return kind_ <= HandledKind::error ? more_ : none(); }
  [[nodiscard]] const std::string& detail() const { return kind_ >= HandledKind::retry ? more_ : none(); }
  [[nodiscard]] Millis delay() const { return delay_; }

 private:
  Handled(HandledKind kind, std::string message, std::string more, Millis delay = Millis{0})
      : kind_(kind), message_(std::move(message)), more_(std::move(more)), delay_(delay) {}

  static const std::string& none() {
    static const std::string empty;
    return empty;
  }

  HandledKind kind_;
  std::string message_;
  std::string more_;  // the result, or the detail of a failure
  Millis delay_;
};

// Handles one event. `stop` is requested when the lease is lost, or when stop() has waited for `stop_within`;
// a handler that can take long should check it.
using Handler = std::function<Handled(const Event& event, const std::stop_token& stop)>;

// Makes a T from an event, usually from its payload with the JSON library of the program. An error, or an
// exception, is a permanent failure, because a retry would convert the same event.
template <typename T>
using Conversion = std::function<Result<T>(const Event& event)>;

// Handles one event that was converted to a T. The second form is for handlers that need no more than the T.
template <typename T>
using TypedHandler = std::function<Handled(const T& value, const Event& event, const std::stop_token& stop)>;
template <typename T>
using ValueHandler = std::function<Handled(const T& value)>;

// A Handler that converts the event and calls `handler` with the value. Worker::start() refuses it when one
// of the two is empty.
template <typename T>
Handler typed_handler(Conversion<T> convert, TypedHandler<T> handler) {
  if (!convert || !handler) return nullptr;
  return [convert = std::move(convert), handler = std::move(handler)](const Event& event,
                                                                      const std::stop_token& stop) {
    // Only the conversion is inside of the try block: an exception of the handler is retried.
    const Result<T> value = [&]() -> Result<T> {
      try {
        return convert(event);
      } catch (const std::exception& thrown) {
        return Error{ErrorCode::invalid_argument, thrown.what(), ""};
      } catch (...) {
        return Error{ErrorCode::invalid_argument, "It threw something that is not a std::exception.", ""};
      }
    }();
    if (value) return handler(*value, event, stop);
    return Handled::fail("The event cannot be converted: " + value.error().message);
  };
}

struct WorkerOptions {
  std::string queue = "main";
  std::string worker_id = {};          // the queue object's own when empty
  std::vector<std::string> tags = {};  // on_pattern() only sees events with one of these; empty: all
  std::size_t threads = 4;             // events handled at once, from 1 to 1000
  std::optional<std::size_t> prefetch =
      {};  // events claimed in advance, up to 1000; absent: as many as threads
  Millis stop_within = std::chrono::seconds(30);  // how long stop() waits for running handlers
  Logger logger = {};                             // no logging when empty
};

class Worker {
 public:
  struct Stats {
    std::uint64_t taken = 0;       // events claimed
    std::uint64_t completed = 0;   // with or without errors
    std::uint64_t failed = 0;      // including those that are retried
    std::uint64_t given_back = 0;  // without a result
    std::uint64_t lost = 0;        // events whose report or heartbeat the queue refused
    std::size_t held = 0;          // events held now: waiting for a thread, running or not yet reported
  };

  // REQUIRES: `queue` outlives the worker. Objects that a handler uses outlive the handler, even one that
  // still runs after stop().
  explicit Worker(Queue& queue, WorkerOptions options = {});
  ~Worker();  // calls stop()
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Registers a handler for events with this tag, or for events whose pattern matches: "invoice.created",
  // "invoice.*" (exactly one more word), "invoice.>" (one or more words). All handlers that match an event
  // run one after the other, in the order of registration. After the stop token was requested to stop, no
  // further handler is called for the event.
  // REQUIRES: start() was not called.
  Worker& on_tag(std::string tag, Handler handler);
  Worker& on_pattern(std::string pattern, Handler handler);

  // The same as on_tag(), for a handler of T: worker.on<SendMail>("email", parse_mail, send_mail).
  template <typename T>
  Worker& on(const std::string& tag, Conversion<T> convert, TypedHandler<T> handler) {
    return on_tag(tag, typed_handler<T>(std::move(convert), std::move(handler)));
  }
  template <typename T>
  Worker& on(const std::string& tag, Conversion<T> convert, ValueHandler<T> handler) {
    if (!handler) return on_tag(tag, nullptr);
    return on<T>(
        tag, std::move(convert),
        TypedHandler<T>([handler = std::move(handler)](const T& value, const Event&, const std::stop_token&) {
          return handler(value);
        }));
  }

  // Starts the threads, which then claim events. Reads the queue's settings once. An event that matches no
  // handler is reported as a failure that is retried, because another worker may have a handler for it.
  // Errors: invalid_argument, too_large for a missing handler or a bad tag, pattern or option; conflict
  // when start() was called before; unavailable when the system has no more threads; the queue's errors.
  Result<void> start();

  // Stops claiming, gives back events that no handler has begun, waits for the running handlers and sends
  // the remaining reports. For handlers that still run after `stop_within`, stop() requests their tokens to
  // stop, gives their events back and detaches their threads. stop() also waits for a call of the queue
  // that has begun, without a limit.
  // Returns true when no thread was detached. May be called twice, and before start().
  bool stop();

  [[nodiscard]] Stats stats() const;

 private:
  class Runtime;
  std::shared_ptr<Runtime> runtime_;
};

}  // namespace eventq
