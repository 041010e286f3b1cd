// command.h: what a caller asks of an engine (Command), and what the engine answers (Answer).
//
// The folder command/ holds the types that pass between callers (http, the embedded Queue, notebooks) and
// engines. It holds no rules: model/ decides, core/ executes. A call passes through it like this: the caller
// fills a Command, puts it with its ReplyTo into an Envelope (envelope.h), and submits it to an Engine. The
// engine delivers the Answer to the caller's AnswerSink.
//
// One command may publish, report and claim, and all of it is in one commit. Most calls are commands with one
// part.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "eventq/error.h"
#include "eventq/event.h"
#include "model/lifecycle.h"
#include "model/metrics.h"
#include "model/query.h"
#include "model/why.h"
#include "store/store.h"

namespace eventq {

struct IdempotencyKey {
  std::string key;
  std::string fingerprint;  // equal if and only if the requests are equal
};

// New events: either all of them are published or none.
struct Publication {
  std::vector<NewEvent> events;
  std::optional<IdempotencyKey> key;
  bool correlated = false;  // the events share a correlation id; the Core makes one if they have none
  bool ordered = false;     // events without an ordering_key use that correlation id as their key
  // Published when the last event with that correlation id has ended, into the queue of the first event.
  std::optional<NewEvent> on_complete;
  // The correlation id to use when the Core has to make one. Empty: the Core chooses. The router sets it,
  // because all shards must use the same.
  std::string spare_correlation_id = {};
  // Only answer as the first request with this key was answered; not_found for a new key. For a caller that
  // must know it before it can say what to publish. One event must be there, of the queue.
  bool only_replay = false;
};

struct ClaimRequest {
  Selector selector;
  std::string worker_id;
  std::size_t limit = 1;
  Millis wait{0};  // how long to wait for the first event
  // How many events of the queue the worker may hold at once, over all its claims. This claim takes no more
  // than the rest. 0: any number.
  std::size_t window = 0;
};

// Waits until an event has ended, until all events with a correlation id have ended, or until a queue has no
// live events.
struct WaitRequest {
  struct Drained {
    std::string queue;
  };
  struct Correlated {
    std::string id;
  };
  struct ThisPublication {};  // the one event that the command publishes
  std::variant<EventId, Correlated, Drained, ThisPublication> what;
  Millis timeout{0};
};

// A change to a queue itself, and not to single events.
struct QueueChange {
  struct Configure {
    QueueConfig config;
    bool keeps_unset = false;  // true: values equal to the defaults stay unset, see own_settings()
  };
  struct Patch {
    ConfigPatch patch;
  };
  struct SetStatus {
    QueueStatus status{};
  };
  struct MakeCheckpoint {
    std::string id = {};  // empty: the Core makes one; the router sets it, as log_id
  };
  struct DeleteCheckpoint {
    std::string id;
  };
  struct SupersedeKey {
    std::string key;
  };
  // Removes the queue if it holds no event, live or ended.
  struct Remove {
    bool only_check = false;  // true: answer whether the queue can be removed, and change nothing
  };
  std::string queue;
  std::variant<Configure, Patch, SetStatus, MakeCheckpoint, DeleteCheckpoint, SupersedeKey, Remove> what;
  Actor actor = {};
  // The id of this change in the queue's log. Empty: the Core makes one. The router sets it, because all
  // shards must use the same.
  std::string log_id = {};
  bool logged = true;  // false: a part of another change, which has its own entry in the log
};

// Runs ended events again. A replay publishes copies of them. A retry resets failed events.
enum class RevivalKind : std::uint8_t { replay, retry };

struct Revival {
  RevivalKind kind{};
  EndedFilter filter;                     // an empty queue: every queue; only for a retry
  std::optional<std::string> checkpoint;  // only events that ended since then; replaces filter.from
  std::string reason;
  bool dry_run = false;
  std::string by = {};      // the person, as the caller stated
  std::string log_id = {};  // as in QueueChange
};

// Deletes ended events, and stores the new size of the archive file they were written to. See retention/.
struct Removal {
  std::vector<EventId> events;
  std::optional<ArchiveFile> file;
};

// Metrics and workers are in the Core's memory, so the commit thread answers these requests. Engines add
// `unattended` to the metrics, see engine/metrics_calls.h. Queries read only committed rows, so the read
// thread answers them without waiting for a commit.
struct MetricsRequest {};
struct WorkersRequest {};
// The worker stops: what it asked for before does not count any more. Its leases stay until they end.
struct SignOff {
  std::string worker_id;
};
// Stores what workers asked for. Sent by the router, because most requests of a worker reach no Core while it
// waits in the router.
struct NoteAsks {
  struct Asked {
    std::string worker_id;
    Selector selector;
    Millis ago{0};  // a time span, because the router and the databases have different clocks
  };
  std::vector<Asked> asks;
};
struct QueueQuery {
  std::string id;
  std::size_t events = 0;  // how many of its events the answer contains
};
struct QueuesQuery {};
struct CheckpointsQuery {
  std::string queue;
  std::size_t limit = limits::kPage;
};
struct RecoveryQuery {
  std::string queue;
};
struct CorrelationQuery {
  std::string id;
  EventId after{};
  std::size_t limit = 0;
};
struct FailuresQuery {
  std::optional<std::string> queue;
  std::size_t limit = 0;
};
struct HoldingQuery {  // counts the events of the queue that the worker holds
  std::string worker_id;
  std::string queue;
};
struct UnattendedQuery {  // counts the ready events that no worker asks for
  std::vector<AskedTags> queues;
};
struct EventIdsQuery {  // the numbers of the events with these global ids
  std::vector<std::string> event_ids;
};
struct WorkerLogQuery {
  WorkerLogFilter filter;
};
struct QueueLogQuery {
  QueueLogFilter filter;
};
// The types of AdminRequest for which is_read() is true.
template <typename T>
concept CommittedQuery =
    std::same_as<T, QueueQuery> || std::same_as<T, QueuesQuery> || std::same_as<T, CheckpointsQuery> ||
    std::same_as<T, RecoveryQuery> || std::same_as<T, CorrelationQuery> || std::same_as<T, FailuresQuery> ||
    std::same_as<T, HoldingQuery> || std::same_as<T, UnattendedQuery> || std::same_as<T, EventIdsQuery> ||
    std::same_as<T, WorkerLogQuery> || std::same_as<T, QueueLogQuery>;

using AdminRequest =
    std::variant<std::monostate, QueueChange, Revival, Removal, MetricsRequest, WorkersRequest, SignOff,
                 NoteAsks, QueueQuery, QueuesQuery, CheckpointsQuery, RecoveryQuery, CorrelationQuery,
                 FailuresQuery, HoldingQuery, UnattendedQuery, EventIdsQuery, WorkerLogQuery, QueueLogQuery>;

// What one caller asks for. The parts are independent; core.h states the order in which they run.
// REQUIRES: every field has been validated (model/validate.h). A command with `get`, `list` or a query has no
// other part.
struct Command {
  std::optional<Publication> publication;
  std::vector<Change> changes;
  std::optional<ClaimRequest> claim;
  std::optional<EventId> why;
  // Claims for the event of `why` that the answering Core does not know, because the router holds them.
  struct ExtraDemand {
    std::size_t waiting = 0;              // claims that wait
    std::optional<Millis> last_poll_ago;  // time since the last claim
  };
  ExtraDemand extra_demand = {};
  std::optional<WaitRequest> wait;
  bool probe = false;            // writes something, to check that the store can
  std::optional<TimePoint> now;  // replaces the clock for this command
  AdminRequest admin;

