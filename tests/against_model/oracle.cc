// oracle.cc: see oracle.h.
#include "against_model/oracle.h"

#include <algorithm>

#include "model/log_walk.h"
#include "model/names.h"
#include "support/describe.h"

namespace eventq {
namespace {

bool is_live(const Event& event) {
  return event.status == Status::pending || event.status == Status::processing;
}

std::vector<LogStep> steps_of(const std::vector<LogEntry>& log) {
  std::vector<LogStep> steps;
  for (const LogEntry& entry : log) {
    steps.push_back({std::string(name_of(entry.action)), entry.attempt, entry.worker_id,
                     entry.next_retry_at.has_value(), !entry.errors.empty()});
  }
  return steps;
}

// Compares the fields that never change after publication.
bool same_body(const Event& a, const Event& b) {
  return a.event_id == b.event_id && a.queue == b.queue && a.title == b.title &&
         a.description == b.description && a.tags == b.tags && a.payload == b.payload &&
         a.correlation_id == b.correlation_id && a.priority == b.priority && a.max_retries == b.max_retries &&
         a.created_at == b.created_at && a.ordering_key == b.ordering_key &&
         a.supersede_key == b.supersede_key && a.causation_id == b.causation_id && a.trace_id == b.trace_id &&
         a.pattern == b.pattern && a.version == b.version && a.source == b.source &&
         a.sequence == b.sequence && a.timestamp == b.timestamp && a.retry == b.retry &&
         a.max_attempts == b.max_attempts;
}

// The event as it was before its first claim. The oracle sees that claim with the answer to its worker.
Details before_pick(const Details& details) {
  Details before{details.event, {}};
  before.event.status = Status::pending;
  before.event.attempts = 0;
  before.event.unreported = 0;
  before.event.worker_id.clear();
  before.event.due_at = before.event.created_at;
  before.event.updated_at = before.event.created_at;
  return before;
}

// The event as the publisher's answer shows it. due_at is compared only while the log is empty, because later
// changes overwrite it.
std::string describe_answered(Event event, bool untouched) {
  if (!untouched) event.due_at = event.created_at;
  return describe(event) + " ordering_key=" + event.ordering_key + " supersede_key=" + event.supersede_key;
}

}  // namespace

void Oracle::observe(const Operation& operation, const Answer& answer, const Ids& fresh, bool others_wait,
                     TimePoint now) {
  ++operation_;
  std::set<EventId> answered;
  if (operation.command.publication) observe_key(*operation.command.publication, *answer.published, now);
  if (answer.published && *answer.published) {
    for (const Event& event : (*answer.published)->events) answered.insert(event.id);
    const std::map<std::string, std::int64_t> before = depths_;
    observe_publication(operation, **answer.published, now);
    for (const auto& [queue, depth] : depths_) {
      check_growth(queue, before.contains(queue) ? before.at(queue) : 0);
    }
  }
  if (const auto* revived = std::get_if<Result<Revived>>(&answer.admin); revived && *revived) {
    answered.insert((*revived)->events.begin(), (*revived)->events.end());
  }
  record_permanent(operation);
  observe_changes(operation, answer, now);
  observe_admin(operation, answer, now);
  observe_fresh(fresh, answered, now);
  if (operation.command.claim) observe_claims(operation, answer, others_wait, now);
  for (const Change& change : operation.command.changes) {
    if (records_.contains(change.lease.id)) reread(change.lease.id, now);
  }
  check_read(operation, answer);
  if (operation.command.list && answer.page) observe_page(*operation.command.list, **answer.page);
  if (operation.command.get && *answer.details) reread(*operation.command.get, now);
  check_on_complete();
}

void Oracle::observe_claims(const Operation& operation, const Answer& answer, bool others_wait,
                            TimePoint now) {
  Ids claimed;
  for (const Claim& claim : answer.claims) claimed.push_back(claim.event.id);
  std::set<EventId> wanted = claimable(*operation.command.claim, now);
  if (others_wait) exclude_taken_by_waiters(wanted, claimed);
  const std::size_t limit =
      std::min(operation.command.claim->limit, settings(operation.command.claim->selector.queue).batch_size);
  const bool all_wanted =
      std::all_of(claimed.begin(), claimed.end(), [&](EventId id) { return wanted.contains(id); });
  if (!all_wanted || claimed.size() != std::min(limit, wanted.size())) {
    std::string text;
    for (const EventId id : wanted) text += " " + std::to_string(static_cast<std::int64_t>(id));
    fault(claimed.empty() ? EventId{} : claimed.front(),
          "the claim should have returned " + std::to_string(limit) + " of" + text);
  }
  check_order(claimed, wanted);
  for (const EventId id : claimed) reread(id, now);
}

void Oracle::observe_parked(const Operation& operation, const Ids& fresh, bool others_wait, TimePoint now) {
  ++operation_;
  record_permanent(operation);
  for (const Change& change : operation.command.changes) {
    const auto found = records_.find(change.lease.id);
    if (found == records_.end()) continue;
    // The answer comes later, so the last reading tells whether the worker held the event.
    const Event& event = found->second.seen.event;
    const bool held = event.status == Status::processing && event.worker_id == change.lease.worker_id &&
                      change.lease.attempt.value_or(event.attempts) == event.attempts;
    if (held) record_returned(change, event.attempts);
    reread(change.lease.id, now);
  }
  observe_fresh(fresh, {}, now);
  std::set<EventId> ready = claimable(*operation.command.claim, now);
  if (others_wait) exclude_taken_by_waiters(ready, {});
  if (!ready.empty()) fault(*ready.begin(), "is ready, but a claim that matches it waits");
  check_on_complete();
}

void Oracle::observe_waiter(const Operation& operation, const Answer& answer, TimePoint now) {
  const ClaimRequest& request = *operation.command.claim;
  const Settings& queue = settings(request.selector.queue);
  if (answer.claims.size() > std::min(request.limit, queue.batch_size)) {
    fault(EventId{}, "a claim returned more events than its limit");
  }
  if (!answer.claims.empty() && queue.status == QueueStatus::paused) {
    fault(answer.claims.front().event.id, "was claimed although its queue is paused");
  }
  for (const Claim& claim : answer.claims) {
    const Event& event = claim.event;
    if (event.queue != request.selector.queue || !shares_tag(event.tags, request.selector.tags)) {
      fault(event.id, "was claimed by a request that does not match it");
    }
    reread(event.id, now);
  }
}

void Oracle::observe_time(const Ids& fresh, TimePoint now) {
  ++operation_;
  for (const EventId id : events()) {
    const EventRecord& record = records_.at(id);
    const Event& event = record.seen.event;
    const bool over = event.status == Status::processing && due_at(record) <= now;
    if (!over || event.unreported < event.max_attempts.value_or(policy_.max_attempts)) continue;
    reread(id, now);
    if (records_.at(id).seen.event.status != Status::failed)
      fault(id, "has no attempts left and has not failed");
  }
  observe_fresh(fresh, {}, now);
  check_on_complete();
}

Oracle::Ids Oracle::events() const {
  Ids ids;
  for (const auto& [id, record] : records_) ids.push_back(id);
  return ids;
}

// A repeated key gets the answer to its first request for exactly 24 hours.
void Oracle::observe_key(const Publication& publication, const Result<Published>& published, TimePoint now) {
  const auto used = publication.key ? keys_.find(publication.key->key) : keys_.end();
  const bool repeated = used != keys_.end() && now < used->second.since + std::chrono::hours(24);
  const bool same = repeated && used->second.fingerprint == publication.key->fingerprint;
  const std::string name = publication.key ? "the key " + publication.key->key + " " : "a publication ";
  if (!repeated) {
    const std::set<ErrorCode> reasons = reasons_to_refuse(publication);
    if (!published) {
      if (!reasons.contains(published.error().code)) {
        fault(EventId{}, name + "was refused without reason: " + published.error().message);
      }
      return;
    }
    if (!reasons.empty())
      fault(EventId{}, name + "should have been refused with " + describe(*reasons.begin()));
  } else if (!published) {
    if (same) fault(EventId{}, name + "was refused without reason");
    return;
  }
  if (repeated && !same) fault(EventId{}, name + "was accepted for another request");
  if (published->replayed != repeated) {
    fault(EventId{}, name + (repeated ? "was not replayed" : "was replayed after it expired"));
  }
  if (!repeated && publication.key) {
    keys_.insert_or_assign(publication.key->key, Used{publication.key->fingerprint, now, published->events});
  }
  if (!repeated) return;
  for (std::size_t i = 0; i < published->events.size(); ++i) {
    // An event published before the key was used is answered in its current state, so it is not compared.
    const Event& event = published->events[i];
    if (event.created_at != used->second.since) continue;
    const bool untouched = records_.contains(event.id) && records_.at(event.id).seen.log.empty();
    const std::string first = describe_answered(used->second.answered.at(i), untouched);
    if (describe_answered(event, untouched) != first) {
      fault(event.id, "is replayed as " + describe(event) + ", but was first answered as " + first);
    }
  }
}

void Oracle::observe_publication(const Operation& operation, const Published& published, TimePoint now) {
  const Publication& publication = *operation.command.publication;
  const std::vector<NewEvent>& sent = publication.events;
  if (published.events.size() != sent.size())
    fault(EventId{}, "the answer to a publication lacks some of its events");
  bool any_new = false;
  for (std::size_t i = 0; i < published.events.size(); ++i) {
    const EventId id = published.events[i].id;
    const bool existed = records_.contains(id);
    const std::string& own = sent[i].event_id;
    if (!own.empty() && !by_event_id_.emplace(own, id).second && by_event_id_.at(own) != id) {
      fault(id, "is a second event with the event_id " + own);
    }
    if (existed && !published.replayed && own.empty()) fault(id, "is the answer to two publications");
    if (existed) {
      reread(id, now);
      continue;
    }
    any_new = true;
    const Event& answered = published.events[i];
    reread_superseded(answered, now);
    reread(id, now);
    const TimePoint due = std::max(now + sent[i].delay, sent[i].run_at.value_or(now));
    if (answered.due_at != due) fault(id, "has another due time than requested: " + describe(answered));
    records_.at(id).due = due;
    const Event& event = records_.at(id).seen.event;
    const bool ordered = publication.ordered && sent[i].ordering_key.empty();
    if (event.payload != sent[i].payload || event.title != sent[i].title || event.tags != sent[i].tags ||
        event.supersede_key != sent[i].supersede_key ||
        event.ordering_key != (ordered ? published.correlation_id : sent[i].ordering_key)) {
      fault(id, "differs from what was published");
    }
    if (publication.correlated && event.sequence != static_cast<int>(i))
      fault(id, "has another sequence number than its index in the batch");
  }
  if (publication.on_complete && any_new) {
    on_complete_.emplace(published.correlation_id, *publication.on_complete);
  }
}

// Events that this operation changed are read before its claim is checked; the others after it.
void Oracle::observe_changes(const Operation& operation, const Answer& answer, TimePoint now) {
  const std::vector<Change>& changes = operation.command.changes;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const EventId id = changes[i].lease.id;
    const auto found = records_.find(id);
    if (found == records_.end()) {
      if (answer.changed.at(i)) fault(id, "was changed and has never been published");
      continue;
    }
    if (!answer.changed.at(i)) continue;
    const Changed& changed = *answer.changed[i];
    EventRecord& record = found->second;
    check_fence(record, changes[i], changed);
    const std::string queue = record.seen.event.queue;
    if (std::holds_alternative<Heartbeat>(changes[i].what)) {
      record.lease_until = now + settings(queue).lease;
    }
    if (!is_new_report(id, changed)) continue;
    record_returned(changes[i], changed.entry.attempt);
    const bool revives = std::holds_alternative<Reset>(changes[i].what) && !is_live(record.seen.event);
    const std::int64_t before = depth(queue);
    reread(id, now);
    if (revives) check_growth(queue, before);
  }
}

