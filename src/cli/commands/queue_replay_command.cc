// queue_replay_command.cc: `eventq queue replay`: publishes ended events again, page by page.
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "base/time_text.h"
#include "cli/commands/author.h"
#include "cli/commands/events.h"
#include "cli/commands/queue_command.h"
#include "cli/terminal/terminal_text.h"

namespace eventq::cli {
namespace {

// Converts a time, or a duration before now, to JSON. REQUIRES: `text` is one of them.
std::string time_json(const Invocation& run, const std::string& text) {
  std::string time = text;
  if (const auto ago = parse_duration(text)) {
    time.clear();
    append_iso_time(time, run.output.clock->now() - *ago);
  }
  std::string json;
  append_json_string(json, time);
  return json;
}

std::string list_json(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) {
    if (json.size() > 1) json += ',';
    append_json_string(json, text);
  }
  return json + "]";
}

// False after a message about an option.
bool check_span(Invocation& run) {
  for (const std::string_view option : {"--from", "--to"}) {
    const auto value = run.arguments.text(option);
    if (!value || parse_iso_time(*value) || parse_duration(*value)) continue;
    wrong_usage(run,
                std::string(option) +
                    " must be a time in UTC such as 2027-01-31T08:00:00Z, or a duration such as 2h, not " +
                    in_quotes(*value));
    return false;
  }
  const Arguments& arguments = run.arguments;
  if (arguments.has("--checkpoint") || arguments.has("--from") || arguments.has("--to")) return true;
  wrong_usage(run, "give --checkpoint, --from or --to");
  return false;
}

// Members of the request by name, each value as JSON.
using JsonMembers = std::map<std::string, std::string>;

std::string object_json(const JsonMembers& members) {
  std::string json = "{";
  for (const auto& [name, value] : members) {
    if (json.size() > 1) json += ',';
    append_json_string(json, name);
    json += ":" + value;
  }
  return json + "}";
}

// REQUIRES: check_utf8() and check_span() of all options.
JsonMembers replay_body(const Invocation& run) {
  JsonMembers body;
  const Arguments& arguments = run.arguments;
  for (const std::string_view name : {"from", "to", "checkpoint", "pattern"}) {
    const auto value = arguments.text("--" + std::string(name));
    if (!value) continue;
    std::string text;
    append_json_string(text, *value);
    body[std::string(name)] = name == "from" || name == "to" ? time_json(run, *value) : text;
  }
  if (arguments.has("--status")) body["statuses"] = list_json(arguments.texts("--status"));
  if (arguments.has("--tag")) body["tags"] = list_json(arguments.texts("--tag"));
  if (const auto limit = arguments.text("--limit")) body["limit"] = *limit;
  if (arguments.has("--dry-run")) body["dry_run"] = "true";
  append_json_string(body["by"], author(run));
  if (const auto reason = arguments.text("--reason")) append_json_string(body["reason"], *reason);
  return body;
}

ExitCode replay_queue(Invocation& run) {
  std::int64_t limit = 0;
  if (!check_utf8(run, {"--from", "--to", "--checkpoint", "--pattern", "--tag", "--by", "--reason"}) ||
      !read_number(run, "--limit", limit) || !check_span(run)) {
    return ExitCode::usage;
  }
  JsonMembers body = replay_body(run);
  RecordPrinter printer(
      run.out, run.output,
      {{"EVENT", "id", CellKind::number}, {"REPLAYED AS", "replayed_as", CellKind::number}});
  const bool all = !run.arguments.has("--limit");
  std::int64_t count = 0;
  ExitCode code = ExitCode::done;
  for (bool more = true; more;) {
    const CallResult called = call(run, "POST", queue_path(run) + "/replay", object_json(body));
    code = called.code;
    if (!called) break;
    const AnswerJson answer(called.body);
    if (!answer) return fail_unreadable(run, answer);
    for (const JsonValue& event : elements_at(*answer, "events")) printer.add(event.raw());
    count += static_cast<std::int64_t>(elements_at(*answer, "events").size());
    // `next` is the cursor of the following page. It is absent on the last page.
    const auto next = value_at(*answer, "next");
    more = all && next.has_value();
    if (more) body["after"] = std::string(next->raw());
  }
  printer.finish();
  // After an error the count matters only if earlier pages were replayed.
  if (code != ExitCode::done && count == 0) return code;
  run.err << (run.arguments.has("--dry-run") ? "Would replay " : "Replayed ") << count
          << (count == 1 ? " event.\n" : " events.\n");
  return code;
}

}  // namespace

CommandSpec queue_replay_command() {
  return {
      .name = "queue replay",
      .summary = "Publish ended events of a queue again",
      .details =
          "The events are published as new events, in the order in which they ended. Give --checkpoint, "
          "--from or --to.",
      .positionals = {queue_name()},
      .options = {{"--checkpoint", "ID", "Events that ended since this checkpoint"},
                  {"--from", "TIME",
                   "Events that ended at or after this time, such as 2027-01-31T08:00:00Z, or within a "
                   "duration, such as 2h"},
                  {"--to", "TIME", "Events that ended before this time"},
                  {.name = "--status",
                   .value = "STATUS",
                   .help = "Only events with this status; COMPLETED and COMPLETED_WITH_ERRORS by default",
                   .choices = "COMPLETED,COMPLETED_WITH_ERRORS,FAILED,SUPERSEDED,CANCELLED",
                   .many = true},
                  tag_option(),
                  {"--pattern", "TEXT", "Only events with exactly this pattern"},
                  {"--limit", "N", "At most N events, 1 to 10000; all by default"},
                  {.name = "--dry-run", .help = "Only print what would be replayed"},
                  by_option(),
                  reason_option()},
      .examples = {{"eventq queue replay mail --from 2h --dry-run", "List what ended in the last two hours"}},
      .run = replay_queue,
  };
}

}  // namespace eventq::cli
