// store.h: durable state, in batches. The store holds no rule: src/core decides, the store keeps rows.
//
// In this folder: the interface and its implementations in sqlite/, postgres/ and memory/. conformance/ tests
// all of them alike. Not here: rules (core), threads (engine), and tools that read a store's file (tools).
// A batch passes through begin_planned(), the calls of Transaction in any order, and commit().
//
// A Transaction's writes are on disk when commit() has returned without an error, and gone when it is
// destroyed without a commit.
//
// Ready: a live event is in the ready index once its due_at has passed: it is pending and free to run, or
// processing with an expired lease. Claims read only that index, so their cost does not grow with the events
// that wait for a time or have other tags. insert() and save() update the index; promote() adds the events
// that came due since.
//
// Line: of a queue's live events with the same ordering_key, one is the head and may become ready. The others
// are behind it and are never ready. The core decides which event is the head.
//
// Shared: other processes, or other Stores of this process, may change the same database. Their transactions
// run concurrently, and each statement sees what the others have committed.
//
// Threads: one thread at a time per Store; each Reader belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "eventq/error.h"
#include "eventq/event.h"
#include "eventq/limits.h"
#include "model/metrics.h"
#include "model/query.h"

namespace eventq {

// The columns that must be unchanged in an event's row when a change to it is saved: an optimistic lock.
struct Guard {
  Status status{};
  int attempts = 0;
  std::string worker_id;
  friend bool operator==(const Guard&, const Guard&) = default;
};

// The place of an event among the live events of its queue with the same ordering_key.
enum class Line : std::uint8_t {
  none,    // no ordering_key, or the event has left the line
  head,    // may run; or has failed and blocks the events behind it
  behind,  // waits until the head leaves the line
};

// An event with the columns that only the store and the core use.
struct Stored {
  Event event;
  Guard guard;                    // as loaded
  bool archived = false;          // loaded from the archive of ended events
  bool ready = false;             // loaded from, or put into, the ready index
  Line line = Line::none;         // set by the caller, kept by insert() and save()
  Line line_before = Line::none;  // as loaded
  std::int64_t turn = 0;          // the order in the ready index among equal priorities
  std::string cause;              // groups failed events; see cause_of(); empty unless failed
};

// The counters of one correlation_id.
struct CorrelationRow {
  std::string id;
  std::int64_t total = 0;    // published
  std::int64_t pending = 0;  // live
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t kept = 0;    // not removed yet; at 0 the row is deleted
  std::string on_complete;  // JSON of the event to publish when none is live; empty: none
  std::string queue;        // the queue that on_complete is published to
};

// Ended events; `next` is where the next call continues, and empty when no more can match.
struct Ended {
  std::vector<Stored> events;
  std::optional<EndedCursor> next;
};

// A file of removed events. Only its first `bytes` bytes are committed; a crash may leave more.
struct ArchiveFile {
  std::string name;
  std::int64_t bytes = 0;
};

// One queue as the core keeps it in memory.
struct QueueRecord {
  QueueRow row;
  Counts counts{};
  Totals totals;
  std::string checkpoint_id;
  TimePoint changed_at = {};  // as in QueueDocument
};

// The queues that other servers created, configured or removed.
struct ChangedQueues {
  std::vector<QueueRecord> records;
  std::vector<std::string> removed;
};

// What the core keeps in memory of a store, read once when the store is opened.
struct Recalled {
  std::vector<QueueRecord> queues;
  std::vector<WorkerRow> workers;
  std::vector<WorkerAsk> asks = {};                     // made since their workers signed off
  std::vector<Stored> processing;                       // EventFields::state
  std::vector<Checkpoint> checkpoints;                  // the last of each queue
  std::map<std::int64_t, std::int64_t> failed_by_hour;  // hours since 1970
};

// An idempotency key, and the events that the first request with it published.
struct KeyRecord {
  std::string key;
  std::string fingerprint;  // of the request that used it first
  std::vector<EventId> events;
  TimePoint created_at;
};

// What a transaction will read and change, as far as its caller knows beforehand. A shared store fetches and
// locks all of it in one round trip, in an order that cannot deadlock. It fetches and locks the rest on
// demand.
struct TransactionPlan {
  using QueueKey = std::pair<std::string, std::string>;  // queue, key

