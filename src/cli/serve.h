// serve.h: `eventq serve`: a store, its engine and the HTTP server, from start to orderly stop.
#pragma once

#include "cli/command_line.h"

namespace eventq::cli {

// Returns when the server was told to stop (SIGTERM, SIGINT) or could not start.
// REQUIRES: no thread was started yet.
ExitCode serve(const ServeCommand& command);

}  // namespace eventq::cli
