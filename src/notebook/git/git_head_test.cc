// git_head_test.cc: tests commits while users move HEAD.
#include <fcntl.h>
#include <sys/stat.h>

#include "support/git_repo_fixture.h"

namespace eventq::notebook {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class GitHeadTest : public GitRepoTest {
 protected:
  // Makes commits one after the other, each of its own file and of paths that user commits have undone.
  // Retries while HEAD is locked or moved.
  static constexpr int kRaceCommits = 50;
  void commit_ours() {
    moved();
    for (int i = 1; i <= kRaceCommits; ++i) {
      const std::string name = "ours" + std::to_string(i);
      write(name, "1");
      std::vector<std::string> paths = moved_paths();
      paths.push_back(name);
      Result<GitCommit> made = try_commit(paths, "ours " + std::to_string(i) + "\n");
      while (!made && made.error().code == ErrorCode::conflict) {
        made = try_commit(paths, "ours " + std::to_string(i) + "\n");
      }
      ASSERT_TRUE(made) << made.error().message;
      EXPECT_GE(made->files, 1U);
    }
  }
  static std::vector<std::string> race_files() {
    std::vector<std::string> files = {"first"};
    for (int i = 1; i <= kRaceCommits; ++i) {
      files.push_back("ours" + std::to_string(i));
      files.push_back("theirs" + std::to_string(i));
    }
    return files;
  }
  static std::vector<std::string> race_subjects() {
    std::vector<std::string> subjects = {"first"};
    for (int i = 1; i <= kRaceCommits; ++i) {
      subjects.push_back("ours " + std::to_string(i));
      subjects.push_back("theirs " + std::to_string(i));
    }
    return subjects;
  }

