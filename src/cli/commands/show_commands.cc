// show_commands.cc: `eventq ls`, `get`, `logs` and `why`: commands that only show events.
#include <algorithm>
#include <array>
#include <limits>
#include <ostream>
#include <set>

#include "cli/commands/events.h"
#include "cli/framework/command_table.h"
#include "cli/terminal/terminal_text.h"
#include "eventq/limits.h"

namespace eventq::cli {
namespace {

// What GET /events has to include for the fields of --fields; empty: nothing.
std::string included(const OutputOptions& output) {
  constexpr std::array<std::string_view, 16> kLeftOut = {
      "payload",     "description", "max_retries",  "source",        "causation_id", "trace_id",
      "version",     "timestamp",   "ordering_key", "supersede_key", "run_at",       "retry",
      "traceparent", "tracestate",  "published_by", "max_attempts"};
  std::set<std::string> words;
  for (const std::string& field : output.fields) {
    const std::string first = field.substr(0, field.find('.'));
    if (std::find(kLeftOut.begin(), kLeftOut.end(), first) != kLeftOut.end()) words.insert("payload");
    if (first == "result") words.insert("result");
    if (first == "logs" || first == "error_detail") words.insert("logs");
  }
  return join_list({words.begin(), words.end()}, ",");
}

// Adds the number of the event that the option names. Returns another code than `done` if there is none.
ExitCode add_event_id(Invocation& run, std::string_view option, std::string_view parameter,
                      QueryString& query) {
  const auto text = run.arguments.text(option);
  if (!text) return ExitCode::done;
  const EventNumber number = event_number(run, *text);
  if (number.code == ExitCode::done) query.add(parameter, std::to_string(number.id));
  return number.code;
}

ExitCode list_events(Invocation& run) {
  if (!has_event_fields(run) || !read_filter(run)) return ExitCode::usage;
  std::size_t most = 20;
  const bool all = run.arguments.has("--all");
  const bool newest_first = run.arguments.has("--desc");
  if (!read_number(run, "--limit", most, all ? 0 : 1)) return ExitCode::usage;
  if (all) most = std::numeric_limits<std::size_t>::max();
  QueryString query = list_query(run.arguments);
  query.add("event_id", run.arguments.text("--event-id"));
  if (newest_first) query.add("order", "desc");
  if (const std::string include = included(run.output); !include.empty()) query.add("include", include);
  for (const auto& [option, parameter] :
       {std::pair("--after", "after_id"), std::pair("--before", "before_id")}) {
    const ExitCode code = add_event_id(run, option, parameter, query);
    if (code != ExitCode::done) return code;
  }
  RecordPrinter printer(run.out, run.output, listed_event_columns());
  std::size_t shown = 0;
  std::int64_t last = 0;
  const PagedResult paged =
      each_event(run, query, std::min(most, limits::kPage), [&](const JsonValue& event) {
        last = integer_at(event, "id").value_or(0);
        printer.add(event.raw());
        return ++shown < most;
      });
  printer.finish();
  if (run.output.terminal && paged.more) {
    run.err << "There are more events: " << (newest_first ? "--before " : "--after ") << last
            << ", or --all.\n";
  }
  return paged.code == ExitCode::done ? report_missing_shards(run, paged.missing) : paged.code;
}

ExitCode get(Invocation& run) {
  if (!has_event_fields(run)) return ExitCode::usage;
  NamedEvents events(run);
  const ExitCode code = for_each_id(run, [&](std::int64_t id) {
    const CallResult called = call(run, "GET", "/events/" + std::to_string(id));
    if (called) events.add(called.body);
    return called.code;
  });
  events.finish();
  return code;
}

ExitCode logs(Invocation& run) {
  using Kind = CellKind;
  const EventNumber number = event_number(run, run.arguments.text_or("ID", ""));
  if (number.code != ExitCode::done) return number.code;
  return print_list(run, "/events/" + std::to_string(number.id) + "?include_logs=true", "logs",
                    {{"TIME", "created_at", Kind::time},
                     {"ACTION", "action"},
                     {"ATTEMPT", "attempt", Kind::number},
                     {"WORKER", "worker_id"},
                     {"CODE", "status_code", Kind::number},
                     {"TOOK", "execution_time_ms", Kind::duration},
                     {"ERROR", "error_message"},
                     {"DETAIL", "error_detail", Kind::text, true},
                     {"BY", "by"},
                     {"REASON", "reason"}});
}

ExitCode why(Invocation& run) {
  // A table would cut the explanations to the width of the terminal.
  const bool sentences = run.output.format == Format::table && run.output.fields.empty();
  RecordPrinter list(run.out, run.output,
                     {{"ID", "id", CellKind::number},
                      {"STATUS", "status", CellKind::status},
                      {"REASON", "reason"},
                      {"EXPLANATION", "explanation"}});
  const ExitCode code = for_each_id(run, [&](std::int64_t id) {
    const CallResult called = call(run, "GET", "/events/" + std::to_string(id) + "/why");
    if (!called) return called.code;
    const AnswerJson answer(called.body);
    if (!sentences || !answer) {
      list.add(called.body);
      return ExitCode::done;
    }
    const std::string status = printable(text_at(*answer, "status").value_or(""));
    run.out << id << "  " << paint(run.output, status_color(status), status) << "  "
            << printable(text_at(*answer, "explanation").value_or("")) << '\n';
    return ExitCode::done;
  });
  if (!sentences) list.finish();
  return code;
}

std::vector<Parameter> ls_options() {
  std::vector<Parameter> options = list_options();
  options.push_back({"--event-id", "ID", "Only the event with this event_id, also if it is digits"});
  options.push_back({"--limit", "N", "At most this many events", "20"});
  options.push_back({"--after", "ID", "Only events with a greater id"});
  options.push_back({"--before", "ID", "Only events with a lower id"});
  options.push_back({.name = "--desc", .help = "The newest event first"});
  options.push_back({.name = "--all", .help = "All events, without a limit"});
  return options;
}

}  // namespace

std::vector<CommandSpec> show_commands() {
  return {
      {.name = "ls",
       .summary = "List events",
       .details =
           "In the order of their ids, the oldest first. --fields may also name fields that the table "
           "does not show, such as payload, description and logs.\n\n"
           "--filter takes the conditions of `eventq retry --filter` and of `filter` in the API. An event "
           "must meet all of them and of the other options.",
       .options = ls_options(),
       .examples = {{"eventq ls --status FAILED", "List failed events"},
                    {"eventq ls --tag email --fields id,status,payload.to", "Show a member of the payloads"},
                    {"eventq ls --all -o csv > events.csv", "Write a file for a spreadsheet"}},
       .run = list_events},
      {.name = "get",
       .summary = "Show all fields of events",
       .positionals = {event_ids()},
       .examples = {{"eventq get 1 --fields payload", "Print the payload of event 1"}},
       .run = get},
      {.name = "logs",
       .summary = "Show what happened to an event",
       .details = "The oldest entry first: claims by workers, their reports, and changes by operators.",
       .positionals = {{.name = "ID", .help = "The number or the event_id of an event", .required = true}},
       .examples = {{"eventq logs 1", "Show the history of event 1"}},
       .run = logs},
      {.name = "why",
       .summary = "Explain why an event has its status",
       .positionals = {event_ids()},
       .examples = {{"eventq why 1", "Find out why event 1 does not run"}},
       .run = why},
  };
}

}  // namespace eventq::cli
