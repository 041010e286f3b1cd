// help_commands.cc: `eventq completion`, `man`, `help` and `version`: print texts made from the command
// table.
#include <ostream>

#include "base/nearest.h"
#include "cli/framework/command_table.h"
#include "cli/framework/completion.h"
#include "cli/framework/help.h"
#include "cli/framework/invocation.h"
#include "cli/framework/manual.h"
#include "cli/framework/record.h"
#include "cli/terminal/terminal_text.h"

namespace eventq::cli {
namespace {

ExitCode completion(Invocation& run) {
  const std::string shell = run.arguments.text_or("SHELL", "");
  const auto make = shell == "bash" ? bash_completion : shell == "zsh" ? zsh_completion : fish_completion;
  run.out << make(all_commands());
  return ExitCode::done;
}

ExitCode man(Invocation& run) {
  run.out << (run.arguments.has("--markdown") ? markdown_manual(all_commands())
                                              : man_page(all_commands(), EVENTQ_VERSION));
  return ExitCode::done;
}

ExitCode help(Invocation& run) {
  const std::string words = join_list(run.arguments.texts("COMMAND"), " ");
  if (const auto text = help_about(all_commands(), words)) {
    run.out << *text;
    return ExitCode::done;
  }
  std::vector<std::string> known;
  for (const CommandSpec& command : all_commands()) known.emplace_back(command.name);
  const std::string guess = did_you_mean(words, known);
  return fail(run,
              "there is no command " + in_quotes(words) +
                  (guess.empty() ? "; `eventq help` lists all commands" : guess),
              ExitCode::usage);
}

ExitCode version(Invocation& run) {
  run.out << "eventq " EVENTQ_VERSION "\n";
  return ExitCode::done;
}

}  // namespace

std::vector<CommandSpec> help_commands() {
  return {
      {.name = "completion",
       .summary = "Print a script that completes commands in a shell",
       .details = "An installed eventq puts the three scripts where the shells look for them. Otherwise:\n"
                  "\n"
                  "  bash   source <(eventq completion bash)      in ~/.bashrc\n"
                  "  zsh    source <(eventq completion zsh)       in ~/.zshrc, after compinit\n"
                  "  fish   eventq completion fish | source       in ~/.config/fish/config.fish",
       .positionals = {{.name = "SHELL", .help = "The shell", .choices = "bash,zsh,fish", .required = true}},
       .examples = {{"eventq completion bash", "Print the script for bash"}},
       .run = completion,
       .server_use = ServerUse::none},
      {.name = "man",
       .summary = "Print the manual page",
       .options = {{.name = "--markdown", .help = "As Markdown"}},
       .examples = {{"eventq man | man -l -", "Read the manual where it is not installed"}},
       .run = man,
       .server_use = ServerUse::none},
      {.name = "help",
       .summary = "Explain a command",
       .positionals = {{.name = "COMMAND", .help = "Such as publish, or queue pause", .many = true}},
       .examples = {{"eventq help queue", "List the commands for queues"}},
       .run = help,
       .server_use = ServerUse::none},
      {.name = "version", .summary = "Print the version", .run = version, .server_use = ServerUse::none},
  };
}

}  // namespace eventq::cli
