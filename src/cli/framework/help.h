// help.h: the texts of --help, generated from the command table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/framework/command.h"

namespace eventq::cli {

// "eventq publish TAGS [PAYLOAD] [OPTIONS]"
[[nodiscard]] std::string usage_line(const CommandSpec& command);

// "-o, --output FORMAT", "--wait[=DURATION]", "[PAYLOAD]", "ID..."
[[nodiscard]] std::string written(const Parameter& parameter);

// "How to print: table, json [table]"
[[nodiscard]] std::string explained(const Parameter& parameter);

// The lines of a text from the command table, without their line ends. An empty line separates paragraphs; a
// line that starts with a blank is preformatted.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

[[nodiscard]] std::string help_of(const CommandSpec& command);

// `words` are the arguments of `eventq help`: none for all commands, "queue" for a group, "queue pause" for a
// command. Returns nothing if there is no such group or command.
[[nodiscard]] std::optional<std::string> help_about(std::span<const CommandSpec> commands,
                                                    std::string_view words);

}  // namespace eventq::cli
