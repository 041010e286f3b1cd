// validate.h: checks requests and options before they change anything.
//
// Each function returns nothing when its argument is valid. Otherwise the Error names the field, the limit
// and the value that was sent. The code is invalid_argument, or too_large where a size exceeds limits.h.
#pragma once

#include <optional>
#include <string_view>

#include "eventq/error.h"
#include "eventq/event.h"
#include "eventq/options.h"
#include "model/lifecycle.h"
#include "model/query.h"

namespace eventq {

// Queues with this prefix belong to notebooks, whose own workers claim their events. A rule about the name
// and not about the notebooks of this server, so it holds for every program that opens the store.
inline constexpr std::string_view kOwnedQueuePrefix = "notebook:";

// The check of a NewEvent also trims its tags and drops repeated ones.
// REQUIRES: `payload` is valid JSON; only its size is checked here.
[[nodiscard]] std::optional<Error> validate(NewEvent& event);
// REQUIRES: the `result` of a Complete is valid JSON; only its size is checked here.
[[nodiscard]] std::optional<Error> validate(const Change& change);
[[nodiscard]] std::optional<Error> validate(const Actor& actor);
[[nodiscard]] std::optional<Error> validate(const Options& options);

// `where` is written before the names of its members in errors: "retry.".
[[nodiscard]] std::optional<Error> validate(const RetryPolicy& retry, std::string_view where);
[[nodiscard]] std::optional<Error> validate_key(std::string_view field, std::string_view key);
[[nodiscard]] std::optional<Error> validate_reason(std::string_view reason);
[[nodiscard]] std::optional<Error> validate_worker_id(std::string_view worker_id);
[[nodiscard]] std::optional<Error> validate_queue_name(std::string_view name);
// The same for the queue of a claim. Errors: also conflict for a queue with kOwnedQueuePrefix, whose owner
// claims without this check.
[[nodiscard]] std::optional<Error> validate_claimed_queue(std::string_view name);
[[nodiscard]] std::optional<Error> validate_event_id(std::string_view event_id);
[[nodiscard]] std::optional<Error> validate_correlation_id(std::string_view id);
[[nodiscard]] std::optional<Error> validate_idempotency_key(std::string_view key);

}  // namespace eventq