  // Makes two branches that conflict, so that `git merge side` and `git rebase side` stop half way.
  void make_conflict() {
    write("a", "1\n");
    commit({"a"});
    git({"checkout", "-q", "-b", "side"});
    write("a", "side\n");
    git({"commit", "-q", "-a", "-m", "side"});
    git({"checkout", "-q", "main"});
    write("a", "main\n");
    git({"commit", "-q", "-a", "-m", "main"});
    EXPECT_THAT(moved_paths(), ElementsAre("a"));
  }
};

TEST_F(GitHeadTest, ACommitMovesADetachedHead) {
  write("a", "1");
  const GitCommit first = commit({"a"});
  git({"checkout", "-q", "--detach"});
  write("a", "2");
  const GitCommit second = commit({"a"});
  EXPECT_EQ(git({"rev-parse", "HEAD"}), second.hash + "\n");
  EXPECT_EQ(git({"rev-parse", "main"}), first.hash + "\n");
  EXPECT_THAT(git({"status"}), HasSubstr("detached"));
  EXPECT_EQ(status(), "");
}

TEST_F(GitHeadTest, ACommitCreatesAnUnbornBranchBesideOthers) {
  write("a", "1");
  const GitCommit first = commit({"a"});
  git({"checkout", "-q", "--orphan", "other/branch"});
  write("b", "1");
  const GitCommit second = commit({"b"});
  EXPECT_EQ(git({"rev-parse", "refs/heads/other/branch"}), second.hash + "\n");
  EXPECT_EQ(git({"rev-list", "--parents", "HEAD"}), second.hash + "\n");
  EXPECT_EQ(git({"rev-parse", "main"}), first.hash + "\n");
  EXPECT_THAT(tree(), ElementsAre("b"));
}

TEST_F(GitHeadTest, UserCommitsBranchesAndPackingInterleaveWithNotebookCommits) {
  write("a", "1");
  commit({"a"}, "ours 1\n");
  write("b", "1");
  git({"add", "b"});
  git({"commit", "-q", "-m", "theirs 1"});
  write("a", "2");
  commit({"a"}, "ours 2\n");
  git({"gc", "-q", "--prune=now"});
  git({"pack-refs", "--all"});
  write("a", "3");
  commit({"a"}, "ours 3\n");
  git({"checkout", "-q", "-b", "side"});
  write("c", "1");
  commit({"c"}, "ours 4\n");
  git({"commit", "-q", "--amend", "-m", "theirs 2"});
  write("c", "2");
  commit({"c"}, "ours 5\n");
  EXPECT_THAT(subjects(), ElementsAre("ours 5", "theirs 2", "ours 3", "ours 2", "theirs 1", "ours 1"));
  EXPECT_EQ(git({"log", "--format=%s", "-1", "main"}), "ours 3\n");
  EXPECT_EQ(status(), "");
}

TEST_F(GitHeadTest, ConcurrentCommitsFromSeparateIndexesAreAllInTheHistory) {
  write("first", "1");
  commit({"first"}, "first\n");
  // With its own index, read from the commit on which it builds.
  Process other(
      setup({"/bin/sh", "-c",
             "export GIT_INDEX_FILE=.git/others; i=0; while [ $i -lt 50 ]; do i=$((i+1)); echo $i > theirs$i;"
             " until h=$(git rev-parse HEAD) && git read-tree $h &&"
             " git update-index --add theirs$i &&"
             " c=$(git commit-tree -p $h -m \"theirs $i\" $(git write-tree)) &&"
             " git update-ref HEAD $c $h; do :; done; done"},
            path_));
  commit_ours();
  EXPECT_EQ(other.wait(std::chrono::minutes(5)), 0) << other.err();
  EXPECT_THAT(tree(), testing::UnorderedElementsAreArray(race_files()));
  EXPECT_THAT(subjects(), testing::UnorderedElementsAreArray(race_subjects()));
}

TEST_F(GitHeadTest, ConcurrentCommitsFromTheSameIndexAreAllInTheHistory) {
  write("first", "1");
  commit({"first"}, "first\n");
  Process other(setup({"/bin/sh", "-c",
                       "i=0; while [ $i -lt 50 ]; do i=$((i+1)); echo $i > theirs$i;"
                       " until git add theirs$i && git commit -q -m \"theirs $i\"; do :; done; done"},
                      path_));
  commit_ours();
  EXPECT_EQ(other.wait(std::chrono::minutes(5)), 0) << other.err();
  // Git can write back an index that it read before (git_index.h): moved() reports the paths that this undid.
  commit(moved_paths(), "again\n");
  EXPECT_THAT(tree(), testing::UnorderedElementsAreArray(race_files()));
  EXPECT_THAT(subjects(), testing::IsSupersetOf(race_subjects()));
  EXPECT_FALSE(fs::exists(path_ + "/.git/index.lock"));
  EXPECT_EQ(status(), "");
}

TEST_F(GitHeadTest, AReferenceThatStaysLockedIsAConflict) {
  write("a", "1");
  commit({"a"});
  write("a", "2");
  for (const std::string lock : {"HEAD.lock", "refs/heads/main.lock"}) {
    std::ofstream(path_ + "/.git/" + lock) << "";
    const auto refused = try_commit({"a"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::conflict) << refused.error().message;
    EXPECT_THAT(refused.error().message, HasSubstr(".lock"));
    EXPECT_FALSE(fs::exists(path_ + "/.git/index.lock"));
    EXPECT_EQ(status(), " M a\n");
    EXPECT_TRUE(fs::exists(path_ + "/.git/" + lock));
    fs::remove(path_ + "/.git/" + lock);
  }
  EXPECT_EQ(commit({"a"}).files, 1U);
}

TEST_F(GitHeadTest, ALockRecordedByAKilledProcessIsRemovedAndNoOther) {
  write("a", "1");
  commit({"a"});
  EXPECT_FALSE(fs::exists(path_ + "/.git/eventq.locks"));
  const std::string head = path_ + "/.git/HEAD.lock";
  const std::string branch = path_ + "/.git/refs/heads/main.lock";
  std::ofstream(head) << "";
  std::ofstream(branch) << "";
  const auto note = [&](const std::string& file) {
    struct statx found {};
    EXPECT_EQ(::statx(AT_FDCWD, file.c_str(), 0, STATX_INO | STATX_BTIME, &found), 0);
    std::ofstream(path_ + "/.git/eventq.locks", std::ios::app)
        << found.stx_ino << " " << found.stx_btime.tv_sec << " " << found.stx_btime.tv_nsec << "\n";
  };
  note(head);
  write("a", "2");
  EXPECT_FALSE(try_commit({"a"}));  // the branch's lock may belong to another process
  EXPECT_FALSE(fs::exists(head));
  EXPECT_TRUE(fs::exists(branch));
  note(branch);
  EXPECT_EQ(commit({"a"}).files, 1U);
  EXPECT_FALSE(fs::exists(branch));
}

TEST_F(GitHeadTest, ALockThatAKilledProcessWasAboutToRecordIsRemovedAndNoOlderOne) {
  write("a", "1");
  commit({"a"});
  const std::string head = path_ + "/.git/HEAD.lock";
  const std::string branch = path_ + "/.git/refs/heads/main.lock";
  const std::string notes = path_ + "/.git/eventq.locks";
  std::ofstream(notes) << "+\n";
  std::ofstream(head) << "";
  write("a", "2");
  EXPECT_EQ(commit({"a"}).files, 1U);
  EXPECT_FALSE(fs::exists(head));

  std::ofstream(branch) << "";
  std::ofstream(notes) << "+\n1 2 3\n+\n";
  fs::last_write_time(notes,
                      fs::last_write_time(notes) + std::chrono::seconds(2));  // two seconds after the lock
  write("a", "3");
  EXPECT_FALSE(try_commit({"a"}));
  EXPECT_TRUE(fs::exists(branch));
  fs::remove(branch);
}

TEST_F(GitHeadTest, ACommitIsRefusedDuringAMerge) {
  make_conflict();
  EXPECT_EQ(run(setup({"git", "merge", "side"}, path_)).exit_code, 1);
  write("b", "1\n");
  const auto refused = try_commit({"b"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("merge"));
  write("a", "both\n");
  git({"commit", "-q", "-a", "-m", "merged"});
  EXPECT_EQ(commit({"b"}).files, 1U);
  EXPECT_THAT(subjects(), testing::Contains("merged"));
  EXPECT_EQ(status(), "");
}

TEST_F(GitHeadTest, ACommitIsRefusedDuringARebase) {
  make_conflict();
  EXPECT_NE(run(setup({"git", "rebase", "side"}, path_)).exit_code, 0);
  write("b", "1\n");
  const auto refused = try_commit({"b"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("rebase"));
  EXPECT_FALSE(moved());  // though HEAD is detached during the rebase
  git({"rebase", "--abort"});
  EXPECT_FALSE(moved());
  EXPECT_EQ(commit({"b"}).files, 1U);
}

TEST_F(GitHeadTest, PathsChangedByAUserCommitAreReportedOnce) {
  EXPECT_EQ(moved()->to, "");  // the first call has nothing to compare with
  write("a", "1");
  write("b", "1");
  write("same", "1");
  commit({"a", "b", "same"});
  EXPECT_FALSE(moved());
  write("a", "2");
  remove("b");
  write("c", "2");
  commit({"a", "b", "c"});
  EXPECT_FALSE(moved());
  // A user commit on top of ours, with the content from before ours.
  git({"reset", "-q", "--soft", "HEAD~1"});
  const std::string theirs = git({"commit-tree", "-p", "ORIG_HEAD", "-m", "theirs", "HEAD^{tree}"});
  git({"update-ref", "HEAD", theirs.substr(0, 40)});
  const auto found = moved();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->to + "\n", theirs);
  EXPECT_THAT(found->paths, ElementsAre("a", "b", "c"));
  EXPECT_FALSE(moved());
  EXPECT_EQ(commit(found->paths).files, 3U);
  EXPECT_EQ(status(), "");
  EXPECT_FALSE(moved());
  git({"checkout", "-q", "--detach"});
  git({"commit", "-q", "--amend", "-m", "said better"});
  EXPECT_THAT(moved()->paths, IsEmpty());
}

TEST_F(GitHeadTest, ACommitOnTopOfAnUnseenCommitDoesNotHideIt) {
  write("a", "1");
  commit({"a"});
  moved();
  write("a", "2");
  git({"commit", "-q", "-a", "-m", "theirs"});
  write("b", "1");
  commit({"b"});
  EXPECT_THAT(moved_paths(), ElementsAre("a", "b"));
}

TEST_F(GitHeadTest, WhenTheSeenCommitIsGoneAllPathsInHeadAreReported) {
  write("a", "1");
  write("b", "1");
  commit({"a", "b"});
  GitMarks marks = repo().marks();
  marks.head = std::string(40, '1');
  repo().remember(marks);
  const auto found = moved();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->from, MovedHead::LastSeen::gone);
  EXPECT_THAT(found->paths, ElementsAre("a", "b"));
}

TEST_F(GitHeadTest, AReplacedRepositoryIsNoticedAndNoneIsCreated) {
  write("a", "1");
  commit({"a"});
  moved();
  remove(".git");
  EXPECT_FALSE(repo().moved());
  EXPECT_FALSE(try_commit({"a"}));
  EXPECT_FALSE(fs::exists(path_ + "/.git"));
  git({"init", "-q"});
  const auto found = moved();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->from, MovedHead::LastSeen::gone);
  EXPECT_EQ(found->to, "");
  write(".eventq/x", "1");
  EXPECT_EQ(commit({"a"}).files, 1U);
  EXPECT_EQ(status(), "");
  EXPECT_FALSE(moved());
}

}  // namespace
}  // namespace eventq::notebook