// False when the report repeats an earlier one.
bool Oracle::is_new_report(EventId id, const Changed& changed) const {
  const std::vector<LogEntry>& log = records_.at(id).seen.log;
  return std::none_of(log.begin(), log.end(),
                      [&](const LogEntry& entry) { return entry.log_id == changed.entry.log_id; });
}

// An accepted report must be about the attempt it names and come from the worker that held it.
void Oracle::check_fence(const EventRecord& record, const Change& change, const Changed& changed) {
  const Event& event = record.seen.event;
  if (std::holds_alternative<Heartbeat>(change.what)) {
    const bool held = event.status == Status::processing && event.worker_id == change.lease.worker_id;
    if (!held || change.lease.attempt.value_or(event.attempts) != event.attempts) {
      fault(event.id, "accepted a heartbeat from a worker that does not hold its lease");
    }
    return;
  }
  if (changed.entry.worker_id != change.lease.worker_id)
    fault(event.id, "recorded a report under another worker_id");
  if (change.lease.attempt.value_or(changed.entry.attempt) != changed.entry.attempt) {
    fault(event.id, "recorded a report for another attempt: " + describe(changed.entry));
  }
}

// Compares the total with the number of events in the records. A list by worker has every event that the
// worker ever picked, and counts only those behind `after`.
void Oracle::observe_page(const ListFilter& filter, const EventPage& page) {
  const auto picked = [&](const Details& seen) {
    return seen.event.id > filter.after && (!filter.before || seen.event.id < *filter.before) &&
           std::any_of(seen.log.begin(), seen.log.end(), [&](const LogEntry& entry) {
             return entry.action == Action::picked && entry.worker_id == *filter.worker_id;
           });
  };
  const auto matches = [&](const auto& item) {
    const Event& event = item.second.seen.event;
    return (!filter.status || event.status == *filter.status) &&
           (!filter.queue || event.queue == *filter.queue) &&
           (!filter.worker_id || picked(item.second.seen)) &&
           (!filter.correlation_id || event.correlation_id == *filter.correlation_id) &&
           shares_tag(event.tags, filter.tags);
  };
  const auto total = std::count_if(records_.begin(), records_.end(), matches);
  if (page.total != total) {
    fault(EventId{},
          "a list has total " + std::to_string(page.total) + " instead of " + std::to_string(total));
  }
}

