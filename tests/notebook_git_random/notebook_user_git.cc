// notebook_user_git.cc: the git commands of notebook_user.h that change the current branch.
#include <optional>

#include "notebook_git_random/notebook_user.h"

namespace eventq {
namespace {

constexpr int kCommitted = 60;  // files in a commit of the clone or of another work tree

}  // namespace

void NotebookUser::use_git() {
  using Command = void (NotebookUser::*)();
  const std::vector<Command> commands = {
      &NotebookUser::check_out,     &NotebookUser::check_out,  &NotebookUser::check_out,
      &NotebookUser::pull,          &NotebookUser::merge,      &NotebookUser::rebase,
      &NotebookUser::stash,         &NotebookUser::pop_stash,  &NotebookUser::amend,
      &NotebookUser::commit_staged, &NotebookUser::reset_soft, &NotebookUser::reset_hard,
      &NotebookUser::maintain};
  (this->*commands[draw(commands.size())])();
  branch_ = lines("git symbolic-ref --short HEAD").at(0);
  next_branch_ = branch_;
}

void NotebookUser::begin_git(const std::string& what) {
  before_ = chance(40) ? Before::idle : Before::busy;
  if (before_ == Before::idle) {
    become_idle();
    commits_before_ = notebook_hashes();
  } else {
    wait_for_moves();
  }
  note("git " + what + (before_ == Before::idle ? " (idle)" : ""));
}

void NotebookUser::end_git() {
  if (before_ != Before::idle) return;
  before_ = Before::busy;
  become_idle();
  for (const std::string& hash : notebook_hashes()) {
    if (commits_before_.contains(hash)) continue;
    ADD_FAILURE() << "eventq committed a change that git had made: "
                  << git_.read("git show --stat=100 --format=%s " + hash + " | tail -n 20");
  }
}

// Waits for all changes through the API except new contents. Those may still be applied while git runs.
void NotebookUser::wait_for_moves() {
  std::vector<SentChange> contents;
  for (const SentChange& change : sent_) {
    if (change.number != 0) contents.push_back(change);
  }
  if (contents.size() < sent_.size() || chance(50)) return wait_for_sent();
  for (const SentChange& change : contents) {
    if (!change.is_new_file) contents_.excuse(change.number, "applied while git ran");
  }
}

// The command is stopped when it has changed a drawn file, or after a drawn time.
GitRun NotebookUser::run_slowly(const std::vector<std::string>& arguments) {
  const std::string path = "bulk/" + std::to_string(draw(100));
  const std::string before = read_file(path);
  const std::chrono::milliseconds limit(draw(25));
  std::optional<SteadyTime> locked;
  const auto is_time = [&] {
    if (!locked) locked = steady_now();
    return read_file(path) != before || millis_since(*locked) > limit;
  };
  // Up to the commit interval and the watcher's longest delay together, a second each.
  const std::chrono::milliseconds stopped(200 + draw(1800));
  return git_.run_slowly(arguments, {is_time, [this] { change_while_git_runs(); }, stopped});
}

GitRun NotebookUser::change_files(const std::vector<std::string>& arguments) {
  GitRun run = chance(60) ? run_slowly(arguments) : git_.run(arguments);
  for (int attempt = 0; run.met_changes() && attempt < 5; ++attempt) {
    EXPECT_EQ(before_, Before::busy) << "changes after the notebook was idle: " << run.err;
    (void)commit_by_api();
    run = git_.run(arguments);
  }
  return run;
}

void NotebookUser::change_while_git_runs() {
  if (before_ == Before::idle) return;
  may_wait_ = false;
  const int first = contents_.next();
  for (std::size_t count = draw(4); count > 0; --count) {
    if (chance(50)) {
      const std::string path = new_path();
      note("write " + path + " " + std::to_string(write_outside(path)) + " meanwhile");
    } else {
      create_by_api();
    }
  }
  for (int number = first; number < contents_.next(); ++number) {
    contents_.allow(number, next_branch_);
    if (!contents_.all().at(number).paths.begin()->starts_with("new/")) {
      contents_.excuse(number, "applied while git ran");
    }
  }
  may_wait_ = true;
}

void NotebookUser::check_out() {
  const std::string target = branch_ == "main" ? "side" : "main";
  begin_git("checkout " + target);
  next_branch_ = target;
  allow_uncommitted(target);
  for (const SentChange& change : sent_) contents_.allow(change.number, target);
  const GitRun run = change_files({"checkout", "--quiet", target});
  EXPECT_TRUE(run.ok() || run.met_changes()) << run.err;
  end_git();
}

void NotebookUser::pull() {
  begin_git("pull");
  git_.must({"push", "--quiet", "--force", "origin", "HEAD:" + branch_});
  const std::string clone = server_.server().file("clone");
  git_.must({"fetch", "--quiet", "origin"}, clone);
  git_.must({"checkout", "--quiet", "-B", branch_, "origin/" + branch_}, clone);
  const std::string folder = "pulled" + std::to_string(draw(3)) + "/";
  for (int i = 0; i < kCommitted; ++i) {
    const std::string path = (i < 5 ? "bulk/" : folder) + std::to_string(i);
    const int number = contents_.add(path, "clone", Source::commit);
    server_.put("../clone/" + path, contents_.text(number));
  }
  git_.must({"add", "--all"}, clone);
  git_.must({"commit", "--quiet", "-m", "in the clone"}, clone);
  git_.must({"push", "--quiet", "origin", branch_}, clone);
  GitRun run = change_files({"pull", "--quiet", "--ff-only", "origin", branch_});
  if (!run.ok() && run.err.find("fast-forward") != run.err.npos) {
    EXPECT_EQ(before_, Before::busy) << "eventq committed during a pull: " << run.err;
    note("git pull --rebase");
    run = change_files({"pull", "--quiet", "--rebase", "origin", branch_});
  }
  finish_rebase(run);
  end_git();
}

std::string NotebookUser::make_topic() {
  const std::string topic = "topic" + std::to_string(++topics_);
  const std::string folder = server_.server().file("work_tree");
  git_.must({"worktree", "add", "--quiet", "-b", topic, folder, "HEAD"});
  const auto tracked = lines("git ls-tree -r --name-only " + topic + " | grep -v '^bulk/' || true");
  for (int i = 0; i < kCommitted; ++i) {
    const bool existing = i < 3 && !tracked.empty() && chance(50);
    const std::string path =
        existing ? tracked[draw(tracked.size())] : "topic/" + topic + "/" + std::to_string(i);
    const int number = contents_.add(path, topic, Source::commit);
    server_.put("../work_tree/" + path, contents_.text(number));
    if (existing && chance(60)) note("write " + path + " " + std::to_string(write_outside(path)));
  }
  git_.must({"add", "--all"}, folder);
  git_.must({"commit", "--quiet", "-m", "in another work tree"}, folder);
  git_.must({"worktree", "remove", folder});
  return topic;
}

void NotebookUser::maintain() {
  if (chance(30)) {
    note("git gc");
    git_.must({"gc", "--quiet"});
  } else {
    note("git worktree add, git status");
    make_topic();
    git_.must({"status", "--short"});
  }
}

void NotebookUser::merge() {
  const std::string topic = make_topic();
  begin_git("merge " + topic);
  const GitRun run = change_files({"merge", "--quiet", "--no-edit", topic});
  EXPECT_TRUE(run.ok() || run.met_changes() || git_.has("MERGE_HEAD")) << run.out << run.err;
  if (git_.has("MERGE_HEAD")) return finish_merge();
  end_git();
}

void NotebookUser::rebase() {
  const std::string topic = make_topic();
  (void)commit_by_api();
  begin_git("rebase " + topic);
  finish_rebase(change_files({"rebase", "--quiet", topic}));
  end_git();
}

void NotebookUser::stash() {
  before_ = Before::busy;
  wait_for_moves();
  const auto tracked = lines("git ls-files");
  note("git stash");
  for (std::size_t i = 0; i < 3 && !tracked.empty(); ++i) write_outside(tracked[draw(tracked.size())]);
  GitRun run = change_files({"stash", "push"});
  // `git stash` reports no error when another process holds the lock of the index.
  for (int retry = 0; !run.ok() && run.err.empty() && retry < 50; ++retry) run = git_.run({"stash", "push"});
  EXPECT_TRUE(run.ok()) << run.exit_code << " " << run.out << run.err;
}

void NotebookUser::pop_stash() {
  before_ = Before::busy;
  if (lines("git stash list").empty()) return;
  wait_for_moves();
  note("git stash pop");
  const std::string stashed = "stash@{0}";
  const std::string changes = git_.read("git diff -U0 " + stashed + "^ " + stashed);
  contents_.forget_history_of(changes);
  allow_changes_between(stashed + "^", stashed);
  const GitRun run = change_files({"stash", "pop"});
  if (run.ok() || lines("git diff --name-only --diff-filter=U").empty()) return;
  note("conflicts after git stash pop");
  resolve();
  contents_.excuse_all_in(changes, "the stash was dropped");
  git_.must({"stash", "drop", "--quiet"});
}

void NotebookUser::amend() {
  begin_git("commit --amend");
  git_.must({"commit", "--quiet", "--amend", "--allow-empty", "-m", "amended"});
  end_git();
}

void NotebookUser::commit_staged() {
  note("git commit of one of two changed files");
  const std::string staged = new_path();
  write_outside(staged);
  write_outside(new_path());
  git_.must({"add", staged});
  // Fails when eventq has committed the file already.
  (void)git_.run({"commit", "--quiet", "-m", "staged"});
}

// A reset leaves at least two commits, so that a later one has a commit to go back to.
bool NotebookUser::has_older_commits() { return lines("git rev-list --first-parent HEAD").size() > 2; }

void NotebookUser::reset_soft() {
  become_idle();
  if (!has_older_commits()) return;
  note("git reset --soft");
  allow_changes_between("HEAD~1", "HEAD");
  git_.must({"reset", "--quiet", "--soft", "HEAD~1"});
  // The reset leaves the changes staged. If such a file moves before they are committed, its old path stays
  // staged, as it does without a notebook.
  become_idle();
}

void NotebookUser::reset_hard() {
  if (!has_older_commits()) return;
  begin_git("reset --hard");
  excuse_uncommitted("git reset --hard");
  const GitRun run = change_files({"reset", "--hard", "HEAD~1"});
  EXPECT_TRUE(run.ok()) << run.exit_code << " " << run.out << run.err;
  end_git();
}

}  // namespace eventq
