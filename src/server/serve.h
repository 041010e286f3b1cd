// serve.h: `eventq serve`: a store, its engine and the HTTP server, from start to orderly stop.
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
  // Called with the server's URL when it listens, instead of logging what is in order; and, if that is set,
  // when it is about to stop.
  std::function<void(const std::string& url)> on_listening = {};
  std::function<void()> on_stopping = {};
};

// Returns when SIGTERM or SIGINT has stopped the server, or with an error when it could not start.
// REQUIRES: no thread was started yet.
Result<void> serve(const ServeRequest& request);

}  // namespace eventq::server
