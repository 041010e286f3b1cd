// history.h: what clients asked of a queue and what they were told, and whether all of it can be true.
//
// A call is told ok, refused, or, when its connection broke, nothing: then it may have had its effect or not.
// Times are of one monotonic clock. Events are looked at alone, those with an ordering_key also beside each
// other; nothing is ever reset.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/steady.h"
#include "model/log_walk.h"

namespace eventq {

enum class Heard : std::uint8_t { ok, refused, unknown };

// One call that published one event, or a batch of them. The title names the event: a call made
// again after it was told nothing has the titles of the first.
struct PublishCall {
  struct Sent {
    std::string title;
    std::string payload;
  };
  std::vector<Sent> sent;
  std::optional<Sent> on_complete;  // to follow when all of these have ended
  Heard told = Heard::unknown;
  std::vector<std::int64_t> ids;  // of what was sent, when told ok
};

// An event that a worker was given.
struct DeliveredEvent {
  std::int64_t id = 0;
  int attempt = 0;
  std::string worker_id;
  std::string title;
  std::string payload;
  SteadyTime invoked;
  SteadyTime returned;
  std::string queue = {};
};

struct ReportCall {
  enum class Kind : std::uint8_t { start, heartbeat, complete, fail };
  Kind kind{};
  std::int64_t id = 0;
  int attempt = 0;
  std::string worker_id;
  Heard told = Heard::unknown;
  bool ended = false;  // told that the event has ended with it
  SteadyTime invoked;
  SteadyTime returned;
};

// An event as it is when all is over.
struct FinalEvent {
  std::int64_t id = 0;
  std::string title;
  std::string payload;
  std::string status;
  int attempts = 0;
  int retry_count = 0;
  std::string worker_id;
  std::vector<LogStep> log;
  std::string queue;
  std::string ordering_key;   // empty: none
  std::string supersede_key;  // empty: none
  std::int64_t superseded_by = 0;
};

struct History {
  std::vector<PublishCall> publishes;
  std::vector<DeliveredEvent> deliveries;
  std::vector<ReportCall> reports;
  std::vector<FinalEvent> finals;  // all there are

  // Adds what another client saw.
  void append(History&& other);
};

// What the queue promised.
struct Terms {
  std::chrono::milliseconds lease{};
  int max_retries = 0;
  int max_attempts = 0;
  // A queue that counts in whole milliseconds may end a lease that much early.
  std::chrono::milliseconds slack{2};
};

enum class Flaw : std::uint8_t {
  lost,                 // acknowledged, and not there
  doubled,              // there twice, or done twice
  resurrected,          // given to a worker after it had ended
  overlapping_leases,   // two attempts that were both sure of the event
  payload_changed,      // not the bytes that were sent
  attempt_gap,          // attempts that are not 1, 2, 3, ...
  attempt_back,         // an attempt given after a later one
  too_many_deliveries,  // more claims in a row, or more failures, than allowed
  id_reused,            // two events with one id
  torn_batch,           // a part of a batch
  unasked,              // there, or in a log, and nobody asked for it
  unrecorded,           // acknowledged, and not in the log
  impossible_log,       // a log that no life can leave, or that leads elsewhere
  unfinished,           // not in an end state
  out_of_order,         // given to a worker before an older one with its ordering_key had ended
  wrongly_superseded,   // by an older event, or one with another key
};

struct Finding {
  Flaw flaw{};
  std::int64_t event = 0;  // 0: of no single one
  std::string text;
};

std::vector<Finding> check(const History& history, const Terms& terms);

std::string_view name_of(Flaw flaw);
std::string describe(const std::vector<Finding>& findings);

}  // namespace eventq
