// command_line.h: the arguments of `eventq` as a value. The wrapper round CLI11.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "cli/framework/command.h"

namespace eventq::cli {

struct ChosenCommand {
  const CommandSpec* command = nullptr;
  Arguments arguments;
};

// Nothing to run: print this, and exit. Help goes to stdout when it was asked for, to stderr when not.
struct Printout {
  std::string out;
  std::string err;
  ExitCode exit_code = ExitCode::done;
};

// `argv` as main() got it. The answer points into `commands`.
std::variant<ChosenCommand, Printout> parse_command_line(std::span<const CommandSpec> commands, int argc,
                                                         const char* const* argv);

}  // namespace eventq::cli
