// completion.cc: see completion.h.
#include "cli/framework/completion.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/framework/record.h"

namespace eventq::cli {
namespace {

using Words = std::vector<std::string>;

// All options that the parser accepts for a command.
std::vector<Parameter> options_of(const CommandSpec& command) {
  std::vector<Parameter> options = command.options;
  const auto common = common_options(command.server_use);
  options.insert(options.end(), common.begin(), common.end());
  options.push_back({.name = "-h,--help", .help = "Print help and exit"});
  return options;
}

// "queue" of "queue pause"; empty for a command of one word.
std::string group_of(const CommandSpec& command) {
  const std::size_t blank = command.name.find(' ');
  return blank == std::string_view::npos ? "" : std::string(command.name.substr(0, blank));
}

Words groups_of(std::span<const CommandSpec> commands) {
  Words groups;
  for (const CommandSpec& command : commands) {
    const std::string group = group_of(command);
    if (!group.empty() && std::find(groups.begin(), groups.end(), group) == groups.end())
      groups.push_back(group);
  }
  return groups;
}

// The words that may follow `group` (`eventq` itself when it is empty), each with its summary.
std::vector<std::pair<std::string, std::string>> words_behind(std::span<const CommandSpec> commands,
                                                              const std::string& group) {
  std::vector<std::pair<std::string, std::string>> words;
  for (const CommandSpec& command : commands) {
    if (group_of(command) != group) continue;
    words.emplace_back(command.name.substr(group.empty() ? 0 : group.size() + 1), command.summary);
  }
  if (!group.empty()) return words;
  for (const std::string& name : groups_of(commands)) words.emplace_back(name, "Commands for a " + name);
  return words;
}

// The fixed choices of a value; empty when it has none.
Words values_of(const Parameter& parameter) { return split_list(parameter.choices); }

bool takes_next_word(const Parameter& option) { return !option.value.empty() && !option.bare; }

// Puts a backslash before each character of `special`. A single quote becomes '\'', because the scripts put
// the text in single quotes.
std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += R"('\'')";
      continue;
    }
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// --- bash

constexpr std::string_view kBashStart =
    R"bash(# Completion of eventq for bash: made by `eventq completion bash`.
_eventq_words() { COMPREPLY+=($(compgen -W "$1" -- "$cur")); }
# Not with compgen -W, which would execute a queue name such as $(reboot).
_eventq_queues() {
  local name
  while read -r name; do
    if [[ $name == "$cur"* ]]; then COMPREPLY+=("$name"); fi
  done < <(timeout 1 "${COMP_WORDS[0]}" queue ls -o id 2>/dev/null)
}
_eventq_files() {
  compopt -o filenames 2>/dev/null
  local IFS=$'\n'
  COMPREPLY+=($(compgen -f -- "$cur"))
}

_eventq() {
  local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
  COMPREPLY=()
  # bash splits --output=json into three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)bash";

std::string bash_values(const Parameter& parameter) {
  if (parameter.completes == CompletionKind::file) return "_eventq_files";
  if (parameter.completes == CompletionKind::queue) return "_eventq_queues";
  return "_eventq_words \"" + join_list(values_of(parameter), " ") + "\"";
}

std::string bash_command(const CommandSpec& command) {
  std::string out = "    '" + std::string(command.name) + "')\n      case $previous in\n";
  Words names;
  for (const Parameter& option : options_of(command)) {
    const Words spellings = split_list(option.name);
    names.insert(names.end(), spellings.begin(), spellings.end());
    if (!takes_next_word(option)) continue;
    out += "        " + join_list(spellings, " | ") + ") " + bash_values(option) + "; return ;;\n";
  }
  out += "      esac\n      if [[ $cur == -* ]]; then _eventq_words \"" + join_list(names, " ") +
         "\"; return; fi\n";
  for (const Parameter& positional : command.positionals) out += "      " + bash_values(positional) + "\n";
  return out + "      ;;\n";
}

Words names_behind(std::span<const CommandSpec> commands, const std::string& group) {
  Words names;
  for (const auto& [name, what] : words_behind(commands, group)) names.push_back(name);
  return names;
}

// --- zsh

constexpr std::string_view kZshStart = R"zsh(#compdef eventq
# Completion of eventq for zsh: made by `eventq completion zsh`.
_eventq_queues() {
  local -a names=(${(f)"$(timeout 1 $program queue ls -o id 2>/dev/null)"})
  compadd -a names
}

_eventq() {
  local program=$words[1] command=$words[2]
  local -a commands
)zsh";

constexpr std::string_view kZshEnd = R"zsh(  esac
}

if [[ $funcstack[1] == _eventq ]]; then
  _eventq "$@"
else
  compdef _eventq eventq
fi
)zsh";

std::string zsh_values(const Parameter& parameter) {
  if (parameter.completes == CompletionKind::file) return "_files";
  if (parameter.completes == CompletionKind::queue) return "_eventq_queues";
  const Words values = values_of(parameter);
  return values.empty() ? " " : "(" + join_list(values, " ") + ")";
}

// One specification for each spelling of the option, in the syntax of zsh's _arguments: "*" allows it more
// than once, "(a b)" hides the other spellings once one is given. "=" and "+" let the value follow in the
// same word or the next; "=-" only in the same word.
std::string zsh_option(const Parameter& option) {
  std::string out;
  const Words spellings = split_list(option.name);
  for (const std::string& spelling : spellings) {
    const bool is_long = spelling.starts_with("--");
    out += " \\\n        '";
    if (option.many) {
      out += "*";
    } else if (spellings.size() > 1) {
      out += "(" + join_list(spellings, " ") + ")";
    }
    out += spelling;
    if (!option.value.empty()) out += is_long ? (option.bare ? "=-" : "=") : "+";
    out += "[" + escaped(option.help, "[]:\\") + "]";
    if (!option.value.empty())
      out += (option.bare ? "::" : ":") + escaped(option.value, ":") + ":" + zsh_values(option);
    out += "'";
  }
  return out;
}

