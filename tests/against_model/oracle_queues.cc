// oracle_queues.cc: the Oracle's rules between events: order, superseding, limits, totals.
#include <algorithm>
#include <utility>

#include "against_model/oracle.h"
#include "model/names.h"
#include "support/describe.h"

namespace eventq {
namespace {

std::string text_of(EventId id) { return std::to_string(static_cast<std::int64_t>(id)); }

bool fits(const Event& event, const EndedFilter& filter) {
  const auto& statuses = filter.statuses;
  return has_ended(event.status) && (filter.queue.empty() || event.queue == filter.queue) &&
         std::find(statuses.begin(), statuses.end(), event.status) != statuses.end() &&
         shares_tag(event.tags, filter.tags) && (filter.pattern.empty() || event.pattern == filter.pattern) &&
         (!filter.from || event.updated_at >= *filter.from) && (!filter.to || event.updated_at < *filter.to);
}

}  // namespace

Oracle::Settings& Oracle::settings(const std::string& queue) {
  const auto [found, added] = settings_.try_emplace(queue);
  if (added) {
    found->second.lease = policy_.lease;
    found->second.batch_size = 1000;
    if (queue != "main") found->second.max_depth = 10'000;
  }
  return found->second;
}

std::int64_t Oracle::depth(const std::string& queue) const {
  const auto found = depths_.find(queue);
  return found == depths_.end() ? 0 : found->second;
}

// The events that a claim may get after the operation's own reports: due, in its queue, with one of its tags,
// and at the head of their line if they have one.
std::set<EventId> Oracle::claimable(const ClaimRequest& request, TimePoint now) {
  std::set<EventId> ids;
  if (settings(request.selector.queue).status == QueueStatus::paused) return ids;
  for (const auto& [id, known] : book_) {
    const Event& event = known.seen.event;
    const bool wanted =
        event.queue == request.selector.queue && shares_tag(event.tags, request.selector.tags);
    if (!wanted || has_ended(event.status) || due_at(known) > now) continue;
    if (!event.ordering_key.empty() && head_of({event.queue, event.ordering_key}) != id) continue;
    ids.insert(id);
  }
  return ids;
}

// Waiting claims may take events that this operation made ready before its own claim does.
void Oracle::leave_to_waiters(std::set<EventId>& wanted, const Ids& given) {
  std::erase_if(wanted, [&](EventId id) {
    const Known& known = book_.at(id);
    if (known.since != operation_ || std::find(given.begin(), given.end(), id) != given.end()) return false;
    return look_(id).event.attempts > known.seen.event.attempts;
  });
}

// The highest priority first, then the earliest turn.
void Oracle::check_order(const Ids& given, const std::set<EventId>& wanted) {
  std::set<EventId> later = wanted;
  for (const EventId id : given) {
    later.erase(id);
    if (!book_.contains(id)) continue;
    for (const EventId other : later) {
      if (surely_before(other, id)) fault(id, "was given before event " + text_of(other));
    }
  }
}

// An event gets its turn when it is published, and a later one when it becomes the head of its line. Among
// events that get a turn in one operation, only those without a key have an order.
bool Oracle::surely_before(EventId a, EventId b) const {
  const Known& first = book_.at(a);
  const Known& second = book_.at(b);
  const Event& x = first.seen.event;
  const Event& y = second.seen.event;
  if (x.priority != y.priority) return x.priority > y.priority;
  if (first.since != second.since) return first.since < second.since;
  return x.ordering_key.empty() && y.ordering_key.empty() && a < b;
}

void Oracle::note_status(const Event& event, std::optional<Status> before) {
  if (before == event.status) return;
  if (event.status == Status::superseded) check_superseded(event);
  const auto add = [&](Status status, int n) {
    if (!has_ended(status)) depths_[event.queue] += n;
    if (event.correlation_id.empty()) return;
    Tally& tally = correlations_[event.correlation_id];
    if (!has_ended(status)) tally.pending += n;
    if (status == Status::completed || status == Status::completed_with_errors) tally.completed += n;
    if (status == Status::failed) tally.failed += n;
  };
  if (before) add(*before, -1);
  if (!before && !event.correlation_id.empty()) ++correlations_[event.correlation_id].total;
  add(event.status, 1);
}

void Oracle::note_line(EventId id, bool was_ended) {
  Known& known = book_.at(id);
  const Event& event = known.seen.event;
  const bool live = !has_ended(event.status);
  if (was_ended && live) known.since = known.published;  // revived
  if (event.ordering_key.empty()) return;
  const LineKey line{event.queue, event.ordering_key};
  if (live || known.holds) {
    lines_[line].insert(id);
  } else {
    lines_[line].erase(id);
  }
  const auto head = head_of(line);
  const auto old_head = heads_.find(line);
  if (known.holds && lines_[line].size() > 1) ++holdups_;
  if (!head) {
    heads_.erase(line);
  } else if (old_head == heads_.end() || old_head->second != *head) {
    heads_.insert_or_assign(line, *head);
    book_.at(*head).since = operation_;
  }
}

// The event in processing, else the failed event that blocks the line, else the oldest one.
std::optional<EventId> Oracle::head_of(const LineKey& line) const {
  const auto found = lines_.find(line);
  if (found == lines_.end() || found->second.empty()) return std::nullopt;
  for (const EventId id : found->second) {
    const Known& known = book_.at(id);
    if (known.holds || known.seen.event.status == Status::processing) return id;
  }
  return *found->second.begin();
}

// A worker was given the event. `in_work`: another worker had it before, and that lease has expired.
void Oracle::check_line(const Event& event, bool in_work) {
  if (settings(event.queue).status == QueueStatus::paused) {
    fault(event.id, "was given although its queue is paused");
  }
  if (event.ordering_key.empty() || in_work) return;
  for (const EventId other : lines_[{event.queue, event.ordering_key}]) {
    if (other == event.id) continue;
    const Known& known = book_.at(other);
    if (known.seen.event.status == Status::processing) {
      fault(event.id, "was given while event " + text_of(other) + " with its ordering_key is in work");
    } else if (known.holds) {
      fault(event.id, "was given although event " + text_of(other) + " has failed and holds it up");
    } else if (other < event.id) {
      fault(event.id, "was given before event " + text_of(other) + " with its ordering_key");
    }
  }
}

// The error codes that are correct for this publication. Empty: it must be accepted.
std::set<ErrorCode> Oracle::reasons_to_refuse(const Publication& publication) {
  std::set<ErrorCode> reasons;
  const std::string& correlation_id = publication.events.front().correlation_id;
  const bool promised = publication.on_complete && promises_.contains(correlation_id);
  std::set<std::string> queues;
  for (const NewEvent& event : publication.events) queues.insert(event.queue);
  for (const std::string& queue : queues) {
    const std::vector<const NewEvent*> fresh = fresh_of(publication, queue);
    if (fresh.empty()) continue;
    const Settings& it = settings(queue);
    if (promised || it.status == QueueStatus::draining) reasons.insert(ErrorCode::conflict);
    const std::int64_t more = growth(queue, fresh);
    if (!it.max_depth || more <= 0 || depth(queue) + more <= *it.max_depth) continue;
    reasons.insert(more > *it.max_depth ? ErrorCode::too_large : ErrorCode::queue_full);
  }
  return reasons;
}

// The events of the publication that do not exist yet.
std::vector<const NewEvent*> Oracle::fresh_of(const Publication& publication,
                                              const std::string& queue) const {
  std::vector<const NewEvent*> fresh;
  std::set<std::string> seen;
  for (const NewEvent& event : publication.events) {
    if (event.queue != queue) continue;
    const bool own = !event.event_id.empty();
    if (own && (by_event_id_.contains(event.event_id) || !seen.insert(event.event_id).second)) continue;
    fresh.push_back(&event);
  }
  return fresh;
}

std::int64_t Oracle::growth(const std::string& queue, const std::vector<const NewEvent*>& events) const {
  std::int64_t more = 0;
  std::set<std::string> keys;
  for (const NewEvent* event : events) {
    if (event->supersede_key.empty()) {
      ++more;
    } else if (keys.insert(event->supersede_key).second) {
      more += 1 - static_cast<std::int64_t>(with_supersede_key(queue, event->supersede_key).size());
    }
  }
  return more;
}

// Pending events with this key, which a new event would supersede.
Oracle::Ids Oracle::with_supersede_key(const std::string& queue, const std::string& key) const {
  Ids ids;
  for (const auto& [id, known] : book_) {
    const Event& event = known.seen.event;
    if (event.status == Status::pending && event.queue == queue && event.supersede_key == key) {
      ids.push_back(id);
    }
  }
  return ids;
}

void Oracle::look_at_superseded(const Event& newer, TimePoint now) {
  if (newer.supersede_key.empty()) return;
  for (const EventId id : with_supersede_key(newer.queue, newer.supersede_key)) {
    look_again(id, now);
    if (book_.at(id).seen.event.status != Status::superseded) {
      fault(id, "should have made way for event " + text_of(newer.id));
    }
  }
}

void Oracle::check_superseded(const Event& event) {
  if (!event.superseded_by) return;
  const Event newer = look_(*event.superseded_by).event;
  const bool fits = newer.id > event.id && newer.queue == event.queue &&
                    newer.supersede_key == event.supersede_key && !event.supersede_key.empty();
  if (!fits)
    fault(event.id, "made way for event " + text_of(*event.superseded_by) + ", which has another key");
}

// A new event that this operation did not publish must be a promised on_complete event.
void Oracle::observe_fresh(const Ids& fresh, const std::set<EventId>& told, TimePoint now) {
  for (const EventId id : fresh) {
    if (told.contains(id)) continue;
    const Event event = look_(id).event;
    look_at_superseded(event, now);
    look_again(id, now);
    observe_promise(event, now);
  }
}

void Oracle::observe_promise(const Event& event, TimePoint now) {
  const auto found = std::find_if(promises_.begin(), promises_.end(), [&](const auto& promise) {
    return promise.second.title == event.title && correlations_[promise.first].pending == 0;
  });
  if (found == promises_.end()) return fault(event.id, "was published by nobody: " + describe(event));
  const NewEvent& promised = found->second;
  if (event.queue != promised.queue || event.payload != promised.payload || event.tags != promised.tags) {
    fault(event.id, "is not what was promised");
  }
  const bool caused = std::any_of(book_.begin(), book_.end(), [&](const auto& item) {
    const Event& cause = item.second.seen.event;
    return cause.event_id == event.causation_id && cause.correlation_id == found->first &&
           has_ended(cause.status) && cause.updated_at == now;
  });
  if (!caused) fault(event.id, "was not caused by the last event of " + found->first);
  book_.at(event.id).due = std::max(now + promised.delay, promised.run_at.value_or(now));
  promises_.erase(found);
  ++completions_;
}

void Oracle::check_promises() {
  for (const auto& [id, promised] : promises_) {
    if (correlations_[id].pending == 0) fault(EventId{}, "the on_complete event of " + id + " is missing");
  }
}

void Oracle::check_growth(const std::string& queue, std::int64_t depth_before) {
  if (depth(queue) <= depth_before) return;
  const Settings& it = settings(queue);
  if (it.status == QueueStatus::draining)
    fault(EventId{}, "queue " + queue + " is draining and took an event");
  if (it.max_depth && depth(queue) > *it.max_depth) {
    fault(EventId{},
          "queue " + queue + " grew to " + std::to_string(depth(queue)) + " events, over its limit");
  }
}

void Oracle::observe_admin(const Operation& operation, const Answer& answer, TimePoint now) {
  if (const auto* changed = std::get_if<Result<QueueChanged>>(&answer.admin); changed && *changed) {
    observe_change(std::get<QueueChange>(operation.command.admin), **changed, now);
  }
  if (const auto* revived = std::get_if<Result<Revived>>(&answer.admin); revived && *revived) {
    observe_revival(std::get<Revival>(operation.command.admin), **revived, now);
  }
}

void Oracle::observe_change(const QueueChange& change, const QueueChanged& changed, TimePoint now) {
  Settings& it = settings(change.queue);
  if (const auto* configured = std::get_if<QueueChange::Configure>(&change.what)) {
    const QueueConfig& config = configured->config;
    const QueueStatus status = it.status;
    settings_.erase(change.queue);
    Settings& anew = settings(change.queue);
    anew.status = status;
    anew.lease = config.lease.value_or(anew.lease);
    if (config.max_queue_depth) anew.max_depth = config.max_queue_depth;
    if (config.batch_size) anew.batch_size = static_cast<std::size_t>(*config.batch_size);
    anew.on_failure = config.on_failure.value_or(anew.on_failure);
    if (anew.on_failure == OnFailure::skip) release_lines(change.queue);
  }
  if (const auto* status = std::get_if<QueueChange::SetStatus>(&change.what)) it.status = status->status;
  if (const auto* supersede = std::get_if<QueueChange::SupersedeKey>(&change.what)) {
    if (changed.superseded != with_supersede_key(change.queue, supersede->key)) {
      fault(EventId{}, "other events than the pending ones with the key made way");
    }
    for (const EventId id : changed.superseded) look_again(id, now);
  }
  if (changed.depth != depth(change.queue)) {
    fault(EventId{}, "queue " + change.queue + " says it has " + std::to_string(changed.depth) +
                         " live events and has " + std::to_string(depth(change.queue)));
  }
}

// Failed events no longer block their lines.
void Oracle::release_lines(const std::string& queue) {
  std::map<LineKey, EventId> holding;
  for (auto& [id, known] : book_) {
    const Event& event = known.seen.event;
    if (known.holds && event.queue == queue) holding.emplace(LineKey{queue, event.ordering_key}, id);
  }
  for (const auto& [line, id] : holding) {
    book_.at(id).holds = false;
    note_line(id, false);
  }
}

void Oracle::observe_revival(const Revival& revival, const Revived& revived, TimePoint now) {
  check_revived(revival, revived);
  const std::map<std::string, std::int64_t> before = depths_;
  const bool replays = revival.kind == RevivalKind::replay;
  for (std::size_t i = 0; i < revived.events.size(); ++i) {
    const EventId id = revived.events[i];
    if (!replays) {
      look_again(id, now);
      if (has_ended(book_.at(id).seen.event.status)) fault(id, "was redriven and has not come back");
      continue;
    }
    const Event copy = look_(id).event;
    look_at_superseded(copy, now);
    look_again(id, now);
    const Event& old = book_.at(revived.matched.at(i)).seen.event;
    if (copy.payload != old.payload || copy.title != old.title || copy.causation_id != old.event_id ||
        copy.ordering_key != old.ordering_key || copy.correlation_id != old.correlation_id) {
      fault(id, "is no copy of event " + text_of(old.id));
    }
  }
  for (const auto& [queue, depth] : before) check_growth(queue, depth);
}

// Checks the matched events as they were before the operation changed them.
void Oracle::check_revived(const Revival& revival, const Revived& revived) {
  for (const EventId id : revived.matched) {
    if (!book_.contains(id) || !fits(book_.at(id).seen.event, revival.filter)) {
      fault(id, "was brought back and is not among those that were meant");
    }
  }
  if (revival.dry_run && !revived.events.empty()) fault(EventId{}, "a dry run brought events back");
  if (revival.checkpoint || revival.filter.cause) return;
  const auto all = static_cast<std::size_t>(std::count_if(book_.begin(), book_.end(), [&](const auto& item) {
    return fits(item.second.seen.event, revival.filter);
  }));
  if (revived.matched.size() != std::min(all, revival.filter.limit)) {
    fault(EventId{}, std::to_string(revived.matched.size()) + " events were found of " + std::to_string(all));
  }
}

void Oracle::check_read(const Operation& operation, const Answer& answer) {
  if (const auto* queue = std::get_if<Result<QueueDocument>>(&answer.admin); queue && *queue) {
    check_queue(**queue, std::get<QueueQuery>(operation.command.admin).events);
  }
  if (const auto* queues = std::get_if<Result<std::vector<QueueDocument>>>(&answer.admin);
      queues && *queues) {
    for (const QueueDocument& queue : **queues) check_queue(queue, 0);
  }
  if (const auto* correlation = std::get_if<Result<Correlation>>(&answer.admin)) {
    check_correlation(std::get<CorrelationQuery>(operation.command.admin).id, *correlation);
  }
  if (const auto* groups = std::get_if<Result<std::vector<FailureGroup>>>(&answer.admin); groups && *groups) {
    check_failures(std::get<FailuresQuery>(operation.command.admin), **groups);
  }
  if (operation.command.wait) check_wait(*operation.command.wait, answer);
}

void Oracle::check_queue(const QueueDocument& queue, std::size_t shown) {
  Counts counts{};
  Ids live;
  for (const auto& [id, known] : book_) {
    const Event& event = known.seen.event;
    if (event.queue != queue.row.id) continue;
    ++counts.at(static_cast<std::size_t>(event.status));
    if (!has_ended(event.status)) live.push_back(id);
  }
  const std::string name = "queue " + queue.row.id + " ";
  if (counts != queue.counts) fault(EventId{}, name + "counts its events wrong");
  if (queue.row.status != settings(queue.row.id).status) fault(EventId{}, name + "has another status");
  live.resize(std::min(live.size(), shown));
  Ids seen;
  for (const Details& details : queue.events) seen.push_back(details.event.id);
  if (seen != live) fault(EventId{}, name + "shows other events than its first live ones");
}

void Oracle::check_correlation(const std::string& id, const Result<Correlation>& correlation) {
  const auto found = correlations_.find(id);
  if (!correlation || found == correlations_.end()) {
    const bool there = found != correlations_.end() && found->second.total > 0;
    if (there != correlation.has_value()) fault(EventId{}, "correlation " + id + " is there, or is not");
    return;
  }
  const Tally told{correlation->total, correlation->pending, correlation->completed, correlation->failed};
  if (told != found->second) fault(EventId{}, "correlation " + id + " counts its events wrong");
}

void Oracle::check_failures(const FailuresQuery& ask, const std::vector<FailureGroup>& groups) {
  std::int64_t told = 0;
  for (const FailureGroup& group : groups) told += group.events;
  const auto there = std::count_if(book_.begin(), book_.end(), [&](const auto& item) {
    const Event& event = item.second.seen.event;
    return event.status == Status::failed && (!ask.queue || event.queue == *ask.queue);
  });
  if (groups.size() < ask.limit && told != there) {
    fault(EventId{},
          std::to_string(there) + " events have failed, and " + std::to_string(told) + " are told");
  }
}

void Oracle::check_wait(const WaitRequest& wait, const Answer& answer) {
  bool ended = answer.waited;
  if (const auto* id = std::get_if<EventId>(&wait.what)) {
    ended = book_.contains(*id) && has_ended(book_.at(*id).seen.event.status);
  } else if (const auto* correlation = std::get_if<WaitRequest::Correlated>(&wait.what)) {
    const auto found = correlations_.find(correlation->id);
    ended = found != correlations_.end() && found->second.total > 0 && found->second.pending == 0;
  } else if (const auto* drained = std::get_if<WaitRequest::Drained>(&wait.what)) {
    const auto* changed = std::get_if<Result<QueueChanged>>(&answer.admin);
    ended = changed != nullptr && *changed && depth(drained->queue) == 0;
  }
  if (answer.waited != ended) fault(EventId{}, ended ? "a wait did not end" : "a wait ended too early");
}

}  // namespace eventq
