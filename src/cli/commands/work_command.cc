// work_command.cc: `eventq work`: runs a command for each event.
#include <unistd.h>

#include <csignal>
#include <future>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/descriptor_limit.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/percent.h"
#include "base/steady.h"
#include "base/time_text.h"
#include "cli/commands/child.h"
#include "cli/framework/command_table.h"
#include "cli/framework/invocation.h"
#include "cli/terminal/terminal_text.h"
#include "eventq/client.h"
#include "eventq/event_context.h"
#include "eventq/limits.h"
#include "eventq/worker.h"
#include "model/tags.h"
#include "server/stop_signals.h"

namespace eventq::cli {
namespace {

using namespace std::chrono_literals;

constexpr int kLaterExit = 75;  // EX_TEMPFAIL of sysexits.h
constexpr std::int64_t kParallelMax = 1000;
constexpr std::size_t kDescriptorsBesideChildren = 64;  // connections, standard streams, signals

struct WorkOptions {
  std::string command;
  std::vector<std::string> tags;
  std::string queue;
  std::size_t parallel = 1;
  std::optional<std::size_t> prefetch;
  Millis timeout{0};
  Millis later = 10s;
  bool until_empty = false;
  bool capture = false;
  std::optional<std::size_t> open_files;  // the soft limit for commands, if this process raised its own
};

std::string_view mark_of(Handled::HandledKind kind) {
  switch (kind) {
    case Handled::HandledKind::done: return "done";
    case Handled::HandledKind::later: return "later";
    default: return "failed";
  }
}

// JSON stays as it is; any other text becomes a JSON string, without the white space at its end. Empty for no
// text.
std::string result_of(std::string_view output) {
  const std::size_t first = output.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  constexpr std::size_t kLevelsAround = 3;  // those of the request of POST /events/next
  JsonParser parser(limits::kJsonDepth - kLevelsAround);
  if (const auto value = parser.parse(output)) return std::string(value->raw());
  const std::string text = tail_text(output, output.size() * 3);  // a replaced byte has three
  return json_text([&](JsonWriter& json) { json.string(text); });
}

// Runs the command for an event, and prints the result.
class CommandRunner {
 public:
  CommandRunner(Invocation& invocation, const WorkOptions& options)
      : run_(invocation),
        options_(options),
        json_(invocation.arguments.text_or("--output", "") == "jsonl"),
        terminal_(isatty(STDERR_FILENO) == 1) {}

  Handled handle(const Event& event, const std::stop_token& stop) {
    const SteadyTime start = steady_now();
    const auto end =
        children.run({.command = options_.command,
                      .environment = environment_of(event),
                      .input = event.payload,
                      .timeout = options_.timeout,
                      .open_files = options_.open_files,
                      .capture = options_.capture ? std::optional(limits::kResult) : std::nullopt},
                     stop);
    // The lease is lost or the worker stops, so the worker ignores what this handler returns.
    const bool lost = end && end->cause == ChildEnd::Cause::stopped;
    Handled handled = lost ? Handled::later(Millis{0}, "stopped") : judge(end);
    say(event, handled, lost ? "stopped" : mark_of(handled.kind()), millis_since(start));
    return handled;
  }

  // Prints that the worker claims events from now on.
  void begin() {
    if (json_) return;
    run_.err << "Working on " + join_tags(options_.tags) + " of queue " + options_.queue + " at " + run_.url +
                    ", " + std::to_string(options_.parallel) + " at a time. Stop with Ctrl-C.\n"
             << std::flush;
  }

  Children children;

