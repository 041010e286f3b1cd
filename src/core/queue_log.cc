// queue_log.cc: the Core's entries in the log of a queue: one for each change that a caller asks for.
//
// A queue that its first event creates has no entry, because publishing must stay as fast as it is.
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/json_writer.h"
#include "base/overloaded.h"
#include "core/batch.h"
#include "wire/config_json.h"

namespace eventq {
namespace {

std::string detail_of_configuration(const std::optional<Policy>& before, const Policy& after) {
  std::string detail;
  JsonWriter json(detail);
  json.begin_object();
  if (before) wire::write_config(json.key("from"), *before);
  wire::write_config(json.key("to"), after);
  json.end_object();
  return detail;
}

std::string detail_of(std::string_view member, std::string_view text) {
  std::string detail;
  JsonWriter json(detail);
  json.begin_object().key(member).string(text).end_object();
  return detail;
}

// `events` are counted for one shard; a router adds them up.
std::string detail_of_superseded(const std::string& key, std::size_t events) {
  std::string detail;
  JsonWriter json(detail);
  json.begin_object().key("supersede_key").string(key);
  json.key("events").integer(static_cast<std::int64_t>(events)).end_object();
  return detail;
}

std::string detail_of_revival(const Revival& revival, std::int64_t events) {
  const EndedFilter& filter = revival.filter;
  std::string detail;
  JsonWriter json(detail);
  json.begin_object().key("events").integer(events);
  if (revival.checkpoint) json.key("checkpoint").string(*revival.checkpoint);
  if (filter.from) json.key("from").time(*filter.from);
  if (filter.to) json.key("to").time(*filter.to);
  if (!filter.pattern.empty()) json.key("pattern").string(filter.pattern);
  if (!filter.tags.empty()) {
    json.key("tags").begin_array();
    for (const std::string& tag : filter.tags) json.string(tag);
    json.end_array();
  }
  if (filter.cause) json.key("cause").string(*filter.cause);
  json.end_object();
  return detail;
}

QueueAction action_of(QueueStatus status) {
  switch (status) {
    case QueueStatus::active: return QueueAction::resumed;
    case QueueStatus::paused: return QueueAction::paused;
    case QueueStatus::draining: return QueueAction::draining;
  }
  EVENTQ_ASSERT(false);
}

}  // namespace

// Appends the entry of a change that was made. `before` is the queue's row before it; empty if the change
// created the queue. A change that leaves the queue as it was gets no entry.
Result<void> Core::log_change(Batch& batch, const QueueChange& change, const std::optional<QueueRow>& before,
                              const QueueChanged& changed) {
  if (!change.logged) return {};
  using Found = std::optional<std::pair<QueueAction, std::string>>;
  const Found found =
      std::visit(Overloaded{
                     [&](const QueueChange::SetStatus& it) -> Found {
                       const QueueRow& row = changed.row;
                       if (row.status == before->status && row.status_by == before->status_by &&
                           row.status_reason == before->status_reason) {
                         return std::nullopt;
                       }
                       return std::pair(action_of(it.status), std::string("{}"));
                     },
                     [&](const QueueChange::MakeCheckpoint&) -> Found {
                       return std::pair(QueueAction::checkpoint_made,
                                        detail_of("checkpoint", changed.checkpoint.value().id));
                     },
                     [&](const QueueChange::DeleteCheckpoint& it) -> Found {
                       return std::pair(QueueAction::checkpoint_deleted, detail_of("checkpoint", it.id));
                     },
                     [&](const QueueChange::SupersedeKey& it) -> Found {
                       if (changed.superseded.empty()) return std::nullopt;
                       return std::pair(QueueAction::superseded,
                                        detail_of_superseded(it.key, changed.superseded.size()));
                     },
                     [&](const QueueChange::Remove& it) -> Found {
                       if (it.only_check) return std::nullopt;
                       return std::pair(QueueAction::deleted, std::string("{}"));
                     },
                     [&](const auto&) -> Found { return logged_settings(before, changed.row); },
                 },
                 change.what);
  if (!found) return {};
  return append_queue_log(batch, change.queue, change.log_id, found->first, change.actor, found->second);
}

// The settings in force are logged, and not the queue's own, because a reader of the log cannot know the
// defaults of that time.
std::optional<std::pair<QueueAction, std::string>> Core::logged_settings(
    const std::optional<QueueRow>& before, const QueueRow& after) const {
  const auto settings = [&](const QueueRow& row) { return resolve(row.id, row.config, options_.policy); };
  if (!before) return std::pair(QueueAction::created, detail_of_configuration({}, settings(after)));
  if (before->config == after.config) return std::nullopt;
  return std::pair(QueueAction::configured, detail_of_configuration(settings(*before), settings(after)));
}

// Settings of the server's configuration. All shards have the same, so only the first one has the entry.
Result<void> Core::log_start_settings(Batch& batch, const std::optional<QueueRow>& before,
                                      const QueueRow& after) {
  if (options_.share.shard != 0) return {};
  const auto found = logged_settings(before, after);
  if (!found) return {};
  return append_queue_log(batch, after.id, "", found->first, {"", "The server's configuration at its start."},
                          found->second);
}

// One entry for each queue of the events. A revival that found no event has none.
Result<void> Core::log_revival(Batch& batch, const Revival& revival, const std::vector<Stored>& events,
                               std::size_t revived) {
  std::map<std::string, std::int64_t> by_queue;
  for (std::size_t i = 0; i < revived; ++i) by_queue[events.at(i).event.queue] += 1;
  const auto action = revival.kind == RevivalKind::replay ? QueueAction::replayed : QueueAction::retried;
  for (const auto& [queue, count] : by_queue) {
    auto done = append_queue_log(batch, queue, revival.log_id, action, {revival.by, revival.reason},
                                 detail_of_revival(revival, count));
    if (!done) return done;
  }
  return {};
}

Result<void> Core::append_queue_log(Batch& batch, const std::string& queue, const std::string& id,
                                    QueueAction action, const Actor& actor, std::string detail) {
  return batch.transaction->append_queue_log({.id = id.empty() ? ids_.next(batch.now()) : id,
                                              .queue = queue,
                                              .action = action,
                                              .by = actor.by,
                                              .reason = actor.reason,
                                              .detail = std::move(detail),
                                              .created_at = batch.now()});
}

}  // namespace eventq
