// notebook_git_behaviour_test.cc: what a notebook does when its user works in the same folder with an editor
// and with git, one test per command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <memory>

#include "notebook_git_random/git_user.h"
#include "notebook_server.h"

namespace eventq {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// eventq commits by itself only after an hour, so that each commit in these tests has a known reason.
constexpr const char* kSeldom = R"({"git_commit_interval":3600,"git_commit_max_files":1000000})";
// eventq commits and looks at HEAD as often as possible.
constexpr const char* kOften = R"({"git_commit_interval":0.05,"worker_poll_interval":0.01})";
// Longer than the watcher waits for a pause between changes.
constexpr std::chrono::milliseconds kLongStop{1500};

class NotebookGitBehaviour : public testing::Test {
 protected:
  void start(const char* settings) {
    server_ = std::make_unique<NotebookServer>(settings);
    git("init --quiet --initial-branch=main");
    git("config user.name notebook");
    git("config user.email notebook@example.org");
    server_->start();
  }
  std::string git(const std::string& arguments) {
    return server_->git("-c gc.auto=0 -c user.name=user -c user.email=user@example.org " + arguments);
  }
  // Runs git as on a slow disk: it stops for a while after it has changed the first files.
  void git_slowly(const std::vector<std::string>& arguments) {
    GitUser user(server_->server().file(""), server_->root());
    const std::string before = server_->get("many/100");
    const auto is_time = [&] { return server_->get("many/100") != before; };
    const GitRun run = user.run_slowly(arguments, {is_time, [] {}, kLongStop});
    EXPECT_TRUE(run.ok()) << arguments[0] << ": " << run.out << run.err;
    EXPECT_GE(user.slow_runs(), 1) << arguments[0];
  }
  // Every change of any program is recorded, applied and committed.
  void become_idle() {
    server_->wait_until([&] { return HasFailure() || is_idle(); }, "the notebook is idle");
  }
  bool is_idle() {
    if (server_->call("POST", "/notebooks/n/rescan")["changes"] != "0") return false;
    if (server_->call("POST", "/events/commit?notebook=n&sync=true")["http status"] != "200") return false;
    return server_->call("GET", "/notebooks/n")["uncommitted"] == "0";
  }
  void put_many(const std::string& folder, const std::string& content, int count) {
    for (int i = 0; i < count; ++i) {
      server_->put(folder + "/many/" + std::to_string(i), content + " " + std::to_string(i));
    }
  }
  // A branch `other` with other contents of `count` files, which git made without this work tree.
  void make_other_branch(int count) {
    put_many(".", "main", count);
    become_idle();
    const std::string folder = server_->server().file("other");
    git("worktree add --quiet -b other " + folder);
    put_many("../other", "other", count);
    git("-C " + folder + " commit --quiet --all -m other");
    git("worktree remove " + folder);
  }
  // The subjects of the commits, newest first, in one line.
  std::string subjects() { return git("log --format=%s, | tr -d '\\n'"); }
  std::string commits_of_eventq() { return git("rev-list --all --committer=notebook@example.org"); }
  void expect_agreement() {
    EXPECT_EQ(git("status --porcelain"), "");
    EXPECT_EQ(std::to_string(server_->files().size()) + "\n", git("ls-files | wc -l"));
    git("fsck --strict");
  }

