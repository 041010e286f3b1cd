// config_json.h: a queue's settings as JSON, in requests and in answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/json_writer.h"
#include "eventq/error.h"
#include "eventq/options.h"
#include "model/policy.h"
#include "model/query.h"
#include "wire/fields.h"

namespace eventq::wire {

// A queue's own settings: {"maxQueueDepth": 500, "retry": {"kind": "exponential"}}. A member that is absent
// or null has its default. Checks types; validate() of model/policy.h checks ranges. `where` is written
// before the names of members in errors: "config.".
// Errors: invalid_argument.
Result<QueueConfig> parse_config(const JsonValue& value, const std::string& where = "",
                                 UnknownMembers unknown = UnknownMembers::refused);

// The body of PUT /queues/{id}: the settings, or a queue as GET shows it, with the settings in "config". The
// other members of a shown queue are read-only and ignored, except that `id` must be `name`.
Result<QueueConfig> parse_config_body(const JsonValue& body, std::string_view name);

// The body of PATCH /queues/{id} (RFC 7396): absent settings stay as they are, and null restores a default.
// Checks types; the merged settings still need validate() of model/policy.h.
// Errors: invalid_argument.
Result<ConfigPatch> parse_config_patch(const JsonValue& body);

// Writes all settings in force.
void write_config(JsonWriter& json, const Policy& policy);

// A retry policy, as the member `retry` of `outer`: {"kind", "baseMs", "capMs", "jitter"}. Nothing when it is
// absent. A member that is absent inside it has the default of RetryPolicy. A wrong type becomes the fault of
// `outer`; validate() of model/validate.h checks ranges. `where` is written before "retry." in errors.
std::optional<RetryPolicy> read_retry(Fields& outer, std::string_view where,
                                      UnknownMembers unknown = UnknownMembers::refused);
void write_retry(JsonWriter& json, const RetryPolicy& retry);

}  // namespace eventq::wire
