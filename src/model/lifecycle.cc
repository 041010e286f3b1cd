// lifecycle.cc: see lifecycle.h for the table this implements.
#include "model/lifecycle.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/overloaded.h"
#include "model/event_context.h"
#include "model/names.h"
#include "model/retry.h"

namespace eventq {
namespace {

LogEntry entry_for(const Event& event, Action action, TimePoint now) {
  return {
      .id = event.id,
      .attempt = event.attempts,
      .worker_id = event.worker_id,
      .action = action,
      .retry_count = event.retry_count,
      .created_at = now,
  };
}

// An ended event has no due time. The SQL stores keep none and read updated_at in its place, so due_at gets
// the same value here.
void end(Event& event, Status status, TimePoint now) {
  event.status = status;
  event.due_at = now;
  event.updated_at = now;
}

// Makes the event pending again. Its attempt number stays, because a report of an old attempt must be
// refused.
void requeue(Event& event, TimePoint due_at, TimePoint now) {
  event.status = Status::pending;
  event.worker_id.clear();
  event.due_at = due_at;
  event.updated_at = now;
}

bool holds(const Event& event, const Lease& lease) {
  return event.status == Status::processing && event.worker_id == lease.worker_id &&
         (!lease.attempt || *lease.attempt == event.attempts);
}

// The action that a change records in the log; nothing for a heartbeat, which records none.
std::optional<Action> action_of(const Change& change) {
  using Found = std::optional<Action>;
  return std::visit(Overloaded{
                        [](const Start&) -> Found { return Action::started; },
                        [](const Heartbeat&) -> Found { return std::nullopt; },
                        [](const Complete&) -> Found { return Action::completed; },
                        [](const Fail&) -> Found { return Action::failed; },
                        [](const Release&) -> Found { return Action::released; },
                        [](const Reset&) -> Found { return Action::reset; },
                        [](const Cancel&) -> Found { return Action::cancelled; },
                        [](const Supersede&) -> Found { return Action::superseded; },
                    },
                    change.what);
}

bool is_report(const Change& change) {
  return !std::holds_alternative<Reset>(change.what) && !std::holds_alternative<Cancel>(change.what) &&
         !std::holds_alternative<Supersede>(change.what);
}

// The entry that the same report wrote before; null when it wrote none.
const LogEntry* earlier_entry(const Change& change, std::span<const LogEntry> log) {
  const std::optional<Action> action = action_of(change);
  if (!action) return nullptr;
  const auto newest = [&](Action wanted, std::optional<int> attempt) -> const LogEntry* {
    const auto found = std::find_if(log.rbegin(), log.rend(), [&](const LogEntry& entry) {
      return entry.action == wanted && entry.worker_id == change.lease.worker_id &&
             (!attempt || entry.attempt == *attempt);
    });
    return found == log.rend() ? nullptr : &*found;
  };
  if (change.lease.attempt) return newest(*action, change.lease.attempt);
  // Without an attempt the report means the worker's last attempt, even when the worker has lost it since.
  const LogEntry* last = newest(Action::picked, std::nullopt);
  return last == nullptr ? nullptr : newest(*action, last->attempt);
}

std::string sentence_id(const Event& event) { return "Event " + id_text(event.id); }

Error lease_lost(const Event& event, const Lease& lease) {
  std::string message = sentence_id(event) + " is " + std::string(name_of(event.status));
  if (event.status == Status::processing) {
    message += ", held by " + event.worker_id + " as attempt " + std::to_string(event.attempts);
  }
  message += "; " + lease.worker_id;
  if (lease.attempt) message += " with attempt " + std::to_string(*lease.attempt);
  message += " does not hold it, and no such report is on record. Nothing was changed.";
  return {ErrorCode::lease_lost, std::move(message), ""};
}

Error wrong_status(const Event& event, std::string_view wanted) {
  return {ErrorCode::conflict,
          sentence_id(event) + " is " + std::string(name_of(event.status)) + "; " + std::string(wanted), ""};
}

Decision recorded(const Event& event, LogEntry entry) {
  return {ChangeEffect::recorded, std::move(entry), event.status};
}

Decision extend(Event& event, TimePoint now, const Policy& policy) {
  event.due_at = now + policy.lease;
  event.updated_at = now;
  return {ChangeEffect::touched, {}, event.status};
}

Decision start(Event& event, TimePoint now, const Policy& policy) {
  extend(event, now, policy);
  return recorded(event, entry_for(event, Action::started, now));
}

Decision complete(Event& event, const Outcome& outcome, TimePoint now) {
  LogEntry entry = entry_for(event, Action::completed, now);
  entry.status_code = outcome.status_code;
  entry.execution_time_ms = outcome.execution_time_ms;
  entry.errors = outcome.errors;
  event.result = outcome.result;
  event.unreported = 0;
  end(event, outcome.errors.empty() ? Status::completed : Status::completed_with_errors, now);
  return recorded(event, std::move(entry));
}

Decision fail(Event& event, const Failure& failure, TimePoint now, const Policy& policy) {
  event.retry_count += 1;
  event.unreported = 0;
  LogEntry entry = entry_for(event, Action::failed, now);
  entry.status_code = failure.status_code;
  entry.execution_time_ms = failure.execution_time_ms;
  if (!failure.message.empty()) entry.error_message = failure.message;
  entry.error_detail = failure.detail;

  if (failure.permanent || event.retry_count >= event.max_retries) {
    end(event, Status::failed, now);
    return recorded(event, std::move(entry));
  }
  entry.next_retry_at =
      now + retry_delay(event.retry.value_or(policy.retry), event.retry_count, id_number(event.id));
  requeue(event, *entry.next_retry_at, now);
  return recorded(event, std::move(entry));
}

// The claim led to no work, so it does not count towards max_attempts.
Decision release(Event& event, const Release& release, TimePoint now) {
  LogEntry entry = entry_for(event, Action::released, now);
  entry.reason = release.reason;
  event.unreported -= 1;
  requeue(event, now + release.delay, now);
  return recorded(event, std::move(entry));
}

Result<Decision> reset(Event& event, const Reset& reset, TimePoint now) {
  if (event.status != Status::pending && event.status != Status::processing &&
      event.status != Status::failed && event.status != Status::cancelled) {
    return wrong_status(event,
                        "only PENDING, PROCESSING, FAILED and CANCELLED events can be reset. "
                        "Publish it again to have the work done once more.");
  }
  if (reset.spare_processing && event.status == Status::processing) {
    return wrong_status(event, "a worker holds it, and spare_processing is set.");
  }
  // `attempts` goes on, so that a late report of an earlier attempt is still refused.
  event.retry_count = 0;
  event.unreported = 0;
  LogEntry entry = entry_for(event, Action::reset, now);
  entry.worker_id.clear();
  entry.reason = reset.reason;
  entry.by = reset.author;
  requeue(event, now, now);
  return recorded(event, std::move(entry));
}

Result<Decision> cancel(Event& event, const Cancel& cancel, std::span<const LogEntry> log, TimePoint now) {
  if (event.status == Status::cancelled) {
    const auto found = std::find_if(log.rbegin(), log.rend(),
                                    [](const LogEntry& entry) { return entry.action == Action::cancelled; });
    if (found != log.rend()) return Decision{ChangeEffect::repeated, *found, event.status};
  }
  if (has_ended(event.status) && event.status != Status::failed) {
    return wrong_status(event, "only PENDING, PROCESSING and FAILED events can be cancelled.");
  }
  LogEntry entry = entry_for(event, Action::cancelled, now);
  entry.worker_id.clear();
  entry.reason = cancel.reason;
  entry.by = cancel.author;
  end(event, Status::cancelled, now);
  return recorded(event, std::move(entry));
}

Result<Decision> supersede(Event& event, const Supersede& supersede, TimePoint now) {
  if (event.status != Status::pending) {
    return wrong_status(event, "only PENDING events can be superseded.");
  }
  LogEntry entry = entry_for(event, Action::superseded, now);
  entry.reason = supersede.by ? "By event " + id_text(*supersede.by) + "." : supersede.reason;
  entry.by = supersede.author;
  event.superseded_by = supersede.by;
  end(event, Status::superseded, now);
  return recorded(event, std::move(entry));
}

Result<Decision> report(Event& event, const Change& change, std::span<const LogEntry> log, TimePoint now,
                        const Policy& policy) {
  // A repeated report is recognized first, because its worker no longer holds the event.
  if (const LogEntry* earlier = earlier_entry(change, log)) {
    return Decision{ChangeEffect::repeated, *earlier, event.status};
  }
  if (!holds(event, change.lease)) return lease_lost(event, change.lease);

  return std::visit(Overloaded{
                        [&](const Start&) { return start(event, now, policy); },
                        [&](const Heartbeat&) { return extend(event, now, policy); },
                        [&](const Complete& it) { return complete(event, it.outcome, now); },
                        [&](const Fail& it) { return fail(event, it.failure, now, policy); },
                        [&](const Release& it) { return release(event, it, now); },
                        [](const auto&) -> Decision { EVENTQ_ASSERT(false); },  // decide() handles the others
                    },
                    change.what);
}

}  // namespace

Event admit(NewEvent&& event, std::string event_id, TimePoint now, const Policy& policy) {
  pack_context(event);
  const TimePoint due_at = std::max(now + event.delay, event.run_at.value_or(now));
  return {
      .event_id = std::move(event_id),
      .queue = std::move(event.queue),
      .title = std::move(event.title),
      .description = std::move(event.description),
      .tags = std::move(event.tags),
      .payload = std::move(event.payload),
      .correlation_id = std::move(event.correlation_id),
      .causation_id = std::move(event.causation_id),
      .trace_id = std::move(event.trace_id),
      .pattern = std::move(event.pattern),
      .version = std::move(event.version),
      .source = std::move(event.source),
      .ordering_key = std::move(event.ordering_key),
      .supersede_key = std::move(event.supersede_key),
      .attributes = std::move(event.attributes),
      .priority = event.priority,
      .max_retries = event.max_retries.value_or(policy.max_retries),
      .retry = event.retry,
      .max_attempts = event.max_attempts,
      .timestamp = event.timestamp.value_or(now),
      .created_at = now,
      .due_at = due_at,
      .updated_at = now,
  };
}

bool is_due(const Event& event, TimePoint now) {
  return event.due_at <= now || event.due_at <= event.updated_at;
}

std::vector<LogEntry> claim(Event& event, std::string_view worker_id, TimePoint now, const Policy& policy) {
  EVENTQ_ASSERT(!has_ended(event.status));
  EVENTQ_ASSERT(is_due(event, now));
  EVENTQ_ASSERT(!out_of_attempts(event, policy));

  std::vector<LogEntry> entries;
  // The entry names the worker that lost the event, so it is made before the event changes.
  if (event.status == Status::processing) entries.push_back(entry_for(event, Action::abandoned, now));
  event.status = Status::processing;
  event.attempts += 1;
  event.unreported += 1;
  event.worker_id = worker_id;
  event.due_at = now + policy.lease;
  event.picked_at = now;
  event.updated_at = now;
  entries.push_back(entry_for(event, Action::picked, now));
  return entries;
}

bool out_of_attempts(const Event& event, const Policy& policy) {
  return event.status == Status::processing &&
         event.unreported >= event.max_attempts.value_or(policy.max_attempts);
}

std::vector<LogEntry> give_up(Event& event, TimePoint now) {
  EVENTQ_ASSERT(event.status == Status::processing);
  EVENTQ_ASSERT(is_due(event, now));

  std::vector<LogEntry> entries = {entry_for(event, Action::abandoned, now),
                                   entry_for(event, Action::failed, now)};
  entries.back().worker_id.clear();
  entries.back().reason = "Claimed " + std::to_string(event.unreported) + " times in a row without a report.";
  end(event, Status::failed, now);
  return entries;
}

bool needs_log(const Event& event, const Change& change) {
  if (std::holds_alternative<Cancel>(change.what)) return event.status == Status::cancelled;
  if (!is_report(change) || !action_of(change)) return false;
  // After any other report the worker no longer holds the event, so only a start can be repeated by its
  // holder.
  return !holds(event, change.lease) || std::holds_alternative<Start>(change.what);
}

Result<Decision> decide(Event& event, const Change& change, std::span<const LogEntry> log, TimePoint now,
                        const Policy& policy) {
  if (const auto* it = std::get_if<Reset>(&change.what)) return reset(event, *it, now);
  if (const auto* it = std::get_if<Cancel>(&change.what)) return cancel(event, *it, log, now);
  if (const auto* it = std::get_if<Supersede>(&change.what)) return supersede(event, *it, now);
  return report(event, change, log, now, policy);
}

std::optional<TimePoint> next_retry_at(const Event& event) {
  if (event.status != Status::pending || event.retry_count == 0) return std::nullopt;
  return event.due_at;
}

std::optional<TimePoint> finished_at(const Event& event) {
  // The end of an event is its last change, see end().
  return has_ended(event.status) ? std::optional(event.updated_at) : std::nullopt;
}

std::optional<TimePoint> processed_at(const Event& event) {
  const bool dropped = event.status == Status::cancelled || event.status == Status::superseded;
  return dropped ? std::nullopt : finished_at(event);
}

bool may_have_failed(const Event& event) {
  // Every failure follows a claim, and no rule lowers `attempts`.
  if (event.attempts == 0) return false;
  const bool first_went_well = event.status == Status::processing || event.status == Status::completed ||
                               event.status == Status::completed_with_errors;
  return event.attempts > 1 || !first_went_well;
}

}  // namespace eventq
