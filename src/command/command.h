// command.h: what callers ask of the engine, and what they get.
//
// One command is one caller's turn: it may publish, report, and take new work, and all
// of it is in one commit. Single calls are commands with one part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
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
  std::string fingerprint;  // the same for the same request only
};

// New events, all or none.
struct Publication {
  std::vector<NewEvent> events;
  std::optional<IdempotencyKey> key;
  bool correlated = false;  // the events share a correlation id, made if they have none
  bool ordered = false;     // and use it as their ordering_key, unless they have one
  // Published when the last event with that correlation id has ended, in the queue they are in.
  std::optional<NewEvent> on_complete;
  std::string spare_correlation_id = {};  // the one to be made, if one is; empty: any
};

struct ClaimRequest {
  Selector selector;
  std::string worker_id;
  std::size_t limit = 1;
  Millis wait{0};  // how long to wait for the first event
  // How many events of the queue the worker may hold, whoever claimed them for it; a claim takes no more
  // than that leaves room for. 0: any number.
  std::size_t window = 0;
};

// Waiting for an end: of an event, of all events with a correlation id, or of a queue's emptying.
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

// Something to be done to a queue.
struct QueueChange {
  struct Configure {
    QueueConfig config;
  };
  struct SetStatus {
    QueueStatus status{};
    std::string by;
    std::string reason;
  };
  struct MakeCheckpoint {};
  struct SupersedeKey {
    std::string key;
    std::string reason;
  };
  std::string queue;
  std::variant<Configure, SetStatus, MakeCheckpoint, SupersedeKey> what;
};

// Finished events once more: as new ones (replay) or, failed ones, by a reset (redrive).
struct Revival {
  enum class Kind : std::uint8_t { replay, redrive };
  Kind kind{};
  EndedFilter filter;                     // an empty queue: every queue; only for a redrive
  std::optional<std::string> checkpoint;  // what ended since then; replaces filter.from
  std::string reason;
  bool dry_run = false;
};

// Events that leave for good, after they were written to `file` if there is one.
struct Removal {
  std::vector<EventId> events;
  std::optional<ArchiveFile> file;
};

// What is neither published, reported nor claimed. The first group changes something or asks what
// only the queue itself knows; the rest reads what is committed.
struct MetricsRequest {};
struct WorkersRequest {};
struct QueueRequest {
  std::string id;
  std::size_t events = 0;  // how many to show
};
struct QueuesRequest {};
struct CheckpointsRequest {
  std::string queue;
  std::size_t limit = limits::kPage;
};
struct RecoveryRequest {
  std::string queue;
};
struct CorrelationRequest {
  std::string id;
  EventId after{};
  std::size_t limit = 0;
};
struct FailuresRequest {
  std::optional<std::string> queue;
  std::size_t limit = 0;
};
struct HoldingRequest {  // how many events of the queue the worker holds
  std::string worker_id;
  std::string queue;
};
using AdminRequest =
    std::variant<std::monostate, QueueChange, Revival, Removal, MetricsRequest, WorkersRequest,  //
                 QueueRequest, QueuesRequest, CheckpointsRequest, RecoveryRequest, CorrelationRequest,
                 FailuresRequest, HoldingRequest>;

// Everything in it has been validated.
struct Command {
  std::optional<Publication> publication;
  std::vector<Change> changes;
  std::optional<ClaimRequest> claim;
  std::optional<EventId> why;
  // Who asks for that event beside those whom the answering commit thread knows.
  struct Asked {
    std::size_t waiting = 0;
    std::optional<Millis> last_ago;  // time since somebody asked last
  };
  Asked asked = {};
  std::optional<WaitRequest> wait;
  bool probe = false;            // find out whether the store can write
  std::optional<TimePoint> now;  // replaces the clock for this command
  AdminRequest admin;

  // Reads of what is committed; a command has these or the parts above.
  struct Get {
    EventId id{};
    bool with_log = false;
  };
  std::optional<Get> get;
  std::optional<ListFilter> list;

  [[nodiscard]] bool is_read() const { return get || list || admin.index() >= 6; }
};
static_assert(std::is_same_v<std::variant_alternative_t<6, AdminRequest>, QueueRequest>);

struct Published {
  std::vector<Event> events;
  std::string correlation_id;  // of a correlated publication
  bool existed = false;        // the only event was there already, under its event_id
  bool replayed = false;       // the answer to the first request with this key
};

struct Changed {
  LogEntry entry;         // empty for a heartbeat
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
  std::optional<Checkpoint> checkpoint;  // that was made
  std::vector<EventId> superseded;
  std::int64_t depth = 0;  // live events
};

struct Revived {
  std::vector<EventId> matched;     // the finished events
  std::vector<EventId> events;      // what became of them; empty on a dry run
  bool more = false;                // there may be more that match
  std::optional<EndedCursor> next;  // where to go on, if that is one place
};

struct Removed {
  std::size_t events = 0;
};

// The answer to an AdminRequest.
using AdminAnswer =
    std::variant<std::monostate, Result<QueueChanged>, Result<Revived>, Removed, Metrics,
                 std::vector<WorkerState>, Result<QueueDocument>, Result<std::vector<QueueDocument>>,
                 Result<std::vector<Checkpoint>>, Result<Recovery>, Result<Correlation>,
                 Result<std::vector<FailureGroup>>, Result<std::int64_t>>;

// The parts a command asked for, or the one error that befell all of it.
struct Answer {
  std::optional<Error> error;
  std::optional<Result<Published>> published;
  bool backpressure = false;             // one of the queues published to is above its watermark
  std::vector<Result<Changed>> changed;  // one per change, in order
  std::vector<Claim> claims;             // may be empty
  std::optional<Result<Explanation>> explanation;
  bool waited = false;  // what the command waited for has come
  AdminAnswer admin;
  std::vector<int> missing;  // shards that were away, so that what they have is not in it

  std::optional<Result<Details>> details;
  std::optional<Result<EventPage>> page;
};

}  // namespace eventq
