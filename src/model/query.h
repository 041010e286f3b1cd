// query.h: what readers and workers can ask a queue for, and the values they get.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "eventq/admin.h"
#include "eventq/event.h"
#include "eventq/options.h"

namespace eventq {

// The events that a worker asks for.
struct Selector {
  std::string queue;
  std::vector<std::string> tags;  // any of these; empty: all
  friend bool operator==(const Selector&, const Selector&) = default;
};

// The tags that workers ask for in a queue. Empty: no worker asks for any event of it.
struct AskedTags {
  std::string queue;
  std::vector<std::string> tags;
  friend bool operator==(const AskedTags&, const AskedTags&) = default;
};

enum class ListOrder : std::uint8_t { ascending, descending };  // by id

// What the events of a list have beside the fields of a summary.
struct ListIncludes {
  bool payload = false;  // and the description
  bool result = false;
  bool logs = false;
  [[nodiscard]] bool any() const { return payload || result || logs; }
  friend bool operator==(const ListIncludes&, const ListIncludes&) = default;
};

// The events that GET /events lists.
struct ListFilter {
  std::optional<Status> status = {};
  std::vector<std::string> tags = {};  // any of these; empty: all
  std::optional<std::string> event_id = {};
  std::optional<std::string> queue = {};
  std::optional<std::string> worker_id = {};  // a worker that ever picked the event
  std::optional<std::string> correlation_id = {};
  std::optional<std::string> pattern = {};  // as in pattern.h; valid
  std::optional<std::string> error = {};  // a part of the last error message; ASCII letters match in any case
  std::optional<TimePoint> since = {};    // created at or after
  std::optional<TimePoint> until = {};    // created before
  // These cut the page but not its total.
  EventId after{};                     // only higher ids
  std::optional<EventId> before = {};  // only lower ids
  std::int64_t offset = 0;
  std::size_t limit = 20;
  ListOrder order = ListOrder::ascending;
  ListIncludes include = {};

  // Whether an event must be read to know that it does not match, and few events may match. Such a list has a
  // time limit, and it begins behind `after` or `before`.
  [[nodiscard]] bool scans() const { return worker_id || pattern || error; }
};

// The message of the last failure of each event that has one.
using LastErrors = std::map<EventId, std::string>;

struct EventPage {
  std::vector<Event> events;                           // in the order of the filter
  LastErrors last_errors = {};                         // of `events`
  std::map<EventId, std::vector<LogEntry>> logs = {};  // of `events`, if the filter includes them
  std::int64_t total = 0;                              // events that match, on all pages
  bool total_exact = true;                             // false: at least `total` events match
  bool more = false;                                   // events behind the page match, or may match
  std::optional<EventId> scanned_to =
      {};  // set: a limit of time or bytes ended the page here, before it was full

  // Where the next page begins; empty if this page is the last one.
  [[nodiscard]] std::optional<EventId> next() const {
    if (scanned_to) return scanned_to;
    return more && !events.empty() ? std::optional(events.back().id) : std::nullopt;
  }
};

// Where a list of ended events stopped.
struct EndedCursor {
  TimePoint ended_at;
  EventId id{};
};

// Ended events of one queue, oldest end first.
struct EndedFilter {
  std::string queue;
  std::vector<Status> statuses;           // final statuses; empty: all
  std::vector<std::string> tags;          // any of these; empty: all
  std::string pattern;                    // exactly this one; empty: any
  std::optional<std::string> cause;       // of the failure, as in FailureGroup
  std::optional<TimePoint> from;          // ended at or after
  std::optional<TimePoint> to;            // ended before
  std::optional<EndedCursor> after = {};  // only events after this one
  std::size_t limit = 1000;
};

// Counters of a queue since it was created.
struct Totals {
  std::int64_t published = 0;
  std::int64_t deduplicated = 0;  // publications whose event_id or idempotency key existed already
  std::int64_t claimed = 0;
  std::int64_t completed = 0;  // with or without errors
  std::int64_t failed = 0;     // failures reported, and events out of attempts
  std::int64_t failed_for_good = 0;
  std::int64_t retried = 0;    // failures that were followed by a retry
  std::int64_t abandoned = 0;  // leases that expired without a report
  std::int64_t superseded = 0;
  std::int64_t cancelled = 0;
  std::int64_t run_ms = 0;   // time from claim to report, of all reports
  std::int64_t runs = 0;     // reports
  std::int64_t removed = 0;  // ended events removed by retention
  friend bool operator==(const Totals&, const Totals&) = default;

