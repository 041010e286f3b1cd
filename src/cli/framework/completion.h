// completion.h: what a shell needs to complete the words of `eventq`, made from the table of commands.
#pragma once

#include <span>
#include <string>

#include "cli/framework/command.h"

namespace eventq::cli {

// Scripts for the shells. Names of queues are asked of the server when they are wanted, for a second at most.
[[nodiscard]] std::string bash_completion(std::span<const CommandSpec> commands);
[[nodiscard]] std::string zsh_completion(std::span<const CommandSpec> commands);
[[nodiscard]] std::string fish_completion(std::span<const CommandSpec> commands);

}  // namespace eventq::cli
