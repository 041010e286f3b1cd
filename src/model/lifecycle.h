// lifecycle.h: every change an event can undergo.
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
// Start to release are reports: only the worker that holds the event may make
// them, and when the report names an attempt it must be the current one. The same
// report made again (same worker, action and attempt) gets the first answer again
// and changes nothing. Anything else is refused with `lease_lost` or `conflict`.
//
// A lease that is over ends nothing by itself: until somebody else claims the
// event, or it is out of attempts, its worker may still report.
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
  Millis delay{0};  // pending again after that
};
struct Reset {
  std::string reason;
  bool spare_processing = false;  // what a worker holds stays with it
};
struct Cancel {
  std::string reason;
};
struct Supersede {
  std::optional<EventId> by;  // nothing: a person did it
  std::string reason;
};

// Something to be done to one event. `lease.worker_id` is empty for Reset, Cancel and Supersede.
struct Change {
  Lease lease;
  std::variant<Start, Heartbeat, Complete, Fail, Release, Reset, Cancel, Supersede> what;
};

// What decide() did to an event, and so what the caller must write.
enum class ChangeEffect : std::uint8_t {
  recorded,  // the event changed and `entry` is to be appended to the log
  touched,   // the event changed, nothing to append
  repeated,  // nothing changed; `entry` is the one written the first time
};

// The result of a change.
struct Decision {
  ChangeEffect effect{};
  LogEntry entry;
  Status status{};  // the event's, after this change
};

// A new event's first state.
Event admit(NewEvent&& event, std::string event_id, TimePoint now, const Policy& policy);

// May be claimed at `now`: it was told to wait for a time, and that has come, or it was not told
// to wait. (The clock may have been set back since it was written.)
bool is_due(const Event& event, TimePoint now);

// Leases a due event to `worker_id` and returns the entries to append.
// REQUIRES: the event is live, is_due(), and not out_of_attempts().
std::vector<LogEntry> claim(Event& event, std::string_view worker_id, TimePoint now, const Policy& policy);

// Claimed so often without a report that the next end of its lease is its own.
bool out_of_attempts(const Event& event, const Policy& policy);

// Fails an event that is out of attempts and returns the entries to append.
// REQUIRES: the event is processing, its lease is over, out_of_attempts().
std::vector<LogEntry> give_up(Event& event, TimePoint now);

// True when decide() must see the event's log: the change may be a repeat.
bool needs_log(const Event& event, const Change& change);

// Applies `change` to `event`, or leaves it as it is and says why not.
// `log` is the event's log, or empty when needs_log() is false.
// Errors: lease_lost, conflict.
Result<Decision> decide(Event& event, const Change& change, std::span<const LogEntry> log, TimePoint now,
                        const Policy& policy);

// What failed events are grouped by: the first line of what went wrong, with every number as "#".
std::string cause_of(const LogEntry& failure);

// When a failed event will be tried again; nothing for any other.
std::optional<TimePoint> next_retry_at(const Event& event);

}  // namespace eventq