  std::size_t inserts = 0;                               // new events
  std::vector<std::string> event_ids;                    // to find()
  std::vector<std::string> keys;                         // to find_key()
  std::vector<EventId> changes;                          // to load() for a change
  std::vector<QueueKey> lines;                           // by ordering_key
  std::vector<QueueKey> superseded;                      // by supersede_key
  std::vector<std::string> correlations;                 // by correlation_id
  std::vector<std::string> limited;                      // queues that may grow and have a depth limit
  std::vector<std::pair<Selector, std::size_t>> claims;  // how many events in all, by selector
  bool ended = false;                                    // `changes` may name ended events
  bool due = false;                                      // promote() is called before claim()
  bool alone = false;  // changes queues, or rows that it cannot name: no other transaction may run

  friend bool operator==(const TransactionPlan&, const TransactionPlan&) = default;
};

// The stored workers, and the events in work.
struct Working {
  std::vector<WorkerRow> workers;
  std::vector<Stored> processing;  // EventFields::state
};

// A claim stops at this many bytes of payload, because 1000 large events would not fit in memory.
inline constexpr std::size_t kClaimBytes = limits::kBatchBody;

// Reader::unattended() stops after this many tags and events of one queue: some 10 ms of a read thread.
inline constexpr std::size_t kUnattendedScan = 4 * limits::kUnattended;

class Transaction {
 public:
  virtual ~Transaction() = default;

  // The store's time when the transaction began; constant during the transaction.
  [[nodiscard]] virtual TimePoint now() const = 0;

  // REQUIRES: only changed_queues() was called before. Call it again when changed_queues() shows that the
  // plan was wrong: the transaction then restarts, with the same now().
  virtual Result<void> plan([[maybe_unused]] const TransactionPlan& plan) { return {}; }

  // For a shared store: the queues that other servers changed since the last transaction of this Store, and
  // the committed record of one queue. Neither has the changes of this transaction.
  virtual Result<ChangedQueues> changed_queues() { return ChangedQueues(); }
  virtual Result<std::optional<QueueRecord>> current([[maybe_unused]] std::string_view queue) {
    return std::optional<QueueRecord>();
  }

  // Adds new events and assigns ascending ids.
  virtual Result<void> insert(std::span<Stored> events) = 0;

  // The id of the event with this global id.
  virtual Result<std::optional<EventId>> find(std::string_view event_id) = 0;

  virtual Result<std::optional<KeyRecord>> find_key(std::string_view key) = 0;
  virtual Result<void> put_key(const KeyRecord& record) = 0;  // replaces an equal key
  // Deletes up to `limit` keys, oldest first, and returns how many were deleted.
  virtual Result<std::size_t> purge_keys(TimePoint created_before, std::size_t limit) = 0;

  // The events with these ids, live or ended, in the order of `ids`. EventFields::state has the fields that
  // rules read: without title, description, payload and the publisher's other fields. Neither has the result,
  // which only a Reader returns. A shared store locks
  // events loaded with `state`: no other transaction changes or claims them before this one ends. It does
  // not lock events loaded with `all`.
  enum class EventFields : std::uint8_t { state, all };
  virtual Result<std::vector<std::optional<Stored>>> load(std::span<const EventId> ids,
                                                          EventFields fields) = 0;

  // An event's log, oldest entry first.
  virtual Result<std::vector<LogEntry>> log(EventId id) = 0;

  // Writes the changed state of loaded events. An ended event moves to the archive, and a revived one back.
  // Refreshes `guard`, `archived` and `ready`. The result of a saved event is replaced: an event that is
  // live, or has an empty `result`, has none.
  // Errors: internal when a row no longer matches its guard; the caller must then drop the transaction.
  virtual Result<void> save(std::span<Stored> events) = 0;

  // Deletes ended events, their results and their logs.
  virtual Result<void> remove(std::span<const Stored> events) = 0;

  // Appends entries and assigns ascending ids.
  virtual Result<void> append(std::span<LogEntry> entries) = 0;

  // Puts up to `limit` events that came due into the ready index, and returns them with EventFields::state.
  virtual Result<std::vector<Stored>> promote(std::size_t limit) = 0;

  // Up to `limit` whole events from the ready index that match, highest priority first, then lowest turn.
  // An event's turn is its id. When it becomes the head of its line, it gets a turn after all ready events.
  // Locks the events for this transaction and changes nothing. Stops after the event that brings the
  // payloads to kClaimBytes.
  virtual Result<std::vector<Stored>> claim(const Selector& selector, std::size_t limit) = 0;

  // When the next event outside the ready index comes due.
  virtual Result<std::optional<TimePoint>> next_due() = 0;

