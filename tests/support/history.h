// history.h: the calls that clients made to a queue, their outcomes, and a check that all of them are
// consistent.
//
// The outcome of a call is ok, refused, or unknown when its connection broke; an unknown call may have had
// its effect. All times are of one monotonic clock. Events are checked one by one, and those with an
// ordering_key also against each other. No event is ever reset.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/steady.h"
#include "model/log_walk.h"

namespace eventq {

enum class CallOutcome : std::uint8_t { ok, refused, unknown };

// A call that published one event or a batch. The title names the event: a call that repeats one with an
// unknown outcome has the same titles.
struct PublishCall {
  struct Sent {
    std::string title;
    std::string payload;
  };
  std::vector<Sent> sent;
  std::optional<Sent> on_complete;  // published when all of these have ended
  CallOutcome outcome = CallOutcome::unknown;
  std::vector<std::int64_t> ids;  // of the events sent, when ok
};

// An event that a worker claimed.
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
  CallOutcome outcome = CallOutcome::unknown;
  bool ended = false;  // the answer said that the event has ended
  SteadyTime invoked;
  SteadyTime returned;
};

// An event at the end of the test.
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
  std::vector<FinalEvent> finals;  // all events

  // Appends the calls of another client.
  void append(History&& other);
};

// The queue's settings that the check relies on.
struct CheckSettings {
  std::chrono::milliseconds lease{};
  int max_retries = 0;
  int max_attempts = 0;
  // The queue counts in whole milliseconds, so it may end a lease this much early.
  std::chrono::milliseconds slack{2};
};

enum class Flaw : std::uint8_t {
  lost,                 // acknowledged, and missing
  doubled,              // exists twice, or was done twice
  resurrected,          // given to a worker after it had ended
  overlapping_leases,   // two attempts held the event at the same time
  payload_changed,      // differs from the bytes that were sent
  attempt_gap,          // attempts that are not 1, 2, 3, ...
  attempt_back,         // an attempt delivered after a later one
  too_many_deliveries,  // more claims in a row, or more failures, than allowed
  id_reused,            // two events with one id
  torn_batch,           // a part of a batch
  unrequested,          // exists, or is in a log, without a request
  unrecorded,           // acknowledged, and not in the log
  impossible_log,       // no sequence of transitions gives this log or this final state
  unfinished,           // not in an end state
  out_of_order,         // delivered before an older event with its ordering_key had ended
  wrongly_superseded,   // by an older event, or one with another key
};

struct Finding {
  Flaw flaw{};
  std::int64_t event = 0;  // 0: not about a single event
  std::string text;
};

std::vector<Finding> check(const History& history, const CheckSettings& settings);

std::string_view name_of(Flaw flaw);
std::string describe(const std::vector<Finding>& findings);

}  // namespace eventq
