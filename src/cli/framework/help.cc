// help.cc: see help.h.
#include "cli/framework/help.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace eventq::cli {
namespace {

constexpr std::size_t kWidth = 100;
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

std::vector<HelpLine> lines_of(std::span<const Parameter> parameters) {
  std::vector<HelpLine> lines;
  lines.reserve(parameters.size());
  for (const Parameter& parameter : parameters) lines.emplace_back(written(parameter), explained(parameter));
  return lines;
}

// An empty line separates paragraphs. A line that starts with a blank is preformatted and is not wrapped.
std::string paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    out += (line.starts_with(' ') ? std::string(line) : wrapped(line, 0)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string listing(std::string_view usage, const std::vector<HelpLine>& commands) {
  return "Usage: " + std::string(usage) + "\n" + section("Commands", commands);
}

}  // namespace

std::string written(const Parameter& parameter) {
  if (!parameter.name.starts_with('-')) {
    const std::string name = parameter.name + (parameter.many ? "..." : "");
    return parameter.required ? name : "[" + name + "]";
  }
  std::string text = parameter.name;
  if (const std::size_t comma = text.find(','); comma != std::string::npos) text.replace(comma, 1, ", ");
  if (parameter.value.empty()) return text;
  return text + (parameter.bare ? "[=" + parameter.value + "]" : " " + parameter.value);
}

std::string explained(const Parameter& parameter) {
  std::string help = parameter.help;
  if (!parameter.choices.empty()) {
    std::string choices = parameter.choices;
    for (std::size_t at = 0; (at = choices.find(',', at)) != std::string::npos; at += 2) {
      choices.replace(at, 1, ", ");
    }
    help += ": " + choices;
  }
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
  out += section("Arguments", lines_of(command.positionals));
  std::vector<HelpLine> options = lines_of(command.options);
  options.emplace_back("-h, --help", "Print this help and exit");
  out += section("Options", options);
  const bool own_format = command.server_use == ServerUse::own_output;
  out += section(own_format ? "Server" : "Server and output", lines_of(common_options(command.server_use)));
  if (!command.examples.empty()) out += "\nExamples:\n";
  for (const Example& example : command.examples) {
    out += "  # " + std::string(example.what) + "\n  " + std::string(example.line) + "\n";
  }
  return out;
}

std::optional<std::string> help_about(std::span<const CommandSpec> commands, std::string_view words) {
  std::vector<HelpLine> below;
  for (const CommandSpec& command : commands) {
    if (command.name == words) return help_of(command);
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
