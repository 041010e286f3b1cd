// completion_command.cc: `eventq completion`: prints a completion script.
#include "cli/framework/completion.h"

#include <ostream>

#include "cli/framework/command_table.h"
#include "cli/framework/invocation.h"

namespace eventq::cli {
namespace {

ExitCode completion(Invocation& run) {
  const std::string shell = run.arguments.text_or("SHELL", "");
  const auto make = shell == "bash" ? bash_completion : shell == "zsh" ? zsh_completion : fish_completion;
  run.out << make(all_commands());
  return ExitCode::done;
}

}  // namespace

CommandSpec completion_command() {
  return {.name = "completion",
          .summary = "Print a script that completes commands in a shell",
          .details =
              "An installed eventq puts the three scripts where the shells look for them. Otherwise:\n"
              "\n"
              "  bash   source <(eventq completion bash)      in ~/.bashrc\n"
              "  zsh    source <(eventq completion zsh)       in ~/.zshrc, after compinit\n"
              "  fish   eventq completion fish | source       in ~/.config/fish/config.fish",
          .positionals = {{.name = "SHELL",
                           .help = "The shell",
                           .choices = "bash,zsh,fish",
                           .completes = CompletionKind::choice,
                           .required = true}},
          .options = {},
          .examples = {{"eventq completion bash", "Print the script for bash"}},
          .run = completion,
          .server_use = ServerUse::none};
}

}  // namespace eventq::cli
