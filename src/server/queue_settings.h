// queue_settings.h: reads the settings of single queues: the tables [queues.NAME] of the configuration file.
//
//   [queues.mail]
//   maxQueueDepth = 5000
//   retry = { kind = "exponential", baseMs = 1000, capMs = 60000, jitter = 0.2 }
//
//   [queues."billing/eu"]
//   retention.failedSeconds = 604800
//
// The keys are those of PUT /queues/NAME. An absent setting has its default.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "eventq/error.h"
#include "eventq/options.h"
#include "server/toml_file.h"

namespace eventq::server {

inline constexpr std::string_view kQueuesTable = "queues";

struct QueueSettings {
  std::map<std::string, QueueConfig> queues;   // by name
  std::map<std::string, std::string> origins;  // of each queue: "eventq.toml:3"
};

// Reads kQueuesTable and ignores all other entries. `path` is the path of the file, for messages.
// Errors: invalid_argument; the message starts with "PATH:LINE: ".
Result<QueueSettings> read_queue_settings(std::span<const TomlEntry> entries, const std::string& path);

// The inverse of read_queue_settings(): the header of a table, and a line per setting.
[[nodiscard]] std::string queue_table_header(std::string_view name);
[[nodiscard]] std::string queue_table_members(const QueueConfig& config);

}  // namespace eventq::server
