// worker_commands.cc: `eventq worker ls`, `show` and `log`.
#include <algorithm>
#include <string>

#include "base/percent.h"
#include "cli/framework/command_table.h"
#include "cli/framework/invocation.h"
#include "cli/framework/record.h"
#include "eventq/limits.h"

namespace eventq::cli {
namespace {

ExitCode list_workers(Invocation& run) {
  using Kind = CellKind;
  return print_list(run, "/workers", "workers",
                    {{"WORKER", "worker_id"},
                     {"STATE", "state"},
                     {"QUEUE", "queue"},
                     {"TAGS", "tags"},
                     {"DONE", "completed", Kind::number},
                     {"FAILED", "failed", Kind::number},
                     {"LAST SEEN", "last_seen", Kind::time},
                     {"STALE", "stale_because"},
                     {"HOLDS", "holding"}});
}

std::string worker_path(const Invocation& run) {
  return "/workers/" + percent_encode(run.arguments.text_or("WORKER", ""));
}

ExitCode show_worker(Invocation& run) { return print_answer(run, call(run, "GET", worker_path(run))); }

std::vector<OutputColumn> log_columns() {
  using Kind = CellKind;
  return {{"TIME", "created_at", Kind::time},
          {"EVENT", "event_id", Kind::number},
          {"ACTION", "action"},
          {"ATTEMPT", "attempt", Kind::number},
          {"CODE", "status_code", Kind::number},
          {"TOOK", "execution_time_ms", Kind::duration},
          {"ERROR", "error_message"},
          {"REASON", "reason"}};
}

ExitCode show_worker_log(Invocation& run) {
  std::size_t left = 100;
  if (!read_number(run, "--limit", left, 1)) return ExitCode::usage;
  RecordPrinter printer(run.out, run.output, log_columns());
  std::string before;
  std::string missing;
  while (true) {
    const CallResult called =
        call(run, "GET",
             worker_path(run) + "/log?limit=" + std::to_string(std::min(left, limits::kPage)) + before);
    if (!called) return called.code;
    const AnswerJson page(called.body);
    if (!page) return fail_unreadable(run, page);
    if (auto shards = missing_shards(*page); !shards.empty()) missing = std::move(shards);
    const auto entries = elements_at(*page, "entries");
    for (const JsonValue& entry : entries) printer.add(entry.raw());
    left -= std::min(left, entries.size());
    // A page may be short because its time was over, so only `next` says whether more follows.
    const auto next = text_at(*page, "next");
    if (!next || left == 0) break;
    before = "&before=" + *next;
  }
  printer.finish();
  return report_missing_shards(run, missing);
}

}  // namespace

std::vector<CommandSpec> worker_commands() {
  const Parameter worker{.name = "WORKER", .help = "The id of a worker", .required = true};
  return {
      {.name = "worker ls",
       .summary = "List the workers",
       .details =
           "The server knows workers from their calls; a worker does not register. A worker is active "
           "(holds an event, or asked for events lately), idle (asked within 10 minutes), stale (holds an "
           "event without a sign of life) or gone. It leaves the list a day after its last call.",
       .examples = {{"eventq worker ls", "List the workers of the last day"}},
       .run = list_workers},
      {.name = "worker show",
       .summary = "Show a worker",
       .positionals = {worker},
       .examples = {{"eventq worker show host-a:8742", "Show the events that it holds, and its last call"}},
       .run = show_worker},
      {.name = "worker log",
       .summary = "Show what a worker did",
       .details = "The entries of all events that name the worker, from the newest event to the oldest.",
       .positionals = {worker},
       .options = {{"--limit", "N", "At most this many entries", "100"}},
       .examples = {{"eventq worker log host-a:8742 --limit 20", "Show its last actions"}},
       .run = show_worker_log}};
}

}  // namespace eventq::cli
