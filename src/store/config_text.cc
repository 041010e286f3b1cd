// config_text.cc: a queue's settings as JSON text; see row_text.h.
//
// The member names are those of the API, but this format is separate from wire/, because a stored database
// must stay readable when the API changes.
#include <charconv>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/json.h"
#include "base/json_writer.h"
#include "store/row_text.h"

namespace eventq {
namespace {

template <typename Enum>
struct Word {
  std::string_view text;
  Enum value;
};
constexpr Word<RetryPolicy::Kind> kRetryKinds[] = {{"fixed", RetryPolicy::Kind::fixed},
                                                   {"exponential", RetryPolicy::Kind::exponential}};
constexpr Word<Durability> kDurabilities[] = {{"strict", Durability::strict},
                                              {"buffered", Durability::buffered}};
constexpr Word<OnFailure> kOnFailures[] = {{"skip", OnFailure::skip}, {"block", OnFailure::block}};

// Reads the members of one object. Null leaves a setting unchanged. The first member with a wrong value sets
// fault(), and so does a member that no call of take() named: it may come from a newer version.
class ConfigObject {
 public:
  explicit ConfigObject(const JsonValue& value) {
    if (value.type() == JsonType::object) {
      members_ = value.members();
    } else {
      fault_ = "they are not a JSON object";
    }
  }

  // The value of a member, unless it is absent or null.
  std::optional<JsonValue> take(std::string_view name) {
    for (auto member = members_.begin(); member != members_.end(); ++member) {
      if (member->name != name) continue;
      const JsonValue value = member->value;
      members_.erase(member);
      return value.type() == JsonType::null ? std::nullopt : std::optional(value);
    }
    return std::nullopt;
  }

  void integer(std::string_view name, std::optional<std::int64_t>& setting) {
    const auto value = take(name);
    if (!value) return;
    setting = value->integer();
    if (!setting) refuse(name);
  }

  void integer(std::string_view name, std::optional<int>& setting) {
    std::optional<std::int64_t> number;
    integer(name, number);
    if (!number) return;
    if (*number < std::numeric_limits<int>::min() || *number > std::numeric_limits<int>::max()) {
      return refuse(name);
    }
    setting = static_cast<int>(*number);
  }

  template <typename Duration>
  void duration(std::string_view name, std::optional<Duration>& setting) {
    std::optional<std::int64_t> number;
    integer(name, number);
    if (number) setting = Duration(*number);
  }

  void duration(std::string_view name, Millis& setting) {
    std::optional<Millis> given;
    duration(name, given);
    setting = given.value_or(setting);
  }

  void number(std::string_view name, double& setting) {
    const auto value = take(name);
    if (!value) return;
    const std::string_view raw = value->raw();
    const bool is_number = value->type() == JsonType::integer || value->type() == JsonType::number;
    if (!is_number || std::from_chars(raw.data(), raw.data() + raw.size(), setting).ec != std::errc()) {
      refuse(name);
    }
  }

  template <typename Enum>
  std::optional<Enum> word(std::string_view name, const Word<Enum> (&words)[2]) {
    const auto value = take(name);
    if (!value) return std::nullopt;
    const auto text = value->string();
    for (const Word<Enum>& word : words) {
      if (text == word.text) return word.value;
    }
    refuse(name);
    return std::nullopt;
  }

  void refuse(std::string_view name) {
    if (fault_.empty()) fault_ = std::string(name) + " has a value of the wrong type or range";
  }
  void refuse(const ConfigObject& inner) {
    if (fault_.empty()) fault_ = inner.fault();
  }

  [[nodiscard]] std::string fault() const {
    if (!fault_.empty() || members_.empty()) return fault_;
    return "this version has no setting " + std::string(members_.front().name);
  }

