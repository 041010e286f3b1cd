// process.h: a program run by a test, with what it prints.
//
// It ends with the object, and by itself after ten minutes, should the test die first.
// Threads: a Process belongs to one thread; out() and err() may be called from any.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace eventq {

struct ProcessSetup {
  std::vector<std::string> command;      // the program and its arguments
  std::vector<std::string> environment;  // "NAME=value", beside the test's own without EVENTQ_*
  std::string directory;                 // where it runs
};

class Process {
 public:
  explicit Process(const ProcessSetup& setup);
  ~Process();  // kills
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;

  // The exit code, or minus the number of the signal that ended it; nothing when it still runs.
  std::optional<int> wait(std::chrono::milliseconds limit);

  // The rest of the first line on stderr that contains `text`, behind it. Waits for that line;
  // nothing when the program ended before it, or after `limit`.
  std::optional<std::string> wait_for_line(std::string_view text, std::chrono::milliseconds limit);

  // What it printed so far.
  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;

 private:
  void read_output(int out, int err);

  pid_t pid_ = -1;
  std::optional<int> status_;  // once it was waited for

  // Guarded by mutex_.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string out_;
  std::string err_;
  bool closed_ = false;  // the program has ended

  std::thread reader_;
};

// Runs a program to its end.
struct Finished {
  std::optional<int> exit_code;  // as Process::wait(); nothing after 60 seconds
  std::string out;
  std::string err;
};
Finished run(const ProcessSetup& setup);

}  // namespace eventq
