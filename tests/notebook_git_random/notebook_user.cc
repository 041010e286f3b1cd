// notebook_user.cc: see notebook_user.h.
#include "notebook_git_random/notebook_user.h"

#include <algorithm>

namespace eventq {
namespace {

constexpr std::size_t kShownSteps = 40;
constexpr int kBulk = 200;  // files that differ between the branches main and side

// Short intervals, so that commits fall into the time of git commands.
std::string drawn_settings(std::uint32_t seed) {
  const std::vector<std::string> intervals = {"0.05", "0.2", "1"};
  const std::vector<std::string> sizes = {"10", "100"};
  return R"({"worker_poll_interval":0.02,"retry_backoff":0.05,"max_retries":1000,"git_commit_interval":)" +
         intervals[seed % 3] + R"(,"git_commit_max_files":)" + sizes[seed / 3 % 2] + "}";
}

}  // namespace

NotebookUser::NotebookUser(std::uint32_t seed)
    : random_(seed), server_(drawn_settings(seed)), git_(server_.server().file(""), server_.root()) {}

void NotebookUser::note(const std::string& step) {
  steps_.push_back(std::to_string(millis_since(start_).count()) + " ms " + branch_ + ": " + step);
}

std::string NotebookUser::last_steps() const {
  std::string shown;
  for (std::size_t at = steps_.size() - std::min(steps_.size(), kShownSteps); at < steps_.size(); ++at) {
    shown += std::to_string(at) + " " + steps_[at] + "\n";
  }
  return shown;
}

std::string NotebookUser::summary() const {
  return std::to_string(steps_.size()) + " steps, " + std::to_string(contents_.all().size()) + " contents, " +
         std::to_string(checked_commits_.size()) + " commits of eventq, " + std::to_string(git_.slow_runs()) +
         " slow git commands, " + std::to_string(git_.lock_retries()) + " retries after a lock";
}

// One of a few paths, so that changes meet.
std::string NotebookUser::some_path() {
  const std::vector<std::string> folders = {"", "a/", "b/", "c/d/"};
  if (chance(10)) return "bulk/" + std::to_string(draw(kBulk));
  return folders[draw(folders.size())] + "f" + std::to_string(draw(8));
}

std::string NotebookUser::new_path() { return "new/" + std::to_string(++new_paths_); }

void NotebookUser::prepare() {
  git_.must({"init", "--quiet", "--initial-branch=main"});
  // eventq commits as this user. The test's own git processes have another name in their environment.
  git_.must({"config", "user.name", "notebook"});
  git_.must({"config", "user.email", "notebook@example.org"});
  git_.must({"config", "gc.auto", "0"});
  server_.start();
  for (int i = 0; i < kBulk; ++i) write_outside("bulk/" + std::to_string(i));
  become_idle();
  git_.must({"checkout", "--quiet", "-b", "side"});
  branch_ = "side";
  for (int i = 0; i < kBulk; ++i) write_outside("bulk/" + std::to_string(i));
  become_idle();
  const std::string hub = server_.server().file("hub.git");
  const std::string clone = server_.server().file("clone");
  git_.must({"init", "--quiet", "--bare", "--initial-branch=main", hub});
  git_.must({"remote", "add", "origin", hub});
  git_.must({"push", "--quiet", "origin", "main", "side"});
  git_.must({"clone", "--quiet", hub, clone});
}

void NotebookUser::step() {
  const std::size_t kind = draw(100);
  if (kind < 40) return change_by_api();
  if (kind < 65) return change_outside();
  use_git();
}

}  // namespace eventq