// When the event may be claimed, by its log and by its heartbeats, which leave no entry.
TimePoint Oracle::due_at(const EventRecord& record) const {
  const std::vector<LogEntry>& log = record.seen.log;
  if (record.seen.event.status == Status::processing) return record.lease_until;
  if (log.empty()) return record.due;
  if (log.back().action == Action::released) return record.seen.event.due_at;  // the log has no delay
  return log.back().next_retry_at.value_or(log.back().created_at);
}

void Oracle::record_permanent(const Operation& operation) {
  for (const Change& change : operation.command.changes) {
    const auto* fail = std::get_if<Fail>(&change.what);
    if (fail && fail->failure.permanent) permanent_.insert(change.lease.id);
  }
}

void Oracle::reread(EventId id, TimePoint now) {
  Details after = read_event_(id);
  if (after.event.id != id) return fault(id, "is missing");
  check_walk(after);
  const auto found = records_.find(id);
  if (found == records_.end()) return record_first_reading(id, std::move(after), now);
  EventRecord& record = found->second;
  compare(record.seen, after);
  const Status before = record.seen.event.status;
  const bool was_ended = has_ended(before);
  bool in_work = before == Status::processing;
  for (std::size_t i = record.seen.log.size(); i < after.log.size(); ++i) {
    const LogEntry& entry = after.log[i];
    if (entry.action == Action::picked) {
      check_pick(record, entry, after);
      check_line(after.event, in_work);
    }
    if (entry.action == Action::reset) in_work = false;
    const bool leases = entry.action == Action::picked || entry.action == Action::started;
    if (leases) record.lease_until = now + settings(after.event.queue).lease;
    if (entry.created_at != now) fault(id, "has a log entry with another time than now: " + describe(entry));
  }
  const bool fails = after.event.status == Status::failed && before != Status::failed;
  const bool blocks = settings(after.event.queue).on_failure == OnFailure::block;
  if (fails) record.blocks_line = blocks && !after.event.ordering_key.empty();
  if (after.event.status != Status::failed) record.blocks_line = false;
  record.seen = std::move(after);
  count_status(record.seen.event, before);
  update_line(id, was_ended);
}

