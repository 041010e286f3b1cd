// export_command.cc: `eventq export`: prints events as lines for `eventq import`.
#include <unistd.h>

#include <array>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "cli/commands/events.h"
#include "cli/framework/command_table.h"
#include "cli/framework/interrupt.h"
#include "cli/framework/invocation.h"
#include "cli/terminal/progress.h"
#include "eventq/limits.h"

namespace eventq::cli {
namespace {

// All members of POST /events, in the order of docs/api.md.
constexpr std::array<std::string_view, 23> kPublished = {
    "title",       "description",  "tags",          "payload",        "queue",        "priority",
    "max_retries", "max_attempts", "event_id",      "correlation_id", "causation_id", "trace_id",
    "pattern",     "version",      "source",        "traceparent",    "tracestate",   "published_by",
    "timestamp",   "ordering_key", "supersede_key", "run_at",         "retry"};

// Makes one line from an event as GET /events shows it with include=payload.
std::string line_of(const JsonValue& event) {
  std::string line;
  JsonWriter json(line);
  json.begin_object();
  const auto members = event.members();
  for (const std::string_view name : kPublished) {
    for (const JsonMember& member : members) {
      if (member.name != name) continue;
      // null means absent, except for the payload, where it is a value.
      if (member.value.type() == JsonType::null && name != "payload") continue;
      json.key(name).raw(member.value.raw());
    }
  }
  json.end_object();
  // A payload may have line ends between tokens. JSON strings have none, so replacing them is safe.
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return line;
}

// The number of events to export, if the server knows it exactly.
std::optional<std::int64_t> total_of(Invocation& invocation, QueryString query) {
  const auto answer = invocation.server.call({.target = "/events?" + query.add("limit", "1").text()});
  const AnswerJson body(answer ? answer->body : "");
  return text_at(*body, "total_exact") == "true" ? integer_at(*body, "total") : std::nullopt;
}

ExitCode run_export(Invocation& invocation) {
  if (!read_filter(invocation)) return ExitCode::usage;
  const Interrupt interrupt;
  QueryString query = list_query(invocation.arguments);
  ProgressBar progress(invocation.err, isatty(STDERR_FILENO) == 1, "Exporting", total_of(invocation, query));
  std::int64_t done = 0;
  ExitCode code = ExitCode::done;
  query.add("include", "payload");
  const PagedResult paged = each_event(invocation, query, limits::kPage, [&](const JsonValue& event) {
    invocation.out << line_of(event) << '\n';
    progress.show(++done);
    if (!invocation.out) code = ExitCode::failed;
    // After a complete line, so what was printed so far can be imported.
    if (interrupt.requested()) code = ExitCode::interrupted;
    return code == ExitCode::done;
  });
  if (paged.code != ExitCode::done) return paged.code;
  return code == ExitCode::done ? report_missing_shards(invocation, paged.missing) : code;
}

}  // namespace

CommandSpec export_command() {
  return {
      .name = "export",
      .summary = "Print events for eventq import, one JSON object per line",
      .details =
          "In the order of their ids, both live and ended events. Payloads are printed as they "
          "were published. The history of an event (attempts, log, status) is not exported, so an "
          "imported event is a new one.",
      .options = list_options(),
      .examples = {{"eventq export --status FAILED > failed.ndjson", "Save the failed events"}},
      .run = run_export,
      .server_use = ServerUse::own_output,
  };
}

}  // namespace eventq::cli
