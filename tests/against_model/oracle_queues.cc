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
  for (const auto& [id, record] : records_) {
    const Event& event = record.seen.event;
    const bool wanted =
        event.queue == request.selector.queue && shares_tag(event.tags, request.selector.tags);
    if (!wanted || has_ended(event.status) || due_at(record) > now) continue;
    if (!event.ordering_key.empty() && head_of({event.queue, event.ordering_key}) != id) continue;
    ids.insert(id);
  }
  return ids;
}

// Waiting claims may take events that this operation made ready before its own claim does.
void Oracle::exclude_taken_by_waiters(std::set<EventId>& wanted, const Ids& claimed) {
  std::erase_if(wanted, [&](EventId id) {
    const EventRecord& record = records_.at(id);
    if (record.since != operation_ || std::find(claimed.begin(), claimed.end(), id) != claimed.end())
      return false;
    return read_event_(id).event.attempts > record.seen.event.attempts;
  });
}

// The highest priority first, then the earliest turn.
void Oracle::check_order(const Ids& claimed, const std::set<EventId>& wanted) {
  std::set<EventId> later = wanted;
  for (const EventId id : claimed) {
    later.erase(id);
    if (!records_.contains(id)) continue;
    for (const EventId other : later) {
      if (surely_before(other, id)) fault(id, "was claimed before event " + text_of(other));
    }
  }
}

// An event gets its turn when it is published, and a later one when it becomes the head of its line. Among
// events that get a turn in one operation, only those without a key have an order.
bool Oracle::surely_before(EventId a, EventId b) const {
  const EventRecord& first = records_.at(a);
  const EventRecord& second = records_.at(b);
  const Event& x = first.seen.event;
  const Event& y = second.seen.event;
  if (x.priority != y.priority) return x.priority > y.priority;
  if (first.since != second.since) return first.since < second.since;
  return x.ordering_key.empty() && y.ordering_key.empty() && a < b;
}

