// child.h: runs a command of the user for one event, and ends it at a timeout or a stop.
//
// Each command has its own process group, so a signal also reaches the processes that it started. A command
// inherits only stdin, stdout and stderr.
//
// Threads: any thread may call run() and kill_all(). REQUIRES: SIGPIPE is ignored.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "eventq/clock.h"
#include "eventq/error.h"

namespace eventq::cli {

struct ChildSetup {
  std::string command;                         // for /bin/sh -c
  std::vector<std::string> environment;        // "NAME=value", added to the environment of this process
  std::string input;                           // its stdin; the command may ignore it
  Millis timeout{0};                           // 0: none
  Millis grace = std::chrono::seconds(5);      // from SIGTERM to SIGKILL
  std::optional<std::size_t> open_files = {};  // its soft limit; not set: that of this process
  std::optional<std::size_t> capture = {};  // bytes of its stdout to keep; not set: it writes to our stdout
};

struct ChildEnd {
  enum class Cause : std::uint8_t { itself, stopped, timed_out };
  Cause cause = Cause::itself;
  int exit_code = 0;
  int signal = 0;           // the signal that ended it; 0: none
  std::string stderr_tail;  // the end of its stderr, valid UTF-8 of at most limits::kErrorDetail bytes
  std::string output;       // its stdout, if that was captured: at most one byte more than asked for
};

// The maximum that one running command needs in this process, and how many more if its stdout is captured.
inline constexpr std::size_t kDescriptorsPerChild = 6;
inline constexpr std::size_t kDescriptorsToCapture = 2;

class Children {
 public:
  // Returns when the command has ended. At `stop` or the timeout its process group gets SIGTERM, and SIGKILL
  // after the grace time. Errors: unavailable when the command cannot be started.
  Result<ChildEnd> run(const ChildSetup& setup, const std::stop_token& stop);

  // Sends SIGKILL to all running commands.
  void kill_all();

 private:
  std::mutex mutex_;
  std::set<pid_t> running_;  // guarded by mutex_
};

// "exit 3", "killed by SIGSEGV".
[[nodiscard]] std::string describe(const ChildEnd& end);

// The last `limit` bytes of `bytes` as text: complete characters, invalid bytes replaced, without trailing
// white space and U+0000.
[[nodiscard]] std::string tail_text(std::string_view bytes, std::size_t limit);

// The line of a program's stderr that says what went wrong: the last one that is not indented, as the lines
// of a stack trace are. Leaves out what some programs write after their error, such as the version of
// Node.js.
[[nodiscard]] std::string error_line(std::string_view text);

}  // namespace eventq::cli