 private:
  // TRACEPARENT and TRACESTATE are set also when they are empty, because the command must not get those of
  // the worker.
  [[nodiscard]] std::vector<std::string> environment_of(const Event& event) const {
    const EventContext context = context_of(event);
    return {"EVENTQ_ID=" + std::to_string(static_cast<std::int64_t>(event.id)),
            "EVENTQ_EVENT_ID=" + event.event_id,
            "EVENTQ_QUEUE=" + event.queue,
            "EVENTQ_TITLE=" + event.title,
            "EVENTQ_TAGS=" + join_tags(event.tags),
            "EVENTQ_ATTEMPT=" + std::to_string(event.attempts),
            "EVENTQ_PATTERN=" + event.pattern,
            "EVENTQ_CORRELATION_ID=" + event.correlation_id,
            "EVENTQ_PRIORITY=" + std::to_string(event.priority),
            "EVENTQ_URL=" + run_.url,
            "TRACEPARENT=" + context.traceparent,
            "TRACESTATE=" + context.tracestate};
  }

  [[nodiscard]] Handled judge(const Result<ChildEnd>& end) const {
    if (!end) return Handled::later(options_.later, end.error().message);
    if (end->cause == ChildEnd::Cause::timed_out) {
      return Handled::retry("took longer than " + format_duration(options_.timeout), end->stderr_tail);
    }
    if (end->signal == 0 && end->exit_code == 0) return captured(end->output);
    if (end->signal == 0 && end->exit_code == kLaterExit) {
      return Handled::later(options_.later, "exit 75");
    }
    const std::string error = error_line(end->stderr_tail);
    const bool killed = end->signal != 0;
    const std::string message = error.empty() ? describe(*end)
                                : killed      ? describe(*end) + ": " + error
                                              : error;
    // One line is all there is to say, so it is not stored twice.
    return Handled::retry(message, error == end->stderr_tail ? "" : end->stderr_tail);
  }

  // The result of a command that succeeded. More than a result may have is a failure without a retry, because
  // the command would write it again.
  static Handled captured(std::string_view output) {
    std::string result = result_of(output);
    if (output.size() <= limits::kResult && result.size() <= limits::kResult)
      return Handled::done(std::move(result));
    return Handled::fail("stdout is too long: the result of an event has at most " +
                         std::to_string(limits::kResult) + " bytes of JSON");
  }

  void say(const Event& event, const Handled& handled, std::string_view what, Millis took) {
    const auto id = static_cast<std::int64_t>(event.id);
    std::string line;
    if (json_) {
      JsonWriter json(line);
      json.begin_object().key("id").integer(id).key("result").string(what);
      json.key("attempt").integer(event.attempts).key("ms").integer(took.count());
      if (!handled.message().empty()) json.key("message").string(handled.message());
      json.end_object();
    } else if (terminal_ || what == "failed") {
      // A line has the start of the message only; the log of the event has all of it.
      const std::string_view mark = what == "done" ? "✓" : what == "failed" ? "✗" : "↻";
      line = std::string(mark) + " " + std::to_string(id) + " " + printable(event.title) + " " +
             std::to_string(took.count()) + " ms";
      if (!handled.message().empty()) line += ": " + printable(handled.message().substr(0, 200));
    }
    if (line.empty()) return;
    const std::lock_guard lock(mutex_);
    run_.err << line + "\n" << std::flush;
  }