  // Reads of committed rows.
  std::optional<EventId> get;  // the event and its log
  std::optional<ListFilter> list;

  // Whether a Reader alone can answer it. Engines send such a command to their read thread.
  [[nodiscard]] bool is_read() const {
    return get || list || std::visit([]<typename T>(const T&) { return CommittedQuery<T>; }, admin);
  }

  // Makes it answer at once, also when a claim finds nothing or an end has not come.
  void stop_waiting() {
    if (claim) claim->wait = Millis(0);
    if (wait) wait->timeout = Millis(0);
  }
};

// Gives the events of an answer back that cannot be delivered, because its caller has left or the server has
// stopped. Other workers can then claim them now instead of after the lease.
[[nodiscard]] inline Command release_of(const std::vector<Claim>& claims) {
  Command command;
  for (const Claim& claim : claims) {
    const Event& event = claim.event;
    command.changes.push_back({Lease{event.id, event.worker_id, event.attempts},
                               Release{"The event did not reach the worker that claimed it."}});
  }
  return command;
}

struct Published {
  std::vector<Event> events;
  std::string correlation_id;  // of a correlated publication
  bool existed = false;        // a publication of one event whose event_id exists already
  bool replayed = false;       // the idempotency key was used before; this is the first answer again
};

struct Changed {
  LogEntry entry;         // empty for a heartbeat; without its error_detail
  Status status{};        // of the event, after the change
  int max_retries = 0;    // of the event
  TimePoint lease_until;  // of the event, while it is processing
};

struct Explanation {
  EventId id{};
  Status status{};
  Why why;
};

struct QueueChanged {
  QueueRow row;
  bool created = false;
  std::optional<Checkpoint> checkpoint;  // the new one of MakeCheckpoint, or the old one of DeleteCheckpoint
  std::vector<EventId> superseded;
  std::int64_t depth = 0;  // live events
};

struct Revived {
  std::vector<EventId> matched;     // the ended events
  std::vector<EventId> events;      // their copies, or the events that were reset; empty on a dry run
  bool more = false;                // more events may match
  std::optional<EndedCursor> next;  // continue from here; empty if several queues were read
};

struct Removed {
  std::size_t events = 0;
};

// For each name of an EventIdsQuery the events that have it: none, one, or one on each of several shards.
struct FoundEvents {
  std::vector<std::vector<EventId>> events;
};

// The answer to an AdminRequest.
using AdminAnswer =
    std::variant<std::monostate, Result<QueueChanged>, Result<Revived>, Removed, Metrics,
                 std::vector<ListedWorker>, Result<QueueDocument>, Result<std::vector<QueueDocument>>,
                 Result<std::vector<Checkpoint>>, Result<Recovery>, Result<Correlation>,
                 Result<std::vector<FailureGroup>>, Result<std::int64_t>, Result<std::vector<std::int64_t>>,
                 Result<FoundEvents>, Result<WorkerLogPage>, Result<std::vector<QueueLogEntry>>>;

// The answers to the parts that a command has, or one error for the whole command.
struct Answer {
  std::optional<Error> error;
  std::optional<Result<Published>> published;
  bool backpressure = false;             // one of the queues published to is above its watermark
  std::vector<Result<Changed>> changed;  // one per change, in order
  std::vector<Claim> claims;             // empty if no event was found, or none in time
  std::optional<Result<Explanation>> explanation;
  bool waited = false;  // the end that the command waited for has come; false: the wait timed out
  AdminAnswer admin;
  std::vector<int> missing;  // shards that could not be reached, so their data is not in the answer

  std::optional<Result<Details>> details;
  std::optional<Result<EventPage>> page;
};

}  // namespace eventq