void Oracle::count_status(const Event& event, std::optional<Status> before) {
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

void Oracle::update_line(EventId id, bool was_ended) {
  EventRecord& record = records_.at(id);
  const Event& event = record.seen.event;
  const bool live = !has_ended(event.status);
  if (was_ended && live) record.since = record.published;  // revived
  if (event.ordering_key.empty()) return;
  const LineKey line{event.queue, event.ordering_key};
  if (live || record.blocks_line) {
    lines_[line].insert(id);
  } else {
    lines_[line].erase(id);
  }
  const auto head = head_of(line);
  const auto old_head = heads_.find(line);
  if (record.blocks_line && lines_[line].size() > 1) ++blocked_lines_;
  if (!head) {
    heads_.erase(line);
  } else if (old_head == heads_.end() || old_head->second != *head) {
    heads_.insert_or_assign(line, *head);
    records_.at(*head).since = operation_;
  }
}

// The event in processing, else the failed event that blocks the line, else the oldest one.
std::optional<EventId> Oracle::head_of(const LineKey& line) const {
  const auto found = lines_.find(line);
  if (found == lines_.end() || found->second.empty()) return std::nullopt;
  for (const EventId id : found->second) {
    const EventRecord& record = records_.at(id);
    if (record.blocks_line || record.seen.event.status == Status::processing) return id;
  }
  return *found->second.begin();
}

// A worker claimed the event. `in_work`: another worker held it before, and that lease has expired.
void Oracle::check_line(const Event& event, bool in_work) {
  if (settings(event.queue).status == QueueStatus::paused) {
    fault(event.id, "was claimed although its queue is paused");
  }
  if (event.ordering_key.empty() || in_work) return;
  for (const EventId other : lines_[{event.queue, event.ordering_key}]) {
    if (other == event.id) continue;
    const EventRecord& record = records_.at(other);
    if (record.seen.event.status == Status::processing) {
      fault(event.id, "was claimed while event " + text_of(other) + " of its line is processing");
    } else if (record.blocks_line) {
      fault(event.id, "was claimed although the failed event " + text_of(other) + " blocks its line");
    } else if (other < event.id) {
      fault(event.id, "was claimed before the older event " + text_of(other) + " of its line");
    }
  }
}

// The error codes that are correct for this publication. Empty: it must be accepted.
std::set<ErrorCode> Oracle::reasons_to_refuse(const Publication& publication) {
  std::set<ErrorCode> reasons;
  const std::string& correlation_id = publication.events.front().correlation_id;
  const bool has_on_complete = publication.on_complete && on_complete_.contains(correlation_id);
  std::set<std::string> queues;
  for (const NewEvent& event : publication.events) queues.insert(event.queue);
  for (const std::string& queue : queues) {
    const std::vector<const NewEvent*> fresh = fresh_of(publication, queue);
    if (fresh.empty()) continue;
    const Settings& it = settings(queue);
    if (has_on_complete || it.status == QueueStatus::draining) reasons.insert(ErrorCode::conflict);
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
  for (const auto& [id, record] : records_) {
    const Event& event = record.seen.event;
    if (event.status == Status::pending && event.queue == queue && event.supersede_key == key) {
      ids.push_back(id);
    }
  }
  return ids;
}

void Oracle::reread_superseded(const Event& newer, TimePoint now) {
  if (newer.supersede_key.empty()) return;
  for (const EventId id : with_supersede_key(newer.queue, newer.supersede_key)) {
    reread(id, now);
    if (records_.at(id).seen.event.status != Status::superseded) {
      fault(id, "was not superseded by event " + text_of(newer.id));
    }
  }
}

void Oracle::check_superseded(const Event& event) {
  if (!event.superseded_by) return;
  const Event newer = read_event_(*event.superseded_by).event;
  const bool fits = newer.id > event.id && newer.queue == event.queue &&
                    newer.supersede_key == event.supersede_key && !event.supersede_key.empty();
  if (!fits)
    fault(event.id, "was superseded by event " + text_of(*event.superseded_by) + ", which does not match");
}

// A new event that the answer does not contain must be a requested on_complete event.
void Oracle::observe_fresh(const Ids& fresh, const std::set<EventId>& answered, TimePoint now) {
  for (const EventId id : fresh) {
    if (answered.contains(id)) continue;
    const Event event = read_event_(id).event;
    reread_superseded(event, now);
    reread(id, now);
    observe_on_complete(event, now);
  }
}

void Oracle::observe_on_complete(const Event& event, TimePoint now) {
  const auto found = std::find_if(on_complete_.begin(), on_complete_.end(), [&](const auto& item) {
    return item.second.title == event.title && correlations_[item.first].pending == 0;
  });
  if (found == on_complete_.end())
    return fault(event.id,
                 "was not published by an operation or as an on_complete event: " + describe(event));
  const NewEvent& requested = found->second;
  const bool payload_is_right = requested.payload == "null" ? is_end_of(found->first, event.payload)
                                                            : event.payload == requested.payload;
  if (event.queue != requested.queue || !payload_is_right || event.tags != requested.tags) {
    fault(event.id, "differs from the requested on_complete event");
  }
  const bool caused = std::any_of(records_.begin(), records_.end(), [&](const auto& item) {
    const Event& cause = item.second.seen.event;
    return cause.event_id == event.causation_id && cause.correlation_id == found->first &&
           has_ended(cause.status) && cause.updated_at == now;
  });
  if (!caused) fault(event.id, "was not caused by the last event of " + found->first);
  records_.at(event.id).due = std::max(now + requested.delay, requested.run_at.value_or(now));
  on_complete_.erase(found);
  ++completions_;
}

// The payload that the server makes for an on_complete event without one. The generated results are scalars.
bool Oracle::is_end_of(const std::string& correlation_id, const std::string& payload) {
  const Tally& tally = correlations_[correlation_id];
  std::string expected = R"({"correlation_id":")" + correlation_id + R"(","total":)" +
                         std::to_string(tally.total) + R"(,"completed":)" + std::to_string(tally.completed) +
                         R"(,"failed":)" + std::to_string(tally.failed) + R"(,"results":[)";
  for (const auto& [id, record] : records_) {
    const Event& event = record.seen.event;
    if (event.correlation_id != correlation_id) continue;
    expected += (expected.ends_with('[') ? "" : ",") + (R"({"id":)" + std::to_string(id_number(id))) +
                R"(,"event_id":")" + event.event_id + R"(","status":")" + std::string(name_of(event.status)) +
                R"(","result":)" + (results_[id].empty() ? "null" : results_[id]) + "}";
  }
  return payload == expected + R"(],"results_complete":true})";
}

void Oracle::check_on_complete() {
  for (const auto& [id, requested] : on_complete_) {
    if (correlations_[id].pending == 0) fault(EventId{}, "the on_complete event of " + id + " is missing");
  }
}

void Oracle::check_growth(const std::string& queue, std::int64_t depth_before) {
  if (depth(queue) <= depth_before) return;
  const Settings& it = settings(queue);
  if (it.status == QueueStatus::draining)
    fault(EventId{}, "queue " + queue + " is draining and accepted an event");
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
    if (anew.on_failure == OnFailure::skip) unblock_lines(change.queue);
  }
  if (const auto* status = std::get_if<QueueChange::SetStatus>(&change.what)) it.status = status->status;
  if (const auto* supersede = std::get_if<QueueChange::SupersedeKey>(&change.what)) {
    if (changed.superseded != with_supersede_key(change.queue, supersede->key)) {
      fault(EventId{}, "the superseded events are not the pending events with this key");
    }
    for (const EventId id : changed.superseded) reread(id, now);
  }
  if (changed.depth != depth(change.queue)) {
    fault(EventId{}, "queue " + change.queue + " has depth " + std::to_string(changed.depth) +
                         " instead of " + std::to_string(depth(change.queue)));
  }
}

