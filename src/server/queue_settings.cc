// queue_settings.cc: the table of all settings of a queue, and its reader and writer.
#include "server/queue_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <system_error>
#include <vector>

#include "base/nearest.h"
#include "base/numbers.h"
#include "model/policy.h"
#include "server/settings.h"

namespace eventq::server {
namespace {

using MaybeText = std::optional<std::string>;  // nothing if not set

// validate() checks ranges later. A number beyond int becomes the nearest int, which is outside of every
// valid range, so validate() still refuses it.
template <typename Number>
bool read_number(std::optional<Number>& to, const TomlEntry& entry) {
  if (entry.kind != TomlKind::number) return false;
  const auto number = parse_whole_signed<std::int64_t>(entry.text);
  if (!number) return false;
  using Limits = std::numeric_limits<Number>;
  to = static_cast<Number>(std::clamp<std::int64_t>(*number, Limits::min(), Limits::max()));
  return true;
}

template <typename Duration>
bool read_count(std::optional<Duration>& to, const TomlEntry& entry) {
  std::optional<std::int64_t> number;
  if (!read_number(number, entry)) return false;
  to = Duration(*number);
  return true;
}

bool read_share(double& to, const TomlEntry& entry) {
  if (entry.kind != TomlKind::number && entry.kind != TomlKind::fraction) return false;
  const char* const end = entry.text.data() + entry.text.size();
  const auto parsed = std::from_chars(entry.text.data(), end, to);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

// The names of the values of an enumeration, in its order.
using EnumWords = std::array<std::string_view, 2>;
constexpr EnumWords kKinds = {"fixed", "exponential"};
constexpr EnumWords kDurabilities = {"strict", "buffered"};
constexpr EnumWords kOnFailures = {"skip", "block"};

template <typename Enum>
bool read_word(std::optional<Enum>& to, const EnumWords& words, const TomlEntry& entry) {
  const auto* const found = std::find(words.begin(), words.end(), entry.text);
  if (entry.kind != TomlKind::text || found == words.end()) return false;
  to = static_cast<Enum>(found - words.begin());
  return true;
}

template <typename Enum>
std::string word(const EnumWords& words, Enum value) {
  return toml_string(words.at(static_cast<std::size_t>(value)));
}

template <typename Number>
MaybeText number_text(const std::optional<Number>& number) {
  return number ? MaybeText(std::to_string(*number)) : std::nullopt;
}

template <typename Duration>
MaybeText count_text(const std::optional<Duration>& duration) {
  return duration ? MaybeText(std::to_string(duration->count())) : std::nullopt;
}

std::string share_text(double share) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), share).ptr};
}

// Creates the retry policy at its first setting. Members that are not given keep the defaults of RetryPolicy.
RetryPolicy& retry_of(QueueConfig& config) {
  if (!config.retry) config.retry = RetryPolicy{};
  return *config.retry;
}

bool read_kind(QueueConfig& config, const TomlEntry& entry) {
  std::optional<RetryPolicy::Kind> kind;
  if (!read_word(kind, kKinds, entry)) return false;
  retry_of(config).kind = *kind;
  return true;
}

bool read_wait(Millis& to, const TomlEntry& entry) {
  std::optional<Millis> wait;
  if (!read_count(wait, entry)) return false;
  to = *wait;
  return true;
}

bool is_table(const TomlEntry& entry) { return entry.kind == TomlKind::table; }

struct QueueSetting {
  std::string_view name;  // the key in the file, with its table: retry.baseMs
  std::string_view what;  // "it must be ..."
  std::string_view example;
  bool (*read)(QueueConfig& config, const TomlEntry& entry);  // false if the value has the wrong type
  MaybeText (*text)(const QueueConfig& config);               // as TOML
};

using ConfigRef = const QueueConfig&;
using EntryRef = const TomlEntry&;
constexpr std::string_view kWhole = "a whole number";

