// serve_request.h: the arguments of `eventq serve` as a request, and a server that runs until a signal.
#pragma once

#include "cli/framework/command.h"
#include "cli/framework/invocation.h"
#include "server/serve.h"

namespace eventq::cli {

// `eventq migrate` takes the same arguments, so that both open the same stores.
[[nodiscard]] server::ServeRequest serve_request(const Arguments& arguments);

// The option --config.
[[nodiscard]] Parameter config_option();

// Runs server::serve(), and prints its error on err. REQUIRES: no thread was started yet.
ExitCode run_server(Invocation& invocation, const server::ServeRequest& request);

}  // namespace eventq::cli
