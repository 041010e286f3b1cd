// names.h: the spelling of statuses and actions in JSON, SQL and logs.
#pragma once

#include <optional>
#include <string_view>

#include "eventq/event.h"
#include "model/query.h"

namespace eventq {

std::string_view name_of(Status status);  // "PENDING"
std::string_view name_of(Action action);  // "PICKED"

std::string_view name_of(QueueStatus status);  // "active"

std::optional<Status> status_named(std::string_view name);
std::optional<Action> action_named(std::string_view name);

std::optional<QueueStatus> queue_status_named(std::string_view name);

// Whether the status is final. Only a reset changes an event that has ended.
bool has_ended(Status status);

}  // namespace eventq
