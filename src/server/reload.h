// reload.h: what a running server takes over when it reads its configuration again.
//
// It takes over the settings of queues in the file, and allow_origin. All other settings need a restart.
#pragma once

#include <string>
#include <vector>

#include "engine/engine.h"
#include "eventq/options.h"
#include "http/api/cors.h"
#include "server/config.h"

namespace eventq::server {

struct ConfigDifference {
  bool origins = false;                    // allow_origin
  std::vector<std::string> queues;         // new in the file, or with other settings
  std::vector<std::string> removed;        // queues that are no longer in the file; they keep their settings
  std::vector<std::string> needs_restart;  // names of settings
};
[[nodiscard]] ConfigDifference difference(const ServerConfig& running, const ServerConfig& wanted);

// Takes over what can be changed, updates `running` with it, and logs what changed and what needs a restart.
void reload(ServerConfig& running, const Result<ServerConfig>& wanted, Engine& engine,
            http::AllowedOrigins& origins, const Logger& log);

}  // namespace eventq::server
