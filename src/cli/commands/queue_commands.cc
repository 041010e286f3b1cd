// queue_commands.cc: `eventq queue ls`, `show`, `pause`, `resume`, `drain`, `checkpoint`, `checkpoints`, `rm`
// and `log`.
#include "cli/commands/queue_command.h"

#include <chrono>

#include "base/json_writer.h"
#include "cli/commands/author.h"
#include "cli/commands/events.h"
#include "cli/framework/command_table.h"

namespace eventq::cli {
namespace {

ExitCode list_queues(Invocation& run) {
  using Kind = CellKind;
  return print_list(run, "/queues", "queues",
                    {{"QUEUE", "id"},
                     {"STATE", "status", Kind::status},
                     {"PENDING", "counts.PENDING", Kind::number},
                     {"RUNNING", "counts.PROCESSING", Kind::number},
                     {"FAILED", "counts.FAILED", Kind::number},
                     {"DONE", "queueMetrics.totalProcessed", Kind::number},
                     {"REASON", "statusReason"}});
}

ExitCode show_queue(Invocation& run) {
  return print_answer(run, call(run, "GET", queue_path(run) + "?events=0"));
}

// The body {"by", "reason"}. REQUIRES: check_utf8() of both.
std::string status_body(const Invocation& run) {
  std::string text;
  JsonWriter body(text);
  body.begin_object();
  add_author(run, body);
  body.end_object();
  return text;
}

// `eventq queue pause`, `resume` and `drain`: the call has the name of the command.
ExitCode set_state(Invocation& run) {
  if (!check_utf8(run, {"--reason", "--by"})) return ExitCode::usage;
  const std::string verb(run.command.name.substr(run.command.name.find(' ') + 1));
  return print_answer(run, call(run, "POST", queue_path(run) + "/" + verb, status_body(run)));
}

ExitCode drain_queue(Invocation& run) {
  const auto wait = duration_option(run, "--wait", Millis{30'000});
  if (!wait) return wrong_usage(run, wait.error().message);
  if (!*wait) return set_state(run);
  if (!check_utf8(run, {"--reason", "--by"})) return ExitCode::usage;
  const SteadyTime deadline = steady_now() + **wait;
  while (true) {
    const std::int64_t seconds = wait_slice(deadline);
    const auto answer =
        run.server.call({.method = "POST",
                         .target = queue_path(run) + "/drain?timeout=" + std::to_string(seconds),
                         .body = status_body(run),
                         // The server may use the complete wait, and its answer needs some time, too.
                         .timeout = Millis{10'000} + std::chrono::seconds(seconds)});
    // 408: the queue was not empty within the wait of one call, so call again until the deadline.
    if (!answer || answer->status != 408) return print_answer(run, call_result(run, answer));
    if (steady_now() < deadline) continue;
    // Prints the server's message that the queue is not empty.
    call_result(run, answer);
    return ExitCode::timed_out;
  }
}

ExitCode make_checkpoint(Invocation& run) {
  const auto deleted = run.arguments.text("--delete");
  if (!deleted) {
    return print_answer(run, call(run, "POST", with_author(run, queue_path(run) + "/checkpoint")));
  }
  const std::string checkpoint = queue_path(run) + "/checkpoints/" + percent_encode(*deleted);
  return print_answer(run, call(run, "DELETE", with_author(run, checkpoint)));
}

ExitCode show_log(Invocation& run) {
  std::int64_t limit = 20;
  if (!read_number(run, "--limit", limit, 1, 1000)) return ExitCode::usage;
  return print_list(run, queue_path(run) + "/log?limit=" + std::to_string(limit), "entries",
                    {{"TIME", "created_at", CellKind::time},
                     {"ACTION", "action"},
                     {"BY", "by"},
                     {"REASON", "reason"},
                     {"DETAIL", "detail"}});
}

ExitCode list_checkpoints(Invocation& run) {
  return print_list(run, queue_path(run) + "/checkpoints?limit=1000", "checkpoints",
                    {{"ID", "id"},
                     {"CREATED", "created_at"},
                     {"EVENTS", "eventCount", CellKind::number},
                     {"LAST EVENT", "checkpointId"},
                     {"REQUESTED", "requested"}});
}

ExitCode remove_queue(Invocation& run) {
  return print_answer(run, call(run, "DELETE", with_author(run, queue_path(run))));
}

}  // namespace

std::string queue_path(const Invocation& run) {
  return "/queues/" + percent_encode(run.arguments.text_or("NAME", ""));
}

Parameter queue_name() {
  return {.name = "NAME", .help = "The queue", .completes = CompletionKind::queue, .required = true};
}

namespace {

// The commands that show a queue or change its status or settings.
std::vector<CommandSpec> status_commands() {
  const Parameter by = by_option();
  const Parameter reason = reason_option();
  return {
      {.name = "queue ls",
       .summary = "List the queues",
       .examples = {{"eventq queue ls", "List all queues and their depth"}},
       .run = list_queues},
      {.name = "queue show",
       .summary = "Show a queue and its settings",
       .positionals = {queue_name()},
       .examples = {{"eventq queue show mail --fields config", "Print the settings in force"}},
       .run = show_queue},
      {.name = "queue pause",
       .summary = "Stop delivering the events of a queue",
       .details =
           "The queue still accepts events, and workers may finish the events that they hold. `eventq queue "
           "resume` ends the pause.",
       .positionals = {queue_name()},
       .options = {by, reason},
       .examples = {{"eventq queue pause mail --reason 'mail server moves'",
                     "Stop the work, keep the events"}},
       .run = set_state},
      {.name = "queue resume",
       .summary = "End a pause or a drain",
       .positionals = {queue_name()},
       .options = {by, reason},
       .examples = {{"eventq queue resume mail", "Deliver events again"}},
       .run = set_state},
      {.name = "queue drain",
       .summary = "Stop accepting events into a queue",
       .details = "The queue still delivers its events. Publishing into it is refused. `eventq queue "
                  "resume` ends the drain.",
       .positionals = {queue_name()},
       .options =
           {by,
            reason,
            {.name = "--wait",
             .value = "DURATION",
             .help =
                 "Wait until the queue is empty, 30s by default, in whole seconds; exit with 3 if it is not",
             .bare = true}},
       .examples = {{"eventq queue drain mail --wait=5m", "Empty a queue before a move"}},
       .run = drain_queue},
      queue_set_command(),
  };
}

// The commands of checkpoints, of the log and of removal.
std::vector<CommandSpec> record_commands() {
  const Parameter by = by_option();
  const Parameter reason = reason_option();
  return {
      {.name = "queue checkpoint",
       .summary = "Mark the current position of a queue, or delete a mark",
       .details = "A checkpoint stays until it is deleted, and a queue has at most 1000 of them. A server "
                  "also makes checkpoints by time, and keeps the newest 100 of those.",
       .positionals = {queue_name()},
       .options = {{.name = "--delete", .value = "ID", .help = "Delete this checkpoint instead"}, by, reason},
       .examples = {{"eventq queue checkpoint mail -o id", "Print an id to replay from later"}},
       .run = make_checkpoint},
      {.name = "queue checkpoints",
       .summary = "List the checkpoints of a queue, newest first",
       .positionals = {queue_name()},
       .examples = {{"eventq queue checkpoints mail", "Find a position to replay from"}},
       .run = list_checkpoints},
      {.name = "queue log",
       .summary = "Show the changes of a queue, newest first",
       .details =
           "Settings, pauses, drains, replays, retries and checkpoints that callers asked for, with the "
           "person and the reason that they stated.",
       .positionals = {queue_name()},
       .options = {{"--limit", "N", "At most this many changes, 1 to 1000", "20"}},
       .examples = {{"eventq queue log mail", "Show the last changes with their authors and reasons"}},
       .run = show_log},
      {.name = "queue rm",
       .summary = "Delete a queue that holds no events",
       .details = "A queue with live or ended events is refused: drain it first, and let its ended events "
                  "expire. An event or a setting makes a queue with the same name again.",
       .positionals = {queue_name()},
       .options = {by, reason},
       .examples = {{"eventq queue rm old", "Delete an empty queue"}},
       .run = remove_queue},
  };
}

}  // namespace

std::vector<CommandSpec> queue_commands() {
  std::vector<CommandSpec> commands = status_commands();
  commands.push_back(queue_replay_command());
  for (CommandSpec& command : record_commands()) commands.push_back(std::move(command));
  return commands;
}

}  // namespace eventq::cli
