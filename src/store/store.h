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

// What an event's row must still say when a change to it is saved.
struct Guard {
  Status status{};
  int attempts = 0;
  std::string worker_id;
  friend bool operator==(const Guard&, const Guard&) = default;
};

// Where an event stands among those with its ordering_key.
enum class Line : std::uint8_t {
  none,    // it has no key, or has left the line
  head,    // it may run; or it has failed and holds up those behind it
  behind,  // it waits for the head to leave
};

// An event as the store keeps it.
struct Stored {
  Event event;
  Guard guard;                    // as loaded
  bool archived = false;          // loaded from the archive of ended events
  bool ready = false;             // loaded from, or put into, the ready index
  Line line = Line::none;         // set by the caller, kept by insert() and save()
  Line line_before = Line::none;  // as loaded
  std::int64_t turn = 0;          // its place in the ready index among equal priorities
  std::string cause;              // of a failed event: what it is grouped by; see cause_of()
};

// Events with one correlation_id, counted.
struct CorrelationRow {
  std::string id;
  std::int64_t total = 0;    // published
  std::int64_t pending = 0;  // live
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t kept = 0;    // not removed yet; the row goes with the last of them
  std::string on_complete;  // JSON of the event to publish when none is live; empty: none
  std::string queue;        // where to
};

// Ended events, and where to go on when the look at them was cut short.
struct Ended {
  std::vector<Stored> events;
  std::optional<EndedCursor> next;
};

// A file of removed events, and how much of it counts.
struct ArchiveFile {
  std::string name;
  std::int64_t bytes = 0;
};

// What the queue keeps in memory of one queue.
struct QueueRecord {
  QueueRow row;
  Counts counts{};
  Totals totals;
  std::string checkpoint_id;
};

// All of it, read once when the store is opened.
struct Recalled {
  std::vector<QueueRecord> queues;
  std::vector<WorkerRow> workers;
  std::vector<Stored> processing;                       // heads
  std::vector<Checkpoint> checkpoints;                  // the last of each queue
  std::map<std::int64_t, std::int64_t> failed_by_hour;  // hours since 1970
};

// What an idempotency key stands for.
struct KeyRecord {
  std::string key;
  std::string fingerprint;  // of the request that used it first
  std::vector<EventId> events;
  TimePoint created_at;
};

// What a transaction will read and change, as far as its caller knows beforehand. A shared store fetches and
// locks all of it in one round trip, in an order that can not deadlock. It fetches and locks the rest on
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
  bool ended = false;                                    // some of the changes are of events that have ended
  bool due = false;                                      // what came due is seen to before claims are
  bool alone = false;  // it changes queues, or more than it can name: no other transaction runs beside it

  friend bool operator==(const TransactionPlan&, const TransactionPlan&) = default;
};

// The stored workers, and the events in work.
struct Working {
  std::vector<WorkerRow> workers;
  std::vector<Stored> processing;  // heads
};

// Payloads of one claim, so that a thousand large events do not fill the memory.
inline constexpr std::size_t kClaimBytes = limits::kBatchBody;

class Transaction {
 public:
  virtual ~Transaction() = default;

  // The store's time when the transaction began; the same throughout.
  [[nodiscard]] virtual TimePoint now() const = 0;

  // REQUIRES: only changed_queues() was called before. Call it again when changed_queues() shows that the
  // plan was wrong: the transaction then starts anew, with the same now().
  virtual Result<void> plan([[maybe_unused]] const TransactionPlan& plan) { return {}; }

  // Of a shared store: the queues that are new or were configured by others since the last transaction of
  // this Store, and one queue as others left it; both without what this transaction changed.
  virtual Result<std::vector<QueueRecord>> changed_queues() { return std::vector<QueueRecord>(); }
  virtual Result<std::optional<QueueRecord>> current([[maybe_unused]] std::string_view queue) {
    return std::optional<QueueRecord>();
  }

  // Adds new events and gives them their ids, ascending.
  virtual Result<void> insert(std::span<Stored> events) = 0;

  // The id of the event that carries this global id.
  virtual Result<std::optional<EventId>> find(std::string_view event_id) = 0;

