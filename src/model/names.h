// names.h: the spelling of statuses, actions and ids in JSON, SQL and logs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

// Whether the status is final. Only a reset changes an event that has ended.
bool has_ended(Status status);

}  // namespace eventq
