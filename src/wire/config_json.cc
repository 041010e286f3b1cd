// config_json.cc: see config_json.h.
#include "wire/config_json.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace eventq::wire {
namespace {

std::string_view name_of(RetryPolicy::Kind kind) {
  return kind == RetryPolicy::Kind::fixed ? "fixed" : "exponential";
}
std::string_view name_of(Durability durability) {
  return durability == Durability::strict ? "strict" : "buffered";
}
std::string_view name_of(OnFailure on_failure) { return on_failure == OnFailure::skip ? "skip" : "block"; }

// Reads a member that must be one of two words.
template <typename Enum>
std::optional<Enum> either(Fields& fields, std::string_view name, Enum first, Enum second) {
  const auto text = fields.text(name);
  if (!text) return std::nullopt;
  if (*text == name_of(first)) return first;
  if (*text == name_of(second)) return second;
  fields.refuse(name, std::string(name) + " is \"" + *text + "\"; it must be \"" +
                          std::string(name_of(first)) + "\" or \"" + std::string(name_of(second)) + "\".");
  return std::nullopt;
}

// The member's name says its unit, and `Duration` must be that unit: baseMs, completedSeconds.
template <typename Duration>
std::optional<Duration> duration(Fields& fields, std::string_view name) {
  const auto number = fields.integer(name);
  return number ? std::optional<Duration>(Duration(*number)) : std::nullopt;
}

void read_retention(Fields& fields, QueueConfig& config, UnknownMembers unknown) {
  const auto value = fields.object("retention");
  if (!value) return;
  Fields inner(*value, fields.path("retention."), unknown);
  config.completed_retention = duration<std::chrono::seconds>(inner, "completedSeconds");
  config.failed_retention = duration<std::chrono::seconds>(inner, "failedSeconds");
  if (auto fault = inner.fault()) fields.refuse(*fault);
}

}  // namespace

std::optional<RetryPolicy> read_retry(Fields& outer, std::string_view where, UnknownMembers unknown) {
  const auto value = outer.object("retry");
  if (!value) return std::nullopt;
  Fields fields(*value, std::string(where) + "retry.", unknown);
  RetryPolicy retry;
  using enum RetryPolicy::Kind;
  retry.kind = either(fields, "kind", fixed, exponential).value_or(retry.kind);
  retry.base = duration<Millis>(fields, "baseMs").value_or(retry.base);
  retry.cap = duration<Millis>(fields, "capMs").value_or(retry.cap);
  retry.jitter = fields.number("jitter").value_or(retry.jitter);
  if (auto fault = fields.fault()) outer.refuse(*fault);
  return retry;
}

void write_retry(JsonWriter& json, const RetryPolicy& retry) {
  json.begin_object().key("kind").string(name_of(retry.kind));
  json.key("baseMs").integer(retry.base.count()).key("capMs").integer(retry.cap.count());
  json.key("jitter").number(retry.jitter).end_object();
}

Result<QueueConfig> parse_config(const JsonValue& value, const std::string& where, UnknownMembers unknown) {
  Fields fields(value, where, unknown);
  QueueConfig config;
  config.max_queue_depth = fields.integer("maxQueueDepth");
  config.batch_size = fields.small_integer("batchSize");
  config.processing_interval = duration<Millis>(fields, "processingInterval");
  config.persistence_threshold = fields.integer("persistenceThreshold");
  config.high_watermark = fields.integer("highWatermark");
  config.lease = duration<Millis>(fields, "leaseMs");
  config.max_attempts = fields.small_integer("maxAttempts");
  config.max_retries = fields.small_integer("maxRetries");
  config.retry = read_retry(fields, where, unknown);
  config.durability = either(fields, "durability", Durability::strict, Durability::buffered);
  config.on_failure = either(fields, "onFailure", OnFailure::skip, OnFailure::block);
  read_retention(fields, config, unknown);
  if (auto fault = fields.fault()) return *fault;
  return config;
}

// No setting is called `config`, so that member tells the two forms of the body apart.
Result<QueueConfig> parse_config_body(const JsonValue& body) {
  if (body.type() == JsonType::object) {
    for (const JsonMember& member : body.members()) {
      if (member.name != "config") continue;
      const auto members = body.members();
      const auto other = std::find_if(members.begin(), members.end(),
                                      [](const JsonMember& m) { return m.name != "config"; });
      if (other != members.end()) {
        return Error{ErrorCode::invalid_argument,
                     "Send the settings themselves or inside \"config\", not both.",
                     std::string(other->name)};
      }
      Fields fields(body, "");
      const auto config = fields.object("config");
      if (auto fault = fields.fault()) return *fault;
      return config ? parse_config(*config, "config.") : QueueConfig();
    }
  }
  return parse_config(body);
}

// A limit that does not exist is null, so that the settings of every queue have the same members.
void write_config(JsonWriter& json, const Policy& policy) {
  json.begin_object().key("maxQueueDepth").integer_or_null(policy.max_queue_depth);
  json.key("batchSize").integer(static_cast<std::int64_t>(policy.batch_size));
  json.key("processingInterval").integer(policy.processing_interval.count());
  json.key("persistenceThreshold").integer(policy.persistence_threshold);
  json.key("highWatermark").integer_or_null(policy.high_watermark);
  json.key("leaseMs").integer(policy.lease.count());
  json.key("maxAttempts").integer(policy.max_attempts).key("maxRetries").integer(policy.max_retries);
  write_retry(json.key("retry"), policy.retry);
  json.key("durability").string(name_of(policy.durability));
  json.key("onFailure").string(name_of(policy.on_failure));
  json.key("retention").begin_object();
  json.key("completedSeconds").integer(policy.completed_retention.count());
  json.key("failedSeconds").integer(policy.failed_retention.count());
  json.end_object().end_object();
}

}  // namespace eventq::wire