  virtual Result<std::optional<KeyRecord>> find_key(std::string_view key) = 0;
  virtual Result<void> put_key(const KeyRecord& record) = 0;  // replaces one of the same key
  // Drops up to `limit` keys, the oldest first, and returns how many.
  virtual Result<std::size_t> purge_keys(TimePoint created_before, std::size_t limit) = 0;

  // The events of these ids, live or ended, in the order asked. The head is what rules look at: without
  // title, description, payload and what else its publisher says of it. Of a shared store, heads are for a
  // change: nobody else changes or claims them until the end; whole events may be.
  enum class EventFields : std::uint8_t { state, all };
  virtual Result<std::vector<std::optional<Stored>>> load(std::span<const EventId> ids,
                                                          EventFields fields) = 0;

  // An event's log, oldest entry first.
  virtual Result<std::vector<LogEntry>> log(EventId id) = 0;

  // Writes the changed state of loaded events; an ended one moves to the archive, a
  // live one back from it. Refreshes `guard`, `archived` and `ready`.
  // Errors: internal when a row no longer says what its guard does; drop the transaction then.
  virtual Result<void> save(std::span<Stored> events) = 0;

  // Deletes ended events and their log.
  virtual Result<void> remove(std::span<const Stored> events) = 0;

  // Appends entries and gives them their ids, ascending.
  virtual Result<void> append(std::span<LogEntry> entries) = 0;

  // Puts up to `limit` events that came due into the ready index, and returns their heads.
  virtual Result<std::vector<Stored>> promote(std::size_t limit) = 0;

  // Up to `limit` whole events from the ready index that match, highest priority
  // first, then lowest turn. An event's turn is its id, until it comes to the head of its line:
  // then it is behind everything that is ready. Locks them for this transaction; changes nothing. Stops
  // behind the event that brings their payloads to kClaimBytes.
  virtual Result<std::vector<Stored>> claim(const Selector& selector, std::size_t limit) = 0;

  // When the next event outside the ready index comes due.
  virtual Result<std::optional<TimePoint>> next_due() = 0;

  // The same for a caller who knows of nothing else that comes due before `known` than what this transaction
  // changed: may save a look, and then tells a time that is not later.
  virtual Result<std::optional<TimePoint>> next_due_by(
      [[maybe_unused]] const std::optional<TimePoint>& known) {
    return next_due();
  }

  // The head of a line, live or failed, and the first of those behind it.
  virtual Result<std::optional<Stored>> head_of_line(std::string_view queue, std::string_view key) = 0;
  virtual Result<std::optional<Stored>> first_behind(std::string_view queue, std::string_view key) = 0;

  // Pending events of a queue with this supersede_key, ascending.
  virtual Result<std::vector<EventId>> with_supersede_key(std::string_view queue, std::string_view key) = 0;

  // Whole ended events that match, the first to end first; `limit` of them at most, and of their
  // payloads as in claim(). Looks at no more than limits::kReplay events.
  virtual Result<Ended> ended(const EndedFilter& filter) = 0;

  // Heads of failed events of a queue that hold up their line.
  virtual Result<std::vector<Stored>> holding_line(std::string_view queue, std::size_t limit) = 0;

  virtual Result<std::optional<CorrelationRow>> find_correlation(std::string_view id) = 0;
  // Replaces one of the same id; one with nothing kept is deleted.
  virtual Result<void> put_correlation(const CorrelationRow& row) = 0;

  virtual Result<void> put_queue(const QueueRow& row) = 0;  // replaces one of the same id
  virtual Result<void> add_queue(const QueueRow& row) = 0;  // unless there is one of the same id
  // Adds to what is kept of a queue. `last_completed` becomes its checkpoint_id.
  virtual Result<void> add_totals(std::string_view queue, const Totals& change,
                                  std::optional<EventId> last_completed) = 0;
  virtual Result<void> add_failed_in_hour(std::int64_t hour, std::int64_t events) = 0;
  virtual Result<void> put_checkpoint(const Checkpoint& checkpoint) = 0;  // the oldest of many make way
  virtual Result<std::optional<Checkpoint>> find_checkpoint(std::string_view id) = 0;
  virtual Result<void> put_recovery(const Recovery& recovery) = 0;  // replaces that of the queue
  // Adds to what one of the same id has completed and failed, and brings its last_seen forward.
  virtual Result<void> add_worker(const WorkerRow& change) = 0;
  virtual Result<void> put_archive_file(const ArchiveFile& file) = 0;

