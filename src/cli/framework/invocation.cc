// invocation.cc: see invocation.h.
#include "cli/framework/invocation.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <ostream>
#include <utility>

#include "base/numbers.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "cli/terminal/terminal_text.h"

namespace eventq::cli {
namespace {

// An empty variable counts as absent, as NO_COLOR defines it.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::size_t terminal_width() {
  // COLUMNS has precedence, so that a script can choose the width where there is no terminal.
  if (const auto columns = parse_whole<std::size_t>(variable("COLUMNS")); columns && *columns > 0)
    return *columns;
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// The server's error message, and the field it is about if the message does not name it.
std::string problem_of(const client::HttpResponse& response) {
  const AnswerJson body(response.body);
  const auto error = text_at(*body, "error");
  if (!error) return "the server answered " + std::to_string(response.status) + " without an explanation";
  const std::string field = text_at(*body, "field").value_or("");
  const bool adds = response.status == 400 && !field.empty() && error->find(field) == std::string::npos;
  return *error + (adds ? " (" + field + ")" : "");
}

}  // namespace

ExitCode fail(Invocation& run, std::string_view message, ExitCode code) {
  run.out << std::flush;  // so that both streams stay in order on a terminal
  run.err << "eventq: " << printable(message) << '\n';
  return code;
}

ExitCode wrong_usage(Invocation& run, std::string_view message) {
  fail(run, message);
  run.err << "See eventq " << run.command.name << " --help.\n";
  return ExitCode::usage;
}

std::optional<std::int64_t> parse_number(Invocation& run, std::string_view option, const std::string& text,
                                         std::int64_t least, std::int64_t most) {
  const auto number = parse_whole<std::int64_t>(text);
  if (number && *number >= least && *number <= most) return number;
  std::string range = least > 0 ? " of at least " + std::to_string(least) : "";
  if (most < kNumberMax) range = " from " + std::to_string(least) + " to " + std::to_string(most);
  wrong_usage(run, std::string(option) + " must be a whole number" + range + ", not " + in_quotes(text));
  return std::nullopt;
}

bool check_utf8(Invocation& run, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    for (const std::string& value : run.arguments.texts(name)) {
      if (valid_utf8(value)) continue;
      wrong_usage(run, std::string(name) + " is not UTF-8; give it in UTF-8, not " + in_quotes(value));
      return false;
    }
  }
  return true;
}

Result<std::optional<Millis>> duration_option(const Invocation& run, std::string_view option,
                                              std::optional<Millis> bare) {
  const auto text = run.arguments.text(option);
  if (!text) return std::optional<Millis>();
  if (text->empty() && bare) return bare;
  const auto duration = parse_duration(*text);
  if (duration) return std::optional<Millis>(*duration);
  return Error{.code = ErrorCode::invalid_argument,
               .message = std::string(option) +
                          " must be a whole number and its unit (ms, s, m, h or d), such as 30s, not " +
                          in_quotes(*text)};
}

CallResult call_result(Invocation& run, const Result<client::HttpResponse>& answer) {
  if (!answer) {
    // After these errors the server may have received the request, so a repeated call could do it twice.
    const bool unknown =
        answer.error().code == ErrorCode::unknown_outcome || answer.error().code == ErrorCode::timeout;
    const std::string advice =
        unknown ? " The server may have carried out the request: check before you send it again." : "";
    if (answer.error().code != ErrorCode::unavailable)
      return {.code = fail(run, answer.error().message + advice)};
    return {.code = fail(run,
                         "No eventq server at " + run.url +
                             ". Start one with `eventq serve` or `eventq dev`, or name another with --url or "
                             "EVENTQ_URL.",
                         ExitCode::unreachable)};
  }
  if (answer->status / 100 == 2)
    return {.code = ExitCode::done, .status = answer->status, .body = answer->body};
  const bool forbidden = answer->status == 401 || answer->status == 403;
  return {.code = fail(run, problem_of(*answer), forbidden ? ExitCode::forbidden : ExitCode::failed),
          .status = answer->status};
}

CallResult call(Invocation& run, std::string_view method, std::string_view target, std::string_view body,
                Millis timeout) {
  return call_result(run, run.server.call({.method = std::string(method),
                                           .target = std::string(target),
                                           .body = std::string(body),
                                           .timeout = timeout}));
}

std::string missing_shards(const JsonValue& answer) {
  std::string list;
  for (const JsonValue& shard : elements_at(answer, "missing_shards")) {
    list += (list.empty() ? "" : ", ") + std::string(shard.raw());
  }
  return list;
}

ExitCode report_missing_shards(Invocation& run, const std::string& missing) {
  if (missing.empty()) return ExitCode::done;
  const bool one = missing.find(',') == std::string::npos;
  return fail(run, (one ? "shard " : "shards ") + missing + (one ? " is" : " are") +
                       " unreachable: the data there is missing here.");
}

ExitCode fail_unreadable(Invocation& run, const AnswerJson& answer) {
  return fail(run, "the server's answer cannot be read: " + answer.error() + " Check that " + run.url +
                       " is an eventq server.");
}

ExitCode print_answer(Invocation& run, const CallResult& called) {
  if (called) print_record(run.out, run.output, called.body);
  return called.code;
}

ExitCode print_list(Invocation& run, std::string_view target, std::string_view member,
                    std::vector<OutputColumn> columns) {
  const CallResult called = call(run, "GET", target);
  if (!called) return called.code;
  const AnswerJson body(called.body);
  if (!body) return fail_unreadable(run, body);
  RecordPrinter printer(run.out, run.output, std::move(columns));
  for (const JsonValue& record : elements_at(*body, member)) printer.add(record.raw());
  printer.finish();
  return report_missing_shards(run, missing_shards(*body));
}

TerminalEnvironment read_terminal_environment() {
  TerminalEnvironment environment{.url = variable("EVENTQ_URL"), .terminal = isatty(STDOUT_FILENO) == 1};
  environment.color = environment.terminal && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  // Last, because FORCE_COLOR has precedence over NO_COLOR.
  if (!variable("FORCE_COLOR").empty()) environment.color = true;
  environment.width = terminal_width();
  return environment;
}

OutputOptions output_options(const Arguments& arguments, const TerminalEnvironment& environment) {
  OutputOptions options{.format = environment.terminal ? Format::table : Format::jsonl,
                        .color = environment.color,
                        .terminal = environment.terminal,
                        .time = environment.terminal ? TimeFormat::relative : TimeFormat::iso,
                        .width = environment.width};
  // The parser has refused every value that is not one of the choices.
  const std::string format = arguments.text_or("--output", "");
  if (format == "table") options.format = Format::table;
  if (format == "json") options.format = Format::json;
  if (format == "jsonl") options.format = Format::jsonl;
  if (format == "csv") options.format = Format::csv;
  if (format == "id") options.format = Format::id;
  options.fields = split_list(arguments.text_or("--fields", ""));
  const std::string color = arguments.text_or("--color", "auto");
  if (color != "auto") options.color = color == "always";
  if (const auto time = arguments.text("--time")) {
    options.time = *time == "iso" ? TimeFormat::iso : TimeFormat::relative;
  }
  return options;
}

std::string server_url(const Arguments& arguments, const TerminalEnvironment& environment) {
  if (const auto url = arguments.text("--url")) return *url;
  return environment.url.empty() ? "http://127.0.0.1:8080" : environment.url;
}

}  // namespace eventq::cli
