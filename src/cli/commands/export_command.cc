// export_command.cc: `eventq export`: events as lines that `eventq import` takes.
#include <unistd.h>

#include <array>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/percent.h"
#include "cli/command_table.h"
#include "cli/interrupt.h"
#include "cli/invocation.h"
#include "cli/progress.h"
#include "cli/record.h"

namespace eventq::cli {
namespace {

// What a publisher may say, in the order in which docs/api.md tells it.
constexpr std::array<std::string_view, 19> kMembers = {
    "title",     "description",    "tags",          "payload",  "queue",   "priority", "max_retries",
    "event_id",  "correlation_id", "causation_id",  "trace_id", "pattern", "version",  "source",
    "timestamp", "ordering_key",   "supersede_key", "run_at",   "retry"};

// One event, as the server shows it, as a line.
std::string line_of(const JsonValue& event) {
  std::string line;
  JsonWriter json(line);
  json.begin_object();
  const auto members = event.members();
  for (const std::string_view name : kMembers) {
    for (const JsonMember& member : members) {
      if (member.name != name) continue;
      if (member.value.type() == JsonType::null && name != "payload") continue;
      json.key(name).raw(member.value.raw());
    }
  }
  json.end_object();
  // White space between the tokens of a payload may hold line ends, and in no string can one stand.
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return line;
}

std::string query_of(const Arguments& arguments) {
  std::string query = "/events?limit=1000";
  constexpr std::pair<std::string_view, std::string_view> kFilters[] = {
      {"--queue", "queue"}, {"--status", "status"}, {"--tag", "tags"}};
  for (const auto& [option, parameter] : kFilters) {
    if (const auto value = arguments.text(option)) {
      query += "&" + std::string(parameter) + "=" + percent_encode(*value);
    }
  }
  return query;
}

ExitCode run(Invocation& invocation) {
  const Interrupt interrupt;
  const std::string query = query_of(invocation.arguments);
  std::optional<Progress> progress;
  std::int64_t last = 0;
  std::int64_t done = 0;
  JsonParser pages;
  JsonParser parser;
  for (;;) {
    const auto page = call(invocation, "GET", query + "&after_id=" + std::to_string(last));
    if (!page) return page.code;
    const auto body = pages.parse(page.body);
    if (!body) return fail(invocation, "the server's list cannot be read: " + body.error().message);
    if (!progress) {
      const bool exact = text_at(*body, "total_exact") == "true";
      progress.emplace(invocation.err, isatty(STDERR_FILENO) == 1, "Exporting",
                       exact ? integer_at(*body, "total") : std::nullopt);
    }
    const auto events = elements_at(*body, "events");
    if (events.empty()) break;
    for (const JsonValue& summary : events) {
      last = integer_at(summary, "id").value_or(last);
      // The list has no payloads.
      const auto answer = invocation.server.call({.target = "/events/" + std::to_string(last)});
      if (answer && answer->status == 404) continue;  // removed meanwhile
      const Called told_event = told(invocation, answer);
      if (!told_event) return told_event.code;
      const auto event = parser.parse(told_event.body);
      if (!event)
        return fail(invocation,
                    "event " + std::to_string(last) + " cannot be read: " + event.error().message);
      invocation.out << line_of(*event) << '\n';
      if (!invocation.out) return ExitCode::failed;
      progress->show(++done);
      if (interrupt.asked()) return ExitCode::interrupted;
    }
  }
  return ExitCode::done;
}

}  // namespace

CommandSpec export_command() {
  return {
      .name = "export",
      .summary = "Print events as eventq import takes them, one JSON object a line",
      .details =
          "In the order of their ids, live and ended ones. Payloads are as they were published; what "
          "happened to "
          "an event (attempts, log, status) is left behind: imported, it is a new one.",
      .positionals = {},
      .options =
          {{.name = "--queue", .value = "NAME", .help = "Only of this queue", .completes = Completes::queue},
           {.name = "--status",
            .value = "STATUS",
            .help = "Only with this status",
            .completes = Completes::status},
           {.name = "--tag", .value = "TAGS", .help = "Only with any of these tags"}},
      .examples = {{"eventq export --status FAILED > failed.ndjson", "Keep what failed"}},
      .run = run,
  };
}

}  // namespace eventq::cli
