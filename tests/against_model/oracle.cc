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
         a.sequence == b.sequence && a.timestamp == b.timestamp && a.retry == b.retry;
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
  std::set<EventId> told;
  if (operation.command.publication) observe_key(*operation.command.publication, *answer.published, now);
  if (answer.published && *answer.published) {
    for (const Event& event : (*answer.published)->events) told.insert(event.id);
    const std::map<std::string, std::int64_t> before = depths_;
    observe_publication(operation, **answer.published, now);
    for (const auto& [queue, depth] : depths_) {
      check_growth(queue, before.contains(queue) ? before.at(queue) : 0);
    }
  }
  if (const auto* revived = std::get_if<Result<Revived>>(&answer.admin); revived && *revived) {
    told.insert((*revived)->events.begin(), (*revived)->events.end());
  }
  note_permanent(operation);
  observe_changes(operation, answer, now);
  observe_admin(operation, answer, now);
  observe_fresh(fresh, told, now);
  if (operation.command.claim) observe_claims(operation, answer, others_wait, now);
  for (const Change& change : operation.command.changes) {
    if (book_.contains(change.lease.id)) look_again(change.lease.id, now);
  }
  check_read(operation, answer);
  if (operation.command.list && answer.page) observe_page(*operation.command.list, **answer.page);
  if (operation.command.get && *answer.details) look_again(*operation.command.get, now);
  check_promises();
}

void Oracle::observe_claims(const Operation& operation, const Answer& answer, bool others_wait,
                            TimePoint now) {
  Ids given;
  for (const Claim& claim : answer.claims) given.push_back(claim.event.id);
  std::set<EventId> wanted = claimable(*operation.command.claim, now);
  if (others_wait) leave_to_waiters(wanted, given);
  const std::size_t limit =
      std::min(operation.command.claim->limit, settings(operation.command.claim->selector.queue).batch_size);
  const bool all_wanted =
      std::all_of(given.begin(), given.end(), [&](EventId id) { return wanted.contains(id); });
  if (!all_wanted || given.size() != std::min(limit, wanted.size())) {
    std::string text;
    for (const EventId id : wanted) text += " " + std::to_string(static_cast<std::int64_t>(id));
    fault(given.empty() ? EventId{} : given.front(),
          "the claim should have given " + std::to_string(limit) + " of" + text);
  }
  check_order(given, wanted);
  for (const EventId id : given) look_again(id, now);
}

void Oracle::observe_parked(const Operation& operation, const Ids& fresh, bool others_wait, TimePoint now) {
  ++operation_;
  note_permanent(operation);
  for (const Change& change : operation.command.changes) {
    if (book_.contains(change.lease.id)) look_again(change.lease.id, now);
  }
  observe_fresh(fresh, {}, now);
  std::set<EventId> ready = claimable(*operation.command.claim, now);
  if (others_wait) leave_to_waiters(ready, {});
  if (!ready.empty()) fault(*ready.begin(), "is ready, and a worker that wants it was made to wait");
  check_promises();
}

void Oracle::observe_waiter(const Operation& operation, const Answer& answer, TimePoint now) {
  const ClaimRequest& request = *operation.command.claim;
  const Settings& queue = settings(request.selector.queue);
  if (answer.claims.size() > std::min(request.limit, queue.batch_size)) {
    fault(EventId{}, "a claim gave more than its limit");
  }
  if (!answer.claims.empty() && queue.status == QueueStatus::paused) {
    fault(answer.claims.front().event.id, "was given although its queue is paused");
  }
  for (const Claim& claim : answer.claims) {
    const Event& event = claim.event;
    if (event.queue != request.selector.queue || !shares_tag(event.tags, request.selector.tags)) {
      fault(event.id, "was given to a worker that did not ask for it");
    }
    look_again(event.id, now);
  }
}

