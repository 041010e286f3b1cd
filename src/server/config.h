// config.h: the effective settings of the server, and the origin of each.
//
// A flag overrides the environment, which overrides the configuration file, which overrides
// the default. Every given value is checked, also an overridden one. Settings of single
// queues are possible in the file only.
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

// The flags of `eventq serve`: name of the setting -> value.
struct ServeFlags {
  std::map<std::string, std::string, std::less<>> values;
  std::optional<std::string> config;  // --config
  // Replace the defaults of the table; file, variables and flags override them. For `eventq dev`.
  std::map<std::string, std::string, std::less<>> defaults = {};
};

// The environment variables that start with EVENTQ_.
using Variables = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] Variables read_environment();

struct ServerConfig {
  ServerSettings settings;
  // The origin of each setting, in the order of all_settings(): "default", "--lease",
  // "EVENTQ_LEASE" or "eventq.toml:3".
  std::vector<std::string> origins;
  std::map<std::string, std::string> queue_origins;  // of each of settings.queue.queues
  std::vector<std::string> unknown_variables;        // a typing error, or a variable of another program
};

// Errors: invalid_argument, not_found; the message is one line that starts with the origin of the value. When
// that is a flag, `field` is the flag.
Result<ServerConfig> load_config(const ServeFlags& flags, const Variables& variables);

// The origin of the setting `name`; empty when there is no such setting.
[[nodiscard]] std::string origin_of(const ServerConfig& config, std::string_view name);

// A configuration file with these settings. Comments give the origin of each.
[[nodiscard]] std::string print_config(const ServerConfig& config);

}  // namespace eventq::server
