// names.cc: see names.h. One table per enum, indexed by its value.
#include "model/names.h"

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace eventq {
namespace {

constexpr std::array<std::string_view, 7> kStatusNames = {
    "PENDING", "PROCESSING", "COMPLETED", "COMPLETED_WITH_ERRORS", "FAILED", "SUPERSEDED", "CANCELLED",
};

constexpr std::array<std::string_view, 9> kActionNames = {
    "PICKED", "STARTED", "COMPLETED", "FAILED", "ABANDONED", "RELEASED", "RESET", "CANCELLED", "SUPERSEDED",
};

constexpr std::array<std::string_view, 3> kQueueStatusNames = {"active", "paused", "draining"};

// In the order of QueueAction.
constexpr std::array<std::string_view, 11> kQueueActionNames = {
    "created",         "configured",         "paused",   "resumed",
    "draining",        "superseded",         "replayed", "retried",
    "checkpoint_made", "checkpoint_deleted", "deleted",
};

template <typename Enum>
std::optional<Enum> find(std::span<const std::string_view> names, std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Status status) { return kStatusNames.at(static_cast<std::size_t>(status)); }
std::string_view name_of(Action action) { return kActionNames.at(static_cast<std::size_t>(action)); }

std::string_view name_of(QueueStatus status) {
  return kQueueStatusNames.at(static_cast<std::size_t>(status));
}

std::string_view name_of(QueueAction action) {
  return kQueueActionNames.at(static_cast<std::size_t>(action));
}

std::optional<QueueAction> queue_action_named(std::string_view name) {
  return find<QueueAction>(kQueueActionNames, name);
}

std::optional<QueueStatus> queue_status_named(std::string_view name) {
  return find<QueueStatus>(kQueueStatusNames, name);
}

std::optional<Status> status_named(std::string_view name) { return find<Status>(kStatusNames, name); }
std::optional<Action> action_named(std::string_view name) { return find<Action>(kActionNames, name); }

bool has_ended(Status status) { return status != Status::pending && status != Status::processing; }

Result<EventId> only_event(std::span<const EventId> events, std::string_view event_id) {
  if (events.size() == 1) return events.front();
  const std::string name = "\"" + std::string(event_id) + "\"";
  if (events.empty()) return Error{ErrorCode::not_found, "There is no event " + name + ".", "id"};
  return Error{ErrorCode::conflict,
               "Several events have the event_id " + name + ", such as " + id_text(events[0]) + " and " +
                   id_text(events[1]) + ". Use their numbers.",
               "id"};
}

}  // namespace eventq
