// help_commands.cc: `eventq help` and `eventq version`.
#include <ostream>

#include "base/nearest.h"
#include "cli/framework/command_table.h"
#include "cli/framework/help.h"
#include "cli/framework/invocation.h"
#include "cli/framework/record.h"
#include "cli/terminal/terminal_text.h"

namespace eventq::cli {
namespace {

ExitCode help(Invocation& run) {
  const std::string words = join_list(run.arguments.texts("COMMAND"), ' ');
  if (const auto text = help_about(all_commands(), words)) {
    run.out << *text;
    return ExitCode::done;
  }
  std::vector<std::string> known;
  for (const CommandSpec& command : all_commands()) known.emplace_back(command.name);
  return fail(run, "there is no command " + in_quotes(words) + did_you_mean(words, known), ExitCode::usage);
}

ExitCode version(Invocation& run) {
  run.out << "eventq " EVENTQ_VERSION "\n";
  return ExitCode::done;
}

}  // namespace

CommandSpec help_command() {
  return {.name = "help",
          .summary = "Explain a command",
          .details = "",
          .positionals = {{.name = "COMMAND", .help = "Such as publish, or queue pause", .many = true}},
          .options = {},
          .examples = {{"eventq help queue", "List the commands for queues"}},
          .run = help,
          .server_use = ServerUse::none};
}

CommandSpec version_command() {
  return {.name = "version",
          .summary = "Print the version",
          .details = "",
          .positionals = {},
          .options = {},
          .examples = {},
          .run = version,
          .server_use = ServerUse::none};
}

}  // namespace eventq::cli
