// queue_set_command.cc: `eventq queue set`: changes single settings of a queue.
//
// PUT /queues/NAME replaces all settings. So the command reads the current settings, changes the given ones,
// and sends all of them.
#include <map>
#include <optional>
#include <string>

#include "base/json_writer.h"
#include "base/numbers.h"
#include "cli/commands/queue_command.h"
#include "cli/terminal/terminal_text.h"

namespace eventq::cli {
namespace {

// Settings by path: "retry.kind" -> "\"fixed\"".
using FlatSettings = std::map<std::string, std::string>;

void flatten_settings(FlatSettings& flat, const std::string& above, const JsonValue& value) {
  if (value.type() != JsonType::object) {
    flat[above] = std::string(value.raw());
    return;
  }
  for (const JsonMember& member : value.members()) {
    flatten_settings(flat, (above.empty() ? "" : above + ".") + std::string(member.name), member.value);
  }
}

std::string nested(const FlatSettings& flat) {
  std::map<std::string, FlatSettings> groups;
  std::string out = "{";
  const auto add = [&](const std::string& name, const std::string& json) {
    if (out.size() > 1) out += ',';
    append_json_string(out, name);
    out += ":" + json;
  };
  for (const auto& [path, json] : flat) {
    const std::size_t dot = path.find('.');
    if (dot == std::string::npos) {
      add(path, json);
    } else {
      groups[path.substr(0, dot)][path.substr(dot + 1)] = json;
    }
  }
  // `retry=1 retry.kind=fixed` makes `retry` a duplicate member, which the server refuses.
  for (const auto& [name, group] : groups) add(name, nested(group));
  return out + "}";
}

void erase_below(FlatSettings& flat, const std::string& path) {
  std::erase_if(
      flat, [&](const auto& entry) { return entry.first == path || entry.first.starts_with(path + "."); });
}

// Applies "KEY=VALUE". Returns an error message, or nothing. REQUIRES: `assignment` is UTF-8.
std::optional<std::string> assign(FlatSettings& flat, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    return in_quotes(assignment) +
           " must be a setting and its value, such as batchSize=10; an empty value restores the default";
  }
  const std::string path = assignment.substr(0, equals);
  const std::string value = assignment.substr(equals + 1);
  // "retry={...}" replaces all members of retry, so remove the old ones.
  erase_below(flat, path);
  if (!value.empty()) flat[path] = as_json(value);
  return std::nullopt;
}

// Drops a highWatermark of 80 % of the depth: it is the default, and must follow a changed depth.
void free_watermark(FlatSettings& flat) {
  const auto depth = flat.find("maxQueueDepth");
  const auto mark = flat.find("highWatermark");
  if (depth == flat.end() || mark == flat.end()) return;
  const auto depth_number = parse_whole<std::int64_t>(depth->second);
  const auto mark_number = parse_whole<std::int64_t>(mark->second);
  if (depth_number && mark_number && *mark_number == *depth_number * 4 / 5) flat.erase(mark);
}

ExitCode configure_queue(Invocation& run) {
  if (!check_utf8(run, {"SETTING"})) return ExitCode::usage;
  const auto present = run.server.call({.target = queue_path(run) + "?events=0"});
  FlatSettings flat;
  if (!present || present->status != 404) {  // 404: PUT will create the queue
    const CallResult called = call_result(run, present);
    if (!called) return called.code;
    const AnswerJson body(called.body);
    const auto config = value_at(*body, "config");
    if (!config) {
      return fail(run, "the server's answer has no settings of the queue. Check that " + run.url +
                           " is an eventq server.");
    }
    flatten_settings(flat, "", *config);
    free_watermark(flat);
  }
  for (const std::string& assignment : run.arguments.texts("SETTING")) {
    if (const auto wrong = assign(flat, assignment)) return wrong_usage(run, *wrong);
  }
  return print_answer(run, call(run, "PUT", queue_path(run), nested(flat)));
}

}  // namespace

CommandSpec queue_set_command() {
  return {
      .name = "queue set",
      .summary = "Change settings of a queue, and create it if it does not exist",
      .details =
          "A value is JSON, or a text without quotes. A dot names a member: retry.kind=exponential. An "
          "empty value restores the default. All other settings keep their current values, also those "
          "that are defaults.",
      .positionals =
          {queue_name(),
           {.name = "SETTING", .help = "KEY=VALUE, or KEY= for its default", .required = true, .many = true}},
      .examples = {{"eventq queue set mail maxQueueDepth=5000 retry.kind=exponential", "Change two settings"},
                   {"eventq queue set mail maxQueueDepth=", "Restore the default of one setting"}},
      .run = configure_queue};
}

}  // namespace eventq::cli