void Oracle::record_first_reading(EventId id, Details details, TimePoint now) {
  if (!records_.empty() && id <= records_.rbegin()->first) fault(id, "has an id below an earlier one");
  if (details.event.created_at != now)
    fault(id, "was created before this operation, and no answer contained it");
  if (!details.log.empty() && details.log.front().action == Action::picked) details = before_pick(details);
  EventRecord record{.seen = std::move(details), .due = now, .since = operation_, .published = operation_};
  record.lease_until = now + settings(record.seen.event.queue).lease;
  const Event& event = records_.emplace(id, std::move(record)).first->second.seen.event;
  if (event.status == Status::pending) records_.at(id).due = event.due_at;
  count_status(event, std::nullopt);
  update_line(id, false);
}

// Compares two readings of one event.
void Oracle::compare(const Details& before, const Details& after) {
  const EventId id = before.event.id;
  check_returned(after);
  if (!same_body(before.event, after.event)) fault(id, "has a changed body: " + describe(after.event));
  if (after.event.attempts < before.event.attempts) fault(id, "has fewer attempts than before");
  if (after.event.updated_at < before.event.updated_at) fault(id, "has an updated_at earlier than before");
  const bool prefix =
      before.log.size() <= after.log.size() &&
      std::equal(before.log.begin(), before.log.end(), after.log.begin(),
                 [](const LogEntry& a, const LogEntry& b) { return describe(a) == describe(b); });
  if (!prefix) {
    fault(id, "has a log whose earlier entries changed");
    return;
  }
  const bool has_more = after.log.size() > before.log.size();
  const bool was_reset = has_more && after.log[before.log.size()].action == Action::reset;
  const bool was_cancelled = has_more && after.log[before.log.size()].action == Action::cancelled &&
                             before.event.status == Status::failed;
  if (!is_live(before.event) && !was_reset && !was_cancelled &&
      describe(before.event) != describe(after.event)) {
    fault(id, "changed after it had ended: " + describe(before.event) + " to " + describe(after.event));
  }
}