constexpr QueueSetting kQueueSettings[] = {
    {"maxQueueDepth", kWhole, "10000",
     [](QueueConfig& config, EntryRef entry) { return read_number(config.max_queue_depth, entry); },
     [](ConfigRef config) { return number_text(config.max_queue_depth); }},
    {"highWatermark", kWhole, "8000",
     [](QueueConfig& config, EntryRef entry) { return read_number(config.high_watermark, entry); },
     [](ConfigRef config) { return number_text(config.high_watermark); }},
    {"batchSize", kWhole, "100",
     [](QueueConfig& config, EntryRef entry) { return read_number(config.batch_size, entry); },
     [](ConfigRef config) { return number_text(config.batch_size); }},
    {"processingInterval", "a whole number of milliseconds", "1000",
     [](QueueConfig& config, EntryRef entry) { return read_count(config.processing_interval, entry); },
     [](ConfigRef config) { return count_text(config.processing_interval); }},
    {"persistenceThreshold", kWhole, "500",
     [](QueueConfig& config, EntryRef entry) { return read_number(config.persistence_threshold, entry); },
     [](ConfigRef config) { return number_text(config.persistence_threshold); }},
    {"leaseMs", "a whole number of milliseconds", "60000",
     [](QueueConfig& config, EntryRef entry) { return read_count(config.lease, entry); },
     [](ConfigRef config) { return count_text(config.lease); }},
    {"maxAttempts", kWhole, "20",
     [](QueueConfig& config, EntryRef entry) { return read_number(config.max_attempts, entry); },
     [](ConfigRef config) { return number_text(config.max_attempts); }},
    {"maxRetries", kWhole, "3",
     [](QueueConfig& config, EntryRef entry) { return read_number(config.max_retries, entry); },
     [](ConfigRef config) { return number_text(config.max_retries); }},
    {"retry", "a table", "{ kind = \"exponential\", baseMs = 1000, capMs = 60000, jitter = 0.2 }",
     [](QueueConfig& config, EntryRef entry) {
       if (is_table(entry)) retry_of(config);
       return is_table(entry);
     },
     [](ConfigRef) { return MaybeText(); }},
    {"retry.kind", "\"fixed\" or \"exponential\"", "\"fixed\"",
     [](QueueConfig& config, EntryRef entry) { return read_kind(config, entry); },
     [](ConfigRef config) {
       return config.retry ? MaybeText(word(kKinds, config.retry->kind)) : std::nullopt;
     }},
    {"retry.baseMs", "a whole number of milliseconds", "1000",
     [](QueueConfig& config, EntryRef entry) { return read_wait(retry_of(config).base, entry); },
     [](ConfigRef config) {
       return config.retry ? MaybeText(std::to_string(config.retry->base.count())) : std::nullopt;
     }},
    {"retry.capMs", "a whole number of milliseconds", "60000",
     [](QueueConfig& config, EntryRef entry) { return read_wait(retry_of(config).cap, entry); },
     [](ConfigRef config) {
       return config.retry ? MaybeText(std::to_string(config.retry->cap.count())) : std::nullopt;
     }},
    {"retry.jitter", "a number from 0 to 1", "0.2",
     [](QueueConfig& config, EntryRef entry) { return read_share(retry_of(config).jitter, entry); },
     [](ConfigRef config) {
       return config.retry ? MaybeText(share_text(config.retry->jitter)) : std::nullopt;
     }},
    {"durability", "\"strict\" or \"buffered\"", "\"strict\"",
     [](QueueConfig& config, EntryRef entry) { return read_word(config.durability, kDurabilities, entry); },
     [](ConfigRef config) {
       return config.durability ? MaybeText(word(kDurabilities, *config.durability)) : std::nullopt;
     }},
    {"onFailure", "\"skip\" or \"block\"", "\"skip\"",
     [](QueueConfig& config, EntryRef entry) { return read_word(config.on_failure, kOnFailures, entry); },
     [](ConfigRef config) {
       return config.on_failure ? MaybeText(word(kOnFailures, *config.on_failure)) : std::nullopt;
     }},
    {"retention", "a table", "{ completedSeconds = 86400, failedSeconds = 604800 }",
     [](QueueConfig&, EntryRef entry) { return is_table(entry); }, [](ConfigRef) { return MaybeText(); }},
    {"retention.completedSeconds", "a whole number of seconds", "86400",
     [](QueueConfig& config, EntryRef entry) { return read_count(config.completed_retention, entry); },
     [](ConfigRef config) { return count_text(config.completed_retention); }},
    {"retention.failedSeconds", "a whole number of seconds", "604800",
     [](QueueConfig& config, EntryRef entry) { return read_count(config.failed_retention, entry); },
     [](ConfigRef config) { return count_text(config.failed_retention); }},
};