std::string zsh_command(const CommandSpec& command) {
  std::string out = "    '" + std::string(command.name) + "') _arguments -s";
  for (const Parameter& option : options_of(command)) out += zsh_option(option);
  for (const Parameter& positional : command.positionals) {
    const std::string_view kind = positional.many ? "*:" : (positional.required ? ":" : "::");
    out += " \\\n        '" + std::string(kind) + positional.name + ":" + zsh_values(positional) + "'";
  }
  return out + " ;;\n";
}

// `commands=(...)` with the words that may follow `group`.
std::string zsh_words(std::span<const CommandSpec> commands, const std::string& group) {
  std::string out = "commands=(";
  for (const auto& [name, what] : words_behind(commands, group)) {
    out += "\n        '" + name + ":" + escaped(what, ":\\") + "'";
  }
  return out + ")";
}

// --- fish

constexpr std::string_view kFishStart =
    R"fish(# Completion of eventq for fish: made by `eventq completion fish`.
function __eventq_queues
    timeout 1 (commandline -opc)[1] queue ls -o id 2>/dev/null
end

# True if the words before the cursor start with these.
function __eventq_in
    set -l words (commandline -opc)
    set -l last (math 1 + (count $argv))
    test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
end

# True if the words before the cursor are exactly these.
function __eventq_is
    set -l words (commandline -opc)
    test "$words[2..-1]" = "$argv"; or test (count $words) -eq 1 -a (count $argv) -eq 0
end

complete -c eventq -f
)fish";

std::string fish_values(const Parameter& parameter) {
  if (parameter.completes == CompletionKind::file) return " -F";
  if (parameter.completes == CompletionKind::queue) return " -a '(__eventq_queues)'";
  const Words values = values_of(parameter);
  return values.empty() ? "" : " -a '" + join_list(values, " ") + "'";
}

// " -d 'description'" and the line end.
std::string fish_what(std::string_view what) {
  std::string out = " -d '";
  for (const char c : what) out += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
  return out + "'\n";
}

std::string fish_command(const CommandSpec& command) {
  const std::string start = "complete -c eventq -n '__eventq_in " + std::string(command.name) + "'";
  std::string out;
  for (const Parameter& option : options_of(command)) {
    out += start;
    for (const std::string& spelling : split_list(option.name)) {
      out += spelling.starts_with("--") ? " -l " + spelling.substr(2) : " -s " + spelling.substr(1);
    }
    if (takes_next_word(option))
      out += (option.completes == CompletionKind::file ? " -r" : " -x") + fish_values(option);
    out += fish_what(option.help);
  }
  for (const Parameter& positional : command.positionals) {
    const std::string values = fish_values(positional);
    if (!values.empty()) out += start + values + "\n";
  }
  return out;
}

std::string fish_words(std::span<const CommandSpec> commands, const std::string& group) {
  const std::string start =
      "complete -c eventq -n '__eventq_is" + (group.empty() ? "" : " " + group) + "' -a ";
  std::string out;
  for (const auto& [name, what] : words_behind(commands, group)) out += start + name + fish_what(what);
  return out;
}

}  // namespace

std::string bash_completion(std::span<const CommandSpec> commands) {
  std::string out(kBashStart);
  out += "  if ((COMP_CWORD == 1)); then _eventq_words \"" + join_list(names_behind(commands, ""), " ") +
         " --help --version\"; return; fi\n  case $command in\n";
  for (const std::string& group : groups_of(commands)) {
    out += "    " + group + ")\n      if ((COMP_CWORD == 2)); then _eventq_words \"" +
           join_list(names_behind(commands, group), " ") +
           "\"; return; fi\n      command+=\" ${COMP_WORDS[2]}\"\n      ;;\n";
  }
  out += "  esac\n  case $command in\n";
  for (const CommandSpec& command : commands) out += bash_command(command);
  return out + "  esac\n}\ncomplete -F _eventq eventq\n";
}

std::string zsh_completion(std::span<const CommandSpec> commands) {
  std::string out(kZshStart);
  out += "  if ((CURRENT == 2)); then\n    " + zsh_words(commands, "") +
         "\n    _describe command commands\n    return\n  fi\n  case $command in\n";
  for (const std::string& group : groups_of(commands)) {
    out += "    " + group + ")\n      if ((CURRENT == 3)); then\n      " + zsh_words(commands, group) +
           "\n        _describe command commands\n        return\n      fi\n"
           "      command+=\" $words[3]\"\n      shift words\n      ((CURRENT--))\n      ;;\n";
  }
  out += "  esac\n  shift words\n  ((CURRENT--))\n  case $command in\n";
  for (const CommandSpec& command : commands) out += zsh_command(command);
  return out + std::string(kZshEnd);
}

std::string fish_completion(std::span<const CommandSpec> commands) {
  std::string out(kFishStart);
  out += fish_words(commands, "");
  for (const std::string& group : groups_of(commands)) out += fish_words(commands, group);
  for (const CommandSpec& command : commands) out += fish_command(command);
  return out;
}

}  // namespace eventq::cli