// What the worker returned with a report that was accepted.
void Oracle::record_returned(const Change& change, int attempt) {
  if (const auto* complete = std::get_if<Complete>(&change.what)) {
    results_[change.lease.id] = complete->outcome.result;
  }
  if (const auto* fail = std::get_if<Fail>(&change.what)) {
    details_[{change.lease.id, attempt}] = fail->failure.detail;
  }
}

// An event has the result of the completion that was accepted, and a failure the detail of its report.
void Oracle::check_returned(const Details& details) {
  const auto result = results_.find(details.event.id);
  if (details.event.result != (result == results_.end() ? "" : result->second)) {
    fault(details.event.id, "has another result than was reported: " + details.event.result);
  }
  for (const LogEntry& entry : details.log) {
    const bool reported = entry.action == Action::failed && !entry.worker_id.empty();
    const auto detail = reported ? details_.find({entry.id, entry.attempt}) : details_.end();
    if (entry.error_detail != (detail == details_.end() ? "" : detail->second)) {
      fault(details.event.id, "has another error_detail than was reported: " + entry.error_detail);
    }
  }
}

// A walk over the log alone must end in the event's current state.
void Oracle::check_walk(const Details& details) {
  const Event& event = details.event;
  const WalkRules rules{event.max_retries, event.max_attempts.value_or(policy_.max_attempts),
                        permanent_.contains(event.id)};
  const Walk walk = walk_log(steps_of(details.log), rules);
  if (walk.fault) return fault(event.id, *walk.fault);
  const WalkEnd actual{std::string(name_of(event.status)), event.attempts, event.retry_count,
                       event.unreported, event.worker_id};
  if (actual != walk.end)
    fault(event.id, "is " + describe(actual) + ", but its log gives " + describe(walk.end));
}

// An event must not be claimed while its lease or its retry delay lasts.
void Oracle::check_pick(const EventRecord& record, const LogEntry& picked, const Details& after) {
  const bool next = picked.attempt == record.seen.event.attempts + 1;
  const bool freed = std::any_of(after.log.begin() + static_cast<std::ptrdiff_t>(record.seen.log.size()),
                                 after.log.end(), [](const LogEntry& entry) {
                                   return entry.action == Action::reset || entry.action == Action::released;
                                 });
  if (next && !freed && picked.created_at < due_at(record)) {
    fault(after.event.id, "was claimed before it was due: " + describe(picked));
  }
}

void Oracle::fault(EventId id, const std::string& what) {
  faults_.push_back("event " + std::to_string(static_cast<std::int64_t>(id)) + " " + what);
}

}  // namespace eventq