  Invocation& run_;
  const WorkOptions& options_;
  const bool json_;
  const bool terminal_;
  std::mutex mutex_;  // guards run_.err
};

// The worker calls one handler per tag. An event with several of the tags must run once, so only the handler
// of the first one runs the command.
Handler handler_of(CommandRunner& runner, const WorkOptions& options, const std::string& tag) {
  return [&runner, &options, tag](const Event& event, const std::stop_token& stop) {
    for (const std::string& wanted : options.tags) {
      if (std::find(event.tags.begin(), event.tags.end(), wanted) == event.tags.end()) continue;
      return wanted == tag ? runner.handle(event, stop) : Handled::done();
    }
    return Handled::done();
  };
}

// True if no event with these tags is live, also not with another worker.
bool is_empty(Invocation& run, const WorkOptions& options) {
  // An event may change between PENDING and PROCESSING between two calls, so PENDING is checked again.
  for (const std::string_view status : {"PENDING", "PROCESSING", "PENDING"}) {
    const auto answer = run.server.call({.target = "/events?limit=1&status=" + std::string(status) +
                                                   "&queue=" + percent_encode(options.queue) +
                                                   "&tags=" + percent_encode(join_tags(options.tags))});
    if (!answer || answer->status != 200) return false;
    const AnswerJson body(answer->body);
    if (!body || !elements_at(*body, "events").empty() || !missing_shards(*body).empty()) return false;
  }
  return true;
}

// Commands may finish within the stop time of the worker. A second signal kills them and ends this process.
ExitCode stop_worker(Invocation& run, Worker& worker, CommandRunner& runner, server::StopSignals& signals) {
  // worker.stop() blocks, so it runs on another thread while this one waits for a second signal.
  auto stopping = std::async(std::launch::async, [&] { return worker.stop(); });
  while (stopping.wait_for(0ms) != std::future_status::ready) {
    const auto signal = signals.wait(20ms);
    if (!signal) continue;
    runner.children.kill_all();
    _exit(128 + *signal);
  }
  if (stopping.get()) return ExitCode::done;
  // Handler threads still run and use objects of this stack frame, so exit without destroying them.
  runner.children.kill_all();
  run.out << std::flush;
  _exit(0);
}

ExitCode work(Invocation& run, const WorkOptions& options) {
  server::StopSignals signals;
  std::signal(SIGPIPE, SIG_IGN);
  // Reports a wrong URL at once. Later the worker itself retries when the server is unreachable.
  if (const auto there = call(run, "GET", "/healthz"); !there) return there.code;
  const Logger log = stderr_logger(LogLevel::warning);
  // One attempt: the worker retries itself, and a stop then waits for one answer at most.
  auto client = Client::connect(run.url, {.timeout = 10s, .tries = 1, .logger = log});
  if (!client) return wrong_usage(run, client.error().message);
  CommandRunner runner(run, options);
  Worker worker(
      **client,
      {.queue = options.queue, .threads = options.parallel, .prefetch = options.prefetch, .logger = log});
  for (const std::string& tag : options.tags) worker.on_tag(tag, handler_of(runner, options, tag));
  if (const auto started = worker.start(); !started) return fail(run, started.error().message);

  runner.begin();
  for (;;) {
    if (signals.wait(200ms)) break;
    if (options.until_empty && worker.stats().held == 0 && is_empty(run, options)) break;
  }
  return stop_worker(run, worker, runner, signals);
}

// Raises the limit on open files to what options.parallel needs. Commands keep the original limit, because
// programs that use select() fail with descriptors above 1023.
Result<void> raise_limit_for(WorkOptions& options) {
  const std::size_t each = kDescriptorsPerChild + (options.capture ? kDescriptorsToCapture : 0);
  const std::size_t needed = options.parallel * each + kDescriptorsBesideChildren;
  const std::size_t before = descriptor_limit();
  if (before >= needed) return {};
  const std::size_t raised = raise_descriptor_limit();
  if (raised < needed) {
    const std::size_t most =
        raised > kDescriptorsBesideChildren ? (raised - kDescriptorsBesideChildren) / each : 0;
    return Error{ErrorCode::invalid_argument,
                 "--parallel " + std::to_string(options.parallel) + " needs " + std::to_string(needed) +
                     " open files, and the limit is " + std::to_string(raised) +
                     " (ulimit -Hn), enough for --parallel " + std::to_string(most) + "."};
  }
  options.open_files = before;
  return {};
}

ExitCode run_work(Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  WorkOptions options{.command = arguments.text_or("--exec", ""),
                      .tags = split_list(arguments.text_or("TAGS", "")),
                      .queue = arguments.text_or("--queue", "main"),
                      .until_empty = arguments.has("--until-empty"),
                      .capture = arguments.has("--capture")};
  if (options.tags.empty()) {
    return wrong_usage(invocation, "TAGS is empty: name the tags to work on, such as email,sms.");
  }
  if (options.command.empty())
    return wrong_usage(invocation, "--exec CMD is missing: the command to run for each event.");
  if (!read_number(invocation, "--parallel", options.parallel, 1, kParallelMax) ||
      !read_number(invocation, "--prefetch", options.prefetch, 0, kParallelMax)) {
    return ExitCode::usage;
  }
  const auto later = duration_option(invocation, "--later");
  if (!later) return wrong_usage(invocation, later.error().message);
  options.later = later->value_or(options.later);
  const auto timeout = duration_option(invocation, "--timeout");
  if (!timeout) return wrong_usage(invocation, timeout.error().message);
  if (*timeout == 0ms) return wrong_usage(invocation, "--timeout must be longer than zero, such as 10m");
  options.timeout = timeout->value_or(options.timeout);
  // Last, because the limit depends on --parallel.
  if (const auto raised = raise_limit_for(options); !raised)
    return wrong_usage(invocation, raised.error().message);
  return work(invocation, options);
}

}  // namespace

CommandSpec work_command() {
  return {
      .name = "work",
      .summary = "Run a command for each event",
      .details =
          "/bin/sh runs the command with the payload on its stdin, and with EVENTQ_ID, "
          "EVENTQ_EVENT_ID, EVENTQ_QUEUE, EVENTQ_TITLE, EVENTQ_TAGS, EVENTQ_ATTEMPT, "
          "EVENTQ_PATTERN, EVENTQ_CORRELATION_ID, EVENTQ_PRIORITY and EVENTQ_URL in its "
          "environment. TRACEPARENT and TRACESTATE are those of the event (W3C Trace Context). "
          "The exit code is the result. 0: the event is completed. 75: the event is "
          "delivered again after --later, and no failure is counted. Any other code is a failure. "
          "Its message is the line of stderr that says what went wrong, and its detail the end of "
          "stderr, up to 64 KiB; `eventq get` and `eventq logs` show both.\n\n"
          "With --capture, what the command writes to stdout becomes the result of the event: JSON "
          "as it is, other text as a JSON string. More than 64 KiB is a failure without a retry.\n\n"
          "The worker extends the lease while the command runs. When the lease is lost, or the "
          "command exceeds --timeout, the command and all processes that it started get SIGTERM, "
          "and SIGKILL five seconds later.\n\n"
          "On SIGINT or SIGTERM the worker claims no more events and waits up to 30 s for the "
          "running commands; it gives back events that are not finished by then. It waits a few "
          "seconds more for a server that does not answer. A second signal ends everything at "
          "once. The worker prints results to stderr: on a terminal a line per event, elsewhere a "
          "line per failure, with -o jsonl a JSON object per event.",
      .positionals = {{.name = "TAGS", .help = "Events with any of these tags: email,sms", .required = true}},
      .options = {{"--exec", "CMD", "The command to run"},
                  {"-j,--parallel", "N", "Number of commands to run at once", "1"},
                  queue_option("The queue", "main"),
                  {"--timeout", "TIME", "Time limit of a command, such as 10m"},
                  {"--later", "TIME", "Delay before an event with exit code 75 is delivered again", "10s"},
                  {"--prefetch", "N",
                   "Events to hold ready beside the running ones [the value of --parallel]"},
                  {.name = "--capture", .help = "Store the stdout of a command as the result of its event"},
                  {.name = "-o,--output",
                   .value = "FORMAT",
                   .help = "Format of the results on stderr",
                   .choices = "jsonl"},
                  {.name = "--until-empty",
                   .help =
                       "Exit when no event with these tags is PENDING or PROCESSING, also by other workers"}},
      .examples = {{"eventq work email --exec ./send.sh -j 4", "Run four commands at a time"},
                   {"eventq work sum --exec 'jq add' --capture",
                    "Store what the command prints as the result"},
                   {"eventq work report --exec 'jq .month' --until-empty", "Process all events, then exit"}},
      .run = run_work,
      .server_use = ServerUse::own_output,
  };
}

}  // namespace eventq::cli
