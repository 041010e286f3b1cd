// confirm.cc: see confirm.h.
#include "cli/commands/confirm.h"

#include <unistd.h>

#include <iostream>

namespace eventq::cli {

ExitCode confirm(Invocation& run, std::string what, std::size_t events) {
  if (run.arguments.has("--yes")) return ExitCode::done;
  // Without a terminal a prompt would read the input of the script, or wait forever.
  if (isatty(STDIN_FILENO) != 1) {
    return wrong_usage(run, "this would " + what +
                                ", and there is no terminal to confirm on. Give --yes, best with --expect " +
                                std::to_string(events) + "; nothing changed.");
  }
  // Starts a sentence. The verbs are lower-case ASCII.
  what.front() = static_cast<char>(what.front() - 'a' + 'A');
  run.err << what << "? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return ExitCode::done;
  run.err << "Nothing changed.\n";
  return ExitCode::timed_out;
}

}  // namespace eventq::cli
