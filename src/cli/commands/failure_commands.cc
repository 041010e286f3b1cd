// failure_commands.cc: `eventq failures ls`, `show` and `retry`: FAILED events in groups by their cause.
#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "base/json_writer.h"
#include "base/time_text.h"
#include "cli/commands/author.h"
#include "cli/commands/confirm.h"
#include "cli/commands/events.h"
#include "cli/commands/matched_events.h"
#include "cli/framework/command_table.h"
#include "cli/terminal/terminal_text.h"
#include "eventq/limits.h"

namespace eventq::cli {
namespace {

constexpr std::size_t kShownEvents = 10;
constexpr std::size_t kShortestPrefix = 4;  // of a group's id

struct FailureGroupRecord {
  std::string json;
  std::string id;
  std::string queue;
  std::string cause;
  std::string sample;
  std::size_t events = 0;
  std::string first_at;
  std::string last_at;
  std::int64_t last_event_id = 0;
};

FailureGroupRecord read_group(const JsonValue& group) {
  return {.json = std::string(group.raw()),
          .id = text_at(group, "id").value_or(""),
          .queue = text_at(group, "queue").value_or(""),
          .cause = text_at(group, "cause").value_or(""),
          .sample = text_at(group, "sample").value_or(""),
          .events = static_cast<std::size_t>(integer_at(group, "events").value_or(0)),
          .first_at = text_at(group, "first_at").value_or(""),
          .last_at = text_at(group, "last_at").value_or(""),
          .last_event_id = integer_at(group, "last_event_id").value_or(0)};
}

std::string failures_path(const Invocation& run, std::size_t limit) {
  QueryString query;
  query.add("queue", run.arguments.text("--queue")).add("limit", std::to_string(limit));
  return "/failures?" + query.text();
}

ExitCode list_failures(Invocation& run) {
  using Kind = CellKind;
  std::size_t limit = 100;
  if (!read_number(run, "--limit", limit, 1, limits::kPage)) return ExitCode::usage;
  return print_list(run, failures_path(run, limit), "failures",
                    {{"GROUP", "id"},
                     {"QUEUE", "queue"},
                     {"EVENTS", "events", Kind::number},
                     {"FIRST", "first_at", Kind::time},
                     {"LAST", "last_at", Kind::time},
                     {"MESSAGE", "sample"}});
}

// The group that GROUP names. The error of another code than `done` was already printed.
struct FoundGroup {
  ExitCode code = ExitCode::done;
  FailureGroupRecord group;
};

bool is_named(const FailureGroupRecord& group, const std::string& name) {
  return group.cause == name || (name.size() >= kShortestPrefix && group.id.starts_with(name));
}

ExitCode no_group(Invocation& run, const std::string& name, std::size_t groups) {
  const std::string most = std::to_string(limits::kPage);
  return fail(run, "there is no group of failures " + in_quotes(name) + "; `eventq failures` lists them." +
                       (groups == limits::kPage
                            ? " Only the " + most +
                                  " largest groups are known here; --queue selects those of a queue."
                            : ""));
}

ExitCode several_groups(Invocation& run, const std::string& name,
                        const std::vector<FailureGroupRecord>& found) {
  std::vector<std::string> ids;
  ids.reserve(found.size());
  for (const FailureGroupRecord& group : found) ids.push_back(group.id + " (queue " + group.queue + ")");
  return fail(run, in_quotes(name) + " names several groups: " + join_list(ids, ", ") +
                       ". Give the whole id of one of them.");
}

FoundGroup find_group(Invocation& run) {
  const std::string name = run.arguments.text_or("GROUP", "");
  const CallResult called = call(run, "GET", failures_path(run, limits::kPage));
  if (!called) return {called.code, {}};
  const AnswerJson answer(called.body);
  if (!answer) return {fail_unreadable(run, answer), {}};
  // With a part of the events only, the numbers would be wrong.
  const ExitCode complete = report_missing_shards(run, missing_shards(*answer));
  if (complete != ExitCode::done) return {complete, {}};
  const auto groups = elements_at(*answer, "failures");
  std::vector<FailureGroupRecord> found;
  for (const JsonValue& value : groups) {
    FailureGroupRecord group = read_group(value);
    if (is_named(group, name)) found.push_back(std::move(group));
  }
  if (found.empty()) return {no_group(run, name, groups.size()), {}};
  if (found.size() > 1) return {several_groups(run, name, found), {}};
  return {ExitCode::done, std::move(found.front())};
}

// The body of a retry of the group as it was listed: events that fail later are left alone. `listed`: a dry
// run that lists at most this many events; empty: not a dry run.
std::string retry_body(const Invocation& run, const FailureGroupRecord& group,
                       std::optional<std::size_t> listed) {
  std::string body;
  JsonWriter json(body);
  json.begin_object().key("queue").string(group.queue).key("cause").string(group.cause);
  if (const auto last = parse_iso_time(group.last_at)) json.key("to").time(*last + Millis(1));
  json.key("limit").integer(static_cast<std::int64_t>(listed.value_or(limits::kReplay)));
  json.key("dry_run").boolean(listed.has_value());
  if (!listed) add_author(run, json);
  json.end_object();
  return body;
}

std::string ago(const Invocation& run, const std::string& time) {
  const auto parsed = parse_iso_time(time);
  return parsed && run.output.time == TimeFormat::relative ? relative_time(*parsed, run.output.clock->now())
                                                           : time;
}

void print_lines(Invocation& run, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    run.out << "  " << printable(text.substr(0, end)) << '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// What the event that failed last reported: its error_detail, or its message.
ExitCode print_detail(Invocation& run, const FailureGroupRecord& group) {
  const std::string id = std::to_string(group.last_event_id);
  const CallResult called = call(run, "GET", "/events/" + id);
  if (!called) return called.code;
  const AnswerJson event(called.body);
  if (!event) return fail_unreadable(run, event);
  run.out << "\nEvent " << id << " failed last:\n";
  const std::string message = text_at(*event, "error_message").value_or(group.sample);
  print_lines(run, text_at(*event, "error_detail").value_or(message));
  if (const auto payload = text_at(*event, "payload")) {
    run.out << "Its payload:\n";
    print_lines(run, *payload);
  }
  return ExitCode::done;
}

ExitCode print_events(Invocation& run, const FailureGroupRecord& group) {
  const CallResult called = call(run, "POST", "/failures/retry", retry_body(run, group, kShownEvents));
  if (!called) return called.code;
  const AnswerJson answer(called.body);
  if (!answer) return fail_unreadable(run, answer);
  const auto ids = elements_at(*answer, "events");
  run.out << "\nEvents: ";
  for (std::size_t i = 0; i < ids.size(); ++i) run.out << (i > 0 ? ", " : "") << ids[i].raw();
  run.out << (group.events > ids.size() ? ", …\n" : "\n");
  return ExitCode::done;
}

ExitCode show_failures(Invocation& run) {
  const FoundGroup found = find_group(run);
  if (found.code != ExitCode::done) return found.code;
  const FailureGroupRecord& group = found.group;
  if (run.output.format != Format::table || !run.output.fields.empty()) {
    print_record(run.out, run.output, group.json);
    return ExitCode::done;
  }
  run.out << "Group " << group.id << ": " << events_text(group.events) << " of queue "
          << printable(group.queue) << " failed, first " << ago(run, group.first_at) << ", last "
          << ago(run, group.last_at) << ".\n"
          << "Message: " << printable(group.sample) << '\n';
  if (group.cause != group.sample) run.out << "Grouped as: " << printable(group.cause) << '\n';
  if (const ExitCode code = print_detail(run, group); code != ExitCode::done) return code;
  if (const ExitCode code = print_events(run, group); code != ExitCode::done) return code;
  run.out << "Run them again: eventq failures retry " << group.id << '\n';
  return ExitCode::done;
}

// Adds the events of one call to the list for scripts. A person needs the count only.
void print_ids(RecordPrinter& printer, const Invocation& run, const JsonValue& answer) {
  if (run.output.format == Format::table) return;
  for (const JsonValue& id : elements_at(answer, "events")) {
    printer.add(R"({"id":)" + std::string(id.raw()) + "}");
  }
}

// The ids that a retry would take, for scripts. A dry run has no cursor, so it lists limits::kReplay at most.
ExitCode list_dry_run(Invocation& run, const FailureGroupRecord& group) {
  if (run.output.format == Format::table) return ExitCode::done;
  const CallResult called = call(run, "POST", "/failures/retry", retry_body(run, group, limits::kReplay));
  if (!called) return called.code;
  const AnswerJson answer(called.body);
  if (!answer) return fail_unreadable(run, answer);
  RecordPrinter printer(run.out, run.output, {{"EVENT", "id", CellKind::number}});
  print_ids(printer, run, *answer);
  printer.finish();
  if (text_at(*answer, "more") == "true")
    run.err << "Only the first " << limits::kReplay << " events are listed.\n";
  const auto missing = missing_shards(*answer);
  return missing.empty() ? ExitCode::done : report_missing_shards(run, missing);
}

ExitCode retry_all(Invocation& run, const FailureGroupRecord& group) {
  RecordPrinter printer(run.out, run.output, {{"EVENT", "id", CellKind::number}});
  std::size_t retried = 0;
  ExitCode code = ExitCode::done;
  for (bool more = true; more;) {
    const CallResult called = call(run, "POST", "/failures/retry", retry_body(run, group, std::nullopt));
    code = called.code;
    if (!called) break;
    const AnswerJson answer(called.body);
    if (!answer) return fail_unreadable(run, answer);
    print_ids(printer, run, *answer);
    const auto now = static_cast<std::size_t>(integer_at(*answer, "retried").value_or(0));
    retried += now;
    // A call that retried fewer than matched was stopped by the queue, which has no room.
    more = text_at(*answer, "more") == "true" && now > 0;
    if (const auto missing = missing_shards(*answer); !missing.empty()) {
      code = report_missing_shards(run, missing);
      break;
    }
  }
  printer.finish();
  if (code != ExitCode::done && retried == 0) return code;
  run.err << "Retried " << retried << " of " << events_text(group.events) << ".\n";
  return retried == group.events ? code : ExitCode::failed;
}

ExitCode retry_failures(Invocation& run) {
  std::optional<std::size_t> expected;
  if (!check_utf8(run, {"--by", "--reason"}) || !read_number(run, "--expect", expected))
    return ExitCode::usage;
  const FoundGroup found = find_group(run);
  if (found.code != ExitCode::done) return found.code;
  const FailureGroupRecord& group = found.group;
  if (expected && *expected != group.events) {
    return fail(run,
                "expected " + events_text(*expected) + ", but the group has " + std::to_string(group.events) +
                    " now. Nothing changed.",
                ExitCode::moved);
  }
  const std::string what =
      "retry " + events_text(group.events) + " of queue " + group.queue + ": " + printable(group.sample);
  if (run.arguments.has("--dry-run")) {
    if (const ExitCode code = list_dry_run(run, group); code != ExitCode::done) return code;
    run.err << "Would " << what << ". Nothing changed.\nRun again with --yes --expect " << group.events
            << ".\n";
    return ExitCode::done;
  }
  const ExitCode go_on = confirm(run, what, group.events);
  return go_on == ExitCode::done ? retry_all(run, group) : go_on;
}

}  // namespace

std::vector<CommandSpec> failure_commands() {
  const Parameter group{.name = "GROUP",
                        .help = "The id of a group, its first 4 or more characters, or the cause",
                        .required = true};
  const Parameter queue = queue_option("Only failures of this queue");
  return {
      {.name = "failures ls",
       .summary = "List FAILED events in groups by their cause",
       .details =
           "The largest group first, with the message of its newest event. Messages that differ only in ids, "
           "numbers, addresses and the like are one group. `eventq failures` alone is the same command.",
       .options = {queue, {"--limit", "N", "At most this many groups, 1 to 1000", "100"}},
       .examples = {{"eventq failures ls", "List what fails"}},
       .run = list_failures,
       .group_default = true},
      {.name = "failures show",
       .summary = "Show a group of failures",
       .details =
           "Its size, its message, what the event that failed last reported, and up to 10 of its events. "
           "The formats for programs have the group as the API shows it.",
       .positionals = {group},
       .options = {queue},
       .examples = {{"eventq failures show 'it rains'", "Show the group with this cause"}},
       .run = show_failures},
      {.name = "failures retry",
       .summary = "Run all events of a group of failures again",
       .details = "The events may run at once, with all their retries. Events that fail after the group was "
                  "read are "
                  "left alone.",
       .positionals = {group},
       .options = {queue,
                   {.name = "--dry-run", .help = "Only print what would change"},
                   {.name = "--yes", .help = "Do not ask for confirmation"},
                   {"--expect", "N", "Change nothing and exit with 6 unless the group has exactly N events"},
                   by_option(),
                   reason_option()},
       .examples = {{"eventq failures retry 'it rains' --dry-run", "Print how many events would run again"},
                    {"eventq failures retry 'it rains' --yes --reason 'the sun is back'", "Run them again"}},
       .run = retry_failures}};
}

}  // namespace eventq::cli