void Oracle::observe_time(const Ids& fresh, TimePoint now) {
  ++operation_;
  for (const EventId id : events()) {
    const Known& known = book_.at(id);
    const Event& event = known.seen.event;
    const bool over = event.status == Status::processing && due_at(known) <= now;
    if (!over || event.unreported < policy_.max_attempts) continue;
    look_again(id, now);
    if (book_.at(id).seen.event.status != Status::failed) fault(id, "is out of attempts and has not failed");
  }
  observe_fresh(fresh, {}, now);
  check_promises();
}

Oracle::Ids Oracle::events() const {
  Ids ids;
  for (const auto& [id, known] : book_) ids.push_back(id);
  return ids;
}

// A key stands for its first request for exactly 24 hours.
void Oracle::observe_key(const Publication& publication, const Result<Published>& published, TimePoint now) {
  const auto used = publication.key ? keys_.find(publication.key->key) : keys_.end();
  const bool known = used != keys_.end() && now < used->second.since + std::chrono::hours(24);
  const bool same = known && used->second.fingerprint == publication.key->fingerprint;
  const std::string name = publication.key ? "the key " + publication.key->key + " " : "a publication ";
  if (!known) {
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
  if (known && !same) fault(EventId{}, name + "was taken for another request");
  if (published->replayed != known) fault(EventId{}, name + (known ? "was forgotten" : "was not forgotten"));
  if (!known && publication.key) {
    keys_.insert_or_assign(publication.key->key, Used{publication.key->fingerprint, now, published->events});
  }
  if (!known) return;
  for (std::size_t i = 0; i < published->events.size(); ++i) {
    // An event published before the key was used is answered in its current state, so it is not compared.
    const Event& event = published->events[i];
    if (event.created_at != used->second.since) continue;
    const bool untouched = book_.contains(event.id) && book_.at(event.id).seen.log.empty();
    const std::string first = describe_answered(used->second.answered.at(i), untouched);
    if (describe_answered(event, untouched) != first) {
      fault(event.id, "is answered again as " + describe(event) + ", and was answered first as " + first);
    }
  }
}

void Oracle::observe_publication(const Operation& operation, const Published& published, TimePoint now) {
  const Publication& publication = *operation.command.publication;
  const std::vector<NewEvent>& sent = publication.events;
  if (published.events.size() != sent.size()) fault(EventId{}, "a publication lost some of its events");
  bool any_new = false;
  for (std::size_t i = 0; i < published.events.size(); ++i) {
    const EventId id = published.events[i].id;
    const bool known = book_.contains(id);
    const std::string& own = sent[i].event_id;
    if (!own.empty() && !by_event_id_.emplace(own, id).second && by_event_id_.at(own) != id) {
      fault(id, "is a second event with the event_id " + own);
    }
    if (known && !published.replayed && own.empty()) fault(id, "was given to two publications");
    if (known) {
      look_again(id, now);
      continue;
    }
    any_new = true;
    const Event& answered = published.events[i];
    look_at_superseded(answered, now);
    look_again(id, now);
    const TimePoint due = std::max(now + sent[i].delay, sent[i].run_at.value_or(now));
    if (answered.due_at != due) fault(id, "may run at another time than was asked: " + describe(answered));
    book_.at(id).due = due;
    const Event& event = book_.at(id).seen.event;
    const bool ordered = publication.ordered && sent[i].ordering_key.empty();
    if (event.payload != sent[i].payload || event.title != sent[i].title || event.tags != sent[i].tags ||
        event.supersede_key != sent[i].supersede_key ||
        event.ordering_key != (ordered ? published.correlation_id : sent[i].ordering_key)) {
      fault(id, "is not what was published");
    }
    if (publication.correlated && event.sequence != static_cast<int>(i)) fault(id, "has another place");
  }
  if (publication.on_complete && any_new) {
    promises_.emplace(published.correlation_id, *publication.on_complete);
  }
}

// Events that this operation changed are read before its claim is checked; the others after it.
void Oracle::observe_changes(const Operation& operation, const Answer& answer, TimePoint now) {
  const std::vector<Change>& changes = operation.command.changes;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const EventId id = changes[i].lease.id;
    const auto known = book_.find(id);
    if (known == book_.end()) {
      if (answer.changed.at(i)) fault(id, "was changed and has never been published");
      continue;
    }
    if (!answer.changed.at(i)) continue;
    const Changed& changed = *answer.changed[i];
    check_fence(known->second, changes[i], changed);
    const std::string queue = known->second.seen.event.queue;
    if (std::holds_alternative<Heartbeat>(changes[i].what)) {
      known->second.lease_until = now + settings(queue).lease;
    }
    if (!is_news(id, changed)) continue;
    const bool revives = std::holds_alternative<Reset>(changes[i].what) && !is_live(known->second.seen.event);
    const std::int64_t before = depth(queue);
    look_again(id, now);
    if (revives) check_growth(queue, before);
  }
}

