// command.h: what callers ask of the engine, and what they get.
//
// One command is one caller's turn: it may publish, report, and take new work, and all
// of it is in one commit. Single calls are commands with one part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eventq/error.h"
#include "eventq/event.h"
#include "model/lifecycle.h"
#include "model/query.h"
#include "model/why.h"

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
};

struct ClaimRequest {
  Selector selector;
  std::string worker_id;
  std::size_t limit = 1;
  Millis wait{0};  // how long to wait for the first event
};

// Everything in it has been validated.
struct Command {
  std::optional<Publication> publication;
  std::vector<Change> changes;
  std::optional<ClaimRequest> claim;
  std::optional<EventId> why;
  bool probe = false;            // find out whether the store can write
  std::optional<TimePoint> now;  // replaces the clock for this command

  // Reads of what is committed; a command has these or the parts above.
  struct Get {
    EventId id{};
    bool with_log = false;
  };
  std::optional<Get> get;
  std::optional<ListFilter> list;
};

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

struct Details {
  Event event;
  std::vector<LogEntry> log;
};

struct Explanation {
  EventId id{};
  Status status{};
  Why why;
};

// The parts a command asked for, or the one error that befell all of it.
struct Answer {
  std::optional<Error> error;
  std::optional<Result<Published>> published;
  std::vector<Result<Changed>> changed;  // one per change, in order
  std::vector<Claim> claims;             // may be empty
  std::optional<Result<Explanation>> explanation;
  std::optional<Result<Details>> details;
  std::optional<Result<Page>> page;
};

// Receives answers. Called on the engine's threads, after its stop on that of submit(); must
// not block or throw.
struct Delivery {
  std::uint64_t token = 0;
  Answer answer;
};
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void deliver(std::vector<Delivery> deliveries) = 0;
};

// Whose command it is: the sink to answer to, and a token of the sink's choice.
struct Origin {
  Sink* sink = nullptr;
  std::uint64_t token = 0;
  friend auto operator<=>(const Origin&, const Origin&) = default;  // NOLINT: clang-tidy 14 sees a 0
};

}  // namespace eventq
