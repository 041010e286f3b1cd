// manual.h: the whole manual, made from the table of commands: eventq(1) for man, docs/cli.md for the web.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/framework/command.h"

namespace eventq::cli {

// In the language of man(7).
[[nodiscard]] std::string man_page(std::span<const CommandSpec> commands, std::string_view version);

// Without the version: the file lies in the repository and says what the program beside it does.
[[nodiscard]] std::string markdown_manual(std::span<const CommandSpec> commands);

}  // namespace eventq::cli
