// invocation.h: one run of a command: its arguments, its server and its output streams.
//
// A command prints data to `out` and messages to `err`.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/percent.h"
#include "cli/framework/command.h"
#include "cli/framework/record.h"
#include "cli/terminal/output.h"
#include "client/http_client.h"
#include "eventq/error.h"

namespace eventq::cli {

struct Invocation {
  const CommandSpec& command;
  const Arguments& arguments;
  OutputOptions output;  // from -o, --fields, --color, --time and whether stdout is a terminal
  std::string url;       // --url, EVENTQ_URL, or http://127.0.0.1:8080
  client::HttpClient& server;
  std::ostream& out;
  std::ostream& err;
};

// Prints "eventq: MESSAGE" to err and returns `code`.
ExitCode fail(Invocation& run, std::string_view message, ExitCode code = ExitCode::failed);
// The same, followed by a line "See eventq publish --help."
ExitCode wrong_usage(Invocation& run, std::string_view message);

inline constexpr std::int64_t kNumberMax = std::numeric_limits<std::int64_t>::max();

// For read_number().
std::optional<std::int64_t> parse_number(Invocation& run, std::string_view option, const std::string& text,
                                         std::int64_t least, std::int64_t most);

// Reads the whole number in `option` into `to`, which is unchanged if the option was not given. Returns false
// if it is no number from `least` to `most`: the error was already printed as wrong usage.
template <typename Number>
[[nodiscard]] bool read_number(Invocation& run, std::string_view option, Number& to, std::int64_t least = 0,
                               std::int64_t most = kNumberMax) {
  const auto text = run.arguments.text(option);
  const auto number = text ? parse_number(run, option, *text, least, most) : std::nullopt;
  if (number) to = static_cast<Number>(*number);
  return number || !text;
}

// True if all values of these arguments are UTF-8, as JSON requires. If not, the error was already printed as
// wrong usage.
[[nodiscard]] bool check_utf8(Invocation& run, std::initializer_list<std::string_view> names);

// The duration in `option`, `bare` if it was given without a value, nothing if it was not given.
// Errors: invalid_argument, for wrong_usage().
[[nodiscard]] Result<std::optional<Millis>> duration_option(const Invocation& run, std::string_view option,
                                                            std::optional<Millis> bare = {});

// The result of one call to the server. If the status is not 2xx, the error was already printed to err, the
// body is empty, and the command should exit with `code`. Errors: ExitCode::unreachable when no server
// answers, forbidden after 401 or 403, else failed.
struct CallResult {
  ExitCode code = ExitCode::done;
  int status = 0;
  std::string body;
  explicit operator bool() const { return code == ExitCode::done; }
};
CallResult call(Invocation& run, std::string_view method, std::string_view target, std::string_view body = {},
                Millis timeout = Millis{30'000});
// The same for an answer of run.server.call(), for callers that handle some statuses themselves.
CallResult call_result(Invocation& run, const Result<client::HttpResponse>& answer);

// "1, 2": the unreachable shards, whose data is missing in this answer. Empty: the answer is complete.
[[nodiscard]] std::string missing_shards(const JsonValue& answer);
// Prints the `missing` shards to err and returns ExitCode::failed; done if there is none.
ExitCode report_missing_shards(Invocation& run, const std::string& missing);

// Fails because the body of a 2xx answer is not JSON.
ExitCode fail_unreadable(Invocation& run, const AnswerJson& answer);

// Prints the answer as one record, unless the call failed. Returns the exit code of the call.
ExitCode print_answer(Invocation& run, const CallResult& called);
// GETs `target` and prints the elements of the array `member`, then the missing shards if there are any.
ExitCode print_list(Invocation& run, std::string_view target, std::string_view member,
                    std::vector<OutputColumn> columns);

// The settings that the process gets from its environment variables and its terminal.
struct TerminalEnvironment {
  std::string url;  // EVENTQ_URL; empty if not set
  bool terminal = false;
  bool color = false;  // a terminal without NO_COLOR and TERM=dumb, or FORCE_COLOR
  std::size_t width = 80;
};
TerminalEnvironment read_terminal_environment();

// -o, --fields, --color and --time.
OutputOptions output_options(const Arguments& arguments, const TerminalEnvironment& environment);
// --url, else EVENTQ_URL, else http://127.0.0.1:8080.
std::string server_url(const Arguments& arguments, const TerminalEnvironment& environment);

}  // namespace eventq::cli
