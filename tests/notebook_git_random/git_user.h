// git_user.h: runs real git processes as a user does beside the notebook: slowly at times, and again when
// another process holds a lock.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "support/process.h"

namespace eventq {

struct GitRun {
  int exit_code = 0;
  std::string out;
  std::string err;

  [[nodiscard]] bool ok() const { return exit_code == 0; }
  // Another process held a lock, or moved HEAD meanwhile.
  [[nodiscard]] bool met_lock() const;
  // Uncommitted changes are in the way.
  [[nodiscard]] bool met_changes() const;
};

struct Slowness {
  std::function<bool()> is_time;    // called while git holds the lock: whether to stop it now
  std::function<void()> meanwhile;  // called while git is stopped
  std::chrono::milliseconds time;   // how long it is stopped after that
};

class GitUser {
 public:
  // `home` has no configuration of git, so that the machine's own does not matter.
  GitUser(std::string home, std::string work_tree) : home_(std::move(home)), root_(std::move(work_tree)) {}

  // Runs git until it does not meet a lock; the test fails after five seconds of retries.
  GitRun run(const std::vector<std::string>& arguments, const std::string& directory = "");
  // The same, but stops the process for a moment while it holds the lock of the index, as on a slow disk.
  GitRun run_slowly(const std::vector<std::string>& arguments, const Slowness& slowness);
  // Runs a script that only reads, and returns its output; the test fails if it does.
  std::string read(const std::string& script);
  // Runs git, which must succeed.
  std::string must(const std::vector<std::string>& arguments, const std::string& directory = "");

  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] bool has(const std::string& name_in_git_folder) const;
  [[nodiscard]] int lock_retries() const { return lock_retries_; }
  [[nodiscard]] int slow_runs() const { return slow_runs_; }

 private:
  GitRun run_once(const std::vector<std::string>& arguments, const std::string& directory,
                  const Slowness* slowness);
  GitRun retry(const std::function<GitRun()>& command);
  void stop_for_a_moment(Process& process, const Slowness& slowness);

  const std::string home_;
  const std::string root_;
  int lock_retries_ = 0;
  int slow_runs_ = 0;
};

}  // namespace eventq
