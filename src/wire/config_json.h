// config_json.h: a queue's settings, as people send and see them and as the store keeps them.
#pragma once

#include <string>

#include "base/json.h"
#include "base/json_writer.h"
#include "eventq/error.h"
#include "eventq/options.h"
#include "model/policy.h"
#include "model/query.h"
#include "wire/fields.h"

namespace eventq::wire {

// A queue's own settings: {"maxQueueDepth": 500, "retry": {"kind": "exponential"}}. What is absent or null
// stays at its default. Types are checked here, ranges by validate() of model/policy.h.
// Errors: invalid_argument. `where` stands before the names in errors: "config.".
Result<QueueConfig> parse_config(const JsonValue& value, const std::string& where = "",
                                 UnknownMembers unknown = UnknownMembers::refused);

// The body of a PUT: the members themselves, or {"config": {...}}.
Result<QueueConfig> parse_config_body(const JsonValue& body);

// All settings in force.
void write_config(JsonWriter& json, const Policy& policy);

// What is set, and nothing else; parse_config() reads it back.
void write_own_config(JsonWriter& json, const QueueConfig& config);

// How failures are retried: {"kind", "baseMs", "capMs", "jitter"}; what is absent has the default of
// RetryPolicy. Types are checked here, ranges by validate() of model/validate.h.
Result<RetryPolicy> parse_retry(const JsonValue& value, const std::string& where,
                                UnknownMembers unknown = UnknownMembers::refused);
void write_retry(JsonWriter& json, const RetryPolicy& retry);

}  // namespace eventq::wire