 private:
  std::vector<JsonMember> members_;
  std::string fault_;
};

// A retry policy is stored whole, so a member that is missing has the default of RetryPolicy.
void read_retry(ConfigObject& object, QueueConfig& config) {
  const auto value = object.take("retry");
  if (!value) return;
  ConfigObject inner(*value);
  RetryPolicy& retry = config.retry.emplace();
  retry.kind = inner.word("kind", kRetryKinds).value_or(retry.kind);
  inner.duration("baseMs", retry.base);
  inner.duration("capMs", retry.cap);
  inner.number("jitter", retry.jitter);
  object.refuse(inner);
}

void read_retention(ConfigObject& object, QueueConfig& config) {
  const auto value = object.take("retention");
  if (!value) return;
  ConfigObject inner(*value);
  inner.duration("completedSeconds", config.completed_retention);
  inner.duration("failedSeconds", config.failed_retention);
  object.refuse(inner);
}

void write(JsonWriter& json, std::string_view name, const std::optional<std::int64_t>& setting) {
  if (setting) json.key(name).integer(*setting);
}

template <typename Rep, typename Period>
void write(JsonWriter& json, std::string_view name,
           const std::optional<std::chrono::duration<Rep, Period>>& setting) {
  if (setting) json.key(name).integer(setting->count());
}

template <typename Enum>
void write(JsonWriter& json, std::string_view name, Enum setting, const Word<Enum> (&words)[2]) {
  for (const Word<Enum>& word : words) {
    if (word.value == setting) json.key(name).string(word.text);
  }
}

enum class UnsetLimit : std::uint8_t { left_out, null };

void write_limit(JsonWriter& json, std::string_view name, const std::optional<std::int64_t>& limit,
                 UnsetLimit unset) {
  write(json, name, limit);
  if (!limit && unset == UnsetLimit::null) json.key(name).null();
}

std::string to_text(const QueueConfig& config, UnsetLimit unset) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  write_limit(json, "maxQueueDepth", config.max_queue_depth, unset);
  write(json, "batchSize", config.batch_size);
  write(json, "processingInterval", config.processing_interval);
  write(json, "persistenceThreshold", config.persistence_threshold);
  write_limit(json, "highWatermark", config.high_watermark, unset);
  write(json, "leaseMs", config.lease);
  write(json, "maxAttempts", config.max_attempts);
  write(json, "maxRetries", config.max_retries);
  if (config.retry) {
    json.key("retry").begin_object();
    write(json, "kind", config.retry->kind, kRetryKinds);
    json.key("baseMs").integer(config.retry->base.count()).key("capMs").integer(config.retry->cap.count());
    json.key("jitter").number(config.retry->jitter).end_object();
  }
  if (config.durability) write(json, "durability", *config.durability, kDurabilities);
  if (config.on_failure) write(json, "onFailure", *config.on_failure, kOnFailures);
  if (config.completed_retention || config.failed_retention) {
    json.key("retention").begin_object();
    write(json, "completedSeconds", config.completed_retention);
    write(json, "failedSeconds", config.failed_retention);
    json.end_object();
  }
  json.end_object();
  return text;
}

}  // namespace

std::string config_to_text(const QueueConfig& config) { return to_text(config, UnsetLimit::left_out); }
std::string settings_to_text(const QueueConfig& settings) { return to_text(settings, UnsetLimit::null); }

Result<QueueConfig> config_from_text(std::string_view text) {
  QueueConfig config;
  if (text.empty() || text == "{}") return config;  // most queues: no parser needed
  JsonParser parser;
  const auto value = parser.parse(text);
  std::string fault;
  if (!value) {
    fault = value.error().message;
  } else {
    ConfigObject object(*value);
    object.integer("maxQueueDepth", config.max_queue_depth);
    object.integer("batchSize", config.batch_size);
    object.duration("processingInterval", config.processing_interval);
    object.integer("persistenceThreshold", config.persistence_threshold);
    object.integer("highWatermark", config.high_watermark);
    object.duration("leaseMs", config.lease);
    object.integer("maxAttempts", config.max_attempts);
    object.integer("maxRetries", config.max_retries);
    read_retry(object, config);
    config.durability = object.word("durability", kDurabilities);
    config.on_failure = object.word("onFailure", kOnFailures);
    read_retention(object, config);
    fault = object.fault();
  }
  if (fault.empty()) return config;
  return Error{ErrorCode::corrupt, "The stored settings of a queue cannot be read: " + fault, ""};
}

}  // namespace eventq
