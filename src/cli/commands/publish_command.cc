// publish_command.cc: `eventq publish`: publishes one event, and can wait for its end.
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>

#include "base/json_writer.h"
#include "base/numbers.h"
#include "base/time_text.h"
#include "cli/commands/events.h"
#include "cli/framework/command_table.h"
#include "cli/terminal/terminal_text.h"

namespace eventq::cli {
namespace {

constexpr Millis kDefaultWait{30'000};

Error wrong_argument(std::string message) {
  return {.code = ErrorCode::invalid_argument, .message = std::move(message)};
}

// Reads the payload from JSON, @FILE or -. Empty if none was given.
Result<std::string> read_payload(const Arguments& arguments) {
  const auto given = arguments.text("PAYLOAD");
  if (!given) return std::string();
  std::string json = *given;
  if (*given == "-") {
    json.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else if (given->starts_with('@')) {
    std::error_code ignored;  // opening the file below reports the error
    // std::ifstream opens a folder without an error and then reads nothing.
    if (std::filesystem::is_directory(given->substr(1), ignored)) {
      return wrong_argument(in_quotes(given->substr(1)) + " is a folder; name a file that holds JSON");
    }
    std::ifstream file(given->substr(1), std::ios::binary);
    const auto cannot_read = [&] {
      return wrong_argument("cannot read the file " + in_quotes(given->substr(1)) + ": " +
                            std::strerror(errno));
    };
    if (!file) return cannot_read();
    json.assign(std::istreambuf_iterator<char>(file), {});
    if (file.bad()) return cannot_read();
  }
  JsonParser parser;
  const auto value = parser.parse(json);
  if (value) return std::string(value->raw());
  const bool is_word = !json.empty() && std::isalpha(static_cast<unsigned char>(json.front())) != 0;
  return wrong_argument("the payload is not JSON: " + json_fault(value.error()) +
                        (is_word ? " A JSON string needs its own quotes: '\"hello\"'." : ""));
}

// An option, and the member of POST /events that has its value.
struct MemberOption {
  std::string_view option;
  std::string_view member;
};

constexpr MemberOption kTextOptions[] = {{"--queue", "queue"},       {"--key", "ordering_key"},
                                         {"--event-id", "event_id"}, {"--correlation", "correlation_id"},
                                         {"--pattern", "pattern"},   {"--at", "run_at"},
                                         {"--by", "published_by"}};
constexpr MemberOption kNumberOptions[] = {
    {"--priority", "priority"}, {"--retries", "max_retries"}, {"--attempts", "max_attempts"}};

Result<void> add_numbers(JsonWriter& body, const Arguments& arguments) {
  for (const auto& [option, member] : kNumberOptions) {
    const auto text = arguments.text(option);
    if (!text) continue;
    const auto value = parse_whole_signed<std::int64_t>(*text);
    if (!value)
      return wrong_argument(std::string(option) + " must be a whole number, not " + in_quotes(*text));
    body.key(member).integer(*value);
  }
  return {};
}

Result<void> add_delay(JsonWriter& body, const Invocation& run) {
  const auto delay = duration_option(run, "--delay");
  if (!delay) return delay.error();
  if (!*delay) return {};
  const auto seconds = std::chrono::floor<std::chrono::seconds>(**delay);
  // The API takes whole seconds.
  if (seconds != **delay) return wrong_argument("--delay must be whole seconds, such as 90s or 2m");
  body.key("delay").integer(seconds.count());
  return {};
}

Result<std::string> make_body(const Invocation& run) {
  const Arguments& arguments = run.arguments;
  const std::string tags = arguments.text_or("TAGS", "");
  const std::string title = arguments.text_or("--title", tags.substr(0, tags.find(',')));
  // Without --title the first tag is the title, and the server would refuse an empty title.
  if (title.empty() && !arguments.has("--title")) {
    return wrong_argument("TAGS has no first tag; give one or more tags, such as email,urgent");
  }
  if (const auto at = arguments.text("--at"); at && !parse_iso_time(*at)) {
    return wrong_argument("--at must be a time in UTC such as 2027-01-31T08:00:00Z, not " + in_quotes(*at));
  }
  const auto payload = read_payload(arguments);
  if (!payload) return payload.error();

  std::string text;
  JsonWriter body(text);
  body.begin_object().key("title").string(title).key("tags").string(tags);
  if (!payload->empty()) body.key("payload").raw(*payload);
  for (const auto& [option, member] : kTextOptions) {
    if (const auto value = arguments.text(option)) body.key(member).string(*value);
  }
  // A braced list is evaluated from left to right, so the members have a fixed order.
  for (const auto& added : {add_numbers(body, arguments), add_delay(body, run)}) {
    if (!added) return added.error();
  }
  body.end_object();
  return text;
}

// The publishing call itself waits first, so an event that ends quickly needs one call only.
ExitCode publish_and_wait(Invocation& run, const std::string& body, Millis wait) {
  const SteadyTime deadline = steady_now() + wait;
  const std::int64_t seconds = wait_slice(deadline);
  const CallResult published =
      call_result(run, run.server.call({.method = "POST",
                                        .target = "/events",
                                        .body = body,
                                        .headers = {{"Prefer", "wait=" + std::to_string(seconds)}},
                                        .timeout = Millis{30'000} + std::chrono::seconds(seconds)}));
  if (!published) return published.code;
  const AnswerJson event(published.body);
  if (!event) return fail_unreadable(run, event);
  if (has_ended(text_at(*event, "status").value_or(""))) {
    print_record(run.out, run.output, published.body);
    return report_end(run, published.body);
  }

  const std::int64_t id = integer_at(*event, "id").value_or(0);
  const WaitResult waited = wait_for_end(run, id, deadline);
  if (!waited.called) return waited.called.code;
  print_record(run.out, run.output, waited.called.body);
  if (waited.ended) return report_end(run, waited.called.body);
  return fail(run,
              "event " + std::to_string(id) + " has not ended yet. Continue waiting with: eventq wait " +
                  std::to_string(id),
              ExitCode::timed_out);
}

ExitCode publish(Invocation& run) {
  if (run.arguments.has("--at") && run.arguments.has("--delay")) {
    return wrong_usage(run, "--at and --delay exclude each other; give one of them");
  }
  if (!check_utf8(run, {"TAGS", "--title"})) return ExitCode::usage;
  for (const MemberOption& text : kTextOptions) {
    if (!check_utf8(run, {text.option})) return ExitCode::usage;
  }
  const auto body = make_body(run);
  if (!body) return wrong_usage(run, body.error().message);
  const auto wait = duration_option(run, "--wait", kDefaultWait);
  if (!wait) return wrong_usage(run, wait.error().message);
  if (*wait) return publish_and_wait(run, *body, **wait);
  return print_answer(run, call(run, "POST", "/events", *body));
}

std::vector<Parameter> publish_options() {
  return {
      {"--title", "TEXT", "Title in lists; the first tag by default"},
      queue_option("The queue to publish to", "main"),
      {"--delay", "DURATION", "Deliver the event after this time, such as 90s or 2h"},
      {"--at", "TIME", "Deliver the event at this time, such as 2027-01-31T08:00:00Z"},
      {"--priority", "N", "Events with a higher priority are delivered first", "0"},
      {"--key", "TEXT", "Events of a queue with the same ordering key run one at a time, in order"},
      {"--event-id", "ID", "Your own id for the event; publishing the same id again has no effect"},
      {"--correlation", "ID", "Your own id for events that belong together"},
      {"--retries", "N", "The reported failure that reaches N is final; the queue's setting by default"},
      {"--attempts", "N", "Claims in a row without a report before it fails; the queue's setting by default"},
      {"--pattern", "TEXT", "What happened, such as invoice.created"},
      {"--by", "NAME", "The person or program that publishes the event"},
      {.name = "--wait",
       .value = "DURATION",
       .help = "Wait until the event has ended, 30s by default, in whole seconds, and print it",
       .bare = true}};
}

}  // namespace

CommandSpec publish_command() {
  return {
      .name = "publish",
      .summary = "Publish an event",
      .details =
          "Prints the event as it was stored. The event is on disk when the command ends.\n\n"
          "With --wait the exit code tells how the event ended: 0 completed, 5 failed, cancelled "
          "or superseded, 3 when it has not ended in time. The event continues then, and `eventq "
          "wait` waits for it.",
      .positionals = {{.name = "TAGS",
                       .help = "The tags that select workers, separated by commas",
                       .required = true},
                      {.name = "PAYLOAD",
                       .help = "JSON, or @FILE, or - for standard input; null by default",
                       .completes = CompletionKind::file}},
      .options = publish_options(),
      .examples = {{"eventq publish email '{\"to\":\"a@example.com\"}'", "Publish an event with a payload"},
                   {"eventq publish email,urgent @mail.json --delay 10m",
                    "Read the payload from a file, deliver it later"},
                   {"eventq publish report --wait=2m", "Publish, and wait until a worker is done with it"}},
      .run = publish};
}

}  // namespace eventq::cli
