// config.h: the settings in force, and where each of them came from.
//
// A flag wins over the environment, that over the configuration file, that over the
// default. Every value given is checked, also one that another wins over. The settings of
// single queues stand in the file only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/error.h"
#include "server/settings.h"

namespace eventq::server {

// The flags of `eventq serve` that were given: name of the setting -> value.
struct ServeFlags {
  std::map<std::string, std::string, std::less<>> values;
  std::optional<std::string> config;  // --config
};

// The variables of the environment that start with EVENTQ_.
using Variables = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] Variables read_environment();

struct ServerConfig {
  ServerSettings settings;
  // Where each of all_settings() came from, in that order: "default", "--lease",
  // "EVENTQ_LEASE" or "eventq.toml:3".
  std::vector<std::string> origins;
  std::map<std::string, std::string> queue_origins;  // of each of settings.queue.queues
  std::vector<std::string> unknown_variables;        // some other program's, or a mistake
};

// Errors: invalid_argument, not_found; the message is one line that says where the fault is.
Result<ServerConfig> load_config(const ServeFlags& flags, const Variables& variables);

// Empty when there is no setting of that name.
[[nodiscard]] std::string origin_of(const ServerConfig& config, std::string_view name);

// A configuration file with these settings; comments tell where each came from.
[[nodiscard]] std::string print_config(const ServerConfig& config);

}  // namespace eventq::server
