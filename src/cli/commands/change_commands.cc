// change_commands.cc: `eventq retry` and `cancel`: change events by id, or all that match a filter.
#include <algorithm>
#include <ostream>
#include <utility>

#include "cli/commands/author.h"
#include "cli/commands/confirm.h"
#include "cli/commands/events.h"
#include "cli/commands/matched_events.h"
#include "cli/framework/command_table.h"

namespace eventq::cli {
namespace {

struct ChangeAction {
  std::string_view verb;              // "retry", also the name of the call
  std::string_view done;              // "Retried"
  std::vector<std::string> statuses;  // that a filter without status: matches
};

// Whether the command may take events from their workers, and changes every event that is not done.
bool takes_held(const Invocation& run) { return run.arguments.has("--held"); }

// Whether the command leaves alone what does not wait for a retry.
bool is_careful_retry(const Invocation& run) { return run.command.name == "retry" && !takes_held(run); }

const ChangeAction& change_of(const Invocation& run) {
  static const ChangeAction retry{"retry", "Retried", {"FAILED", "PENDING"}};
  static const ChangeAction retry_held{"retry", "Retried", {"PENDING", "PROCESSING", "FAILED", "CANCELLED"}};
  static const ChangeAction cancel{"cancel", "Cancelled", {"PENDING", "PROCESSING", "FAILED"}};
  if (run.command.name == "cancel") return cancel;
  return takes_held(run) ? retry_held : retry;
}

// Whether the command changes events in this status.
bool is_for(const Invocation& run, const std::string& status) {
  const auto& statuses = change_of(run).statuses;
  return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

// `eventq retry` without --held applies to these: events that ended without success, or wait for their next
// attempt.
bool waits_for_retry(const JsonValue& event) {
  const std::string status = text_at(event, "status").value_or("");
  return status == "FAILED" || status == "CANCELLED" ||
         (status == "PENDING" && text_at(event, "next_retry_at"));
}

RecordPrinter answers(Invocation& run) {
  using Kind = CellKind;
  return {run.out,
          run.output,
          {{"EVENT", "event_id", Kind::number},
           {"ACTION", "action"},
           {"BY", "by"},
           {"REASON", "reason"},
           {"TIME", "created_at", Kind::time}}};
}

// `eventq retry` takes an event from a worker only with --held.
ExitCode left_alone(Invocation& run, std::int64_t id) {
  const std::string number = std::to_string(id);
  return fail(run, "event " + number + " is PROCESSING, so it was not changed. `eventq retry --held " +
                       number + "` takes it from its worker.");
}

std::string status_now(Invocation& run, std::int64_t id) {
  const auto answer = run.server.call({.target = "/events/" + std::to_string(id)});
  const AnswerJson event(answer ? answer->body : "");
  return text_at(*event, "status").value_or("");
}

ExitCode change_one(Invocation& run, std::int64_t id, RecordPrinter& printer) {
  const bool careful = is_careful_retry(run);
  QueryString query;
  add_author(run, query);
  if (careful) query.add("spare_processing", "true");  // a worker may have claimed it since the check
  const auto answer = run.server.call({.method = "POST",
                                       .target = "/events/" + std::to_string(id) + "/" +
                                                 std::string(change_of(run).verb) + "?" + query.text()});
  if (careful && answer && answer->status == 409 && status_now(run, id) == "PROCESSING")
    return left_alone(run, id);
  const CallResult called = call_result(run, answer);
  if (called) printer.add(called.body);
  return called.code;
}

// Checks whether the change applies to this event. Another client may still change the event afterwards.
ExitCode check_one(Invocation& run, std::int64_t id) {
  const CallResult called = call(run, "GET", "/events/" + std::to_string(id));
  if (!called) return called.code;
  const AnswerJson event(called.body);
  if (!event) return fail_unreadable(run, event);
  const std::string name = "event " + std::to_string(id);
  const std::string status = text_at(*event, "status").value_or("");
  if (!is_careful_retry(run)) {
    if (is_for(run, status)) return ExitCode::done;
    return fail(run, name + " is " + status + ": `eventq " + std::string(run.command.name) +
                         (takes_held(run) ? " --held" : "") + "` is for " +
                         join_list(change_of(run).statuses) + " events.");
  }
  if (waits_for_retry(*event)) return ExitCode::done;
  if (status == "PROCESSING") return left_alone(run, id);
  if (status == "PENDING")
    return fail(run, name + " is PENDING and does not wait for a retry, so there is nothing to do.");
  return fail(run,
              name + " is " + status +
                  ": only FAILED and CANCELLED events, and those that wait for a retry, can be retried.");
}

ExitCode change_ids(Invocation& run) {
  const bool dry_run = run.arguments.has("--dry-run");
  // `eventq retry` must not touch events that do not wait for a retry, and the server would.
  const bool checks = dry_run || is_careful_retry(run);
  RecordPrinter printer = answers(run);
  std::size_t fit = 0;
  const ExitCode code = for_each_id(run, [&](std::int64_t id) {
    const ExitCode checked = checks ? check_one(run, id) : ExitCode::done;
    if (checked == ExitCode::done) ++fit;
    return checked == ExitCode::done && !dry_run ? change_one(run, id, printer) : checked;
  });
  if (dry_run && code != ExitCode::usage) {
    run.err << "Would " << change_of(run).verb << " " << events_text(fit) << ". Nothing changed.\n";
  }
  if (dry_run) return code;
  printer.finish();
  return code;
}

ExitCode change_matches(Invocation& run, const std::vector<MatchedEvent>& events) {
  RecordPrinter printer = answers(run);
  std::size_t done = 0;
  ExitCode worst = ExitCode::done;
  for (const MatchedEvent& event : events) {
    const ExitCode code = change_one(run, event.id, printer);
    if (code == ExitCode::done) ++done;
    if (code != ExitCode::done) worst = code;
    // Other errors concern one event, so the next one is tried.
    if (is_hopeless(code)) break;
  }
  printer.finish();
  run.err << change_of(run).done << " " << done << " of " << events_text(events.size()) << ".\n";
  return worst;
}

ExitCode show_dry_run(Invocation& run, const std::vector<MatchedEvent>& events) {
  // A person needs the count only; a script gets the list.
  if (run.output.format != Format::table) {
    RecordPrinter printer(run.out, run.output, event_columns());
    for (const MatchedEvent& event : events) printer.add(event.json);
    printer.finish();
  }
  run.err << "Would " << change_of(run).verb << " " << described(run, events)
          << ". Nothing changed.\nRun again with --yes --expect " << events.size() << ".\n";
  return ExitCode::done;
}

ExitCode change_filtered(Invocation& run) {
  const auto filter = read_filter(run);
  if (!filter) return ExitCode::usage;
  std::optional<std::size_t> expected;
  if (!read_number(run, "--expect", expected)) return ExitCode::usage;
  const bool careful = is_careful_retry(run);
  const auto accepts = [&](const JsonValue& event) {
    return careful ? waits_for_retry(event) : is_for(run, text_at(event, "status").value_or(""));
  };
  const MatchedEvents found = find_matches(run, *filter, change_of(run).statuses, accepts);
  if (found.code != ExitCode::done) return found.code;
  // The number comes from an earlier dry run. If it differs, the user has not seen all of these events.
  if (expected && *expected != found.events.size()) {
    return fail(run,
                "expected " + events_text(*expected) + ", but the filter matches " +
                    std::to_string(found.events.size()) + " now. Nothing changed.",
                ExitCode::moved);
  }
  if (found.events.empty()) {
    run.err << "No event matches. Nothing changed.\n";
    return ExitCode::done;
  }
  if (run.arguments.has("--dry-run")) return show_dry_run(run, found.events);
  const ExitCode go_on = confirm(run, std::string(change_of(run).verb) + " " + described(run, found.events),
                                 found.events.size());
  return go_on == ExitCode::done ? change_matches(run, found.events) : go_on;
}

ExitCode change(Invocation& run) {
  const auto filter = run.arguments.text("--filter");
  if (filter.has_value() == run.arguments.has("ID")) {
    return wrong_usage(run,
                       filter ? "give IDs or --filter, not both" : "give the IDs of events, or --filter");
  }
  if (!filter && run.arguments.has("--expect")) {
    return wrong_usage(run, "--expect needs --filter, because IDs already give the number of events");
  }
  return filter ? change_filtered(run) : change_ids(run);
}

CommandSpec change_command(std::string_view name, std::string_view summary, std::string_view details,
                           std::vector<Example> examples) {
  Parameter ids = event_ids();
  ids.required = false;
  return {.name = name,
          .summary = summary,
          .details = details,
          .positionals = {ids},
          .options = {filter_option("All events that meet these conditions"),
                      {.name = "--dry-run", .help = "Only print what would change"},
                      {.name = "--yes", .help = "Do not ask for confirmation"},
                      {"--expect", "N",
                       "Change nothing and exit with 6 unless the filter matches exactly N events"},
                      by_option(),
                      reason_option()},
          .examples = std::move(examples),
          .run = change};
}

}  // namespace

std::vector<CommandSpec> change_commands() {
  CommandSpec retry = change_command(
      "retry", "Run failed events again",
      "For FAILED and CANCELLED events, and for PENDING events that wait for a retry. They may run at once, "
      "with all their retries. PROCESSING events stay with their worker.\n\n"
      "A filter without status: matches FAILED events and events that wait for a retry. It matches cancelled "
      "events only with status:CANCELLED.\n\n"
      "With --held the command is for all PENDING, PROCESSING, FAILED and CANCELLED events. It takes "
      "PROCESSING events from their worker and the server refuses the worker's report, so the work may be "
      "done twice.",
      {{"eventq retry 17", "Run event 17 again"},
       {"eventq retry --filter 'status:FAILED tag:email error:timeout' --dry-run",
        "List what a filter would retry"},
       {"eventq retry --held --filter 'status:PROCESSING worker:host-1:8742' --dry-run",
        "List what a lost worker still holds"}});
  retry.options.push_back({.name = "--held", .help = "Also take events from the workers that hold them"});
  retry.earlier_name = "reset";
  retry.earlier_flag = "--held";
  return {
      std::move(retry),
      change_command("cancel", "End events without running them",
                     "For PENDING, PROCESSING and FAILED events. A worker that holds one loses its lease. "
                     "`eventq retry` makes a cancelled event pending again.",
                     {{"eventq cancel 17 18 --reason 'sent by hand'", "Cancel two events"},
                      {"eventq cancel --filter 'queue:mail older:2d' --yes --expect 40",
                       "Cancel 40 events, or none if the filter matches another number"}}),
  };
}

}  // namespace eventq::cli
