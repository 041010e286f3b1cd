// oracle.cc: see oracle.h.
#include "against_model/oracle.h"

#include <algorithm>

#include "model/names.h"
#include "support/describe.h"
#include "support/log_walk.h"

namespace eventq {
namespace {

bool is_live(const Event& event) {
  return event.status == Status::pending || event.status == Status::processing;
}

bool shares_tag(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](const std::string& tag) { return std::find(b.begin(), b.end(), tag) != b.end(); });
}

std::vector<LogStep> steps_of(const std::vector<LogEntry>& log) {
  std::vector<LogStep> steps;
  for (const LogEntry& entry : log) {
    steps.push_back({std::string(name_of(entry.action)), entry.attempt, entry.worker_id,
                     entry.next_retry_at.has_value(), !entry.errors.empty()});
  }
  return steps;
}

// What was published never changes.
bool same_body(const Event& a, const Event& b) {
  return a.event_id == b.event_id && a.queue == b.queue && a.title == b.title &&
         a.description == b.description && a.tags == b.tags && a.payload == b.payload &&
         a.correlation_id == b.correlation_id && a.priority == b.priority && a.max_retries == b.max_retries &&
         a.created_at == b.created_at;
}

// Events on which this very operation reported: they ended, or wait for their retry.
std::set<EventId> reported_now(const Operation& operation, const Answer& answer, TimePoint now) {
  std::set<EventId> ids;
  for (std::size_t i = 0; i < operation.command.changes.size(); ++i) {
    const Result<Changed>& changed = answer.changed.at(i);
    if (changed && changed->entry.created_at == now) ids.insert(operation.command.changes[i].lease.event_id);
  }
  return ids;
}

}  // namespace

void Oracle::observe(const Operation& operation, const Answer& answer, TimePoint now) {
  if (operation.command.publication) observe_key(*operation.command.publication, *answer.published, now);
  if (answer.published && *answer.published) observe_publication(operation, **answer.published, now);
  if (operation.command.claim) {
    Ids given;
    for (const Claim& claim : answer.claims) given.push_back(claim.event.id);
    const Ids expected = claimable(*operation.command.claim, reported_now(operation, answer, now), now);
    if (given != expected) {
      std::string text;
      for (const EventId id : expected) text += " " + std::to_string(static_cast<std::int64_t>(id));
      fault(given.empty() ? EventId{} : given.front(), "the claim should have given" + text);
    }
    for (const EventId id : given) look_again(id, now);
  }
  observe_changes(operation, answer, now);
  if (operation.command.list && answer.page) observe_page(*operation.command.list, **answer.page);
  if (operation.command.get && *answer.details) look_again(operation.command.get->id, now);
}

void Oracle::observe_parked(const Operation& operation, TimePoint now) {
  for (const Change& change : operation.command.changes) {
    if (book_.contains(change.lease.event_id)) look_again(change.lease.event_id, now);
  }
  const Ids ready = claimable(*operation.command.claim, {}, now);
  if (!ready.empty()) fault(ready.front(), "is ready, and a worker that wants it was made to wait");
}

void Oracle::observe_waiter(const Operation& operation, const Answer& answer, TimePoint now) {
  const ClaimRequest& request = *operation.command.claim;
  if (answer.claims.size() > request.limit) fault(EventId{}, "a claim gave more than its limit");
  for (const Claim& claim : answer.claims) {
    const Event& event = claim.event;
    if (event.queue != request.selector.queue || !shares_tag(event.tags, request.selector.tags)) {
      fault(event.id, "was given to a worker that did not ask for it");
    }
    look_again(event.id, now);
  }
}

void Oracle::observe_time(TimePoint now) {
  for (const auto& [id, known] : book_) {
    const Event& event = known.seen.event;
    const bool over = event.status == Status::processing && due_at(known) <= now;
    if (!over || event.unreported < policy_.max_attempts) continue;
    look_again(id, now);
    if (book_.at(id).seen.event.status != Status::failed) fault(id, "is out of attempts and has not failed");
  }
}

