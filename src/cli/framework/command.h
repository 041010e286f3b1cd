// command.h: the description of one command of `eventq`: name, parameters, help texts and function.
//
// The command table (command_table.h) is the only list of commands: the parser, --help, the man page, the
// completions and docs/cli.md are generated from it.
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

// What a shell offers as completions of a value: Parameter::choices, or names of files or queues.
enum class CompletionKind : std::uint8_t { choices, file, queue };

// A simple option is written as a row: {"--limit", "N", "At most this many events", "20"}.
struct Parameter {
  std::string name;           // "--queue", "-j,--parallel"; for a positional "TAGS"
  std::string value = {};     // the placeholder of the value, "NAME"; empty for a flag or a positional
  std::string help = {};      // no full stop
  std::string fallback = {};  // shown as [main]; applied by Arguments::text_or
  std::string choices = {};   // "table,json,jsonl": all accepted values; empty: any
  CompletionKind completes = CompletionKind::choices;
  bool required = false;  // positionals only
  bool many = false;      // may be given several times
  bool bare = false;      // --wait and --wait=30s: the value is optional, Arguments::text() is then ""
};

struct Example {
  std::string_view line;  // "eventq publish email '{\"to\":\"a@b\"}' --wait"
  std::string_view what;  // "Publish, and wait until a worker is done with it"
};

// The values from the command line, by the long name of their parameter: "--parallel", "TAGS".
class Arguments {
 public:
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;  // the last value given
  [[nodiscard]] std::string text_or(std::string_view name, std::string_view fallback) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  void add(std::string_view name, std::string value);

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

struct Invocation;  // invocation.h

// How a command uses the server, which decides its common options.
enum class ServerUse : std::uint8_t {
  common_output,  // calls it, and prints as -o, --fields, --color and --time say
  own_output,     // calls it, and prints in a format of its own
  none,           // runs without a server
};

struct CommandSpec {
  std::string_view name;     // "publish", "queue pause"
  std::string_view summary;  // one line, no full stop
  std::string_view details;  // paragraphs for --help and the man page
  std::vector<Parameter> positionals;
  std::vector<Parameter> options;  // without those of common_options()
  std::vector<Example> examples;
  ExitCode (*run)(Invocation& invocation) = nullptr;
  ServerUse server_use = ServerUse::common_output;
  // An earlier name that is understood and not listed. It adds the flag `earlier_flag`.
  std::string_view earlier_name = {};
  std::string_view earlier_flag = {};
  // The group alone means this command: `eventq failures` is `eventq failures ls`. The name is a literal.
  bool group_default = false;
};

// common_output: --url, -o/--output, --fields, --color and --time. own_output: --url. none: none of them.
std::span<const Parameter> common_options(ServerUse server_use);

// A required positional that names a file.
Parameter file_argument(std::string_view name, std::string_view help);

// The option --queue.
Parameter queue_option(std::string_view help, std::string_view fallback = {});

// The name without its short form: "--parallel" of "-j,--parallel".
std::string_view long_name(const Parameter& parameter);

}  // namespace eventq::cli
