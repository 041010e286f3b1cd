// man_command.cc: `eventq man`: prints the manual.
#include <ostream>

#include "cli/framework/command_table.h"
#include "cli/framework/invocation.h"
#include "cli/framework/manual.h"

namespace eventq::cli {
namespace {

ExitCode man(Invocation& run) {
  run.out << (run.arguments.has("--markdown") ? markdown_manual(all_commands())
                                              : man_page(all_commands(), EVENTQ_VERSION));
  return ExitCode::done;
}

}  // namespace

CommandSpec man_command() {
  return {.name = "man",
          .summary = "Print the manual page",
          .details = "",
          .positionals = {},
          .options = {{.name = "--markdown", .help = "As Markdown"}},
          .examples = {{"eventq man | man -l -", "Read the manual where it is not installed"}},
          .run = man,
          .server_use = ServerUse::none};
}

}  // namespace eventq::cli
