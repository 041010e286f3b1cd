// serve_request.h: the arguments of `eventq serve` as a request. `eventq migrate` takes the same ones.
#pragma once

#include "cli/framework/command.h"
#include "server/serve.h"

namespace eventq::cli {

[[nodiscard]] ServeRequest serve_request(const Arguments& arguments);

}  // namespace eventq::cli
