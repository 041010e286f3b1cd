// queue.h: hand events from publishers to workers, and remember what became of them.
//
// Delivery is at least once: a handler may see an event again when its worker
// died, or answered after its lease ended. Make handlers idempotent.
//
// Threads: every method may be called from any thread. Calls made at the same
//          time share one commit; each returns after the commit that holds it.
// Time:    Options::clock. Stored times are UTC, in milliseconds.
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
  std::vector<std::string> tags;  // any of these; empty: whatever the tags
  std::string queue = "main";
  const Clock* clock = nullptr;  // judges for this call what is due; the queue's own when null
};

struct Outcome {
  std::optional<int> status_code;
  std::optional<std::int64_t> execution_time_ms;
  std::vector<std::string> errors;  // not empty: COMPLETED_WITH_ERRORS
};

struct Failure {
  std::optional<int> status_code;
  std::optional<std::int64_t> execution_time_ms;
  std::string message;
  bool permanent = false;  // no retry, however many are left
};

// Gives an event back: pending again after `delay`, and no failure is counted.
struct Return {
  Millis delay{0};
  std::string reason;
};

// What a worker has to say about one event that it holds.
struct Report {
  EventId id{};
  int attempt = 0;
  std::variant<Outcome, Failure, Return> what;
};

// An event that a worker goes on with: a heartbeat.
struct Alive {
  EventId id{};
  int attempt = 0;
};

// A worker's turn: reports on what it finished, keeps what it goes on with, and takes new events.
struct NextRequest {
  std::string worker_id;  // who reports and takes; the queue object's own when empty
  std::vector<Report> reports;
  std::vector<Alive> alive;
  std::size_t limit = 0;          // events to take at most; 0: only report
  std::vector<std::string> tags;  // any of these; empty: whatever the tags
  std::string queue = "main";
  Millis wait{0};  // how long to wait for the first event
};

struct NextResult {
  std::vector<Result<LogEntry>> results;  // one per report, in order
  std::vector<Result<TimePoint>> leases;  // one per alive, in order: when its lease now ends
  std::vector<Claim> claims;              // may be empty
};

class Queue {
 public:
  // Opens `sqlite:PATH` (created when absent, one process at a time), `memory:`,
  // `postgres://USER@HOST/DATABASE` (any number of processes; made by `eventq migrate up`), or
  // `http://HOST:PORT`, a running server (client.h; of the options it takes worker_id and logger). Errors:
  // invalid_argument for another URL; unavailable when the file or database is in use or cannot be opened;
  // conflict when a database has another schema; corrupt when a newer eventq wrote it.
  static Result<std::unique_ptr<Queue>> open(std::string_view url, const Options& options = {});

  // The same with several `postgres:` URLs: one queue over all of these databases, which must always be named
  // in the same order. See docs/scaling.md for what then holds per database. Errors: also conflict for a
  // database that has another place in the list.
  static Result<std::unique_ptr<Queue>> open(std::span<const std::string> urls, const Options& options = {});

  virtual ~Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Stores a pending event. Once this returns a value the event survives a crash.
  // An event_id that exists already gives the existing event.
  // Errors: invalid_argument, too_large, unavailable, unknown_outcome, no_space.
  virtual Result<Event> publish(const NewEvent& event) = 0;

  // Stores all of them or none. They share a correlation id made for them, unless they bring their own.
  virtual Result<std::vector<Event>> publish_batch(std::span<const NewEvent> events) = 0;

  // Claims the next due event, highest priority first, oldest first. Never
  // waits: nothing due is not an error, the optional is empty.
  virtual Result<std::optional<Claim>> poll(const PollRequest& request = {}) = 0;

  // Finishes, or fails, the event held by `lease`. Repeating the call with the same
  // lease returns the first entry again and writes nothing.
  // Errors: not_found; lease_lost when another attempt holds the event or it has ended.
  virtual Result<LogEntry> complete(const Lease& lease, const Outcome& outcome = {}) = 0;
  virtual Result<LogEntry> fail(const Lease& lease, const Failure& failure) = 0;

  // Gives back the event held by `lease`. Repeated and refused as the two above.
  virtual Result<LogEntry> give_back(const Lease& lease, const Return& how = {}) = 0;

  // A whole turn in one commit. A report that is refused does not keep the others from being made.
  // What finalize() may end is only what poll() took.
  virtual Result<NextResult> next(const NextRequest& request) = 0;

  // A sign of life: the lease now ends one full lease from now. Returns its end.
  virtual Result<TimePoint> heartbeat(const Lease& lease) = 0;

  // Ends an event that this object polled: COMPLETED, or COMPLETED_WITH_ERRORS
  // when there are errors. Does nothing for an event that has ended already.
  // Errors: not_found; lease_lost when this object does not hold it.
  virtual Result<void> finalize(EventId id, const std::vector<std::string>& errors = {}) = 0;

  // The same with a verdict: COMPLETED, or FAILED without a retry.
  enum class Verdict : std::uint8_t { success, failure };
  virtual Result<void> finalize(EventId id, Verdict verdict) = 0;

  // Waits until the event has ended, whoever ends it, and returns it then. Costs no polling.
  // Errors: not_found; timeout when it has not ended by then.
  virtual Result<Event> wait(EventId id, Millis timeout) = 0;

  // The settings in force of the queue `name`: every member is there, also what nobody set.
  virtual Result<QueueConfig> settings(const std::string& name) = 0;

  // The event as it is now, live or ended, and its log, oldest entry first.
  virtual Result<Event> get(EventId id) = 0;
  virtual Result<std::vector<LogEntry>> log(EventId id) = 0;

 protected:
  Queue() = default;
};

}  // namespace eventq