// Failed events no longer block their lines.
void Oracle::unblock_lines(const std::string& queue) {
  std::map<LineKey, EventId> blocking;
  for (auto& [id, record] : records_) {
    const Event& event = record.seen.event;
    if (record.blocks_line && event.queue == queue) blocking.emplace(LineKey{queue, event.ordering_key}, id);
  }
  for (const auto& [line, id] : blocking) {
    records_.at(id).blocks_line = false;
    update_line(id, false);
  }
}

void Oracle::observe_revival(const Revival& revival, const Revived& revived, TimePoint now) {
  check_revived(revival, revived);
  const std::map<std::string, std::int64_t> before = depths_;
  const bool replays = revival.kind == RevivalKind::replay;
  for (std::size_t i = 0; i < revived.events.size(); ++i) {
    const EventId id = revived.events[i];
    if (!replays) {
      reread(id, now);
      if (has_ended(records_.at(id).seen.event.status)) fault(id, "was retried and is not live");
      continue;
    }
    const Event copy = read_event_(id).event;
    reread_superseded(copy, now);
    reread(id, now);
    const Event& old = records_.at(revived.matched.at(i)).seen.event;
    if (copy.payload != old.payload || copy.title != old.title || copy.causation_id != old.event_id ||
        copy.ordering_key != old.ordering_key || copy.correlation_id != old.correlation_id) {
      fault(id, "is not a copy of event " + text_of(old.id));
    }
  }
  for (const auto& [queue, depth] : before) check_growth(queue, depth);
}

// Checks the matched events as they were before the operation changed them.
void Oracle::check_revived(const Revival& revival, const Revived& revived) {
  for (const EventId id : revived.matched) {
    if (!records_.contains(id) || !fits(records_.at(id).seen.event, revival.filter)) {
      fault(id, "was revived and does not match the filter");
    }
  }
  if (revival.dry_run && !revived.events.empty()) fault(EventId{}, "a dry run revived events");
  if (revival.checkpoint || revival.filter.cause) return;
  const auto all =
      static_cast<std::size_t>(std::count_if(records_.begin(), records_.end(), [&](const auto& item) {
        return fits(item.second.seen.event, revival.filter);
      }));
  if (revived.matched.size() != std::min(all, revival.filter.limit)) {
    fault(EventId{},
          std::to_string(revived.matched.size()) + " events matched instead of " + std::to_string(all));
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
  for (const auto& [id, record] : records_) {
    const Event& event = record.seen.event;
    if (event.queue != queue.row.id) continue;
    ++counts.at(static_cast<std::size_t>(event.status));
    if (!has_ended(event.status)) live.push_back(id);
  }
  const std::string name = "queue " + queue.row.id + " ";
  if (counts != queue.counts) fault(EventId{}, name + "has wrong counts");
  if (queue.row.status != settings(queue.row.id).status) fault(EventId{}, name + "has a wrong status");
  live.resize(std::min(live.size(), shown));
  Ids seen;
  for (const Details& details : queue.events) seen.push_back(details.event.id);
  if (seen != live) fault(EventId{}, name + "does not list its first live events");
}

void Oracle::check_correlation(const std::string& id, const Result<Correlation>& correlation) {
  const auto found = correlations_.find(id);
  if (!correlation || found == correlations_.end()) {
    const bool exists = found != correlations_.end() && found->second.total > 0;
    if (exists != correlation.has_value()) {
      fault(EventId{}, "correlation " + id + (exists ? " was not found" : " was found without events"));
    }
    return;
  }
  const Tally answered{correlation->total, correlation->pending, correlation->completed, correlation->failed};
  if (answered != found->second) fault(EventId{}, "correlation " + id + " has wrong counts");
}

void Oracle::check_failures(const FailuresQuery& query, const std::vector<FailureGroup>& groups) {
  std::int64_t listed = 0;
  for (const FailureGroup& group : groups) listed += group.events;
  const auto failed = std::count_if(records_.begin(), records_.end(), [&](const auto& item) {
    const Event& event = item.second.seen.event;
    return event.status == Status::failed && (!query.queue || event.queue == *query.queue);
  });
  if (groups.size() < query.limit && listed != failed) {
    fault(EventId{},
          std::to_string(failed) + " events have failed, and the groups have " + std::to_string(listed));
  }
}

void Oracle::check_wait(const WaitRequest& wait, const Answer& answer) {
  bool ended = answer.waited;
  if (const auto* id = std::get_if<EventId>(&wait.what)) {
    ended = records_.contains(*id) && has_ended(records_.at(*id).seen.event.status);
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
