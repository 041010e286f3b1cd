// admin.h: what an operator does with queues: lists and changes events, pauses queues, and looks at failures,
// workers and figures.
//
//   eventq::Admin admin(*queue);
//   const eventq::FailureList list = admin.failures().value();
//   for (const eventq::FailureSummary& failure : list.failures) {
//     std::cout << failure.events << " " << failure.cause << "\n";
//   }
//
// The queue may be embedded or behind HTTP: the results are the same.
//
// Threads and times are as in queue.h.
// Errors: every method may return unavailable, and every method that changes something also unknown_outcome
//         and no_space. A method returns invalid_argument for a bad name, text or limit, and for a queue that
//         neither Queue::open() nor Client::connect() made. The comments below name the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "eventq/event.h"
#include "eventq/queue.h"

namespace eventq {

// The person or program that asks for a change, and why, as the caller states. Both may be empty. They are
// stored in the log.
struct Actor {
  std::string by = {};
  std::string reason = {};
};

// The events to list. An empty member selects all.
struct EventQuery {
  std::optional<Status> status = {};
  std::vector<std::string> tags = {};  // events with at least one of these tags
  std::string queue = {};
  std::string worker_id = {};
  std::string correlation_id = {};
  std::string pattern = {};             // as in Worker::on_pattern(): "invoice.created", "invoice.>"
  std::optional<TimePoint> since = {};  // published at or after this time
  std::optional<TimePoint> until = {};  // published before this time
  bool newest_first = false;            // by descending number
  EventId after{};                      // only events behind this one, in the order of the list
  std::size_t limit = 20;               // from 1 to limits::kPage
};

// An event in a list. Queue::get() has the rest, such as the payload.
struct EventSummary {
  EventId id{};
  std::string event_id = {};
  std::string queue = {};
  std::string title = {};
  std::vector<std::string> tags = {};
  Status status{};
  int priority = 0;
  int attempts = 0;
  int retry_count = 0;
  std::string worker_id = {};
  std::string correlation_id = {};
  std::string pattern = {};
  std::string last_error = {};  // the message of its last failure; empty: it never failed
  TimePoint created_at = {};
  TimePoint updated_at = {};
  friend bool operator==(const EventSummary&, const EventSummary&) = default;
};

struct EventList {
  std::vector<EventSummary> events = {};  // in the order of the query
  std::int64_t total = 0;                 // events that match, on all pages
  bool total_exact = true;                // false: at least `total` events match
  std::optional<EventId> next = {};       // more may follow: list again with `after` set to it
  std::vector<int> missing_shards = {};  // databases that did not answer, so their events are not in the list
};

// Failed events of a queue that failed for the same cause.
struct FailureSummary {
  std::string queue = {};
  std::string cause = {};   // what their messages have in common
  std::string sample = {};  // a real message: that of last_event
  std::int64_t events = 0;
  TimePoint first_at = {};
  TimePoint last_at = {};
  EventId last_event{};
  friend bool operator==(const FailureSummary&, const FailureSummary&) = default;
};

struct FailureList {
  std::vector<FailureSummary> failures = {};  // those with the most events first
  std::vector<int> missing_shards = {};       // as in EventList
  friend bool operator==(const FailureList&, const FailureList&) = default;
};

enum class WorkerState : std::uint8_t {
  gone,    // signed off, or asked for nothing in the last 10 minutes
  idle,    // asked for events within the last 10 minutes
  active,  // holds an event, or asked for events within Options::stale_after
  stale,   // holds an event and gives no sign of life
};

struct WorkerInfo {
  std::string worker_id = {};
  TimePoint first_seen = {};
  TimePoint last_seen = {};
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::vector<EventId> holding = {};   // events that it holds
  std::string queue = {};              // of its last request for events; empty: it made none lately
  std::vector<std::string> tags = {};  // of that request; empty: all events
  WorkerState state{};
  std::string stale_because = {};  // a sentence; empty when it is not stale
  friend bool operator==(const WorkerInfo&, const WorkerInfo&) = default;
};

struct WorkerList {
  std::vector<WorkerInfo> workers = {};
  std::vector<int> missing_shards = {};  // as in EventList
};

// The figures of one queue. Those from `published` on count since the queue was created.
struct QueueFigures {
  std::string queue = {};
  std::map<Status, std::int64_t> events = {};  // stored events by status; every status is present
  std::optional<Millis> oldest_pending = {};   // age of the oldest pending event
  bool backpressure = false;                   // publishers are asked to slow down
  std::int64_t published = 0;
  std::int64_t claimed = 0;
  std::int64_t completed = 0;  // with or without errors
  std::int64_t failed = 0;     // failures reported, and events out of attempts
  std::int64_t retried = 0;    // failures that were followed by a retry
  std::int64_t abandoned = 0;  // leases that expired without a report
  friend bool operator==(const QueueFigures&, const QueueFigures&) = default;
};

struct Figures {
  std::vector<QueueFigures> queues = {};
  std::int64_t failed_24h = 0;      // failures of the last 24 hours
  std::int64_t waiting_claims = 0;  // calls that wait for an event
  std::int64_t waiting_ends = 0;    // calls that wait for an event to end
  std::int64_t workers = 0;         // that are not gone
  std::int64_t stale_workers = 0;
  std::vector<int> missing_shards = {};  // as in EventList
};

class AdminCalls;

class Admin {
 public:
  // REQUIRES: `queue` outlives this object.
  explicit Admin(Queue& queue);

  Result<EventList> list(const EventQuery& query = {});

  // The event as it is now. Errors: not_found.
  Result<Event> get(EventId id) { return queue_.get(id); }

  // Ends an event that is pending, processing or failed. Errors: not_found; conflict in another status.
  Result<LogEntry> cancel(EventId id, const Actor& actor = {});

  // Makes an event pending again that failed, was cancelled, or is processing; its failures are forgotten.
  // Errors: not_found; conflict in another status.
  Result<LogEntry> retry(EventId id, const Actor& actor = {});

  // Workers get no events of a paused queue; publishers may go on. resume() ends pause, and drain as well.
  // Errors: not_found for a queue without events and settings.
  Result<void> pause(const std::string& queue, const Actor& actor = {});
  Result<void> resume(const std::string& queue, const Actor& actor = {});

  // Causes of failures of one queue, or of all when `queue` is empty.
  // `limit` is from 1 to limits::kPage.
  Result<FailureList> failures(const std::string& queue = {}, std::size_t limit = 100);

  Result<WorkerList> workers();
  Result<Figures> metrics();

 private:
  Queue& queue_;
  AdminCalls* calls_;  // a part of the queue; null: the queue cannot be administered
};

}  // namespace eventq