// False when the report repeats an earlier one.
bool Oracle::is_news(EventId id, const Changed& changed) const {
  const std::vector<LogEntry>& log = book_.at(id).seen.log;
  return std::none_of(log.begin(), log.end(),
                      [&](const LogEntry& entry) { return entry.log_id == changed.entry.log_id; });
}

// An accepted report must be about the attempt it names and come from the worker that held it.
void Oracle::check_fence(const Known& known, const Change& change, const Changed& changed) {
  const Event& event = known.seen.event;
  if (std::holds_alternative<Heartbeat>(change.what)) {
    const bool held = event.status == Status::processing && event.worker_id == change.lease.worker_id;
    if (!held || change.lease.attempt.value_or(event.attempts) != event.attempts) {
      fault(event.id, "took a heartbeat of one who does not hold it");
    }
    return;
  }
  if (changed.entry.worker_id != change.lease.worker_id) fault(event.id, "took a report under another name");
  if (change.lease.attempt.value_or(changed.entry.attempt) != changed.entry.attempt) {
    fault(event.id, "took a report on another attempt as " + describe(changed.entry));
  }
}

// Compares the total with the number of events in the book.
void Oracle::observe_page(const ListFilter& filter, const EventPage& page) {
  const auto matches = [&](const auto& item) {
    const Event& event = item.second.seen.event;
    return (!filter.status || event.status == *filter.status) &&
           (!filter.queue || event.queue == *filter.queue) &&
           (!filter.worker_id || event.worker_id == *filter.worker_id) &&
           (!filter.correlation_id || event.correlation_id == *filter.correlation_id) &&
           shares_tag(event.tags, filter.tags);
  };
  const auto total = std::count_if(book_.begin(), book_.end(), matches);
  if (page.total != total) {
    fault(EventId{},
          "a list says there are " + std::to_string(page.total) + " and there are " + std::to_string(total));
  }
}

// When the event may be claimed, by its log and by its heartbeats, which leave no entry.
TimePoint Oracle::due_at(const Known& known) const {
  const std::vector<LogEntry>& log = known.seen.log;
  if (known.seen.event.status == Status::processing) return known.lease_until;
  if (log.empty()) return known.due;
  if (log.back().action == Action::released) return known.seen.event.due_at;  // the log has no delay
  return log.back().next_retry_at.value_or(log.back().created_at);
}

void Oracle::note_permanent(const Operation& operation) {
  for (const Change& change : operation.command.changes) {
    const auto* fail = std::get_if<Fail>(&change.what);
    if (fail && fail->failure.permanent) permanent_.insert(change.lease.id);
  }
}

void Oracle::look_again(EventId id, TimePoint now) {
  Details after = look_(id);
  if (after.event.id != id) return fault(id, "is gone");
  check_walk(after);
  const auto found = book_.find(id);
  if (found == book_.end()) return look_first(id, std::move(after), now);
  Known& known = found->second;
  compare(known.seen, after);
  const Status before = known.seen.event.status;
  const bool was_ended = has_ended(before);
  bool in_work = before == Status::processing;
  for (std::size_t i = known.seen.log.size(); i < after.log.size(); ++i) {
    const LogEntry& entry = after.log[i];
    if (entry.action == Action::picked) {
      check_pick(known, entry, after);
      check_line(after.event, in_work);
    }
    if (entry.action == Action::reset) in_work = false;
    const bool leases = entry.action == Action::picked || entry.action == Action::started;
    if (leases) known.lease_until = now + settings(after.event.queue).lease;
    if (entry.created_at != now) fault(id, "has an entry of another time: " + describe(entry));
  }
  const bool fails = after.event.status == Status::failed && before != Status::failed;
  const bool blocks = settings(after.event.queue).on_failure == OnFailure::block;
  if (fails) known.holds = blocks && !after.event.ordering_key.empty();
  if (after.event.status != Status::failed) known.holds = false;
  known.seen = std::move(after);
  note_status(known.seen.event, before);
  note_line(id, was_ended);
}

