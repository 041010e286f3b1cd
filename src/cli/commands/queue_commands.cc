// queue_commands.cc: `eventq queue ...`: list, show, pause, resume, drain, configure and replay queues.
#include <algorithm>
#include <chrono>
#include <map>
#include <ostream>

#include "base/json_writer.h"
#include "base/numbers.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "cli/commands/events.h"
#include "cli/framework/command_table.h"
#include "cli/framework/record.h"
#include "cli/terminal/terminal_text.h"

namespace eventq::cli {
namespace {

std::string queue_path(const Invocation& run) {
  return "/queues/" + percent_encode(run.arguments.text_or("NAME", ""));
}

ExitCode print_answer(Invocation& run, const CallResult& called) {
  if (called) print_record(run.out, run.output, called.body);
  return called.code;
}

ExitCode list_queues(Invocation& run) {
  using Kind = ColumnKind;
  const CallResult called = call(run, "GET", "/queues");
  if (!called) return called.code;
  JsonParser parser(kAnswerDepth);
  const auto body = parser.parse(called.body);
  if (!body) return fail(run, "the server's answer cannot be read: " + body.error().message);
  RecordPrinter printer(run.out, run.output,
                        {{"QUEUE", "id"},
                         {"STATE", "status", Kind::status},
                         {"PENDING", "counts.PENDING", Kind::number},
                         {"RUNNING", "counts.PROCESSING", Kind::number},
                         {"FAILED", "counts.FAILED", Kind::number},
                         {"DONE", "queueMetrics.totalProcessed", Kind::number},
                         {"REASON", "statusReason"}});
  for (const JsonValue& queue : elements_at(*body, "queues")) printer.add(queue.raw());
  printer.finish();
  return report_missing_shards(run, missing_shards(*body));
}

ExitCode show_queue(Invocation& run) {
  return print_answer(run, call(run, "GET", queue_path(run) + "?events=0"));
}

// The body {"reason", "by"}. Nothing if a text is not UTF-8: the error was already printed.
std::optional<std::string> status_body(Invocation& run) {
  std::string text;
  JsonWriter body(text);
  body.begin_object();
  for (const std::string_view name : {"reason", "by"}) {
    const auto value = run.arguments.text("--" + std::string(name));
    if (!value) continue;
    if (!valid_utf8(*value)) {
      wrong_usage(run, "--" + std::string(name) + " is not UTF-8");
      return std::nullopt;
    }
    body.key(name).string(*value);
  }
  body.end_object();
  return text;
}

ExitCode set_state(Invocation& run, std::string_view verb) {
  const auto body = status_body(run);
  if (!body) return ExitCode::usage;
  return print_answer(run, call(run, "POST", queue_path(run) + "/" + std::string(verb), *body));
}

ExitCode pause_queue(Invocation& run) { return set_state(run, "pause"); }
ExitCode resume_queue(Invocation& run) { return set_state(run, "resume"); }

ExitCode drain_queue(Invocation& run) {
  const auto wait = duration_option(run, "--wait");
  const bool bare = run.arguments.text("--wait") == "";
  if (!bare && !wait) return wrong_usage(run, wait.error().message);
  if (!run.arguments.has("--wait")) return set_state(run, "drain");
  const auto body = status_body(run);
  if (!body) return ExitCode::usage;
  const SteadyTime deadline = steady_now() + (bare ? Millis{30'000} : **wait);
  while (true) {
    const std::int64_t seconds = wait_slice(deadline);
    const auto answer =
        run.server.call({.method = "POST",
                         .target = queue_path(run) + "/drain?timeout=" + std::to_string(seconds),
                         .body = *body,
                         .timeout = Millis{10'000} + std::chrono::seconds(seconds)});
    if (!answer || answer->status != 408) return print_answer(run, call_result(run, answer));
    if (steady_now() < deadline) continue;
    call_result(run, answer);
    return ExitCode::timed_out;
  }
}

ExitCode make_checkpoint(Invocation& run) {
  return print_answer(run, call(run, "POST", queue_path(run) + "/checkpoint"));
}

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
  for (const auto& [name, group] : groups) add(name, nested(group));
  return out + "}";
}

// Returns valid JSON unchanged, and makes any other text a JSON string.
std::string as_json(const std::string& text) {
  JsonParser parser;
  if (parser.parse(text)) return text;
  std::string json;
  append_json_string(json, text);
  return json;
}

void erase_below(FlatSettings& flat, const std::string& path) {
  std::erase_if(
      flat, [&](const auto& entry) { return entry.first == path || entry.first.starts_with(path + "."); });
}

// Applies "KEY=VALUE". Returns an error message, or nothing.
std::optional<std::string> assign(FlatSettings& flat, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    return in_quotes(assignment) +
           " must be a setting and its value, such as batchSize=10; an empty value restores the default";
  }
  if (!valid_utf8(assignment)) return "a setting is not UTF-8";
  const std::string path = assignment.substr(0, equals);
  const std::string value = assignment.substr(equals + 1);
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
  const auto present = run.server.call({.target = queue_path(run) + "?events=0"});
  FlatSettings flat;
  if (!present || present->status != 404) {  // 404: PUT will create the queue
    const CallResult called = call_result(run, present);
    if (!called) return called.code;
    JsonParser parser(kAnswerDepth);
    const auto body = parser.parse(called.body);
    const auto config = body ? value_at(*body, "config") : std::nullopt;
    if (!config) return fail(run, "the server's answer has no settings of the queue");
    flatten_settings(flat, "", *config);
    free_watermark(flat);
  }
  for (const std::string& assignment : run.arguments.texts("SETTING")) {
    if (const auto wrong = assign(flat, assignment)) return wrong_usage(run, *wrong);
  }
  return print_answer(run, call(run, "PUT", queue_path(run), nested(flat)));
}

// Converts a time, or a duration before now, to JSON.
std::string time_json(const Invocation& run, const std::string& text) {
  std::string time = text;
  if (const auto ago = parse_duration(text)) {
    time.clear();
    append_iso_time(time, run.output.clock->now() - *ago);
  }
  return as_json(time);
}

std::string list_json(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) {
    if (json.size() > 1) json += ',';
    append_json_string(json, text);
  }
  return json + "]";
}

Result<FlatSettings> replay_body(const Invocation& run) {
  FlatSettings body;
  const Arguments& arguments = run.arguments;
  for (const std::string_view name : {"from", "to", "checkpoint", "pattern"}) {
    const auto value = arguments.text("--" + std::string(name));
    if (!value) continue;
    if (!valid_utf8(*value))
      return Error{.code = ErrorCode::invalid_argument, .message = "an option is not UTF-8"};
    std::string text;
    append_json_string(text, *value);
    body[std::string(name)] = name == "from" || name == "to" ? time_json(run, *value) : text;
  }
  if (arguments.has("--status")) body["statuses"] = list_json(arguments.texts("--status"));
  if (arguments.has("--tag")) body["tags"] = list_json(arguments.texts("--tag"));
  if (const auto limit = arguments.text("--limit")) {
    if (!parse_whole<std::int64_t>(*limit)) {
      return Error{.code = ErrorCode::invalid_argument,
                   .message = "--limit must be a whole number, not " + in_quotes(*limit)};
    }
    body["limit"] = *limit;
  }
  if (arguments.has("--dry-run")) body["dry_run"] = "true";
  return body;
}

ExitCode replay_queue(Invocation& run) {
  auto body = replay_body(run);
  if (!body) return wrong_usage(run, body.error().message);
  RecordPrinter printer(
      run.out, run.output,
      {{"EVENT", "id", ColumnKind::number}, {"REPLAYED AS", "replayed_as", ColumnKind::number}});
  const bool all = !run.arguments.has("--limit");
  std::int64_t count = 0;
  ExitCode code = ExitCode::done;
  for (bool more = true; more;) {
    const CallResult called = call(run, "POST", queue_path(run) + "/replay", nested(*body));
    code = called.code;
    if (!called) break;
    JsonParser parser(kAnswerDepth);
    const auto answer = parser.parse(called.body);
    if (!answer) return fail(run, "the server's answer cannot be read: " + answer.error().message);
    for (const JsonValue& event : elements_at(*answer, "events")) printer.add(event.raw());
    count += static_cast<std::int64_t>(elements_at(*answer, "events").size());
    const auto next = value_at(*answer, "next");
    more = all && next.has_value();
    if (more) (*body)["after"] = std::string(next->raw());
  }
  printer.finish();
  run.err << (run.arguments.has("--dry-run") ? "Would replay " : "Replayed ") << count
          << (count == 1 ? " event.\n" : " events.\n");
  return code;
}

CommandSpec queue_command(std::string_view name, std::string_view summary, std::string_view details,
                          std::vector<Parameter> options, std::vector<Example> examples,
                          ExitCode (*run)(Invocation&)) {
  return {.name = name,
          .summary = summary,
          .details = details,
          .positionals =
              {{.name = "NAME", .help = "The queue", .completes = CompletionKind::queue, .required = true}},
          .options = std::move(options),
          .examples = std::move(examples),
          .run = run};
}

std::vector<Parameter> reasons() {
  return {{.name = "--reason", .value = "TEXT", .help = "The reason, shown with the queue"},
          {.name = "--by", .value = "TEXT", .help = "The name of the operator, shown with the queue"}};
}

}  // namespace

CommandSpec queue_ls_command() {
  return {.name = "queue ls",
          .summary = "List the queues",
          .details = "",
          .positionals = {},
          .options = {},
          .examples = {{"eventq queue ls", "List all queues and their depth"}},
          .run = list_queues};
}

CommandSpec queue_show_command() {
  return queue_command("queue show", "Show a queue and its settings", "", {},
                       {{"eventq queue show mail --fields config", "Print the settings in force"}},
                       show_queue);
}

CommandSpec queue_pause_command() {
  return queue_command(
      "queue pause", "Stop delivering the events of a queue",
      "The queue still accepts events, and workers may finish the events that they hold. `eventq queue "
      "resume` ends the pause.",
      reasons(), {{"eventq queue pause mail --reason 'mail server moves'", "Stop the work, keep the events"}},
      pause_queue);
}

CommandSpec queue_resume_command() {
  return queue_command("queue resume", "End a pause or a drain", "", reasons(),
                       {{"eventq queue resume mail", "Deliver events again"}}, resume_queue);
}

CommandSpec queue_drain_command() {
  std::vector<Parameter> options = reasons();
  options.push_back(
      {.name = "--wait",
       .value = "DURATION",
       .help = "Wait until the queue is empty, 30s by default, in whole seconds; exit with 3 if it is not",
       .bare = true});
  return queue_command("queue drain", "Stop accepting events into a queue",
                       "The queue still delivers its events. Publishing into it is refused. `eventq queue "
                       "resume` ends the drain.",
                       std::move(options),
                       {{"eventq queue drain mail --wait=5m", "Empty a queue before a move"}}, drain_queue);
}

CommandSpec queue_set_command() {
  CommandSpec command = queue_command(
      "queue set", "Change settings of a queue, and create it if it does not exist",
      "A value is JSON, or a text without quotes. A dot names a member: retry.kind=exponential. An empty "
      "value "
      "restores the default. All other settings keep their current values, also those that are defaults.",
      {},
      {{"eventq queue set mail maxQueueDepth=5000 retry.kind=exponential", "Change two settings"},
       {"eventq queue set mail maxQueueDepth=", "Restore the default of one setting"}},
      configure_queue);
  command.positionals.push_back(
      {.name = "SETTING", .help = "KEY=VALUE, or KEY= for its default", .required = true, .many = true});
  return command;
}

CommandSpec queue_checkpoint_command() {
  return queue_command("queue checkpoint", "Mark the current position of a queue", "", {},
                       {{"eventq queue checkpoint mail -o id", "Print an id to replay from later"}},
                       make_checkpoint);
}

CommandSpec queue_replay_command() {
  return queue_command(
      "queue replay", "Publish ended events of a queue again",
      "The events are published as new events, in the order in which they ended. Give --checkpoint, --from "
      "or --to.",
      {{.name = "--checkpoint", .value = "ID", .help = "Events that ended since this checkpoint"},
       {.name = "--from",
        .value = "TIME",
        .help = "Events that ended at or after this time, such as 2027-01-31T08:00:00Z, or within a "
                "duration, such as 2h"},
       {.name = "--to", .value = "TIME", .help = "Events that ended before this time"},
       {.name = "--status",
        .value = "STATUS",
        .help = "Only events with this status; COMPLETED and COMPLETED_WITH_ERRORS by default",
        .choices = "COMPLETED,COMPLETED_WITH_ERRORS,FAILED,SUPERSEDED,CANCELLED",
        .completes = CompletionKind::choice,
        .many = true},
       {.name = "--tag",
        .value = "TAG",
        .help = "Only events with this tag; if given several times, with any of them",
        .many = true},
       {.name = "--pattern", .value = "TEXT", .help = "Only events with exactly this pattern"},
       {.name = "--limit", .value = "N", .help = "At most N events, 1 to 10000; all by default"},
       {.name = "--dry-run", .help = "Only print what would be replayed"}},
      {{"eventq queue replay mail --from 2h --dry-run", "List what ended in the last two hours"}},
      replay_queue);
}

CommandSpec worker_ls_command() {
  return {.name = "worker ls",
          .summary = "List the workers",
          .details = "The server knows workers from their calls; a worker does not register.",
          .positionals = {},
          .options = {},
          .examples = {{"eventq worker ls", "List active and stale workers"}},
          .run = [](Invocation& run) {
            using Kind = ColumnKind;
            const CallResult called = call(run, "GET", "/workers");
            if (!called) return called.code;
            JsonParser parser(kAnswerDepth);
            const auto body = parser.parse(called.body);
            if (!body) return fail(run, "the server's answer cannot be read: " + body.error().message);
            RecordPrinter printer(run.out, run.output,
                                  {{"WORKER", "worker_id"},
                                   {"QUEUE", "queue"},
                                   {"TAGS", "tags"},
                                   {"DONE", "completed", Kind::number},
                                   {"FAILED", "failed", Kind::number},
                                   {"LAST SEEN", "last_seen", Kind::time},
                                   {"STALE", "stale_because"},
                                   {"HOLDS", "holding"}});
            for (const JsonValue& worker : elements_at(*body, "workers")) printer.add(worker.raw());
            printer.finish();
            return report_missing_shards(run, missing_shards(*body));
          }};
}

}  // namespace eventq::cli
