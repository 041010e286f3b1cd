// command.h: what a command of `eventq` is: its words, its parameters, and what it does.
//
// The table of them (command_table.h) is the only list: the parser, --help, the man page, the
// completions and docs/cli.md are all made from it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/framework/exit_code.h"

namespace eventq::cli {

// What a shell may offer for a value.
enum class Completes : std::uint8_t { nothing, file, queue, choice };

struct Parameter {
  std::string name;           // "--queue", "-j,--parallel", or of a positional "TAGS"
  std::string value = {};     // "NAME": what the value is called; empty: a flag (or a positional)
  std::string help = {};      // no full stop
  std::string fallback = {};  // shown as [main]; applied by Arguments::text_or
  std::string choices = {};   // "table,json,jsonl": nothing else is accepted
  Completes completes = Completes::nothing;
  bool required = false;  // positionals only
  bool many = false;      // may be given several times
  bool bare = false;      // --wait and --wait=30s: the value may be left out (Arguments::text gives "")
};

struct Example {
  std::string_view line;  // "eventq publish email '{\"to\":\"a@b\"}' --wait"
  std::string_view what;  // "Publish, and wait until a worker is done with it"
};

// The values given. Names as in the table, without the short form: "--parallel", "TAGS".
class Arguments {
 public:
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;  // the last one given
  [[nodiscard]] std::string text_or(std::string_view name, std::string_view fallback) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  void add(std::string_view name, std::string value);

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

struct Invocation;  // invocation.h

struct CommandSpec {
  std::string_view name;     // "publish", "queue pause"
  std::string_view summary;  // one line, no full stop
  std::string_view details;  // paragraphs for --help and the man page
  std::vector<Parameter> positionals;
  std::vector<Parameter> options;  // beside those every command has (common_options())
  std::vector<Example> examples;
  ExitCode (*run)(Invocation& invocation) = nullptr;
  enum class Talks : std::uint8_t { to_server, in_its_own_format, to_nobody };
  Talks talks = Talks::to_server;
};

// --url of every command that talks to a server, and unless it prints in its own format: -o/--output,
// --fields, --color, --time.
std::span<const Parameter> common_options(CommandSpec::Talks talks);

// The name without its short form: "--parallel" of "-j,--parallel".
std::string_view long_name(const Parameter& parameter);

}  // namespace eventq::cli
