// child.h: runs a command of the user for one event, and ends it when it must.
//
// Each command is a process group of its own, so that what it started goes with it. It gets no descriptor of
// ours but stdin, stdout and stderr.
//
// Threads: run() may be called from any, kill_all() too. SIGPIPE must be ignored.
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
  std::vector<std::string> environment;        // "NAME=value", beside our own
  std::string input;                           // its stdin; it need not read it
  Millis timeout{0};                           // 0: none
  Millis grace = std::chrono::seconds(5);      // from SIGTERM to SIGKILL
  std::optional<std::size_t> open_files = {};  // its soft limit; not set: ours
};

struct ChildEnd {
  enum class Cause : std::uint8_t { itself, stopped, timed_out };
  Cause cause = Cause::itself;
  int exit_code = 0;
  int signal = 0;           // that ended it; 0: none
  std::string stderr_tail;  // the end of what it wrote to stderr, valid UTF-8 within limits::kErrorMessage
};

inline constexpr std::size_t kDescriptorsPerChild = 6;  // that we need at most for each that runs

class Children {
 public:
  // Until it has ended. When `stop` fires or its time is over it gets SIGTERM, then SIGKILL, as does all
  // that it started. Errors: unavailable when it cannot be started.
  Result<ChildEnd> run(const ChildSetup& setup, const std::stop_token& stop);

  // SIGKILL to all that run.
  void kill_all();

 private:
  std::mutex mutex_;
  std::set<pid_t> running_;  // guarded by mutex_
};

// "exit 3", "killed by SIGSEGV".
[[nodiscard]] std::string describe(const ChildEnd& end);

// The last `limit` bytes of `bytes` as text: whole characters, bytes that are none replaced, no white space
// at the end, no U+0000.
[[nodiscard]] std::string tail_text(std::string_view bytes, std::size_t limit);

}  // namespace eventq::cli
