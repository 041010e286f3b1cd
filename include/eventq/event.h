// event.h: the nouns. Plain values, no behaviour.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eventq/clock.h"
#include "eventq/options.h"

namespace eventq {

// Never reused, not even after a delete or a restart; below 2^53.
enum class EventId : std::int64_t {};
enum class LogId : std::int64_t {};

enum class Status : std::uint8_t {
  pending,     // waits: for a worker, or for its due_at
  processing,  // leased to a worker until due_at
  completed,
  completed_with_errors,  // done, and the worker named what went wrong on the way
  failed,                 // out of retries, out of attempts, or failed for good
  superseded,
  cancelled,
};

// What an entry of the log records.
enum class Action : std::uint8_t {
  picked,      // a worker claimed the event
  started,     // its worker began
  completed,   // its worker finished it
  failed,      // its worker reported a failure, or it ran out of attempts
  abandoned,   // its worker's lease ended without a report
  released,    // its worker gave it back unworked
  reset,       // a person made it pending again
  cancelled,   // a person ended it
  superseded,  // a newer event with its supersede_key took its place
};

// Where an event comes from.
struct Source {
  std::string type;  // "workflow", "integration"
  std::string id;
  std::string name;  // for people
  friend bool operator==(const Source&, const Source&) = default;
};

struct NewEvent {
  std::string title;
  std::optional<std::string> description;
  std::vector<std::string> tags;
  std::string payload = "null";  // JSON text, kept byte for byte
  std::string queue = "main";
  int priority = 0;                // higher first
  std::optional<int> max_retries;  // the queue's own when absent
  std::string event_id;            // the publisher's own; made when empty

  // All of these may be empty.
  std::string correlation_id;          // events that belong together
  std::string causation_id;            // what made the publisher publish it
  std::string trace_id;                // of a distributed trace
  std::string pattern;                 // what happened: "invoice.created"
  std::string version;                 // of the payload's schema
  Source source;                       // where it happened
  std::optional<TimePoint> timestamp;  // when it happened; when it is published if absent
  std::string ordering_key;            // events of a queue with the same key: one at a time, in order
  std::string supersede_key;           // pending events of its queue with the same key make way for it
  std::optional<TimePoint> run_at;     // not before then
  Millis delay{0};                     // not before that long after it is published
  std::optional<RetryPolicy> retry;    // the queue's own when absent
  std::string attributes;              // JSON object of what else its publisher's format knows
};

struct Event {
  EventId id{};
  std::string event_id;  // global: "evt_" and a UUIDv7, or the publisher's own
  std::string queue;
  std::string title;
  std::optional<std::string> description;
  std::vector<std::string> tags;
  std::string payload;
  std::string correlation_id;
  std::string causation_id;
  std::string trace_id;
  std::string pattern;
  std::string version;
  Source source;
  std::string ordering_key;
  std::string supersede_key;
  std::string attributes;
  std::optional<int> sequence;  // its place in the batch it was published in, from 0
  int priority = 0;
  int max_retries = 0;
  std::optional<RetryPolicy> retry;  // its own, if it has one
  TimePoint timestamp;
  TimePoint created_at;

  Status status = Status::pending;
  int attempts = 0;       // claims so far; the newest one is the current attempt
  int retry_count = 0;    // failures reported so far
  int unreported = 0;     // claims since the last report: a poison event has many
  std::string worker_id;  // who holds it, or who ended it; empty when nobody does
  TimePoint due_at;       // pending: may run from then on; processing: the lease ends; ended: meaningless
  TimePoint picked_at;    // when the current attempt was claimed; meaningless before the first
  TimePoint updated_at;
  std::optional<EventId> superseded_by;
};

// The right to finish an event: only the worker that holds this attempt has it.
struct Lease {
  EventId id{};
  std::string worker_id;
  std::optional<int> attempt;  // absent: whichever attempt the worker holds
};

// An event taken for a worker; `event.attempts` is the attempt.
struct Claim {
  Event event;
  TimePoint lease_until;
};

struct LogEntry {
  LogId log_id{};
  EventId id{};  // of its event
  int attempt = 0;
  std::string worker_id;  // empty for what a person did
  Action action{};
  std::optional<int> status_code;
  std::optional<std::string> error_message;
  std::optional<std::int64_t> execution_time_ms;
  std::vector<std::string> errors;         // of a completion with errors
  std::string reason;                      // why, where somebody gave one
  int retry_count = 0;                     // after this action
  std::optional<TimePoint> next_retry_at;  // of a failure that will be retried
  TimePoint created_at;
};

}  // namespace eventq
