// command_line.h: parses the command line of `eventq`. The only user of CLI11.
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

// There is no command to run: print this and exit. Requested help goes to stdout, help after an error to
// stderr.
struct Printout {
  std::string out;
  std::string err;
  ExitCode exit_code = ExitCode::done;
};

// `argv` is that of main(). ChosenCommand points into `commands`, so they must outlive it.
std::variant<ChosenCommand, Printout> parse_command_line(std::span<const CommandSpec> commands, int argc,
                                                         const char* const* argv);

}  // namespace eventq::cli
