// queue_settings.h: the settings of single queues: the tables [queues.NAME] of the configuration file.
//
//   [queues.mail]
//   maxQueueDepth = 5000
//   retry = { kind = "exponential", baseMs = 1000, capMs = 60000, jitter = 0.2 }
//
//   [queues."billing/eu"]
//   retention.failedSeconds = 604800
//
// Members are spelled as in PUT /queues/NAME. What is absent has its default.
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

// Looks at kQueuesTable and what is in it only; `path` is the file's, for messages.
// Errors: invalid_argument with "PATH:LINE: " in front.
Result<QueueSettings> read_queue_settings(std::span<const TomlEntry> entries, const std::string& path);

// The tables that read_queue_settings() reads as `config`: each head, and a line per setting in it.
[[nodiscard]] std::string queue_table_header(std::string_view name);
[[nodiscard]] std::string queue_table_members(const QueueConfig& config);

}  // namespace eventq::server
