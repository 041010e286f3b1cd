// process.h: runs a program in a test and collects its output.
//
// The destructor kills the program. If the test dies first, an alarm ends the program after ten minutes.
// Threads: use a Process on one thread only; any thread may call out() and err().
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
  std::vector<std::string> environment;  // "NAME=value", added to the test's own without EVENTQ_*
  std::string directory;                 // its working directory
};

class Process {
 public:
  explicit Process(const ProcessSetup& setup);
  ~Process();  // kills
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;

  // The exit code, or minus the number of the signal that ended it; nothing while it still runs.
  std::optional<int> wait(std::chrono::milliseconds limit);

  // Waits for a line on stderr that contains `text`, and returns the text after it. Nothing if the
  // program ends first, or after `limit`.
  std::optional<std::string> wait_for_line(std::string_view text, std::chrono::milliseconds limit);

  // The output so far.
  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;

 private:
  void read_output(int out, int err);

  pid_t pid_ = -1;
  std::optional<int> status_;  // set after waitpid()

  // Guarded by mutex_.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string out_;
  std::string err_;
  bool closed_ = false;  // the program has ended

  std::thread reader_;
};

// Runs a program until it ends.
struct Finished {
  std::optional<int> exit_code;  // as Process::wait(); nothing after 60 seconds
  std::string out;
  std::string err;
};
Finished run(const ProcessSetup& setup);

}  // namespace eventq
