// manual.cc: see manual.h.
#include "cli/framework/manual.h"

#include <utility>

#include "cli/framework/help.h"

namespace eventq::cli {
namespace {

using ManualLine = std::pair<std::string_view, std::string_view>;

constexpr std::string_view kAbout =
    "eventq stores events until a worker has processed them, and records what happened to each. One program "
    "is the server, the worker and the command line tool. Commands call the server over HTTP.\n\n"
    "Data goes to standard output, messages go to standard error. Data is a table on a terminal and JSON "
    "lines in a pipe; `-o` selects another format.";

constexpr ManualLine kExitCodes[] = {
    {"0", "Done; also an empty list"},
    {"1",
     "Failed: the server refused a request, some of several requests failed, or a list is incomplete because "
     "a shard is unreachable"},
    {"2", "The command line is wrong"},
    {"3", "A wait timed out, or a prompt was answered with no"},
    {"4", "The server does not allow it (HTTP 401 or 403)"},
    {"5", "The awaited event ended without success"},
    {"6", "The filter matches another number of events than `--expect` gives"},
    {"7", "No server answered"},
    {"8", "The event has not ended (`wait --no-block`)"},
    {"130", "Interrupted"},
};

constexpr ManualLine kEnvironment[] = {
    {"EVENTQ_URL", "The URL of the server, unless `--url` gives one"},
    {"EVENTQ_CONFIG", "The configuration file of the server, unless `--config` gives one"},
    {"EVENTQ_*", "The settings of the server: see the options of `eventq serve`"},
    {"NO_COLOR, FORCE_COLOR", "When not empty: never use colours; use colours also in a pipe"},
    {"COLUMNS", "The width of tables, instead of the width of the terminal"},
};

constexpr ManualLine kFiles[] = {
    {"eventq.db", "The store of `eventq serve` and `eventq dev`, in the folder where they run"},
    {"eventq.db-wal, eventq.db-shm, eventq.db.lock",
     "Belong to the store. Copy a store with `eventq backup`"},
};

// --- man(7)

// Text in backquotes becomes bold. A dot at the start of a line is escaped, because roff would read a
// request.
std::string roff(std::string_view text) {
  std::string out;
  bool bold = false;
  for (const char c : text) {
    if (c == '`') {
      bold = !bold;
      out += bold ? "\\fB" : "\\fR";
    } else if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'' || c == '"') {
      out += c == '"' ? "\\(dq" : "\\(aq";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string roff_paragraphs(std::string_view text) {
  std::string out;
  bool as_is = false;
  const auto switch_to = [&](bool wanted) {
    if (wanted != as_is) out += wanted ? ".nf\n" : ".fi\n";
    as_is = wanted;
  };
  for (const std::string_view line : lines_of(text)) {
    switch_to(line.starts_with(' '));
    out += line.empty() ? ".PP\n" : roff(line) + "\n";
  }
  switch_to(false);
  return out;
}

std::string roff_item(std::string_view term, std::string_view what) {
  return ".TP\n\\fB" + roff(term) + "\\fR\n" + roff(what) + "\n";
}

std::string roff_items(std::span<const ManualLine> lines) {
  std::string out;
  for (const auto& [term, what] : lines) out += roff_item(term, what);
  return out;
}

std::string roff_parameters(std::span<const Parameter> parameters) {
  std::string out;
  for (const Parameter& parameter : parameters) out += roff_item(written(parameter), explained(parameter));
  return out;
}

std::string roff_command(const CommandSpec& command) {
  std::string out = ".SS " + roff(usage_line(command)) + "\n" + roff(command.summary) + ".\n";
  if (!command.details.empty()) out += ".PP\n" + roff_paragraphs(command.details);
  out += roff_parameters(command.positionals) + roff_parameters(command.options);
  for (const Example& example : command.examples) {
    out += ".PP\n" + roff(example.what) + ":\n.PP\n.RS 4\n.nf\n" + roff(example.line) + "\n.fi\n.RE\n";
  }
  return out;
}

// --- Markdown

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string table_row(std::string_view left, std::string_view right) {
  return "| `" + cell(left) + "` | " + cell(right) + " |\n";
}

std::string markdown_table(std::span<const ManualLine> lines) {
  std::string out = "\n| | |\n|---|---|\n";
  for (const auto& [term, what] : lines) out += table_row(term, what);
  return out;
}

std::string markdown_parameters(std::span<const Parameter> parameters) {
  std::string out;
  for (const Parameter& parameter : parameters) out += table_row(written(parameter), explained(parameter));
  return out;
}

// "`a`, `b` take only `--url`.": the commands with an output format of their own.
std::string only_url(std::span<const CommandSpec> commands) {
  std::string names;
  for (const CommandSpec& command : commands) {
    if (command.server_use == ServerUse::own_output)
      names += (names.empty() ? "`" : ", `") + std::string(command.name) + "`";
  }
  return names + " take only `--url`.";
}

std::string markdown_command(const CommandSpec& command) {
  std::string out = "\n### eventq " + std::string(command.name) + "\n\n" + std::string(command.summary) +
                    ".\n\n```\n" + usage_line(command) + "\n```\n";
  bool as_is = false;
  if (!command.details.empty()) out += "\n";
  for (const std::string_view line : lines_of(command.details)) {
    if (line.starts_with(' ') != as_is) out += "```\n";
    as_is = line.starts_with(' ');
    out += std::string(line) + "\n";
  }
  if (as_is) out += "```\n";
  if (!command.positionals.empty() || !command.options.empty()) {
    out += "\n| | |\n|---|---|\n" + markdown_parameters(command.positionals) +
           markdown_parameters(command.options);
  }
  if (command.examples.empty()) return out;
  out += "\n```sh\n";
  for (const Example& example : command.examples) {
    out += "# " + std::string(example.what) + "\n" + std::string(example.line) + "\n";
  }
  return out + "```\n";
}

}  // namespace

std::string man_page(std::span<const CommandSpec> commands, std::string_view version) {
  std::string out = ".TH EVENTQ 1 \"\" \"eventq " + std::string(version) + "\" \"User Commands\"\n" +
                    ".SH NAME\neventq \\- a durable event queue\n" +
                    ".SH SYNOPSIS\n\\fBeventq\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n" + ".SH DESCRIPTION\n" +
                    roff_paragraphs(kAbout) + ".SH COMMANDS\n";
  for (const CommandSpec& command : commands) out += roff_command(command);
  return out + ".SH COMMON OPTIONS\nOf every command that calls the server; " + roff(only_url(commands)) +
         "\n" + roff_parameters(common_options(ServerUse::common_output)) + ".SH EXIT STATUS\n" +
         roff_items(kExitCodes) + ".SH ENVIRONMENT\n" + roff_items(kEnvironment) + ".SH FILES\n" +
         roff_items(kFiles);
}

std::string markdown_manual(std::span<const CommandSpec> commands) {
  std::string out = "# The eventq command\n\nThis page is what `eventq man --markdown` prints.\n\n" +
                    std::string(kAbout) + "\n\n## Commands\n\n| | |\n|---|---|\n";
  for (const CommandSpec& command : commands) {
    std::string anchor = "eventq-" + std::string(command.name);
    for (char& c : anchor) c = c == ' ' ? '-' : c;
    out += "| [`" + std::string(command.name) + "`](#" + anchor + ") | " + cell(command.summary) + " |\n";
  }
  for (const CommandSpec& command : commands) out += markdown_command(command);
  return out + "\n## Options of every command that calls the server\n\n" + only_url(commands) +
         "\n\n| | |\n|---|---|\n" + markdown_parameters(common_options(ServerUse::common_output)) +
         "\n## Exit codes\n" + markdown_table(kExitCodes) + "\n## Environment\n" +
         markdown_table(kEnvironment) + "\n## Files\n" + markdown_table(kFiles);
}

}  // namespace eventq::cli