  // The oldest pending event's creation.
  virtual Result<std::optional<TimePoint>> oldest_pending(std::string_view queue) = 0;

  // What the queue must know before its first command. Counts live events and mends the counters
  // that say otherwise; the queues whose counters were mended are named in `mended`.
  virtual Result<Recalled> recall(std::vector<std::string>& mended) = 0;

  // Writes what is there already, so that the commit must reach the disk.
  virtual Result<void> probe() = 0;

  // `later` leaves the disk out: a commit with `now`, whichever comes first, takes this one along.
  // Errors: no_space and unavailable when nothing was written; unknown_outcome when
  // the store cannot say.
  enum class DiskSync : std::uint8_t { now, later };
  virtual Result<void> commit(DiskSync sync = DiskSync::now) = 0;
};

// Sees what was committed when each call began.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual Result<std::optional<Event>> get(EventId id) = 0;
  virtual Result<std::vector<LogEntry>> log(EventId id) = 0;
  virtual Result<std::optional<Details>> details(EventId id) = 0;  // event and log of the same moment
  virtual Result<EventPage> list(const ListFilter& filter) = 0;

  // A queue with its first `events` live events, of their payloads as in claim(); all queues without events,
  // by name.
  virtual Result<std::optional<QueueDocument>> queue(const std::string& id, std::size_t events) = 0;
  virtual Result<std::vector<QueueDocument>> queues() = 0;
  virtual Result<std::vector<Checkpoint>> checkpoints(const std::string& queue,
                                                      std::size_t limit) = 0;  // newest first
  virtual Result<std::optional<Recovery>> recovery(const std::string& queue) = 0;
  // With the first `limit` events behind `after`.
  virtual Result<std::optional<Correlation>> correlation(const std::string& id, EventId after,
                                                         std::size_t limit) = 0;
  virtual Result<std::vector<FailureGroup>> failures(const std::optional<std::string>& queue,
                                                     std::size_t limit) = 0;  // the most events first

  // Ids of ended events of one status that ended before `before`, the first to end first; not
  // those that hold up a line.
  virtual Result<std::vector<EventId>> expired(const std::string& queue, Status status, TimePoint before,
                                               std::size_t limit) = 0;
  virtual Result<std::vector<ArchiveFile>> archive_files() = 0;

  virtual Result<Working> working() = 0;
  // How many events of a queue a worker holds, whose lease has not been seen to end.
  virtual Result<std::int64_t> holding(const std::string& worker_id, const std::string& queue) = 0;
};

class Store {
 public:
  virtual ~Store() = default;

  // Whether others change the same database.
  [[nodiscard]] virtual bool shared() const { return false; }

  // Starts the one transaction there may be. `now` replaces the store's clock.
  virtual Result<std::unique_ptr<Transaction>> begin(std::optional<TimePoint> now = std::nullopt) = 0;
  // And plans it, which may save a round trip.
  virtual Result<std::unique_ptr<Transaction>> begin_planned(std::optional<TimePoint> now,
                                                             const TransactionPlan& plan) {
    auto transaction = begin(now);
    if (!transaction) return transaction;
    if (auto done = (*transaction)->plan(plan); !done) return done.error();
    return transaction;
  }

  virtual Result<std::unique_ptr<Reader>> reader() = 0;

  // Of this moment; also within a transaction, which fails with it.
  virtual Result<StoreSizes> sizes() = 0;

  // Whether commits of later transactions may leave the disk out. Without it, DiskSync::later is
  // DiskSync::now.
  virtual Result<void> allow_later([[maybe_unused]] bool allowed) { return {}; }

  // Housekeeping that may take a while and that no answer waits for.
  virtual Result<void> tidy() = 0;
};

}  // namespace eventq
