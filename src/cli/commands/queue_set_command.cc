// queue_set_command.cc: `eventq queue set`: changes single settings of a queue with PATCH /queues/NAME.
#include <map>
#include <optional>
#include <string>

#include "base/json_writer.h"
#include "cli/commands/author.h"
#include "cli/commands/queue_command.h"
#include "cli/terminal/terminal_text.h"

namespace eventq::cli {
namespace {

// The members of a JSON object, in the order of their names.
using JsonMembers = std::map<std::string, std::string>;

std::string json_object(const JsonMembers& members) {
  std::string out = "{";
  for (const auto& [name, json] : members) {
    if (out.size() > 1) out += ',';
    append_json_string(out, name);
    out += ":" + json;
  }
  return out + "}";
}

struct Assignments {
  JsonMembers settings;
  std::map<std::string, JsonMembers> groups;  // of settings with a dot: "retry" -> {"kind": "\"fixed\""}

  // Adds "KEY=VALUE". Returns an error message, or nothing. REQUIRES: `assignment` is UTF-8.
  std::optional<std::string> add(const std::string& assignment) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      return in_quotes(assignment) +
             " must be a setting and its value, such as batchSize=10; an empty value restores the default";
    }
    const std::string path = assignment.substr(0, equals);
    const std::string value = assignment.substr(equals + 1);
    const std::string json = value.empty() ? "null" : as_json(value);
    const std::size_t dot = path.find('.');
    const bool is_new = dot == std::string::npos
                            ? settings.emplace(path, json).second
                            : groups[path.substr(0, dot)].emplace(path.substr(dot + 1), json).second;
    if (!is_new) return in_quotes(path) + " is given twice";
    return std::nullopt;
  }

  // `retry=1 retry.kind=fixed` makes `retry` a duplicate member, so it is refused here.
  std::optional<std::string> merge_groups() {
    for (const auto& [name, members] : groups) {
      if (!settings.emplace(name, json_object(members)).second) {
        return in_quotes(name) + " is given whole and by its members; give one of them";
      }
    }
    return std::nullopt;
  }
};

ExitCode configure_queue(Invocation& run) {
  if (!check_utf8(run, {"SETTING"})) return ExitCode::usage;
  Assignments assignments;
  for (const std::string& assignment : run.arguments.texts("SETTING")) {
    if (const auto wrong = assignments.add(assignment)) return wrong_usage(run, *wrong);
  }
  if (const auto wrong = assignments.merge_groups()) return wrong_usage(run, *wrong);
  return print_answer(
      run, call(run, "PATCH", with_author(run, queue_path(run)), json_object(assignments.settings)));
}

}  // namespace

CommandSpec queue_set_command() {
  return {
      .name = "queue set",
      .summary = "Change settings of a queue, and create it if it does not exist",
      .details =
          "A value is JSON, or a text without quotes. A dot names a member: retry.kind=exponential. An "
          "empty value restores the default. All other settings stay as they are; a default stays a "
          "default.",
      .positionals =
          {queue_name(),
           {.name = "SETTING", .help = "KEY=VALUE, or KEY= for its default", .required = true, .many = true}},
      .options = {by_option(), reason_option()},
      .examples = {{"eventq queue set mail maxQueueDepth=5000 retry.kind=exponential", "Change two settings"},
                   {"eventq queue set mail maxQueueDepth=", "Restore the default of one setting"}},
      .run = configure_queue};
}

}  // namespace eventq::cli