void Oracle::observe_all(TimePoint now) {
  for (const auto& [id, known] : book_) look_again(id, now);
}

// A key stands for its first request for a day, and not a millisecond longer.
void Oracle::observe_key(const Publication& publication, const Result<Published>& published, TimePoint now) {
  if (!publication.key) {
    if (!published || published->replayed)
      fault(EventId{}, "a publication without a key was taken for an older one");
    return;
  }
  const auto used = keys_.find(publication.key->key);
  const bool known = used != keys_.end() && now < used->second.since + std::chrono::hours(24);
  const bool same = known && used->second.fingerprint == publication.key->fingerprint;
  const std::string name = "the key " + publication.key->key + " ";
  if (!published) {
    if (!known || same) fault(EventId{}, name + "was refused without reason");
    return;
  }
  if (known && !same) fault(EventId{}, name + "was taken for another request");
  if (published->replayed != known) fault(EventId{}, name + (known ? "was forgotten" : "was not forgotten"));
  if (!known) {
    keys_.insert_or_assign(publication.key->key, Used{publication.key->fingerprint, now});
    return;
  }
  for (const Event& event : published->events) {
    // What was there before the key was used is shown as it is.
    const bool fresh = event.created_at == used->second.since;
    const bool as_published =
        event.status == Status::pending && event.attempts == 0 && event.updated_at == event.created_at;
    if (fresh && !as_published) fault(event.id, "is answered again as it is now: " + describe(event));
  }
}

void Oracle::observe_publication(const Operation& operation, const Published& published, TimePoint now) {
  const std::vector<NewEvent>& sent = operation.command.publication->events;
  if (published.events.size() != sent.size()) fault(EventId{}, "a publication lost some of its events");
  for (std::size_t i = 0; i < published.events.size(); ++i) {
    const EventId id = published.events[i].id;
    const bool known = book_.contains(id);
    const std::string& own = sent[i].event_id;
    if (!own.empty() && !by_event_id_.emplace(own, id).second && by_event_id_.at(own) != id) {
      fault(id, "is a second event with the event_id " + own);
    }
    if (known && !published.replayed && own.empty()) fault(id, "was given to two publications");
    if (!known && static_cast<std::size_t>(id) != book_.size() + 1) fault(id, "is not the next id");
    look_again(id, now);
    const Event& event = book_.at(id).seen.event;
    if (!known &&
        (event.payload != sent[i].payload || event.title != sent[i].title || event.tags != sent[i].tags)) {
      fault(id, "is not what was published");
    }
  }
}

void Oracle::observe_changes(const Operation& operation, const Answer& answer, TimePoint now) {
  const std::vector<Change>& changes = operation.command.changes;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const EventId id = changes[i].lease.event_id;
    const auto known = book_.find(id);
    if (known == book_.end()) {
      if (answer.changed.at(i)) fault(id, "was changed and has never been published");
      continue;
    }
    if (answer.changed.at(i)) check_fence(known->second, changes[i], *answer.changed[i]);
    if (answer.changed.at(i) && std::holds_alternative<Heartbeat>(changes[i].what))
      known->second.last_beat = now;
    look_again(id, now);
  }
}

// A report that was taken is about the attempt it names, by the worker that had it.
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

// The counters, against the book.
void Oracle::observe_page(const ListFilter& filter, const Page& page) {
  const auto matches = [&](const auto& item) {
    const Event& event = item.second.seen.event;
    return (!filter.status || event.status == *filter.status) &&
           (!filter.queue || event.queue == *filter.queue) &&
           (!filter.worker_id || event.worker_id == *filter.worker_id) &&
           (!filter.correlation_id || event.correlation_id == *filter.correlation_id) &&
           (filter.tags.empty() || shares_tag(event.tags, filter.tags));
  };
  const auto total = std::count_if(book_.begin(), book_.end(), matches);
  if (page.total != total) {
    fault(EventId{},
          "a list says there are " + std::to_string(page.total) + " and there are " + std::to_string(total));
  }
}

