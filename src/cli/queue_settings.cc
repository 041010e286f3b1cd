// queue_settings.cc: the table of a queue's settings, and the spellings made from it.
#include "cli/queue_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <system_error>
#include <vector>

#include "base/numbers.h"
#include "cli/nearest.h"
#include "cli/settings.h"
#include "model/policy.h"

namespace eventq::cli {
namespace {

using Kind = TomlEntry::Kind;
using Text = std::optional<std::string>;  // nothing: not set

// Ranges are left to validate(): a number beyond int becomes the nearest int, which is out of
// every range of ours.
template <typename Number>
bool read_number(std::optional<Number>& to, const TomlEntry& entry) {
  if (entry.kind != Kind::number) return false;
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
  if (entry.kind != Kind::number && entry.kind != Kind::fraction) return false;
  const char* const end = entry.text.data() + entry.text.size();
  const auto parsed = std::from_chars(entry.text.data(), end, to);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

// The members of an enumeration, in its order.
using Words = std::array<std::string_view, 2>;
constexpr Words kKinds = {"fixed", "exponential"};
constexpr Words kDurabilities = {"strict", "buffered"};
constexpr Words kOnFailures = {"skip", "block"};

template <typename Enum>
bool read_word(std::optional<Enum>& to, const Words& words, const TomlEntry& entry) {
  const auto* const found = std::find(words.begin(), words.end(), entry.text);
  if (entry.kind != Kind::text || found == words.end()) return false;
  to = static_cast<Enum>(found - words.begin());
  return true;
}

template <typename Enum>
std::string word(const Words& words, Enum value) {
  return toml_string(words.at(static_cast<std::size_t>(value)));
}

template <typename Number>
Text number_text(const std::optional<Number>& number) {
  return number ? Text(std::to_string(*number)) : std::nullopt;
}

template <typename Duration>
Text count_text(const std::optional<Duration>& duration) {
  return duration ? Text(std::to_string(duration->count())) : std::nullopt;
}

std::string share_text(double share) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), share).ptr};
}

// What is not given of a retry has the default of RetryPolicy.
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

bool is_table(const TomlEntry& entry) { return entry.kind == Kind::table; }

struct Member {
  std::string_view name;  // as in the file, with the table it is in: retry.baseMs
  std::string_view what;  // "it must be ..."
  std::string_view example;
  bool (*read)(QueueConfig& config, const TomlEntry& entry);  // false when it is no such value
  Text (*text)(const QueueConfig& config);                    // as TOML
};

using Config = const QueueConfig&;
using Entry = const TomlEntry&;
constexpr std::string_view kWhole = "a whole number";

constexpr Member kMembers[] = {
    {"maxQueueDepth", kWhole, "10000",
     [](QueueConfig& config, Entry entry) { return read_number(config.max_queue_depth, entry); },
     [](Config config) { return number_text(config.max_queue_depth); }},
    {"highWatermark", kWhole, "8000",
     [](QueueConfig& config, Entry entry) { return read_number(config.high_watermark, entry); },
     [](Config config) { return number_text(config.high_watermark); }},
    {"batchSize", kWhole, "100",
     [](QueueConfig& config, Entry entry) { return read_number(config.batch_size, entry); },
     [](Config config) { return number_text(config.batch_size); }},
    {"processingInterval", "a whole number of milliseconds", "1000",
     [](QueueConfig& config, Entry entry) { return read_count(config.processing_interval, entry); },
     [](Config config) { return count_text(config.processing_interval); }},
    {"persistenceThreshold", kWhole, "500",
     [](QueueConfig& config, Entry entry) { return read_number(config.persistence_threshold, entry); },
     [](Config config) { return number_text(config.persistence_threshold); }},
    {"leaseMs", "a whole number of milliseconds", "60000",
     [](QueueConfig& config, Entry entry) { return read_count(config.lease, entry); },
     [](Config config) { return count_text(config.lease); }},
    {"maxAttempts", kWhole, "20",
     [](QueueConfig& config, Entry entry) { return read_number(config.max_attempts, entry); },
     [](Config config) { return number_text(config.max_attempts); }},
    {"maxRetries", kWhole, "3",
     [](QueueConfig& config, Entry entry) { return read_number(config.max_retries, entry); },
     [](Config config) { return number_text(config.max_retries); }},
    {"retry", "a table", "{ kind = \"exponential\", baseMs = 1000, capMs = 60000, jitter = 0.2 }",
     [](QueueConfig& config, Entry entry) {
       if (is_table(entry)) retry_of(config);
       return is_table(entry);
     },
     [](Config) { return Text(); }},
    {"retry.kind", "\"fixed\" or \"exponential\"", "\"fixed\"",
     [](QueueConfig& config, Entry entry) { return read_kind(config, entry); },
     [](Config config) { return config.retry ? Text(word(kKinds, config.retry->kind)) : std::nullopt; }},
    {"retry.baseMs", "a whole number of milliseconds", "1000",
     [](QueueConfig& config, Entry entry) { return read_wait(retry_of(config).base, entry); },
     [](Config config) {
       return config.retry ? Text(std::to_string(config.retry->base.count())) : std::nullopt;
     }},
    {"retry.capMs", "a whole number of milliseconds", "60000",
     [](QueueConfig& config, Entry entry) { return read_wait(retry_of(config).cap, entry); },
     [](Config config) {
       return config.retry ? Text(std::to_string(config.retry->cap.count())) : std::nullopt;
     }},
    {"retry.jitter", "a number from 0 to 1", "0.2",
     [](QueueConfig& config, Entry entry) { return read_share(retry_of(config).jitter, entry); },
     [](Config config) { return config.retry ? Text(share_text(config.retry->jitter)) : std::nullopt; }},
    {"durability", "\"strict\" or \"buffered\"", "\"strict\"",
     [](QueueConfig& config, Entry entry) { return read_word(config.durability, kDurabilities, entry); },
     [](Config config) {
       return config.durability ? Text(word(kDurabilities, *config.durability)) : std::nullopt;
     }},
    {"onFailure", "\"skip\" or \"block\"", "\"skip\"",
     [](QueueConfig& config, Entry entry) { return read_word(config.on_failure, kOnFailures, entry); },
     [](Config config) {
       return config.on_failure ? Text(word(kOnFailures, *config.on_failure)) : std::nullopt;
     }},
    {"retention", "a table", "{ completedSeconds = 86400, failedSeconds = 604800 }",
     [](QueueConfig&, Entry entry) { return is_table(entry); }, [](Config) { return Text(); }},
    {"retention.completedSeconds", "a whole number of seconds", "86400",
     [](QueueConfig& config, Entry entry) { return read_count(config.completed_retention, entry); },
     [](Config config) { return count_text(config.completed_retention); }},
    {"retention.failedSeconds", "a whole number of seconds", "604800",
     [](QueueConfig& config, Entry entry) { return read_count(config.failed_retention, entry); },
     [](Config config) { return count_text(config.failed_retention); }},
};

