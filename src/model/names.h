// names.h: the one spelling of statuses and actions, in JSON, SQL and logs alike.
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

// An event that has ended never changes by itself again.
bool has_ended(Status status);

}  // namespace eventq