  Totals& operator+=(const Totals& more);
};

// Every counter of Totals.
inline constexpr std::array kTotals = {&Totals::published, &Totals::deduplicated, &Totals::claimed,
                                       &Totals::completed, &Totals::failed,       &Totals::failed_for_good,
                                       &Totals::retried,   &Totals::abandoned,    &Totals::superseded,
                                       &Totals::cancelled, &Totals::run_ms,       &Totals::runs,
                                       &Totals::removed};

static_assert(sizeof(Totals) == kTotals.size() * sizeof(std::int64_t));  // none is missing

inline Totals& Totals::operator+=(const Totals& more) {
  for (const auto counter : kTotals) this->*counter += more.*counter;
  return *this;
}

inline constexpr std::size_t kStatuses = 7;
using Counts = std::array<std::int64_t, kStatuses>;  // events by Status

enum class QueueStatus : std::uint8_t {
  active,
  paused,    // events can be published but not claimed
  draining,  // events can be claimed but not published
};

// A queue as the store holds it.
struct QueueRow {
  std::string id;
  QueueConfig config;        // the queue's own settings; see policy_of() in model/policy.h
  std::string config_fault;  // why the stored settings could not be read; empty: they were
  QueueStatus status = QueueStatus::active;
  std::string status_by;      // the person that changed the status last; may be empty
  std::string status_reason;  // of that change; may be empty
  std::optional<TimePoint> status_at;
  TimePoint created_at;
  TimePoint updated_at;
  friend bool operator==(const QueueRow&, const QueueRow&) = default;
};

// A mark in the history of a queue, from which a replay can begin.
struct Checkpoint {
  std::string id;  // a UUID
  std::string queue;
  std::string checkpoint_id;     // event_id of the last completed event; empty: there was none
  std::int64_t event_count = 0;  // events completed before the checkpoint
  TimePoint created_at;
  bool requested = false;  // a caller made it, so it stays until deleted; false: the server made it by time
};

// What a recovery of a queue found.
struct Recovery {
  std::string id;
  std::string queue;
  std::string checkpoint_id;          // as in the last checkpoint
  std::int64_t events_recovered = 0;  // live events found
  TimePoint started_at;
  TimePoint completed_at;
  // "completed"; "repaired" when counters disagreed with the rows; "behind_checkpoint" when fewer events
  // are counted as completed than at the last checkpoint
  std::string status;
};

// An event with its log.
struct Details {
  Event event;
  std::vector<LogEntry> log;
};

// A queue with its counters and its first live events.
struct QueueDocument {
  QueueRow row;
  Counts counts{};
  Totals totals;
  std::string checkpoint_id;    // event_id of the last completed event
  std::vector<Details> events;  // the first live events
  TimePoint changed_at = {};    // when its totals last changed; TimePoint(): never
};

// Events that belong together, by correlation_id.
struct Correlation {
  std::string id;
  std::int64_t total = 0;
  std::int64_t pending = 0;    // live events
  std::int64_t completed = 0;  // with or without errors
  std::int64_t failed = 0;
  std::vector<Event> events;    // the first of them, by sequence
  LastErrors last_errors = {};  // of `events`
  // Events whose result was left out, because the results before it are large enough for one answer.
  std::set<EventId> left_out = {};
};

// An ended event of a correlation, and its result.
struct CorrelatedEnd {
  EventId id{};
  std::string event_id;
  Status status{};
  std::string result;
};

// Where a list of log entries stopped: entries before this one follow.
struct LogCursor {
  EventId event{};
  LogId entry{};
  friend bool operator==(const LogCursor&, const LogCursor&) = default;
  friend bool operator<(const LogCursor& a, const LogCursor& b) {
    return std::tie(a.event, a.entry) < std::tie(b.event, b.entry);
  }
  friend bool operator>(const LogCursor& a, const LogCursor& b) { return b < a; }
  friend bool operator>=(const LogCursor& a, const LogCursor& b) { return !(a < b); }
};

// What one worker did, newest event first.
struct WorkerLogFilter {
  std::string worker_id;
  std::optional<LogCursor> before;
  std::size_t limit = 100;
};

struct WorkerLogPage {
  std::vector<LogEntry> entries;
  std::optional<LogCursor> next;  // continue from here; empty: no more entries
  bool complete = true;           // false: the time limit of the scan ended the page early
};

// A change to a queue, as its log lists it.
enum class QueueAction : std::uint8_t {
  created,
  configured,
  paused,
  resumed,
  draining,
  superseded,
  replayed,
  retried,
  checkpoint_made,
  checkpoint_deleted,
  deleted,
};

struct QueueLogEntry {
  std::string id;  // a UUIDv7, so ids ascend with time
  std::string queue;
  QueueAction action{};
  std::string by;      // the person, as the caller stated; may be empty
  std::string reason;  // may be empty
  std::string detail;  // JSON object
  TimePoint created_at;
  friend bool operator==(const QueueLogEntry&, const QueueLogEntry&) = default;
};

// Entries of a queue's log, newest first.
struct QueueLogFilter {
  std::string queue;
  std::string before;  // an entry's id; only older entries; empty: from the newest
  std::size_t limit = 100;
};

// FAILED events of a queue that failed for the same cause.
struct FailureGroup {
  std::string queue;
  std::string cause;
  std::int64_t events = 0;
  TimePoint first_at;
  TimePoint last_at;
  EventId last_event{};
  std::string sample = {};  // the message of last_event; empty if it has none
};

// Where the total of a page is not a stored counter, matching events are counted only up to this number.
inline constexpr std::int64_t kCountedMax = 10'000;

}  // namespace eventq
