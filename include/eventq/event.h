// event.h: events, claims, leases and log entries. Plain values without behaviour.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eventq/clock.h"
#include "eventq/options.h"

namespace eventq {

// Numbers of events and of log entries. A number is never reused, even after its event was removed or
// the server was restarted. All are below 2^53, so every JSON reader holds them exactly.
enum class EventId : std::int64_t {};
enum class LogId : std::int64_t {};

// The first two are live, the others ended. docs/concepts.md draws how an event passes through them.
enum class Status : std::uint8_t {
  pending,                // waits for a worker, or for its due_at
  processing,             // leased to a worker until due_at
  completed,              // its worker finished it
  completed_with_errors,  // its worker finished it and reported errors
  failed,                 // out of retries, out of attempts, or reported as a permanent failure
  superseded,             // replaced by a newer event, or by a person
  cancelled,              // a person ended it
};

// What an entry of an event's log records.
enum class Action : std::uint8_t {
  picked,      // a worker claimed the event
  started,     // its worker began to work
  completed,   // its worker finished it
  failed,      // its worker reported a failure, or the event ran out of attempts
  abandoned,   // its worker's lease expired without a report
  released,    // its worker gave it back without a result
  reset,       // a person made it pending again
  cancelled,   // a person ended it
  superseded,  // a newer event with the same supersede_key, or a person, replaced it
};

// Where an event comes from. All members may be empty.
struct Source {
  std::string type = {};  // "workflow", "integration"
  std::string id = {};
  std::string name = {};  // for display
  friend bool operator==(const Source&, const Source&) = default;
};

// An event to publish. Only `title` and `tags` are required.
struct NewEvent {
  std::string title = {};
  std::optional<std::string> description = {};
  std::vector<std::string> tags = {};
  std::string payload = "null";  // JSON text, stored byte for byte
  std::string queue = "main";
  int priority = 0;                     // events with a higher priority are claimed first
  std::optional<int> max_retries = {};  // absent: the queue's setting
  std::string event_id = {};            // the publisher's own; empty: the queue makes one

  // The members below may all be empty.
  std::string correlation_id = {};          // shared by events that belong together
  std::string causation_id = {};            // the event or request that caused this event
  std::string trace_id = {};                // the id of a distributed trace
  std::string traceparent = {};             // W3C Trace Context, handed to the worker as it is
  std::string tracestate = {};              // the same; only with a traceparent
  std::string published_by = {};            // the person or program that published it, as it states
  std::string pattern = {};                 // what happened: "invoice.created"
  std::string version = {};                 // the version of the payload's schema
  Source source = {};                       // where it happened
  std::optional<TimePoint> timestamp = {};  // when it happened; absent: the time of publishing
  std::string ordering_key = {};            // events of a queue with the same key run one at a time, in order
  std::string supersede_key = {};           // supersedes pending events of its queue that have the same key
  std::optional<TimePoint> run_at = {};     // no worker claims the event before this time
  Millis delay{0};                          // the same, relative to the time of publishing; not with run_at
  std::optional<RetryPolicy> retry = {};    // absent: the queue's setting
  std::string attributes = {};           // JSON object: members of another event format, such as CloudEvents
  std::optional<int> max_attempts = {};  // claims in a row without a report; absent: the queue's setting
};

// A published event and its state.
struct Event {
  EventId id{};
  std::string event_id = {};  // global: "evt_" and a UUIDv7, or the publisher's own
  std::string queue = {};
  std::string title = {};
  std::optional<std::string> description = {};
  std::vector<std::string> tags = {};
  std::string payload = {};
  std::string correlation_id = {};
  std::string causation_id = {};
  std::string trace_id = {};
  std::string pattern = {};
  std::string version = {};
  Source source = {};
  std::string ordering_key = {};
  std::string supersede_key = {};
  std::string attributes = {};
  std::optional<int> sequence = {};  // its position in the batch that it was published in, from 0
  int priority = 0;
  int max_retries = 0;
  std::optional<RetryPolicy> retry = {};  // absent: the queue's setting
  std::optional<int> max_attempts = {};   // absent: the queue's setting
  TimePoint timestamp = {};
  TimePoint created_at = {};

  Status status = Status::pending;
  int attempts = 0;            // claims so far, and so the number of the current attempt
  int retry_count = 0;         // failures reported since the event was published or reset
  int unreported = 0;          // claims since the last report; high for an event that crashes its workers
  std::string worker_id = {};  // the worker that holds the event or finished it; empty when there is none
  TimePoint due_at = {};       // pending: it may be claimed from then on; processing: its lease ends then
  TimePoint picked_at = {};    // when the current attempt was claimed; meaningless before the first claim
  TimePoint updated_at = {};
  std::optional<EventId> superseded_by = {};
  // JSON text that the worker returned with its completion; empty: none. Only Queue::get() and wait() read
  // it.
  std::string result = {};
};

// The right to report on an event. Only the worker that holds the current attempt has it.
struct Lease {
  EventId id{};
  std::string worker_id = {};
  std::optional<int> attempt = {};  // absent: the attempt that the worker holds
};

// An event leased to a worker. `event.attempts` is the number of the attempt.
struct Claim {
  Event event = {};
  TimePoint lease_until = {};
};

// One entry of an event's log: what was done to the event, by which worker, with which result.
struct LogEntry {
  LogId log_id{};
  EventId id{};  // of the event
  int attempt = 0;
  std::string worker_id = {};  // empty when no worker did it
  Action action{};
  std::optional<int> status_code = {};
  std::optional<std::string> error_message = {};
  std::optional<std::int64_t> execution_time_ms = {};
  std::vector<std::string> errors = {};         // reported with a completion
  std::string reason = {};                      // given with a release, reset, cancel or supersede
  std::string by = {};                          // the person, as the caller stated; may be empty
  int retry_count = 0;                          // of the event, after this action
  std::optional<TimePoint> next_retry_at = {};  // set for a failure that will be retried
  TimePoint created_at = {};
  std::string error_detail = {};  // of a failure: a stack trace, or the end of stderr; only in Queue::log()
};

}  // namespace eventq