  // As next_due(), but may skip the query and return an earlier time than next_due() would.
  // REQUIRES: only events that this transaction changed can come due before `known`.
  virtual Result<std::optional<TimePoint>> next_due_by(
      [[maybe_unused]] const std::optional<TimePoint>& known) {
    return next_due();
  }

  // The head of a line, live or failed, and the first event behind it.
  virtual Result<std::optional<Stored>> head_of_line(std::string_view queue, std::string_view key) = 0;
  virtual Result<std::optional<Stored>> first_behind(std::string_view queue, std::string_view key) = 0;

  // Pending events of a queue with this supersede_key, ascending.
  virtual Result<std::vector<EventId>> with_supersede_key(std::string_view queue, std::string_view key) = 0;

  // Whole ended events that match, ordered by the time of their end. Stops at `limit` events, or at
  // kClaimBytes as claim() does. Reads at most limits::kReplay events.
  virtual Result<Ended> ended(const EndedFilter& filter) = 0;

  // Failed events of a queue that block their line, with EventFields::state.
  virtual Result<std::vector<Stored>> holding_line(std::string_view queue, std::size_t limit) = 0;

  virtual Result<std::optional<CorrelationRow>> find_correlation(std::string_view id) = 0;
  // The ended events of a correlation, ordered by id. Leaves out all that follow `events` of them, or `bytes`
  // of results.
  struct EndsLimit {
    std::size_t events = 0;
    std::size_t bytes = 0;
  };
  virtual Result<std::vector<CorrelatedEnd>> correlated_ends(std::string_view id, EndsLimit limit) = 0;
  // Replaces the row with the same id; deletes it when `kept` is 0.
  virtual Result<void> put_correlation(const CorrelationRow& row) = 0;

  // Stores the settings of queues that have none of their own, for readers of the database. `main` is for the
  // queue "main". Limits that are not set do not exist.
  virtual Result<void> put_defaults(const QueueConfig& main, const QueueConfig& others) = 0;
  virtual Result<void> put_queue(const QueueRow& row) = 0;  // replaces the row with the same id
  virtual Result<void> add_queue(const QueueRow& row) = 0;  // no effect on an existing row
  // Adds to the totals of a queue. The global id of `last_completed` becomes its checkpoint_id. now() becomes
  // its changed_at, unless that is later.
  virtual Result<void> add_totals(std::string_view queue, const Totals& change,
                                  std::optional<EventId> last_completed) = 0;
  virtual Result<void> add_failed_in_hour(std::int64_t hour, std::int64_t events) = 0;
  // Deletes the oldest checkpoints of the queue that the server made by time, beyond 100 of them.
  virtual Result<void> put_checkpoint(const Checkpoint& checkpoint) = 0;
  virtual Result<std::optional<Checkpoint>> find_checkpoint(std::string_view id) = 0;
  // How many checkpoints of a queue callers made. The caller keeps it at limits::kCheckpoints or below.
  virtual Result<std::int64_t> count_requested(std::string_view queue) = 0;
  virtual Result<void> delete_checkpoint(std::string_view id) = 0;
  // Deletes everything stored about a queue, except its log. REQUIRES: it has no event, live or ended, and
  // add_totals() is not called for it before it is added again.
  virtual Result<void> remove_queue(std::string_view queue) = 0;
  // Replaces an entry with the same id. Deletes old entries of the queue beyond limits::kQueueLog.
  virtual Result<void> append_queue_log(const QueueLogEntry& entry) = 0;
  virtual Result<void> put_recovery(const Recovery& recovery) = 0;  // one per queue
  // Adds to the `completed` and `failed` of the worker's row, and raises its last_seen.
  virtual Result<void> add_worker(const WorkerRow& change) = 0;
  // Raises the `asked_at` of the worker and the selector.
  virtual Result<void> put_ask(const WorkerAsk& ask) = 0;
  // What the worker asked for until now() is no longer recalled.
  virtual Result<void> sign_off(std::string_view worker_id) = 0;
  // Deletes what is stored about workers whose last call was before that time.
  virtual Result<void> drop_workers(TimePoint before) = 0;
  virtual Result<void> put_archive_file(const ArchiveFile& file) = 0;

  // The creation time of the oldest pending event.
  virtual Result<std::optional<TimePoint>> oldest_pending(std::string_view queue) = 0;

  // What the core must know before its first command. Counts live events and corrects counters that
  // differ; appends the ids of the queues with corrected counters to the argument.
  virtual Result<Recalled> recall(std::vector<std::string>& repaired) = 0;

