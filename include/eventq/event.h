// event.h: the nouns. Plain values, no behaviour.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eventq/clock.h"

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
  picked,     // a worker claimed the event
  started,    // its worker began
  completed,  // its worker finished it
  failed,     // its worker reported a failure, or it ran out of attempts
  abandoned,  // its worker's lease ended without a report
  released,   // its worker gave it back unworked
  reset,      // a person made it pending again
  cancelled,  // a person ended it
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
  std::string correlation_id;      // may be empty
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
  int priority = 0;
  int max_retries = 0;
  TimePoint created_at;

  Status status = Status::pending;
  int attempts = 0;       // claims so far; the newest one is the current attempt
  int retry_count = 0;    // failures reported so far
  int unreported = 0;     // claims since the last report: a poison event has many
  std::string worker_id;  // who holds it, or who ended it; empty when nobody does
  TimePoint due_at;       // pending: may run from then on; processing: the lease ends; ended: meaningless
  TimePoint updated_at;
};

// The right to finish an event: only the worker that holds this attempt has it.
struct Lease {
  EventId event_id{};
  std::string worker_id;
  std::optional<int> attempt;  // absent: whichever attempt the worker holds
};

// An event taken for a worker; `event.attempts` is the attempt.
struct Claim {
  Event event;
  TimePoint lease_until;
};

struct LogEntry {
  LogId id{};
  EventId event_id{};
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
