// command_line.h: the arguments of `eventq` as a value. The wrapper round CLI11.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "cli/config.h"

namespace eventq::cli {

// What scripts rely on.
enum class ExitCode : std::uint8_t {
  done = 0,
  failed = 1,
  usage = 2,
};

struct ServeCommand {
  enum class Mode : std::uint8_t { serve, print_config };

  Flags flags;
  Mode mode = Mode::serve;
};

// Nothing to run: print this, and exit. Help goes to stdout when it was asked for, to stderr when not.
struct PrintCommand {
  std::string out;
  std::string err;
  ExitCode exit_code = ExitCode::done;
};

using Command = std::variant<ServeCommand, PrintCommand>;

// `argv` as main() got it.
Command parse_command_line(int argc, const char* const* argv);

}  // namespace eventq::cli