  std::unique_ptr<NotebookServer> server_;
};

TEST_F(NotebookGitBehaviour, AFileThatAnEditorSavesByRenamingKeepsItsId) {
  start(kSeldom);
  const std::string id = server_->make("a.md", "1").at("id");
  for (int i = 2; i < 6; ++i) {
    server_->put("a.md.new", std::to_string(i));
    fs::rename(server_->root() + "/a.md.new", server_->root() + "/a.md");
    become_idle();
    EXPECT_EQ(server_->files(), (std::map<std::string, std::string>{{"a.md", id}}));
    EXPECT_EQ(server_->expect("200", "GET", "/notebooks/n/files/" + id)["size"], "1");
  }
  EXPECT_EQ(git("show HEAD:a.md"), "5");
  expect_agreement();
}

// vim renames the old file to a backup, writes the new one and removes the backup.
TEST_F(NotebookGitBehaviour, AFileThatAnEditorSavesWithABackupKeepsItsId) {
  start(kSeldom);
  const std::string id = server_->make("a.md", "1").at("id");
  for (int i = 2; i < 6; ++i) {
    fs::rename(server_->root() + "/a.md", server_->root() + "/a.md~");
    server_->put("a.md", std::to_string(i));
    fs::remove(server_->root() + "/a.md~");
    become_idle();
    EXPECT_EQ(server_->files(), (std::map<std::string, std::string>{{"a.md", id}}));
  }
  EXPECT_EQ(git("show HEAD:a.md"), "5");
  expect_agreement();
}

TEST_F(NotebookGitBehaviour, ACheckoutOfAnotherBranchMakesNoCommit) {
  start(kOften);
  make_other_branch(300);
  const std::string before = commits_of_eventq();
  git_slowly({"checkout", "--quiet", "other"});
  git_slowly({"checkout", "--quiet", "main"});
  git_slowly({"checkout", "--quiet", "other"});
  become_idle();
  EXPECT_EQ(commits_of_eventq(), before);
  EXPECT_EQ(server_->get("many/7"), "other 7");
  expect_agreement();
}

TEST_F(NotebookGitBehaviour, AStashKeepsTheContentsUntilItIsPopped) {
  start(kSeldom);
  server_->put("a", "1");
  server_->put("b", "1");
  become_idle();
  server_->put("a", "2");
  git("stash");
  EXPECT_EQ(server_->get("a"), "1");
  become_idle();
  EXPECT_EQ(git("show HEAD:a"), "1");
  git("stash pop");
  EXPECT_EQ(server_->get("a"), "2");
  become_idle();
  EXPECT_EQ(git("show HEAD:a"), "2");
  EXPECT_EQ(git("show HEAD:b"), "1");
  expect_agreement();
}

TEST_F(NotebookGitBehaviour, AStashThatConflictsIsNotCommittedWithMarkers) {
  start(kOften);
  server_->put("a", "1");
  become_idle();
  server_->server().signal(SIGSTOP);
  server_->put("a", "2");
  git("stash");
  server_->server().signal(SIGCONT);
  server_->put("a", "3");
  become_idle();
  git("stash pop || true");
  EXPECT_THAT(server_->get("a"), HasSubstr("<<<<<<<"));
  server_->put("b", "1");
  server_->wait_until([&] { return !server_->id_of("b").empty(); }, "the next file is recorded");
  server_->call("POST", "/events/commit?notebook=n&sync=true&timeout=5");
  EXPECT_EQ(git("show HEAD:a"), "3");
  server_->put("a", "4");
  git("add a");
  become_idle();
  EXPECT_EQ(git("show HEAD:a"), "4");
  expect_agreement();
}

TEST_F(NotebookGitBehaviour, AnAmendedCommitIsKept) {
  start(kSeldom);
  server_->put("a", "1");
  become_idle();
  git("commit --quiet --amend -m amended");
  become_idle();
  EXPECT_EQ(subjects(), "amended,");
  server_->put("a", "2");
  become_idle();
  EXPECT_EQ(subjects(), "Update a,amended,");
  expect_agreement();
}

TEST_F(NotebookGitBehaviour, AGarbageCollectionDuringChangesIsHarmless) {
  start(kOften);
  put_many(".", "main", 300);
  for (int i = 0; i < 5; ++i) {
    const std::string name = "f" + std::to_string(i);
    server_->make(name, "by the API");
    git("gc --quiet");
    server_->put("outside/" + name, "from outside");
  }
  become_idle();
  EXPECT_EQ(git("show HEAD:f4"), "by the API");
  EXPECT_EQ(git("show HEAD:outside/f4"), "from outside");
  expect_agreement();
}

TEST_F(NotebookGitBehaviour, AWorkTreeElsewhereIsNotPartOfTheNotebook) {
  start(kOften);
  server_->put("a", "1");
  become_idle();
  const std::string folder = server_->server().file("elsewhere");
  git("worktree add --quiet -b elsewhere " + folder);
  server_->put("../elsewhere/a", "elsewhere");
  git("-C " + folder + " commit --quiet --all -m elsewhere");
  server_->put("a", "2");
  become_idle();
  EXPECT_EQ(git("show elsewhere:a"), "elsewhere");
  EXPECT_EQ(git("show main:a"), "2");
  git("worktree remove " + folder);
  become_idle();
  EXPECT_EQ(git("rev-list --count main"), "2\n");
  expect_agreement();
}

TEST_F(NotebookGitBehaviour, AHardResetIsFollowedWithoutACommit) {
  start(kOften);
  server_->put("a", "1");
  become_idle();
  server_->put("a", "2");
  server_->put("b", "2");
  become_idle();
  const std::string before = git("rev-parse HEAD~1");
  git("reset --quiet --hard HEAD~1");
  become_idle();
  EXPECT_EQ(git("rev-parse HEAD"), before);
  EXPECT_EQ(server_->get("a"), "1");
  EXPECT_EQ(server_->id_of("b"), "");
  expect_agreement();
}

TEST_F(NotebookGitBehaviour, ASoftResetIsFollowedByACommitOfTheFiles) {
  start(kOften);
  server_->put("a", "1");
  become_idle();
  server_->put("a", "2");
  become_idle();
  git("reset --quiet --soft HEAD~1");
  become_idle();
  EXPECT_EQ(git("show HEAD:a"), "2");
  EXPECT_EQ(git("rev-list --count HEAD"), "2\n");
  expect_agreement();
}

TEST_F(NotebookGitBehaviour, AMergeInProgressHoldsCommitsBackUntilItIsAborted) {
  start(kOften);
  make_other_branch(10);
  server_->put("many/7", "main again");
  become_idle();
  const std::string before = commits_of_eventq();
  git("merge other || true");
  EXPECT_THAT(server_->get("many/7"), HasSubstr("<<<<<<<"));
  server_->put("new", "meanwhile");
  server_->wait_until([&] { return !server_->id_of("new").empty(); }, "the new file is recorded");
  const auto trouble = [&] { return server_->expect("200", "GET", "/notebooks/n")["trouble.commit"]; };
  server_->wait_until([&] { return trouble().find("merge") != std::string::npos; }, "the commit waits");
  EXPECT_EQ(commits_of_eventq(), before);
  git("merge --abort");
  server_->wait_until([&] { return commits_of_eventq() != before; }, "the commit is made");
  become_idle();
  EXPECT_EQ(git("show HEAD:new"), "meanwhile");
  EXPECT_EQ(git("show HEAD:many/7"), "main again");
  EXPECT_EQ(git("diff-tree -r --name-only --no-commit-id HEAD"), "new\n");
  expect_agreement();
}

TEST_F(NotebookGitBehaviour, AMergeOfManyFilesMakesNoCommitOfEventq) {
  start(kOften);
  make_other_branch(300);
  server_->put("local", "local");
  become_idle();
  const std::string before = commits_of_eventq();
  git_slowly({"merge", "--quiet", "--no-edit", "other"});
  become_idle();
  EXPECT_EQ(commits_of_eventq(), before);
  EXPECT_EQ(git("show HEAD:many/7"), "other 7");
  expect_agreement();
}

TEST_F(NotebookGitBehaviour, ARebaseThatChangesManyFilesSucceedsWhileTheNotebookCommitsOften) {
  start(kOften);
  make_other_branch(1000);
  for (int i = 0; i < 5; ++i) {
    server_->put("local" + std::to_string(i), "local");
    become_idle();
  }
  git_slowly({"rebase", "--quiet", "other"});
  EXPECT_EQ(git("rev-parse --abbrev-ref HEAD"), "main\n");
  become_idle();
  EXPECT_EQ(git("rev-list --count other..main"), "5\n") << git("log --stat=80 other..main | head -n 40");
  EXPECT_EQ(git("show HEAD:many/7"), "other 7");
  EXPECT_EQ(git("show HEAD:local4"), "local");
  expect_agreement();
}

TEST_F(NotebookGitBehaviour, APullOfManyFilesSucceedsWhileTheNotebookCommitsOften) {
  start(kOften);
  put_many(".", "main", 1000);
  become_idle();
  const std::string clone = server_->server().file("clone");
  git("clone --quiet . " + clone);
  git("remote add origin " + clone);
  put_many("../clone", "pulled", 1000);
  git("-C " + clone + " commit --quiet --all -m pulled");
  git_slowly({"pull", "--quiet", "--ff-only", "origin", "main"});
  become_idle();
  EXPECT_EQ(git("rev-parse HEAD"), git("-C " + clone + " rev-parse HEAD"))
      << git("log --stat=80 -2 | head -n 40");
  EXPECT_EQ(server_->get("many/7"), "pulled 7");
  expect_agreement();
}

}  // namespace
}  // namespace eventq