// Which events a claim must give, by the book as it was before the operation: due, of its queue, with one of
// its tags, the highest priority first, then the oldest.
Oracle::Ids Oracle::claimable(const ClaimRequest& request, const std::set<EventId>& but_not,
                              TimePoint now) const {
  std::vector<std::pair<int, EventId>> found;
  for (const auto& [id, known] : book_) {
    const Event& event = known.seen.event;
    const bool wanted =
        event.queue == request.selector.queue && shares_tag(event.tags, request.selector.tags);
    if (wanted && is_live(event) && !but_not.contains(id) && due_at(known) <= now) {
      found.emplace_back(-event.priority, id);
    }
  }
  std::sort(found.begin(), found.end());
  found.resize(std::min(found.size(), request.limit));
  Ids ids;
  for (const auto& item : found) ids.push_back(item.second);
  return ids;
}

// When the log, and the heartbeats, which leave no entry, say that the event may be claimed.
TimePoint Oracle::due_at(const Known& known) const {
  const std::vector<LogEntry>& log = known.seen.log;
  if (known.seen.event.status == Status::processing) {
    return std::max(log.back().created_at, known.last_beat.value_or(TimePoint::min())) + policy_.lease;
  }
  if (log.empty()) return known.seen.event.created_at;
  return log.back().next_retry_at.value_or(log.back().created_at);
}

void Oracle::look_again(EventId id, TimePoint now) {
  Details after = look_(id);
  if (after.event.id != id) return fault(id, "is gone");
  check_walk(after);
  const auto known = book_.find(id);
  if (known == book_.end()) {
    book_.emplace(id, Known{std::move(after), std::nullopt});
    return;
  }
  compare(known->second.seen, after);
  const std::size_t old_entries = known->second.seen.log.size();
  for (std::size_t i = old_entries; i < after.log.size(); ++i) {
    if (after.log[i].action == Action::picked) check_pick(known->second, after.log[i], after);
    if (after.log[i].created_at != now) fault(id, "has an entry of another time: " + describe(after.log[i]));
  }
  if (after.event.attempts != known->second.seen.event.attempts) known->second.last_beat.reset();
  known->second.seen = std::move(after);
}

// What was seen before, and what is seen now.
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
  const bool was_reset =
      after.log.size() > before.log.size() && after.log[before.log.size()].action == Action::reset;
  if (!is_live(before.event) && !was_reset && describe(before.event) != describe(after.event)) {
    fault(id, "had ended and changed: " + describe(before.event) + " to " + describe(after.event));
  }
}

// The log alone must lead to what the event is.
void Oracle::check_walk(const Details& details) {
  const Event& event = details.event;
  const Walk walk = walk_log(steps_of(details.log), {event.max_retries, policy_.max_attempts});
  if (walk.fault) return fault(event.id, *walk.fault);
  const WalkEnd actual{std::string(name_of(event.status)), event.attempts, event.retry_count,
                       event.unreported, event.worker_id};
  if (actual != walk.end) fault(event.id, "is " + describe(actual) + ", its log says " + describe(walk.end));
}

// Nobody is given an event that another one holds, or that waits for its retry.
void Oracle::check_pick(const Known& known, const LogEntry& picked, const Details& after) {
  const bool next = picked.attempt == known.seen.event.attempts + 1;
  const bool freed =
      std::any_of(after.log.begin() + static_cast<std::ptrdiff_t>(known.seen.log.size()), after.log.end(),
                  [](const LogEntry& entry) { return entry.action == Action::reset; });
  if (next && !freed && picked.created_at < due_at(known)) {
    fault(after.event.id, "was claimed before its time: " + describe(picked));
  }
}

void Oracle::fault(EventId id, const std::string& what) {
  faults_.push_back("event " + std::to_string(static_cast<std::int64_t>(id)) + " " + what);
}

}  // namespace eventq
