// lifecycle.h: every change an event can undergo.
//
// The main header of model/, which holds the rules of events and queues as pure functions. They say what a
// change does to an event, which requests are valid and which settings are in force. model/ does not read a
// clock, a store or a socket: the caller passes the time and the stored values. A change passes through it as
// validate() of validate.h, then decide() below; the caller then stores the event and the returned entry.
//
//   from         when                              to                     due_at            entry
//   (new)        publish                           pending                run_at, or now    -
//   pending      claim, due                        processing             now + lease       PICKED
//   processing   claim, lease over                 processing             now + lease       ABANDONED, PICKED
//   processing   lease over, out of attempts       failed                 -                 ABANDONED, FAILED
//   processing   start                             processing             now + lease       STARTED
//   processing   heartbeat                         processing             now + lease       -
//   processing   complete                          completed              -                 COMPLETED
//   processing   complete, with errors             completed_with_errors  -                 COMPLETED
//   processing   fail, retries left                pending                now + retry delay FAILED
//   processing   fail, none left or permanent      failed                 -                 FAILED
//   processing   release                           pending                now + delay       RELEASED
//   pending, processing, failed, cancelled: reset  pending                now               RESET
//   pending, processing, failed: cancel            cancelled              -                 CANCELLED
//   pending      supersede                         superseded             -                 SUPERSEDED
//
// The rows from start to release are reports. Only the worker that holds the event may report, and an attempt
// named in the report must be the current one. The same report again (same worker, action and attempt)
// returns the first answer and changes nothing. Anything else is refused with `lease_lost` or `conflict`.
//
// An expired lease does not change the event. Its worker may still report until another worker claims the
// event or the event runs out of attempts.
//
// Pure: no I/O, no clock, no randomness.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "eventq/error.h"
#include "eventq/event.h"
#include "eventq/options.h"
#include "eventq/queue.h"
#include "model/policy.h"

namespace eventq {

struct Start {};
struct Heartbeat {};
struct Complete {
  Outcome outcome;
};
struct Fail {
  Failure failure;
};
struct Release {
  std::string reason;
  Millis delay{0};  // the event is due after this time
};
struct Reset {
  std::string reason;
  bool spare_processing = false;  // true: refuse to reset an event that a worker holds
  std::string author = {};        // the person, as the caller stated
};
struct Cancel {
  std::string reason;
  std::string author = {};
};
struct Supersede {
  std::optional<EventId> by;  // absent: a person did it
  std::string reason;
  std::string author = {};
};

// A change to make to one event. `lease.worker_id` is empty for Reset, Cancel and Supersede.
struct Change {
  Lease lease;
  std::variant<Start, Heartbeat, Complete, Fail, Release, Reset, Cancel, Supersede> what;
};

// What decide() did to an event, and so what the caller must write.
enum class ChangeEffect : std::uint8_t {
  recorded,  // the event changed: store it and append `entry` to its log
  touched,   // the event changed: store it; there is no entry
  repeated,  // nothing changed; `entry` is the entry written the first time
};

// The result of a change.
struct Decision {
  ChangeEffect effect{};
  LogEntry entry;
  Status status{};  // of the event, after the change
};

// A new event in its first state. The store assigns the id.
Event admit(NewEvent&& event, std::string event_id, TimePoint now, const Policy& policy);

// Whether the event's due_at has passed. An event that was due when it was last written stays due, even
// when the clock was set back since.
bool is_due(const Event& event, TimePoint now);

// Leases a due event to `worker_id` and returns the entries to append.
// REQUIRES: the event is live, is_due(), and not out_of_attempts().
std::vector<LogEntry> claim(Event& event, std::string_view worker_id, TimePoint now, const Policy& policy);

// `unreported` has reached the event's max_attempts, or the queue's: the next lease expiry fails the event.
bool out_of_attempts(const Event& event, const Policy& policy);

// Fails an event that is out of attempts and returns the entries to append.
// REQUIRES: the event is processing, its lease has expired, out_of_attempts().
std::vector<LogEntry> give_up(Event& event, TimePoint now);

// Whether decide() needs the event's log, because the change may be a repetition.
bool needs_log(const Event& event, const Change& change);

// Applies `change` to `event`. On an error the event is unchanged.
// REQUIRES: `log` is the event's log; it may be empty when needs_log() is false.
// Errors: lease_lost, conflict.
Result<Decision> decide(Event& event, const Change& change, std::span<const LogEntry> log, TimePoint now,
                        const Policy& policy);

// When a failed event will be retried; nothing for any other event.
std::optional<TimePoint> next_retry_at(const Event& event);

// When the event ended; nothing while it is live.
std::optional<TimePoint> finished_at(const Event& event);
// The same for an event that a worker processed to its end; nothing if it was cancelled or superseded.
std::optional<TimePoint> processed_at(const Event& event);

// False: the event's log has no failure, so a list need not read it. True: it may have one.
bool may_have_failed(const Event& event);

}  // namespace eventq
