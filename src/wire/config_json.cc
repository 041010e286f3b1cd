// config_json.cc: see config_json.h.
#include "wire/config_json.h"

#include <algorithm>
#include <array>
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

std::optional<ConfigPatch::RetryPatch> read_retry_members(Fields& outer, std::string_view where,
                                                          UnknownMembers unknown) {
  const auto value = outer.object("retry");
  if (!value) return std::nullopt;
  Fields fields(*value, std::string(where) + "retry.", unknown);
  using enum RetryPolicy::Kind;
  const ConfigPatch::RetryPatch retry{either(fields, "kind", fixed, exponential),
                                      duration<Millis>(fields, "baseMs"), duration<Millis>(fields, "capMs"),
                                      fields.number("jitter")};
  if (auto fault = fields.fault()) outer.refuse(*fault);
  return retry;
}

// Every setting except `retry`.
QueueConfig read_settings(Fields& fields, UnknownMembers unknown) {
  QueueConfig config;
  config.max_queue_depth = fields.integer("maxQueueDepth");
  config.batch_size = fields.small_integer("batchSize");
  config.processing_interval = duration<Millis>(fields, "processingInterval");
  config.persistence_threshold = fields.integer("persistenceThreshold");
  config.high_watermark = fields.integer("highWatermark");
  config.lease = duration<Millis>(fields, "leaseMs");
  config.max_attempts = fields.small_integer("maxAttempts");
  config.max_retries = fields.small_integer("maxRetries");
  config.durability = either(fields, "durability", Durability::strict, Durability::buffered);
  config.on_failure = either(fields, "onFailure", OnFailure::skip, OnFailure::block);
  read_retention(fields, config, unknown);
  return config;
}

bool is_null(const JsonMember& member) { return member.value.type() == JsonType::null; }

// Gives a value to each setting in `cleared` whose member is null.
void read_nulls(const JsonValue& body, QueueConfig& cleared) {
  for (const JsonMember& member : body.members()) {
    const auto clear = [&](std::string_view name, auto& setting) {
      if (member.name == name && is_null(member)) setting.emplace();
    };
    clear("maxQueueDepth", cleared.max_queue_depth);
    clear("batchSize", cleared.batch_size);
    clear("processingInterval", cleared.processing_interval);
    clear("persistenceThreshold", cleared.persistence_threshold);
    clear("highWatermark", cleared.high_watermark);
    clear("leaseMs", cleared.lease);
    clear("maxAttempts", cleared.max_attempts);
    clear("maxRetries", cleared.max_retries);
    clear("retry", cleared.retry);
    clear("durability", cleared.durability);
    clear("onFailure", cleared.on_failure);
    clear("retention", cleared.completed_retention);
    clear("retention", cleared.failed_retention);
    if (member.name != "retention" || member.value.type() != JsonType::object) continue;
    for (const JsonMember& inner : member.value.members()) {
      if (inner.name == "completedSeconds" && is_null(inner)) cleared.completed_retention.emplace();
      if (inner.name == "failedSeconds" && is_null(inner)) cleared.failed_retention.emplace();
    }
  }
}

// What GET /queues/{id} shows beside `id` and `config`.
constexpr std::array<std::string_view, 11> kReadOnly = {
    "events", "checkpointId", "queueMetrics", "status",     "statusBy", "statusReason",
    "depth",  "counts",       "created_at",   "updated_at", "statusAt"};

// The settings of a queue as GET shows it.
Result<QueueConfig> parse_shown_queue(const JsonValue& body, std::string_view name) {
  for (const JsonMember& member : body.members()) {
    const auto read_only = std::find(kReadOnly.begin(), kReadOnly.end(), member.name);
    if (member.name == "config" || member.name == "id" || read_only != kReadOnly.end()) continue;
    return Error{ErrorCode::invalid_argument, "Send the settings themselves or inside \"config\", not both.",
                 std::string(member.name)};
  }
  Fields fields(body, "", UnknownMembers::ignored);
  const auto id = fields.text("id");
  const auto config = fields.object("config");
  if (auto fault = fields.fault()) return *fault;
  if (id && *id != name) {
    return Error{ErrorCode::invalid_argument,
                 "id is \"" + *id + "\", but the path names the queue \"" + std::string(name) +
                     "\". Leave id out, or send the settings to the queue that it names.",
                 "id"};
  }
  return config ? parse_config(*config, "config.") : QueueConfig();
}

}  // namespace

std::optional<RetryPolicy> read_retry(Fields& outer, std::string_view where, UnknownMembers unknown) {
  const auto given = read_retry_members(outer, where, unknown);
  if (!given) return std::nullopt;
  RetryPolicy retry;
  retry.kind = given->kind.value_or(retry.kind);
  retry.base = given->base.value_or(retry.base);
  retry.cap = given->cap.value_or(retry.cap);
  retry.jitter = given->jitter.value_or(retry.jitter);
  return retry;
}

void write_retry(JsonWriter& json, const RetryPolicy& retry) {
  json.begin_object().key("kind").string(name_of(retry.kind));
  json.key("baseMs").integer(retry.base.count()).key("capMs").integer(retry.cap.count());
  json.key("jitter").number(retry.jitter).end_object();
}

Result<QueueConfig> parse_config(const JsonValue& value, const std::string& where, UnknownMembers unknown) {
  Fields fields(value, where, unknown);
  QueueConfig config = read_settings(fields, unknown);
  config.retry = read_retry(fields, where, unknown);
  if (auto fault = fields.fault()) return *fault;
  return config;
}

Result<ConfigPatch> parse_config_patch(const JsonValue& body) {
  Fields fields(body, "");
  ConfigPatch patch{.set = read_settings(fields, UnknownMembers::refused), .cleared = {}, .retry = {}};
  patch.retry = read_retry_members(fields, "", UnknownMembers::refused);
  if (auto fault = fields.fault()) return *fault;
  read_nulls(body, patch.cleared);
  return patch;
}

// No setting is called `config`, so that member tells the two forms of the body apart. Without it, a body
// such as {"status": "paused"} is refused: it must not clear all settings.
Result<QueueConfig> parse_config_body(const JsonValue& body, std::string_view name) {
  if (body.type() == JsonType::object) {
    const auto members = body.members();
    const auto is_config = [](const JsonMember& member) { return member.name == "config"; };
    if (std::any_of(members.begin(), members.end(), is_config)) return parse_shown_queue(body, name);
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
