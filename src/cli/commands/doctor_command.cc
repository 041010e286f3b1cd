// doctor_command.cc: `eventq doctor`: checks machine, store and server, and prints what would fix each
// problem.
#include <chrono>
#include <ctime>
#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "cli/commands/probes.h"
#include "cli/framework/command_table.h"
#include "cli/framework/invocation.h"
#include "cli/framework/store_path.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal_text.h"
#include "eventq/limits.h"
#include "tools/backup/backup.h"

namespace eventq::cli {
namespace {

using State = DiagnosisState;

constexpr std::int64_t kLongLog =
    256LL * 1024 * 1024;  // the server keeps it below a quarter of this, unless a reader blocks it

std::vector<Diagnosis> check_machine(const std::string& folder) {
  return {probe_fsync(folder), probe_file_system(folder), probe_disk(folder), probe_open_files(),
          judge_sqlite(sqlite::library_version())};
}

std::vector<Diagnosis> check_file(const std::string& path) {
  const auto facts = sqlite::inspect(path);
  if (!facts)
    return {{State::fail, "store", facts.error().message, "name the right file with --store sqlite:FILE"}};
  std::vector<Diagnosis> found;
  Diagnosis store{State::ok, "store",
                  "schema " + std::to_string(facts->schema) + ", journal mode " + facts->journal_mode + ", " +
                      grouped(facts->bytes) + " bytes"};
  // Each condition overrides the one before, because its fix must come first.
  if (facts->schema < facts->newest_schema) {
    store.state = State::warn;
    store.fix =
        "start `eventq serve` with it once to migrate it to schema " + std::to_string(facts->newest_schema);
  }
  if (facts->schema > facts->newest_schema) {
    store.state = State::fail;
    store.fix = "use the newer eventq that wrote it";
  }
  if (facts->moving) {
    store.state = State::fail;
    store.text += ", part of a store that is being moved";
    store.fix = "run the same `eventq move` again";
  }
  found.push_back(std::move(store));
  Diagnosis log{State::ok, "journal", grouped(facts->log_bytes) + " bytes in the write-ahead log"};
  if (facts->log_bytes > kLongLog) {
    log.state = State::warn;
    log.fix = "end the program that reads the file for a long time, or restart the server";
  }
  found.push_back(std::move(log));
  return found;
}

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::optional<std::chrono::seconds> parse_date(const std::string& date) {
  std::tm time{};
  const char* const end = strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S", &time);
  if (end == nullptr) return std::nullopt;
  return std::chrono::seconds(timegm(&time));
}

Diagnosis check_clock(const client::HttpResponse& response) {
  const auto theirs = parse_date(std::string(response.header("date")));
  if (!theirs)
    return {State::warn, "clock", "the server sends no Date header",
            "check whether a proxy removes the header"};
  const auto ours = std::chrono::floor<std::chrono::seconds>(system_clock().now()).time_since_epoch();
  return judge_clock(ours - *theirs);
}

void check_queue(const JsonValue& queue, std::int64_t unattended, std::vector<Diagnosis>& found) {
  const std::string name = text_at(queue, "id").value_or("?");
  const auto number = [&](std::string_view path) { return integer_at(queue, path).value_or(0); };
  if (text_at(queue, "status") != "active") {
    found.push_back({State::warn, "queue " + name, "is " + text_at(queue, "status").value_or("?"),
                     "eventq queue resume " + name});
  }
  if (const auto most = integer_at(queue, "config.maxQueueDepth"); most && number("depth") >= *most) {
    found.push_back(
        {State::warn, "queue " + name, "is full: " + grouped(number("depth")) + " live events",
         "start more workers, or eventq queue set " + name + " maxQueueDepth=" + std::to_string(2 * *most)});
  }
  if (unattended > 0) {
    // The server stops counting there.
    const bool more = unattended == static_cast<std::int64_t>(limits::kUnattended);
    found.push_back({State::warn, "queue " + name,
                     grouped(unattended) + (more ? " or more" : "") +
                         (unattended == 1 ? " event waits and no worker asks for it"
                                          : " events wait and no worker asks for them"),
                     "eventq work TAGS --exec CMD --queue " + name});
  }
  const std::int64_t average = number("queueMetrics.avgProcessingTimeMs");
  if (const auto lease = integer_at(queue, "config.leaseMs"); lease && average > *lease) {
    found.push_back(
        {State::warn, "queue " + name,
         "runs take " + grouped(average) + " ms on average, a lease lasts " + grouped(*lease) + " ms",
         "send heartbeats, or give the queue a longer lease"});
  }
}

void check_queues(Invocation& invocation, std::vector<Diagnosis>& found) {
  const auto metrics = invocation.server.call({.target = "/metrics"});
  const auto queues = invocation.server.call({.target = "/queues"});
  if (!metrics || !queues || metrics->status != 200 || queues->status != 200) {
    found.push_back({State::warn, "queues", "the server does not list them", "check its log"});
    return;
  }
  const AnswerJson metrics_body(metrics->body);
  std::map<std::string, std::int64_t> unattended;
  for (const JsonValue& queue : elements_at(*metrics_body, "queues")) {
    unattended[text_at(queue, "queue").value_or("")] = integer_at(queue, "unattended").value_or(0);
  }
  const AnswerJson body(queues->body);
  // Only problems of queues are listed; one line stands for all queues without a problem.
  const std::size_t before = found.size();
  const auto list = elements_at(*body, "queues");
  for (const JsonValue& queue : list) {
    check_queue(queue, unattended[text_at(queue, "id").value_or("")], found);
  }
  if (found.size() == before) {
    found.push_back({State::ok, "queues", std::to_string(list.size()) + ", nothing to fix"});
  }
}

std::vector<Diagnosis> check_server(Invocation& invocation) {
  const auto ready = invocation.server.call({.target = "/readyz"});
  if (!ready) {
    return {{State::warn, "server", "none at " + invocation.url,
             "eventq serve, or name another with --url or EVENTQ_URL"}};
  }
  std::vector<Diagnosis> found;
  const AnswerJson body(ready->body);
  if (ready->status != 200) {
    const std::string why = text_at(*body, "detail").value_or(ready->body);
    found.push_back({State::fail, "server", "its store accepts no writes: " + why, "check its log"});
  } else {
    const auto openapi = invocation.server.call({.target = "/openapi.json"});
    const AnswerJson document(openapi && openapi->status == 200 ? openapi->body : "");
    const std::string version = text_at(*document, "info.version").value_or("?");
    found.push_back({State::ok, "server", invocation.url + ", version " + version + ", ready"});
    if (const std::string missing = missing_shards(*body); !missing.empty()) {
      found.push_back(
          {State::fail, "shards", "unreachable: " + missing, "check the server's log, and that database"});
    }
  }
  // Also when the store accepts no writes, because the server still answers these calls.
  found.push_back(check_clock(*ready));
  check_queues(invocation, found);
  return found;
}

struct StateStyle {
  std::string_view name;
  Color color;
};

// In the order of DiagnosisState.
constexpr StateStyle kStateStyles[] = {{"ok", Color::green}, {"warn", Color::yellow}, {"FAIL", Color::red}};

void print(Invocation& invocation, const Diagnosis& one) {
  const auto& [state, color] = kStateStyles[static_cast<std::size_t>(one.state)];
  if (invocation.output.format == Format::table) {
    invocation.out << ' ' << paint(invocation.output, color, padded(state, 5)) << ' '
                   << padded(printable(one.what), 12) << ' ' << printable(one.text);
    // The blanks put the fix below the text.
    if (!one.fix.empty()) invocation.out << "\n                    fix: " << printable(one.fix);
    invocation.out << '\n';
    return;
  }
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("state").string(state).key("check").string(to_valid_utf8(one.what));
  json.key("text").string(to_valid_utf8(one.text));
  if (!one.fix.empty()) json.key("fix").string(to_valid_utf8(one.fix));
  json.end_object();
  invocation.out << line << '\n';
}

ExitCode run_doctor(Invocation& invocation) {
  std::error_code none;
  const auto given = invocation.arguments.text("--store");
  const auto path =
      store_path(given.value_or("sqlite:eventq.db"),
                 "check its schema with `eventq migrate status --store URL`, and the machine and the "
                 "server with `eventq doctor` without --store.");
  if (!path) return wrong_usage(invocation, path.error().message);
  const std::string parent = std::filesystem::path(*path).parent_path().string();

  std::vector<Diagnosis> found = check_machine(parent.empty() ? "." : parent);
  const auto add = [&](std::vector<Diagnosis> more) { found.insert(found.end(), more.begin(), more.end()); };
  // Without --store a missing file is no problem: the store may be on another machine.
  if (given || std::filesystem::exists(*path, none)) add(check_file(*path));
  add(check_server(invocation));
  for (const Diagnosis& one : found) print(invocation, one);
  const auto count = [&](State state) {
    return std::count_if(found.begin(), found.end(), [&](const auto& one) { return one.state == state; });
  };
  invocation.err << counted(count(State::fail), "failure") << ", " << counted(count(State::warn), "warning")
                 << ".\n";
  return count(State::fail) == 0 ? ExitCode::done : ExitCode::failed;
}

}  // namespace

CommandSpec doctor_command() {
  return {
      .name = "doctor",
      .summary = "Measure this machine, its store and its server, and print what to fix",
      .details =
          "Measures 200 syncs of a file beside the store. Checks the file system, free disk space, "
          "the limit on open files, the store's schema and journal, the server, its clock and its "
          "queues. Exits with 1 when a check fails.",
      .options = {{.name = "--store",
                   .value = "URL",
                   .help = "The store, if it is on this machine [sqlite:eventq.db, if there is one]",
                   .completes = CompletionKind::file}},
      .examples = {{"eventq doctor", "Check everything"},
                   {"eventq doctor --store sqlite:/var/lib/eventq/eventq.db",
                    "Check the store of the service"}},
      .run = run_doctor,
  };
}

}  // namespace eventq::cli
