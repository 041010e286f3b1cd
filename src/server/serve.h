// serve.h: runs the server: opens the stores, the engine and the notebooks, listens, and stops in order.
//
// src/server turns flags, environment and file into settings (config.h) and runs one server with them.
// Requests belong to src/http, queue rules to src/core. The command line is src/cli, which nothing here
// includes. A start passes load_config(), open_engine(), Notebooks::open(), make_service() and
// http::Server::start().
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "eventq/error.h"
#include "server/config.h"

namespace eventq::server {

enum class ServeMode : std::uint8_t { serve, print_config };

struct ServeRequest {
  ServeFlags flags;
  ServeMode mode = ServeMode::serve;
  // Called with the server's URL when it listens, and before it stops. If on_listening is set, the server
  // logs warnings only.
  std::function<void(const std::string& url)> on_listening = {};
  std::function<void()> on_stopping = {};
};

// Returns when SIGTERM, SIGINT or a closed terminal has stopped the server, or with an error when it could
// not start. SIGHUP without a terminal reloads the configuration, see reload.h. REQUIRES: no thread was
// started yet.
Result<void> serve(const ServeRequest& request);

}  // namespace eventq::server
