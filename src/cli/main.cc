// main.cc: parse, dispatch, exit code.
#include <exception>
#include <iostream>
#include <variant>

#include "cli/command_line.h"
#include "cli/serve.h"

namespace eventq::cli {
namespace {

ExitCode run(const Command& command) {
  if (const auto* serve_command = std::get_if<ServeCommand>(&command)) return serve(*serve_command);
  const auto& print = std::get<PrintCommand>(command);
  std::cout << print.out << std::flush;
  std::cerr << print.err;
  return std::cout ? print.exit_code : ExitCode::failed;
}

}  // namespace
}  // namespace eventq::cli

int main(int argc, char** argv) {
  using namespace eventq::cli;
  try {
    return static_cast<int>(run(parse_command_line(argc, argv)));
  } catch (const std::exception& error) {
    // Nothing of ours throws: this is memory that ran out, or a bug in a library.
    std::cerr << "eventq: " << error.what() << '\n';
    return static_cast<int>(ExitCode::failed);
  }
}
