// row_text.h: values to the text of their column and back. Every database uses the same text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/error.h"
#include "eventq/event.h"
#include "eventq/options.h"

namespace eventq {

// The error for a row that no version of eventq writes: "The store holds <what>; …".
Error corrupt_row(const std::string& what);

// A retry policy as "kind base cap jitter"; the empty text is no policy.
std::string retry_to_text(const std::optional<RetryPolicy>& retry);
Result<std::optional<RetryPolicy>> retry_from_text(std::string_view text);

// A queue's own settings as JSON: {"maxQueueDepth":500,"retention":{"failedSeconds":0}}. Only settings that
// are set are written; the empty text has none. Errors: corrupt, also for a setting of a newer version.
std::string config_to_text(const QueueConfig& config);
Result<QueueConfig> config_from_text(std::string_view text);

// All settings in the same form, for readers of the database. A limit that is not set is null.
std::string settings_to_text(const QueueConfig& settings);

// The errors of a completion: a JSON array of strings.
std::string errors_to_text(const std::vector<std::string>& errors);
Result<std::vector<std::string>> errors_from_text(std::string_view text);

// The events of an idempotency key: ids, comma separated.
std::string ids_to_text(const std::vector<EventId>& ids);
Result<std::vector<EventId>> ids_from_text(std::string_view text);

}  // namespace eventq
