// wait_command.cc: `eventq wait`: waits until events have ended.
#include "base/steady.h"
#include "cli/commands/events.h"
#include "cli/framework/command_table.h"

namespace eventq::cli {
namespace {

// The rank of an exit code: the command exits with the highest of all events. A failed call ranks highest,
// then an event that has not ended.
int weight(ExitCode code) {
  switch (code) {
    case ExitCode::done: return 0;
    case ExitCode::event_failed: return 1;
    case ExitCode::pending:
    case ExitCode::timed_out: return 2;
    default: return 3;
  }
}

ExitCode not_ended(Invocation& run, std::int64_t id, ExitCode code) {
  return fail(run, "event " + std::to_string(id) + " has not ended", code);
}

ExitCode check_once(Invocation& run, std::int64_t id, NamedEvents& events) {
  const CallResult called = call(run, "GET", "/events/" + std::to_string(id));
  if (!called) return called.code;
  events.add(called.body);
  const AnswerJson event(called.body);
  const std::string status = text_at(*event, "status").value_or("");
  return has_ended(status) ? report_end(run, called.body) : not_ended(run, id, ExitCode::pending);
}

ExitCode wait_once(Invocation& run, std::int64_t id, std::optional<SteadyTime> deadline,
                   NamedEvents& events) {
  const WaitResult waited = wait_for_end(run, id, deadline);
  if (!waited.called) return waited.called.code;
  events.add(waited.called.body);
  return waited.ended ? report_end(run, waited.called.body) : not_ended(run, id, ExitCode::timed_out);
}

ExitCode wait(Invocation& run) {
  const auto timeout = duration_option(run, "--timeout");
  if (!timeout) return wrong_usage(run, timeout.error().message);
  const bool check_only = run.arguments.has("--no-block");
  if (check_only && *timeout) return wrong_usage(run, "--no-block does not wait, so it takes no --timeout");
  std::optional<SteadyTime> deadline;
  if (*timeout) deadline = steady_now() + **timeout;
  NamedEvents events(run);
  ExitCode worst = ExitCode::done;
  const ExitCode reached = for_each_id(run, [&](std::int64_t id) {
    const ExitCode code = check_only ? check_once(run, id, events) : wait_once(run, id, deadline, events);
    if (weight(code) > weight(worst)) worst = code;
    // for_each_id() would turn any other code into `failed`, so it gets only those of failed calls.
    return weight(code) == 3 ? code : ExitCode::done;
  });
  events.finish();
  return reached == ExitCode::done ? worst : reached;
}

}  // namespace

CommandSpec wait_command() {
  return {.name = "wait",
          .summary = "Wait until events have ended",
          .details =
              "Prints each event when it has ended. The exit code is 0 when all are completed, and 5 "
              "when one failed, was cancelled or superseded. It is 3 when one has not ended in time, 8 "
              "when one has not ended with --no-block, and 1 when a request failed.",
          .positionals = {event_ids()},
          .options = {{"--timeout", "DURATION",
                       "Time limit for all events together, in whole seconds; none by default"},
                      {.name = "--no-block", .help = "Do not wait; only check"}},
          .examples = {{"eventq wait 1 2 3 --timeout 5m", "Wait at most five minutes for three events"}},
          .run = wait};
}

}  // namespace eventq::cli
