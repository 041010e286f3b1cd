// main.cc: parses the command line, runs the command, returns its exit code.
//
// src/cli is the program `eventq`. framework/ describes commands and turns their table into a parser, --help,
// the man page and shell completions. commands/ has one file per command or group. terminal/ prints tables,
// progress bars and the screen of `eventq top`. Queue logic does not belong here: a command calls a server
// over HTTP, or uses src/server and src/tools. A call passes parse_command_line(), run(), CommandSpec::run,
// call(), and ends in a RecordPrinter.
#include <fcntl.h>
#include <unistd.h>

#include <exception>
#include <iostream>
#include <variant>

#include "cli/framework/command_line.h"
#include "cli/framework/command_table.h"
#include "cli/framework/invocation.h"

namespace eventq::cli {
namespace {

ExitCode print(const Printout& printout) {
  std::cout << printout.out;
  std::cerr << printout.err;
  return printout.exit_code;
}

ExitCode run(const ChosenCommand& chosen) {
  const TerminalEnvironment environment = read_terminal_environment();
  const std::string url = server_url(chosen.arguments, environment);
  const bool uses_server = chosen.command->server_use != ServerUse::none;
  const auto address = client::parse_url(url);
  client::HttpClient server(address ? *address : client::HttpUrl{});
  Invocation invocation{.command = *chosen.command,
                        .arguments = chosen.arguments,
                        .output = output_options(chosen.arguments, environment),
                        .url = url,
                        .server = server,
                        .out = std::cout,
                        .err = std::cerr};
  if (uses_server && !address) return wrong_usage(invocation, address.error().message);
  return chosen.command->run(invocation);
}

// If the caller closed a standard stream, the next open() would return its number, and output would be
// written into that file or socket. So this function opens /dev/null for each closed stream.
void open_standard_streams() {
  int opened = 0;
  while (opened >= 0 && opened <= STDERR_FILENO) opened = ::open("/dev/null", O_RDWR);
  if (opened >= 0) ::close(opened);
}

ExitCode main(int argc, const char* const* argv) {
  const auto parsed = parse_command_line(all_commands(), argc, argv);
  const auto* const chosen = std::get_if<ChosenCommand>(&parsed);
  const ExitCode code = chosen != nullptr ? run(*chosen) : print(std::get<Printout>(parsed));
  // A full disk or a closed pipe shows up only here, because std::cout buffers.
  std::cout << std::flush;
  if (std::cout) return code;
  std::cerr << "eventq: cannot write to stdout\n";
  return code == ExitCode::done ? ExitCode::failed : code;
}

}  // namespace
}  // namespace eventq::cli

int main(int argc, char** argv) {
  eventq::cli::open_standard_streams();
  try {
    return static_cast<int>(eventq::cli::main(argc, argv));
  } catch (const std::exception& error) {
    // eventq code does not throw, so this is std::bad_alloc or a bug in a library.
    std::cerr << "eventq: " << error.what() << '\n';
    return static_cast<int>(eventq::cli::ExitCode::failed);
  }
}
