// notebook_user_conflicts.cc: how the git commands of notebook_user.h end after conflicts, and what they
// allow.
#include <sstream>

#include "notebook_git_random/notebook_user.h"

namespace eventq {

// Commits wait while a merge is in progress. New files may appear meanwhile.
void NotebookUser::finish_merge() {
  note("conflicts of git merge");
  if (before_ == Before::idle) {
    EXPECT_EQ(notebook_hashes(), commits_before_) << "eventq committed during a merge";
    before_ = Before::busy;
  }
  change_while_git_runs();
  if (chance(40)) return abort_operation("merge");
  resolve();
  git_.must({"commit", "--quiet", "--no-edit"});
}

void NotebookUser::finish_rebase(GitRun run) {
  for (int stop = 0; stop < 30 && git_.has("rebase-merge"); ++stop) {
    before_ = Before::busy;  // the contents that resolve conflicts are new
    const bool conflicts = !lines("git diff --name-only --diff-filter=U").empty();
    note(std::string("git rebase stopped") + (conflicts ? " with conflicts" : ": " + run.err));
    if (chance(20)) return abort_operation("rebase");
    resolve();
    run = git_.run({"rebase", "--continue"});
    const bool nothing_left =
        run.out.find("No changes") != run.out.npos || run.err.find("git rebase --skip") != run.err.npos;
    if (!run.ok() && nothing_left && lines("git diff --name-only --diff-filter=U").empty()) {
      run = git_.run({"rebase", "--skip"});
    }
  }
  EXPECT_TRUE(run.ok() || run.met_changes()) << run.out << run.err;
  EXPECT_FALSE(git_.has("rebase-merge")) << run.out << run.err;
}

void NotebookUser::abort_operation(const std::string& kind) {
  note("git " + kind + " --abort");
  excuse_uncommitted("git " + kind + " --abort");
  if (git_.run({kind, "--abort"}).ok()) return;
  git_.must({"reset", "--quiet", "--hard"});
  if (git_.has("rebase-merge")) git_.must({kind, "--abort"});
}

// Replaces each file with conflicts by a new content.
void NotebookUser::resolve() {
  for (const std::string& path : lines("git diff --name-only --diff-filter=U")) {
    note("resolve " + path + " " + std::to_string(write_outside(path)));
    git_.must({"add", path});
  }
}

void NotebookUser::allow_uncommitted(const std::string& branch) {
  for (const std::string& line : lines("git -c status.renames=false status --porcelain -uall")) {
    const std::string path = line.substr(3);
    if (line.substr(0, 2).find('D') != line.npos) contents_.allow_deletion(path, branch);
    contents_.allow_all_in(read_file(path), branch);
  }
}

void NotebookUser::excuse_uncommitted(const std::string& why) {
  for (const std::string& line : lines("git -c status.renames=false status --porcelain -uall")) {
    contents_.excuse_all_in(read_file(line.substr(3)), why);
  }
  for (const SentChange& change : sent_) {
    if (change.number != 0 && !change.is_new_file) contents_.excuse(change.number, why);
  }
}

// The notebook may commit these changes on the current branch, because the user puts them into its files.
void NotebookUser::allow_changes_between(const std::string& from, const std::string& to) {
  const std::string commits = " --no-renames " + from + " " + to;
  contents_.allow_all_in(git_.read("git diff -U0" + commits), branch_);
  for (const std::string& path : lines("git diff --name-only --diff-filter=D" + commits)) {
    contents_.allow_deletion(path, branch_);
  }
}

std::vector<std::string> NotebookUser::lines(const std::string& script) {
  std::istringstream out(git_.read(script));
  std::vector<std::string> found;
  for (std::string line; std::getline(out, line);) found.push_back(line);
  return found;
}

}  // namespace eventq
