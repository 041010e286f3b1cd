// invocation.h: one run of a command: its arguments, the server it talks to, and where it prints.
//
// Data goes to `out`, everything else to `err`.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/percent.h"
#include "cli/framework/command.h"
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

// Says `message` on err ("eventq: ..."), and is the exit code.
ExitCode fail(Invocation& run, std::string_view message, ExitCode code = ExitCode::failed);
// The same with a line "See eventq publish --help."
ExitCode wrong_usage(Invocation& run, std::string_view message);

// One call to the server. Anything but a 2xx has been told to the user on err: then the body is empty and
// the code is the one to exit with. A server that is not there: "No eventq server at URL. Start one with
// `eventq serve` or `eventq dev`, or name another with --url or EVENTQ_URL." and ExitCode::unreachable.
struct CallResult {
  ExitCode code = ExitCode::done;
  int status = 0;
  std::string body;
  explicit operator bool() const { return code == ExitCode::done; }
};
CallResult call(Invocation& run, std::string_view method, std::string_view target, std::string_view body = {},
                Millis timeout = Millis{30'000});
// The same of an answer that was got by run.server.call().
CallResult call_result(Invocation& run, const Result<client::HttpResponse>& answer);

// "1, 2": the shards that were away, so that what they have is not in this answer. Empty: none was.
[[nodiscard]] std::string missing_shards(const JsonValue& answer);
// Says on err which are `missing`, if any: then it is ExitCode::failed, and else done.
ExitCode report_missing_shards(Invocation& run, const std::string& missing);

// What the environment and the terminal say.
struct TerminalEnvironment {
  std::string url;  // EVENTQ_URL; empty: not set
  bool terminal = false;
  bool color = false;  // a terminal without NO_COLOR and TERM=dumb, or FORCE_COLOR
  std::size_t width = 80;
};
TerminalEnvironment read_terminal_environment();

// -o, --fields, --color and --time.
OutputOptions output_options(const Arguments& arguments, const TerminalEnvironment& environment);
// --url, or else what the surroundings say, or else http://127.0.0.1:8080.
std::string server_url(const Arguments& arguments, const TerminalEnvironment& environment);

}  // namespace eventq::cli
