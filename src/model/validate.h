// validate.h: what a request must look like before it may change anything.
//
// Each function gives nothing, or an Error that names the field, the limit and
// what was sent. Text has been checked for UTF-8 by the parser or is checked here.
#pragma once

#include <optional>
#include <string_view>

#include "eventq/error.h"
#include "eventq/event.h"
#include "eventq/options.h"
#include "model/lifecycle.h"

namespace eventq {

// Also tidies: trims tags and drops repeated ones.
// `payload` must be JSON text already proven valid; its size is checked here.
[[nodiscard]] std::optional<Error> validate(NewEvent& event);
[[nodiscard]] std::optional<Error> validate(const Change& change);
[[nodiscard]] std::optional<Error> validate(const Options& options);

// `where` stands before the names of its members in errors.
[[nodiscard]] std::optional<Error> validate(const RetryPolicy& retry, std::string_view where);
[[nodiscard]] std::optional<Error> validate_key(std::string_view field, std::string_view key);
[[nodiscard]] std::optional<Error> validate_reason(std::string_view reason);
[[nodiscard]] std::optional<Error> validate_worker_id(std::string_view worker_id);
[[nodiscard]] std::optional<Error> validate_queue_name(std::string_view name);
[[nodiscard]] std::optional<Error> validate_correlation_id(std::string_view id);
[[nodiscard]] std::optional<Error> validate_idempotency_key(std::string_view key);

}  // namespace eventq
