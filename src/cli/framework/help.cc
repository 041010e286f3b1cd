// help.cc: see help.h.
#include "cli/framework/help.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/framework/record.h"

namespace eventq::cli {
namespace {

constexpr std::size_t kWidth = 100;
// A longer option gets a line of its own above its help.
constexpr std::size_t kHelpColumn = 28;

using HelpLine = std::pair<std::string, std::string>;

// Wraps `text` at kWidth columns, and indents all lines but the first by `indent`.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (column > indent && column + 1 + end > kWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string section(std::string_view title, const std::vector<HelpLine>& lines) {
  if (lines.empty()) return "";
  std::string out = "\n" + std::string(title) + ":\n";
  for (const auto& [left, right] : lines) {
    out += "  " + left;
    const std::size_t used = 2 + left.size();
    out +=
        used + 2 > kHelpColumn ? "\n" + std::string(kHelpColumn, ' ') : std::string(kHelpColumn - used, ' ');
    out += wrapped(right, kHelpColumn) + "\n";
  }
  return out;
}

std::vector<HelpLine> help_lines(std::span<const Parameter> parameters) {
  std::vector<HelpLine> lines;
  lines.reserve(parameters.size());
  for (const Parameter& parameter : parameters) lines.emplace_back(written(parameter), explained(parameter));
  return lines;
}

std::string paragraphs(std::string_view text) {
  std::string out;
  for (const std::string_view line : lines_of(text)) {
    out += (line.starts_with(' ') ? std::string(line) : wrapped(line, 0)) + "\n";
  }
  return out;
}

std::string listing(std::string_view usage, const std::vector<HelpLine>& commands) {
  return "Usage: " + std::string(usage) + "\n" + section("Commands", commands);
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string written(const Parameter& parameter) {
  if (!parameter.name.starts_with('-')) {
    const std::string name = parameter.name + (parameter.many ? "..." : "");
    return parameter.required ? name : "[" + name + "]";
  }
  std::string text = join_list(split_list(parameter.name), ", ");
  if (parameter.value.empty()) return text;
  return text + (parameter.bare ? "[=" + parameter.value + "]" : " " + parameter.value);
}

std::string explained(const Parameter& parameter) {
  std::string help = parameter.help;
  if (!parameter.choices.empty()) help += ": " + join_list(split_list(parameter.choices), ", ");
  if (!parameter.fallback.empty()) help += " [" + parameter.fallback + "]";
  return help;
}

std::string usage_line(const CommandSpec& command) {
  std::string usage = "eventq " + std::string(command.name);
  for (const Parameter& positional : command.positionals) usage += " " + written(positional);
  return usage + " [OPTIONS]";
}

std::string help_of(const CommandSpec& command) {
  std::string out = std::string(command.summary) + ".\n\nUsage: " + usage_line(command) + "\n";
  if (!command.details.empty()) out += "\n" + paragraphs(command.details);
  out += section("Arguments", help_lines(command.positionals));
  // CLI11 adds --help to every command, so it is in no command's list.
  std::vector<HelpLine> options = help_lines(command.options);
  options.emplace_back("-h, --help", "Print this help and exit");
  out += section("Options", options);
  const bool own_format = command.server_use == ServerUse::own_output;
  out += section(own_format ? "Server" : "Server and output", help_lines(common_options(command.server_use)));
  if (!command.examples.empty()) out += "\nExamples:\n";
  for (const Example& example : command.examples) {
    out += "  # " + std::string(example.what) + "\n  " + std::string(example.line) + "\n";
  }
  return out;
}

std::optional<std::string> help_about(std::span<const CommandSpec> commands, std::string_view words) {
  std::vector<HelpLine> below;
  for (const CommandSpec& command : commands) {
    if (command.name == words || (!words.empty() && command.earlier_name == words)) return help_of(command);
    if (words.empty() || command.name.starts_with(std::string(words) + " ")) {
      below.emplace_back(command.name, command.summary);
    }
  }
  if (!words.empty()) {
    if (below.empty()) return std::nullopt;
    return listing("eventq " + std::string(words) + " COMMAND", below);
  }
  return "eventq: a durable event queue\n\n" + listing("eventq COMMAND [OPTIONS]", below) +
         section("Options", {{"-h, --help", "Print this help, or the help of the command, and exit"},
                             {"--version", "Print the version and exit"}}) +
         "\n`eventq help COMMAND` shows details and examples.\n";
}

}  // namespace eventq::cli
