// store.h: durable state, in batches. Holds no rule: the queue decides, the store keeps.
//
// A Transaction is a handful of primitives. What it wrote is on disk when commit()
// returned without an error, and gone when it is destroyed without a commit.
//
// Ready: a live event stands in the ready index once its due_at has come: pending
// and free to run, or processing and past its lease. Claims look only there, so that
// their cost does not grow with what waits for a time or carries other tags.
// insert() and save() keep the index in line with due_at; promote() moves what has
// come due since.
//
// Threads: one thread at a time per Store; each Reader belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/error.h"
#include "eventq/event.h"
#include "eventq/limits.h"
#include "model/query.h"

namespace eventq {

// What an event's row must still say when a change to it is saved.
struct Guard {
  Status status{};
  int attempts = 0;
  std::string worker_id;
  friend bool operator==(const Guard&, const Guard&) = default;
};

// An event as the store keeps it.
struct Stored {
  Event event;
  Guard guard;            // as loaded
  bool archived = false;  // loaded from the archive of ended events
  bool ready = false;     // loaded from, or put into, the ready index
};

// What an idempotency key stands for.
struct KeyRecord {
  std::string key;
  std::string fingerprint;  // of the request that used it first
  std::vector<EventId> events;
  TimePoint created_at;
};

// Payloads of one claim, so that a thousand large events do not fill the memory.
inline constexpr std::size_t kClaimBytes = limits::kBatchBody;

class Transaction {
 public:
  virtual ~Transaction() = default;

  // The store's time when the transaction began; the same throughout.
  [[nodiscard]] virtual TimePoint now() const = 0;

  // Adds new events and gives them their ids, ascending.
  virtual Result<void> insert(std::span<Stored> events) = 0;

  // The id of the event that carries this global id.
  virtual Result<std::optional<EventId>> find(std::string_view event_id) = 0;

  virtual Result<std::optional<KeyRecord>> find_key(std::string_view key) = 0;
  virtual Result<void> put_key(const KeyRecord& record) = 0;  // replaces one of the same key
  // Drops up to `limit` keys, the oldest first, and returns how many.
  virtual Result<std::size_t> purge_keys(TimePoint created_before, std::size_t limit) = 0;

  // The events of these ids for a change, live or ended, in the order asked. The head is what
  // rules look at; title, description, payload, event_id and correlation_id are left empty.
  enum class Part : std::uint8_t { head, whole };
  virtual Result<std::vector<std::optional<Stored>>> load(std::span<const EventId> ids, Part part) = 0;

  // An event's log, oldest entry first.
  virtual Result<std::vector<LogEntry>> log(EventId id) = 0;

  // Writes the changed state of loaded events; an ended one moves to the archive, a
  // live one back from it. Refreshes `guard`, `archived` and `ready`.
  // Errors: internal when a row no longer says what its guard does; drop the transaction then.
  virtual Result<void> save(std::span<Stored> events) = 0;

  // Appends entries and gives them their ids, ascending.
  virtual Result<void> append(std::span<LogEntry> entries) = 0;

  // Puts up to `limit` events that came due into the ready index, and returns their heads.
  virtual Result<std::vector<Stored>> promote(std::size_t limit) = 0;

  // Up to `limit` whole events from the ready index that match, highest priority
  // first, then lowest id. Locks them for this transaction; changes nothing. Stops behind the
  // event that brings their payloads to kClaimBytes.
  virtual Result<std::vector<Stored>> claim(const Selector& selector, std::size_t limit) = 0;

  // When the next event outside the ready index comes due.
  virtual Result<std::optional<TimePoint>> next_due() = 0;

  // Writes what is there already, so that the commit must reach the disk.
  virtual Result<void> probe() = 0;

  // Errors: no_space and unavailable when nothing was written; unknown_outcome when
  // the store cannot say.
  virtual Result<void> commit() = 0;
};

// Sees what was committed when each call began.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual Result<std::optional<Event>> get(EventId id) = 0;
  virtual Result<std::vector<LogEntry>> log(EventId id) = 0;
  virtual Result<Page> list(const ListFilter& filter) = 0;
};

class Store {
 public:
  virtual ~Store() = default;

  // Starts the one transaction there may be. `now` replaces the store's clock.
  virtual Result<std::unique_ptr<Transaction>> begin(std::optional<TimePoint> now = std::nullopt) = 0;

  virtual Result<std::unique_ptr<Reader>> reader() = 0;

  // Housekeeping that may take a while and that no answer waits for.
  virtual Result<void> tidy() = 0;
};

}  // namespace eventq
