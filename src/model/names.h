// names.h: the spelling of statuses, actions and ids in JSON, SQL and logs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "eventq/error.h"
#include "eventq/event.h"
#include "model/query.h"

namespace eventq {

std::string_view name_of(Status status);  // "PENDING"
std::string_view name_of(Action action);  // "PICKED"

std::string_view name_of(QueueStatus status);  // "active"
std::string_view name_of(QueueAction action);  // "paused"

std::optional<Status> status_named(std::string_view name);
std::optional<Action> action_named(std::string_view name);

std::optional<QueueStatus> queue_status_named(std::string_view name);
std::optional<QueueAction> queue_action_named(std::string_view name);

// An id as the API, SQL and logs show it.
inline std::int64_t id_number(EventId id) { return static_cast<std::int64_t>(id); }
inline std::string id_text(EventId id) { return std::to_string(id_number(id)); }

// The event with this event_id, out of those that all shards found. A database has an event_id once, but two
// shards may each have it: an event is placed by its ordering_key, so two publishers that use one event_id
// with different keys are not noticed.
// Errors: not_found, conflict.
Result<EventId> only_event(std::span<const EventId> events, std::string_view event_id);

// Whether the status is final. Only a reset changes an event that has ended.
bool has_ended(Status status);

}  // namespace eventq
