// git_user.cc: see git_user.h.
#include "notebook_git_random/git_user.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string_view>

#include "base/steady.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""ms;

constexpr std::chrono::minutes kGitLimit{2};
constexpr std::chrono::seconds kRetryLimit{5};
// The notebook holds the lock of the index for less than this.
constexpr auto kNotebookLock = 20ms;

bool has_one_of(const std::string& text, const std::vector<std::string_view>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != text.npos; });
}

std::vector<std::string> environment_of_user(const std::string& home) {
  return {"HOME=" + home,
          "GIT_CONFIG_NOSYSTEM=1",
          "GIT_EDITOR=true",
          "GIT_AUTHOR_NAME=user",
          "GIT_AUTHOR_EMAIL=user@example.org",
          "GIT_COMMITTER_NAME=user",
          "GIT_COMMITTER_EMAIL=user@example.org"};
}

}  // namespace

bool GitRun::met_lock() const {
  return !ok() && has_one_of(err, {".lock'", "index.lock", "cannot lock ref", "Unable to create",
                                   "unable to write new index", "could not write index"});
}

bool GitRun::met_changes() const {
  return !ok() && has_one_of(err + out, {"would be overwritten", "unstaged changes", "uncommitted changes",
                                         "not uptodate", "commit your changes or stash them"});
}

GitRun GitUser::run(const std::vector<std::string>& arguments, const std::string& directory) {
  return retry([&] { return run_once(arguments, directory, nullptr); });
}

GitRun GitUser::run_slowly(const std::vector<std::string>& arguments, const Slowness& slowness) {
  return retry([&] { return run_once(arguments, "", &slowness); });
}

GitRun GitUser::retry(const std::function<GitRun()>& command) {
  const SteadyTime start = steady_now();
  GitRun done = command();
  while (done.met_lock() && millis_since(start) < kRetryLimit) {
    ++lock_retries_;
    done = command();
  }
  EXPECT_FALSE(done.met_lock()) << done.err;
  return done;
}

GitRun GitUser::run_once(const std::vector<std::string>& arguments, const std::string& directory,
                         const Slowness* slowness) {
  // A process group of its own, because `git pull` leaves the work to child processes.
  std::vector<std::string> command = {"/usr/bin/env", "setsid", "git"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  Process process({command, environment_of_user(home_), directory.empty() ? root_ : directory});
  if (slowness != nullptr) stop_for_a_moment(process, *slowness);
  const auto code = process.wait(kGitLimit);
  EXPECT_TRUE(code.has_value()) << arguments[0] << " does not end: " << process.err();
  return {code.value_or(-1), process.out(), process.err()};
}

void GitUser::stop_for_a_moment(Process& process, const Slowness& slowness) {
  for (bool stopped = false; !stopped && !process.wait(0ms);) {
    if (!has("index.lock") || !slowness.is_time()) continue;
    ::kill(-process.pid(), SIGSTOP);
    if (!process.wait(kNotebookLock) && has("index.lock")) {
      stopped = true;
      ++slow_runs_;
      slowness.meanwhile();
      (void)process.wait(slowness.time);
    }
    ::kill(-process.pid(), SIGCONT);
  }
}

std::string GitUser::read(const std::string& script) {
  Process process({{"/bin/sh", "-c", script}, environment_of_user(home_), root_});
  const auto code = process.wait(kGitLimit);
  EXPECT_EQ(code, 0) << script << ": " << process.err();
  return process.out();
}

std::string GitUser::must(const std::vector<std::string>& arguments, const std::string& directory) {
  const GitRun done = run(arguments, directory);
  EXPECT_TRUE(done.ok()) << arguments[0] << ": " << done.out << done.err;
  return done.out;
}

bool GitUser::has(const std::string& name_in_git_folder) const {
  return std::filesystem::exists(root_ + "/.git/" + name_in_git_folder);
}

}  // namespace eventq
