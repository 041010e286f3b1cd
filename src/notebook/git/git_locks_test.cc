// git_locks_test.cc: tests that no commit is made while another git process is at work.
#include <fcntl.h>
#include <sys/stat.h>

#include "support/git_repo_fixture.h"

namespace eventq::notebook {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class GitLocksTest : public GitRepoTest {
 protected:
  GitLocksTest() {
    write("a", "1");
    commit({"a"});
    write("a", "2");
  }
  // The error of a commit of `a` at this time.
  Error refusal(std::chrono::seconds now) {
    const auto made = repo().commit(folder(), {"a"}, says("ours\n"), TimePoint(now));
    EXPECT_FALSE(made);
    return made ? Error{} : made.error();
  }
  void put_lock(const std::string& name, std::chrono::seconds at) {
    const std::string lock = path_ + "/.git/" + name;
    std::ofstream(lock) << "";
    const timespec times[] = {{at.count(), 0}, {at.count(), 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, lock.c_str(), times, 0), 0);
  }
  static constexpr std::chrono::seconds kNow{1'700'000'000};
};

TEST_F(GitLocksTest, AnIndexLockOfAnotherProcessBlocksCommitsUntilItIsGone) {
  const std::string lock = path_ + "/.git/index.lock";
  for (const std::string content : {"", "DIRC half written"}) {
    std::ofstream(lock) << content;
    const auto refused = try_commit({"a"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
    EXPECT_THAT(refused.error().message, HasSubstr(".git/index.lock"));
    EXPECT_EQ(fs::file_size(lock), content.size());
    EXPECT_EQ(subjects().size(), 1U);
  }
  fs::remove(lock);
  EXPECT_EQ(commit({"a"}).files, 1U);
  EXPECT_EQ(status(), "");
}

TEST_F(GitLocksTest, ALockIsStaleAfterTenMinutesWhenNoProcessHasTheRepositoryOpen) {
  const std::string lock = path_ + "/.git/index.lock";
  put_lock("index.lock", kNow);
  EXPECT_THAT(refusal(kNow + std::chrono::seconds(599)).message,
              AllOf(HasSubstr("Another git process holds"), Not(HasSubstr("rm "))));
  EXPECT_THAT(refusal(kNow + std::chrono::seconds(600)).message, HasSubstr("rm " + lock));
  EXPECT_THAT(refusal(kNow + std::chrono::seconds(601)).message, HasSubstr("rm " + lock));
  {
    const std::string never = directory_.file("never");
    ASSERT_EQ(::mkfifo(never.c_str(), 0600), 0);
    Process other(setup({"/bin/sh", "-c", "echo waiting >&2; read line < " + never}, path_));
    ASSERT_TRUE(other.wait_for_line("waiting", std::chrono::minutes(1)));
    EXPECT_THAT(refusal(kNow + std::chrono::seconds(601)).message, Not(HasSubstr("rm ")));
  }
  EXPECT_TRUE(fs::exists(lock));
  fs::remove(lock);
  EXPECT_EQ(commit({"a"}).files, 1U);
}

TEST_F(GitLocksTest, AStaleLockOfHeadIsReportedWithTheCommandThatRemovesIt) {
  for (const std::string name : {"HEAD.lock", "refs/heads/main.lock"}) {
    put_lock(name, kNow);
    EXPECT_THAT(refusal(kNow + std::chrono::seconds(599)).message, Not(HasSubstr("rm ")));
    EXPECT_THAT(refusal(kNow + std::chrono::seconds(600)).message,
                HasSubstr("rm " + path_ + "/.git/" + name));
    fs::remove(path_ + "/.git/" + name);
  }
}

// `git checkout` writes the index and releases its lock before it moves HEAD.
TEST_F(GitLocksTest, NoCommitIsMadeWhileAGitCommandThatChangesFilesRuns) {
  git({"checkout", "-q", "--", "a"});
  git({"checkout", "-q", "-b", "side"});
  write("a", "side");
  git({"commit", "-q", "-a", "-m", "side"});
  // The hook stops git after it has moved HEAD and released its locks, while it still runs.
  const std::string go = directory_.file("go");
  ASSERT_EQ(::mkfifo(go.c_str(), 0600), 0);
  write(".git/hooks/post-checkout", "#!/bin/sh\necho waiting >&2\nread line < " + go + "\n");
  fs::permissions(path_ + "/.git/hooks/post-checkout", fs::perms::all);
  Process theirs(setup({"git", "checkout", "main"}, path_));
  ASSERT_TRUE(theirs.wait_for_line("waiting", std::chrono::minutes(1)));
  write("b", "1");
  const auto refused = try_commit({"b"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("git checkout (process "));
  std::ofstream(go) << "go" << std::endl;
  EXPECT_EQ(theirs.wait(std::chrono::minutes(1)), 0);
  EXPECT_EQ(commit({"b"}).files, 1U);
  EXPECT_THAT(tree(), ElementsAre("a", "b"));
}

TEST_F(GitLocksTest, AFileStagedJustNowWaitsBecauseHeadMayBeAboutToMove) {
  git({"add", "a"});
  struct stat found {};
  ASSERT_EQ(::stat((path_ + "/.git/index").c_str(), &found), 0);
  const std::chrono::seconds staged(found.st_mtim.tv_sec);
  write("b", "1");
  const auto at = [&](std::chrono::seconds now) {
    return must(repo().commit(folder(), {"a", "b"}, says("ours\n"), TimePoint(now)));
  };
  const GitCommit first = at(staged + std::chrono::seconds(1));
  EXPECT_THAT(first.changed, ElementsAre("b"));
  EXPECT_THAT(first.left_out, ElementsAre("a"));
  ASSERT_EQ(::stat((path_ + "/.git/index").c_str(), &found), 0);
  EXPECT_THAT(at(std::chrono::seconds(found.st_mtim.tv_sec + 2)).changed, ElementsAre("a"));
}

TEST_F(GitLocksTest, ConflictMarkersAreNotCommittedUntilTheConflictIsResolved) {
  git({"stash", "-q"});
  write("a", "3");
  commit({"a"});
  EXPECT_NE(run(setup({"git", "stash", "pop"}, path_)).exit_code, 0);
  const std::string conflict = git({"ls-files", "--unmerged"});
  const auto refused = try_commit({"a"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("a is unmerged"));
  EXPECT_EQ(git({"show", "HEAD:a"}), "3");
  EXPECT_EQ(git({"ls-files", "--unmerged"}), conflict);
  EXPECT_FALSE(fs::exists(path_ + "/.git/index.lock"));
  write("a", "resolved");
  git({"add", "a"});
  EXPECT_EQ(commit({"a"}).files, 1U);
  EXPECT_EQ(git({"show", "HEAD:a"}), "resolved");
}

TEST_F(GitLocksTest, TheLockOfALinkedWorktreeBlocksOnlyItsCommits) {
  const std::string tree = directory_.file("tree");
  git({"worktree", "add", "-q", "-b", "side", tree});
  std::ofstream(tree + "/b") << "1";
  GitRepo linked = must(GitRepo::open(tree));
  Folder files = must(Folder::open(tree, 022));
  put_lock("worktrees/tree/index.lock", kNow);
  const auto refused = linked.commit(files, {"b"}, says("side\n"), TimePoint(kNow));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("worktrees/tree/index.lock"));
  EXPECT_EQ(commit({"a"}).files, 1U);
  fs::remove(path_ + "/.git/worktrees/tree/index.lock");
  EXPECT_EQ(must(linked.commit(files, {"b"}, says("side\n"), TimePoint(kNow))).files, 1U);
}

TEST_F(GitLocksTest, TheIndexIsLockedWhileTheMessageIsMade) {
  const auto message = [&](const std::vector<std::string>&) {
    const Finished other = run(setup({"git", "checkout", "-q", "--", "a"}, path_));
    EXPECT_NE(other.exit_code, 0);
    EXPECT_THAT(other.err, HasSubstr("index.lock"));
    return std::string("ours\n");
  };
  EXPECT_EQ(must(repo().commit(folder(), {"a"}, message, TimePoint(kNow))).files, 1U);
  EXPECT_EQ(git({"show", "HEAD:a"}), "2");
}

}  // namespace
}  // namespace eventq::notebook