std::vector<std::string> queue_setting_names() {
  std::vector<std::string> names;
  for (const QueueSetting& member : kQueueSettings) names.emplace_back(member.name);
  return names;
}

// The keys after [queues.NAME], joined with dots.
std::string name_in_queue(const TomlEntry& entry) {
  std::string name = entry.path.at(2);
  for (std::size_t i = 3; i < entry.path.size(); ++i) name += "." + entry.path[i];
  return name;
}

// "retry.kind" in quotes is one key that contains a dot, not two keys, so the number of keys must match, too.
bool is_spelled(const TomlEntry& entry, std::string_view name) {
  const auto points = static_cast<std::size_t>(std::count(name.begin(), name.end(), '.'));
  return name_in_queue(entry) == name && entry.path.size() == points + 3;
}

// One queue while its entries are read.
struct ParsedQueue {
  QueueConfig config;
  std::map<std::string, std::size_t> lines;  // of its settings; that of the table under ""
};

Error fault_at(const std::string& path, std::size_t line, const std::string& message) {
  return {.code = ErrorCode::invalid_argument, .message = path + ":" + std::to_string(line) + ": " + message};
}

Result<void> read_member(ParsedQueue& reading, const TomlEntry& entry, const std::string& path) {
  const std::string name = name_in_queue(entry);
  const auto* const member =
      std::find_if(std::begin(kQueueSettings), std::end(kQueueSettings),
                   [&](const QueueSetting& known) { return is_spelled(entry, known.name); });
  if (member == std::end(kQueueSettings)) {
    const auto names = queue_setting_names();
    const bool in_quotes = std::find(names.begin(), names.end(), name) != names.end();
    return fault_at(path, entry.line,
                    "there is no setting " + toml_string(name) + " of a queue" +
                        (in_quotes ? "; write " + name + " without the quotes." : did_you_mean(name, names)));
  }
  if (!member->read(reading.config, entry)) {
    return fault_at(path, entry.line,
                    name + " must be " + std::string(member->what) + ", such as " +
                        std::string(member->example) + ", not " + entry.shown + ".");
  }
  reading.lines[name] = entry.line;
  return {};
}

Result<void> check(const std::string& name, const ParsedQueue& reading, const std::string& path) {
  const auto bad = validate(name, reading.config, Policy{});
  if (!bad) return {};
  const auto blamed = reading.lines.find(bad->field);
  const std::size_t line = blamed == reading.lines.end() ? reading.lines.at("") : blamed->second;
  return fault_at(path, line, "queue " + toml_string(name) + ": " + bad->message);
}

Error no_table(const TomlEntry& entry, const std::string& path) {
  const bool one = entry.path.size() == 2;
  return fault_at(path, entry.line,
                  (one ? "queue " + toml_string(entry.path[1]) : std::string(kQueuesTable)) +
                      " must be a table, such as [queues.mail], not " + entry.shown + ".");
}

}  // namespace

Result<QueueSettings> read_queue_settings(std::span<const TomlEntry> entries, const std::string& path) {
  std::map<std::string, ParsedQueue> readings;
  for (const TomlEntry& entry : entries) {
    if (entry.path.front() != kQueuesTable) continue;
    if (entry.path.size() <= 2 && !is_table(entry)) return no_table(entry, path);
    if (entry.path.size() == 1) continue;
    ParsedQueue& reading = readings[entry.path[1]];
    if (entry.path.size() == 2) {
      reading.lines[""] = entry.line;
      continue;
    }
    if (auto read = read_member(reading, entry, path); !read) return read.error();
  }

  QueueSettings settings;
  for (const auto& [name, reading] : readings) {
    if (auto checked = check(name, reading, path); !checked) return checked.error();
    settings.origins[name] = path + ":" + std::to_string(reading.lines.at(""));
    settings.queues[name] = reading.config;
  }
  return settings;
}

std::string queue_table_header(std::string_view name) {
  const bool bare = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return "[" + std::string(kQueuesTable) + "." + (bare ? std::string(name) : toml_string(name)) + "]";
}

std::string queue_table_members(const QueueConfig& config) {
  std::string text;
  for (const QueueSetting& member : kQueueSettings) {
    if (const MaybeText value = member.text(config)) text += std::string(member.name) + " = " + *value + "\n";
  }
  return text;
}

}  // namespace eventq::server