void Oracle::look_first(EventId id, Details details, TimePoint now) {
  if (!book_.empty() && id <= book_.rbegin()->first) fault(id, "is not the next id");
  if (details.event.created_at != now) fault(id, "was there before, and nobody was told");
  if (!details.log.empty() && details.log.front().action == Action::picked) details = before_pick(details);
  Known known{.seen = std::move(details), .due = now, .since = operation_, .published = operation_};
  known.lease_until = now + settings(known.seen.event.queue).lease;
  const Event& event = book_.emplace(id, std::move(known)).first->second.seen.event;
  if (event.status == Status::pending) book_.at(id).due = event.due_at;
  note_status(event, std::nullopt);
  note_line(id, false);
}

// Compares two readings of one event.
void Oracle::compare(const Details& before, const Details& after) {
  const EventId id = before.event.id;
  if (!same_body(before.event, after.event)) fault(id, "is not what it was: " + describe(after.event));
  if (after.event.attempts < before.event.attempts) fault(id, "has fewer attempts than before");
  if (after.event.updated_at < before.event.updated_at) fault(id, "was updated before it was updated");
  const bool prefix =
      before.log.size() <= after.log.size() &&
      std::equal(before.log.begin(), before.log.end(), after.log.begin(),
                 [](const LogEntry& a, const LogEntry& b) { return describe(a) == describe(b); });
  if (!prefix) {
    fault(id, "has a log that was rewritten");
    return;
  }
  const bool has_more = after.log.size() > before.log.size();
  const bool was_reset = has_more && after.log[before.log.size()].action == Action::reset;
  const bool was_cancelled = has_more && after.log[before.log.size()].action == Action::cancelled &&
                             before.event.status == Status::failed;
  if (!is_live(before.event) && !was_reset && !was_cancelled &&
      describe(before.event) != describe(after.event)) {
    fault(id, "had ended and changed: " + describe(before.event) + " to " + describe(after.event));
  }
}

// A walk over the log alone must end in the event's current state.
void Oracle::check_walk(const Details& details) {
  const Event& event = details.event;
  const WalkRules rules{event.max_retries, policy_.max_attempts, permanent_.contains(event.id)};
  const Walk walk = walk_log(steps_of(details.log), rules);
  if (walk.fault) return fault(event.id, *walk.fault);
  const WalkEnd actual{std::string(name_of(event.status)), event.attempts, event.retry_count,
                       event.unreported, event.worker_id};
  if (actual != walk.end) fault(event.id, "is " + describe(actual) + ", its log says " + describe(walk.end));
}

// An event must not be claimed while its lease or its retry delay lasts.
void Oracle::check_pick(const Known& known, const LogEntry& picked, const Details& after) {
  const bool next = picked.attempt == known.seen.event.attempts + 1;
  const bool freed = std::any_of(after.log.begin() + static_cast<std::ptrdiff_t>(known.seen.log.size()),
                                 after.log.end(), [](const LogEntry& entry) {
                                   return entry.action == Action::reset || entry.action == Action::released;
                                 });
  if (next && !freed && picked.created_at < due_at(known)) {
    fault(after.event.id, "was claimed before its time: " + describe(picked));
  }
}

void Oracle::fault(EventId id, const std::string& what) {
  faults_.push_back("event " + std::to_string(static_cast<std::int64_t>(id)) + " " + what);
}

}  // namespace eventq
