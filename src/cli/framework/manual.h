// manual.h: the complete manual, generated from the command table: eventq(1) and docs/cli.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/framework/command.h"

namespace eventq::cli {

// In man(7) format.
[[nodiscard]] std::string man_page(std::span<const CommandSpec> commands, std::string_view version);

// Without the version, so that docs/cli.md does not change with each release.
[[nodiscard]] std::string markdown_manual(std::span<const CommandSpec> commands);

}  // namespace eventq::cli
