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

// The event's own rules for retries: "kind base cap jitter", then its max_attempts if it has one. Behind
// that, "queue" says that the policy is the queue's; the policy before it is for older versions, which read
// only the first four parts. The empty text has no rule. docs/decisions/027-results-and-details-in-tables.md
// has the reasons.
struct RetryRules {
  std::optional<RetryPolicy> retry;
  std::optional<int> max_attempts;
};
std::string retry_to_text(const RetryRules& rules);
Result<RetryRules> retry_from_text(std::string_view text);

inline RetryRules retry_rules_of(const Event& event) { return {event.retry, event.max_attempts}; }

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
