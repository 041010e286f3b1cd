// queue_command.h: what all `eventq queue` commands with a NAME share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/framework/command.h"
#include "cli/framework/invocation.h"

namespace eventq::cli {

// "/queues/NAME", with the argument NAME percent-encoded.
[[nodiscard]] std::string queue_path(const Invocation& run);

// A command with the positional NAME.
[[nodiscard]] CommandSpec queue_command(std::string_view name, std::string_view summary,
                                        std::string_view details, std::vector<Parameter> options,
                                        std::vector<Example> examples, ExitCode (*run)(Invocation&));

}  // namespace eventq::cli
