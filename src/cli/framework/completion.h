// completion.h: completion scripts for shells, generated from the command table.
#pragma once

#include <span>
#include <string>

#include "cli/framework/command.h"

namespace eventq::cli {

// The scripts complete names of queues by calling the server, with a timeout of one second.
[[nodiscard]] std::string bash_completion(std::span<const CommandSpec> commands);
[[nodiscard]] std::string zsh_completion(std::span<const CommandSpec> commands);
[[nodiscard]] std::string fish_completion(std::span<const CommandSpec> commands);

}  // namespace eventq::cli