  // Rewrites an existing value, so that the commit has to reach the disk: tests whether the disk works.
  virtual Result<void> probe() = 0;

  // `later` does not sync: the next commit with `now` makes this one durable, too.
  // Errors: no_space and unavailable when nothing was written; unknown_outcome when the store cannot know
  // whether the transaction is durable.
  enum class DiskSync : std::uint8_t { now, later };
  virtual Result<void> commit(DiskSync sync = DiskSync::now) = 0;
};

// Each call sees the transactions committed when it began.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual Result<std::optional<Event>> get(EventId id) = 0;
  virtual Result<std::vector<LogEntry>> log(EventId id) = 0;
  virtual Result<std::optional<Details>> details(EventId id) = 0;  // event and log of one snapshot
  virtual Result<EventPage> list(const ListFilter& filter) = 0;

  // A queue with its first `events` live events, fewer when their payloads reach kClaimBytes. queues() has
  // all queues, ordered by name, without events. Their logs have no error_detail, which can be large.
  virtual Result<std::optional<QueueDocument>> queue(const std::string& id, std::size_t events) = 0;
  virtual Result<std::vector<QueueDocument>> queues() = 0;
  virtual Result<std::vector<Checkpoint>> checkpoints(const std::string& queue,
                                                      std::size_t limit) = 0;  // newest first
  virtual Result<std::optional<Recovery>> recovery(const std::string& queue) = 0;
  // With the first `limit` events whose id is higher than `after`, and with their results. After kClaimBytes
  // of results, the others are left out.
  virtual Result<std::optional<Correlation>> correlation(const std::string& id, EventId after,
                                                         std::size_t limit) = 0;
  virtual Result<std::vector<FailureGroup>> failures(const std::optional<std::string>& queue,
                                                     std::size_t limit) = 0;  // largest group first

  // Ids of events of one status that ended before `before`, ordered by the time of their end. Leaves out
  // failed events that block a line.
  virtual Result<std::vector<EventId>> expired(const std::string& queue, Status status, TimePoint before,
                                               std::size_t limit) = 0;
  virtual Result<std::vector<ArchiveFile>> archive_files() = 0;

  // The events with these global ids, in their order.
  virtual Result<std::vector<std::optional<EventId>>> find(std::span<const std::string> event_ids) = 0;
  // Entries without error_detail. Reads for at most limits::kScan, and then returns the page as far as it
  // came.
  virtual Result<WorkerLogPage> worker_log(const WorkerLogFilter& filter) = 0;
  virtual Result<std::vector<QueueLogEntry>> queue_log(const QueueLogFilter& filter) = 0;

  virtual Result<Working> working() = 0;
  // How many events of a queue a worker holds. An expired lease counts until promote() reads it.
  virtual Result<std::int64_t> holding(const std::string& worker_id, const std::string& queue) = 0;
  // For each of the queues, how many events of the ready index have none of the tags. Counts at most
  // limits::kUnattended of a queue, and reads at most kUnattendedScan entries of the index for it. Each tag
  // is read in the order of claims: an event that no worker asks for stays, while those before it leave.
  // REQUIRES: the tags of each queue are sorted.
  virtual Result<std::vector<std::int64_t>> unattended(std::span<const AskedTags> queues) = 0;
};

class Store {
 public:
  virtual ~Store() = default;

  // Whether other servers may change the same database.
  [[nodiscard]] virtual bool shared() const { return false; }

  // Starts a transaction. REQUIRES: no other one of this Store is open. `now` replaces the store's clock.
  virtual Result<std::unique_ptr<Transaction>> begin(std::optional<TimePoint> now = std::nullopt) = 0;
  // begin() and plan() in one call, which may save a round trip.
  virtual Result<std::unique_ptr<Transaction>> begin_planned(std::optional<TimePoint> now,
                                                             const TransactionPlan& plan) {
    auto transaction = begin(now);
    if (!transaction) return transaction;
    if (auto done = (*transaction)->plan(plan); !done) return done.error();
    return transaction;
  }

  virtual Result<std::unique_ptr<Reader>> reader() = 0;

  // The current sizes. Within a transaction, an error also fails the transaction.
  virtual Result<StoreSizes> sizes() = 0;

  // Whether later commits may skip the disk sync. Unless allowed, DiskSync::later acts as DiskSync::now.
  virtual Result<void> allow_later([[maybe_unused]] bool allowed) { return {}; }

  // Housekeeping, such as checkpoints. May be slow, so call it after the answers were sent.
  virtual Result<void> tidy() = 0;
};

}  // namespace eventq
