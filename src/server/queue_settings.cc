// queue_settings.cc: the table of all settings of a queue, and its reader and writer.
#include "server/queue_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <system_error>
#include <type_traits>
#include <vector>

#include "base/nearest.h"
#include "base/numbers.h"
#include "model/policy.h"
#include "server/settings.h"

namespace eventq::server {
namespace {

using MaybeText = std::optional<std::string>;  // nothing if not set
using EnumWords = std::array<std::string_view, 2>;

// The names of the values of an enumeration, in its order.
EnumWords words_of(RetryPolicy::Kind) { return {"fixed", "exponential"}; }
EnumWords words_of(Durability) { return {"strict", "buffered"}; }
EnumWords words_of(OnFailure) { return {"skip", "block"}; }

// read_value() returns false if the value has the wrong type. validate() checks ranges later. A number beyond
// int becomes the nearest int, which is outside of every valid range, so validate() still refuses it.
template <std::integral Number>
bool read_value(Number& to, const TomlEntry& entry) {
  if (entry.kind != TomlKind::number) return false;
  const auto number = parse_whole_signed<std::int64_t>(entry.text);
  if (!number) return false;
  using Limits = std::numeric_limits<Number>;
  to = static_cast<Number>(std::clamp<std::int64_t>(*number, Limits::min(), Limits::max()));
  return true;
}

template <typename Count, typename Period>
bool read_value(std::chrono::duration<Count, Period>& to, const TomlEntry& entry) {
  std::int64_t number = 0;
  if (!read_value(number, entry)) return false;
  to = std::chrono::duration<Count, Period>(number);
  return true;
}

bool read_value(double& to, const TomlEntry& entry) {
  if (entry.kind != TomlKind::number && entry.kind != TomlKind::fraction) return false;
  const char* const end = entry.text.data() + entry.text.size();
  const auto parsed = std::from_chars(entry.text.data(), end, to);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

template <typename Enum>
requires std::is_enum_v<Enum>
bool read_value(Enum& to, const TomlEntry& entry) {
  const EnumWords words = words_of(to);
  const auto* const found = std::find(words.begin(), words.end(), entry.text);
  if (entry.kind != TomlKind::text || found == words.end()) return false;
  to = static_cast<Enum>(found - words.begin());
  return true;
}

// The inverse of read_value().
template <typename Value>
std::string value_text(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return toml_string(words_of(value).at(static_cast<std::size_t>(value)));
  } else if constexpr (std::is_integral_v<Value>) {
    return std::to_string(value);
  } else if constexpr (std::is_floating_point_v<Value>) {
    return toml_fraction(value);
  } else {
    return std::to_string(value.count());
  }
}

bool is_table(const TomlEntry& entry) { return entry.kind == TomlKind::table; }

struct QueueSetting {
  std::string_view name;     // the key in the file, with its table: retry.baseMs
  std::string_view what;     // "it must be ..."
  std::string_view example;  // empty: `what` names all values
  bool (*read)(QueueConfig& config, const TomlEntry& entry);  // false if the value has the wrong type
  MaybeText (*text)(const QueueConfig& config);               // as TOML
};

// The setting that is `member` of a QueueConfig.
template <auto member>
constexpr QueueSetting setting(std::string_view name, std::string_view what, std::string_view example) {
  return {name, what, example,
          [](QueueConfig& config, const TomlEntry& entry) {
            return read_value((config.*member).emplace(), entry);
          },
          [](const QueueConfig& config) {
            return config.*member ? MaybeText(value_text(*(config.*member))) : std::nullopt;
          }};
}

// Creates the retry policy at its first setting. Members that are not given keep the defaults of RetryPolicy.
RetryPolicy& retry_of(QueueConfig& config) { return config.retry ? *config.retry : config.retry.emplace(); }

// The setting that is `member` of the retry policy.
template <auto member>
constexpr QueueSetting retry_setting(std::string_view name, std::string_view what, std::string_view example) {
  return {
      name, what, example,
      [](QueueConfig& config, const TomlEntry& entry) { return read_value(retry_of(config).*member, entry); },
      [](const QueueConfig& config) {
        return config.retry ? MaybeText(value_text((*config.retry).*member)) : std::nullopt;
      }};
}

constexpr std::string_view kWhole = "a whole number";
constexpr std::string_view kMilliseconds = "a whole number of milliseconds";
constexpr std::string_view kSeconds = "a whole number of seconds";

constexpr QueueSetting kQueueSettings[] = {
    setting<&QueueConfig::max_queue_depth>("maxQueueDepth", kWhole, "10000"),
    setting<&QueueConfig::high_watermark>("highWatermark", kWhole, "8000"),
    setting<&QueueConfig::batch_size>("batchSize", kWhole, "100"),
    setting<&QueueConfig::processing_interval>("processingInterval", kMilliseconds, "1000"),
    setting<&QueueConfig::persistence_threshold>("persistenceThreshold", kWhole, "500"),
    setting<&QueueConfig::lease>("leaseMs", kMilliseconds, "60000"),
    setting<&QueueConfig::max_attempts>("maxAttempts", kWhole, "20"),
    setting<&QueueConfig::max_retries>("maxRetries", kWhole, "3"),
    // A table sets nothing itself: its members are entries of their own. An empty retry table is a policy,
    // too.
    {"retry", "a table", "{ kind = \"exponential\", baseMs = 1000, capMs = 60000, jitter = 0.2 }",
     [](QueueConfig& config, const TomlEntry& entry) {
       if (is_table(entry)) retry_of(config);
       return is_table(entry);
     },
     [](const QueueConfig&) { return MaybeText(); }},
    retry_setting<&RetryPolicy::kind>("retry.kind", "\"fixed\" or \"exponential\"", ""),
    retry_setting<&RetryPolicy::base>("retry.baseMs", kMilliseconds, "1000"),
    retry_setting<&RetryPolicy::cap>("retry.capMs", kMilliseconds, "60000"),
    retry_setting<&RetryPolicy::jitter>("retry.jitter", "a number from 0 to 1", "0.2"),
    setting<&QueueConfig::durability>("durability", "\"strict\" or \"buffered\"", ""),
    setting<&QueueConfig::on_failure>("onFailure", "\"skip\" or \"block\"", ""),
    {"retention", "a table", "{ completedSeconds = 86400, failedSeconds = 604800 }",
     [](QueueConfig&, const TomlEntry& entry) { return is_table(entry); },
     [](const QueueConfig&) { return MaybeText(); }},
    setting<&QueueConfig::completed_retention>("retention.completedSeconds", kSeconds, "86400"),
    setting<&QueueConfig::failed_retention>("retention.failedSeconds", kSeconds, "604800"),
};

std::vector<std::string> queue_setting_names() {
  std::vector<std::string> names;
  for (const QueueSetting& member : kQueueSettings) names.emplace_back(member.name);
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

// The keys after [queues.NAME], joined with dots.
std::string name_in_queue(const TomlEntry& entry) { return key_of(entry, 2); }

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
    // The name is right, but is_spelled() refused it, so the file has it in quotes.
    const bool in_quotes = std::find(names.begin(), names.end(), name) != names.end();
    std::string instead = in_quotes ? "; write " + name + " without the quotes." : did_you_mean(name, names);
    if (instead.empty()) instead = "; there are " + joined(names) + ".";
    return fault_at(
        path, entry.line,
        "queue " + toml_string(entry.path[1]) + ": there is no setting " + toml_string(name) + instead);
  }
  if (!member->read(reading.config, entry)) {
    const std::string example(member->example);
    return fault_at(path, entry.line,
                    "queue " + toml_string(entry.path[1]) + ": " + name + " must be " +
                        std::string(member->what) + (example.empty() ? "" : ", such as " + example) +
                        ", not " + entry.shown + ".");
  }
  reading.lines[name] = entry.line;
  return {};
}

Result<void> check(const std::string& name, const ParsedQueue& reading, const std::string& path) {
  const auto bad = validate(name, reading.config, Policy{});
  if (!bad) return {};
  // An error that is about no given setting, such as a bad name, is shown at the line of the table.
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