std::vector<std::string> member_names() {
  std::vector<std::string> names;
  for (const Member& member : kMembers) names.emplace_back(member.name);
  return names;
}

// The keys behind [queues.NAME], with a point between them.
std::string name_in_queue(const TomlEntry& entry) {
  std::string name = entry.path.at(2);
  for (std::size_t i = 3; i < entry.path.size(); ++i) name += "." + entry.path[i];
  return name;
}

// A key in quotes may hold points that stand between no keys.
bool is_spelled(const TomlEntry& entry, std::string_view name) {
  const auto points = static_cast<std::size_t>(std::count(name.begin(), name.end(), '.'));
  return name_in_queue(entry) == name && entry.path.size() == points + 3;
}

// One queue while it is read.
struct Reading {
  QueueConfig config;
  std::map<std::string, std::size_t> lines;  // of its members, and of the queue itself under ""
};

Error fault(const std::string& path, std::size_t line, const std::string& message) {
  return {.code = ErrorCode::invalid_argument, .message = path + ":" + std::to_string(line) + ": " + message};
}

Result<void> read_member(Reading& reading, const TomlEntry& entry, const std::string& path) {
  const std::string name = name_in_queue(entry);
  const auto* const member = std::find_if(std::begin(kMembers), std::end(kMembers),
                                          [&](const Member& known) { return is_spelled(entry, known.name); });
  if (member == std::end(kMembers)) {
    const auto names = member_names();
    const bool in_quotes = std::find(names.begin(), names.end(), name) != names.end();
    return fault(path, entry.line,
                 "there is no setting " + toml_string(name) + " of a queue" +
                     (in_quotes ? "; write " + name + " without the quotes." : did_you_mean(name, names)));
  }
  if (!member->read(reading.config, entry)) {
    return fault(path, entry.line,
                 name + " must be " + std::string(member->what) + ", such as " +
                     std::string(member->example) + ", not " + entry.shown + ".");
  }
  reading.lines[name] = entry.line;
  return {};
}

Result<void> check(const std::string& name, const Reading& reading, const std::string& path) {
  const auto bad = validate(name, reading.config, Policy{});
  if (!bad) return {};
  const auto blamed = reading.lines.find(bad->field);
  const std::size_t line = blamed == reading.lines.end() ? reading.lines.at("") : blamed->second;
  return fault(path, line, "queue " + toml_string(name) + ": " + bad->message);
}

Error no_table(const TomlEntry& entry, const std::string& path) {
  const bool one = entry.path.size() == 2;
  return fault(path, entry.line,
               (one ? "queue " + toml_string(entry.path[1]) : std::string(kQueuesTable)) +
                   " must be a table, such as [queues.mail], not " + entry.shown + ".");
}

}  // namespace

Result<QueueSettings> read_queue_settings(std::span<const TomlEntry> entries, const std::string& path) {
  std::map<std::string, Reading> readings;
  for (const TomlEntry& entry : entries) {
    if (entry.path.front() != kQueuesTable) continue;
    if (entry.path.size() <= 2 && !is_table(entry)) return no_table(entry, path);
    if (entry.path.size() == 1) continue;
    Reading& reading = readings[entry.path[1]];
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

std::string queue_table_head(std::string_view name) {
  const bool bare = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return "[" + std::string(kQueuesTable) + "." + (bare ? std::string(name) : toml_string(name)) + "]";
}

std::string queue_table_members(const QueueConfig& config) {
  std::string text;
  for (const Member& member : kMembers) {
    if (const Text value = member.text(config)) text += std::string(member.name) + " = " + *value + "\n";
  }
  return text;
}

}  // namespace eventq::cli
