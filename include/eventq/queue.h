// queue.h: hands events from publishers to workers, and records what the workers report.
//
// Delivery is at least once: an event is delivered again when its worker died, or reported after its lease
// had expired and another worker had claimed the event. Make handlers idempotent.
//
// Threads: every method may be called from any thread. Calls made at the same time share one commit. Each
//          call returns after the commit that contains it.
// Time:    Options::clock. Stored times are UTC, in milliseconds.
// Errors:  every method may return unavailable, and every method that writes also unknown_outcome and
//          no_space. The comments below name the others.
// Limits:  see limits.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "eventq/error.h"
#include "eventq/event.h"
#include "eventq/options.h"

namespace eventq {

struct PollRequest {
  std::vector<std::string> tags = {};  // events with at least one of these tags; empty: all events
  std::string queue = "main";
  const Clock* clock = nullptr;  // decides for this call which events are due; null: the queue's clock
};

// The result of a finished event. The numbers are stored in its log and have no other effect.
struct Outcome {
  std::optional<int> status_code = {};
  std::optional<std::int64_t> execution_time_ms = {};
  std::vector<std::string> errors = {};  // if there are any, the event ends as completed_with_errors
  std::string result = {};               // JSON text, stored with the event; empty and "null": none
};

// The result of a failed event. The numbers are stored in its log and have no other effect.
struct Failure {
  std::optional<int> status_code = {};
  std::optional<std::int64_t> execution_time_ms = {};
  std::string message = {};
  bool permanent = false;   // true: no retry, even when retries are left
  std::string detail = {};  // what helps to find the cause: a stack trace, or the end of stderr
};

// Gives an event back: it is pending, and due after `delay`. No failure is counted, and the claim does not
// count towards max_attempts.
struct Return {
  Millis delay{0};
  std::string reason = {};
};

// A worker's report on one event that it holds.
struct Report {
  EventId id{};
  int attempt = 0;
  std::variant<Outcome, Failure, Return> what = {};
};

// A heartbeat: the worker still works on the event.
struct Alive {
  EventId id{};
  int attempt = 0;
};

// One call of a worker: it reports on events, renews leases and claims new events.
struct NextRequest {
  std::string worker_id = {};  // the worker that calls; empty: the queue object's own worker_id
  std::vector<Report> reports = {};
  std::vector<Alive> alive = {};
  std::size_t limit = 0;               // the most events to claim; 0: claim none
  std::vector<std::string> tags = {};  // events with at least one of these tags; empty: all events
  std::string queue = "main";
  Millis wait{0};  // how long to wait while there is no event to claim
};

struct NextResult {
  std::vector<Result<LogEntry>> results = {};  // one per report, in order
  std::vector<Result<TimePoint>> leases = {};  // one per alive, in order: the new end of its lease
  std::vector<Claim> claims = {};              // may be empty
};

class Queue {
 public:
  // Opens a queue. `url` is one of:
  //   sqlite:PATH                     a file, created when absent; one process at a time
  //   memory:                         lost when the object is destroyed
  //   postgres://USER@HOST/DATABASE   any number of processes; `eventq migrate up` creates the schema
  //   http://HOST:PORT                a running server, see client.h; uses only worker_id and logger
  // Errors: invalid_argument for another URL or a bad option; unavailable when the file or database is in
  // use or cannot be opened; conflict when a database has another schema; corrupt when a newer eventq
  // wrote it.
  static Result<std::unique_ptr<Queue>> open(std::string_view url, const Options& options = {});

  // The same with several `postgres:` URLs: one queue over all of these databases. See docs/scaling.md for
  // the guarantees that then hold per database only.
  // REQUIRES: every process names the databases in the same order.
  // Errors: also conflict for a database that was opened at another position of the list.
  static Result<std::unique_ptr<Queue>> open(std::span<const std::string> urls, const Options& options = {});

  virtual ~Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Stores a pending event. After this has returned a value, the event survives a crash; a queue that is
  // Durability::buffered may lose it in a power cut.
  // When there is an event with this event_id already, returns that event and stores nothing.
  // Errors: invalid_argument, too_large, queue_full.
  virtual Result<Event> publish(const NewEvent& event) = 0;

  // Stores all events or none. They share a new correlation id, unless one of them has its own.
  // Errors: as publish().
  virtual Result<std::vector<Event>> publish_batch(std::span<const NewEvent> events) = 0;

  // Claims the next due event: the highest priority first, then the oldest. Never waits: the optional is
  // empty when no event is due.
  // Errors: invalid_argument.
  virtual Result<std::optional<Claim>> poll(const PollRequest& request = {}) = 0;

  // Finishes, or fails, the event held by `lease`. The same call again returns the first entry and writes
  // nothing.
  // Errors: invalid_argument, too_large; not_found; lease_lost when the lease does not hold the event,
  // because another attempt does or the event has ended.
  virtual Result<LogEntry> complete(const Lease& lease, const Outcome& outcome = {}) = 0;
  virtual Result<LogEntry> fail(const Lease& lease, const Failure& failure) = 0;

  // Gives back the event held by `lease`. Repetition and errors are as for complete().
  virtual Result<LogEntry> give_back(const Lease& lease, const Return& how = {}) = 0;

  // Makes the reports, renews the leases and claims events, in one commit. When a report is refused, its
  // result is the error and the other reports still take effect. finalize() does not know these claims.
  // Errors: invalid_argument, too_large; then nothing was changed.
  virtual Result<NextResult> next(const NextRequest& request) = 0;

  // A worker stops: lists of workers show it as gone, unless it still holds events. A worker that asks for
  // events again is active again. An empty `worker_id` is the queue object's own. Over HTTP this is tried
  // once. Errors: invalid_argument.
  virtual Result<void> sign_off(const std::string& worker_id = {}) = 0;

  // Renews the lease: it ends one full lease from now. Returns that time.
  // Errors: as for complete().
  virtual Result<TimePoint> heartbeat(const Lease& lease) = 0;

  // Ends an event that this object claimed with poll(): as completed, or as completed_with_errors when
  // there are errors. Does nothing when the event has ended already.
  // Errors: not_found; lease_lost when this object does not hold the event.
  virtual Result<void> finalize(EventId id, const std::vector<std::string>& errors = {}) = 0;

  // The same with everything that complete() takes, such as a result.
  // Errors: also invalid_argument, too_large.
  virtual Result<void> finalize(EventId id, const Outcome& outcome) = 0;

  // The same with a verdict: the event ends as completed, or as failed without a retry.
  enum class Verdict : std::uint8_t { success, failure };
  virtual Result<void> finalize(EventId id, Verdict verdict) = 0;

  // Waits until the event has ended and returns it. The queue wakes the caller; nothing is polled.
  // Errors: not_found; timeout when the event has not ended after `timeout`.
  virtual Result<Event> wait(EventId id, Millis timeout) = 0;

  // The settings in force for the queue `name`. Every member is set, except limits that do not exist.
  // Errors: invalid_argument for a bad name.
  virtual Result<QueueConfig> settings(const std::string& name) = 0;

  // The number of the event with this event_id.
  // Errors: invalid_argument for a bad event_id; not_found; conflict when several shards have such an event.
  virtual Result<EventId> find(std::string_view event_id) = 0;

  // The event as it is now, live or ended; and its log, oldest entry first.
  // Errors: not_found.
  virtual Result<Event> get(EventId id) = 0;
  virtual Result<std::vector<LogEntry>> log(EventId id) = 0;

 protected:
  Queue() = default;
};

}  // namespace eventq
