// git_repo_test.cc: tests commits of single paths with the real git, while a user works in the repository.
#include "notebook/git/git_repo.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "support/git_repo_fixture.h"

namespace eventq::notebook {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST_F(GitRepoTest, TheFirstCommitHasTheUsersNameOnMainAndLeavesACleanStatus) {
  write("a.md", "one\n");
  write("b/c.md", "two\n");
  write("empty", "");
  const GitCommit made = commit({"a.md", "b/c.md", "empty"}, "Update\n\nEventq-Event: e1\n");
  EXPECT_EQ(made.files, 3U);
  EXPECT_EQ(git({"rev-parse", "refs/heads/main"}), made.hash + "\n");
  EXPECT_EQ(git({"log", "--format=%an <%ae> %cn %at %s|%(trailers:key=Eventq-Event,valueonly)"}),
            "Ann <ann@example.org> Ann 1700000000 Update|e1\n\n");
  EXPECT_THAT(tree(), ElementsAre("a.md", "b/c.md", "empty"));
  EXPECT_EQ(git({"show", "HEAD:b/c.md"}), "two\n");
  EXPECT_EQ(status(), "");
  EXPECT_EQ(git({"diff", "HEAD", "--stat"}), "");
  EXPECT_THAT(git({"reflog"}), HasSubstr("commit (initial): Update"));
}

TEST_F(GitRepoTest, OnlyTheGivenPathsAreCommitted) {
  write("a", "1");
  write("b", "1");
  commit({"a", "b"});
  write("a", "2");
  write("b", "2");
  write("c", "2");
  EXPECT_EQ(commit({"a"}).files, 1U);
  EXPECT_EQ(git({"show", "HEAD:b"}), "1");
  EXPECT_EQ(status(), " M b\n?? c\n");
}

TEST_F(GitRepoTest, FilesThatEqualHeadMakeNoCommit) {
  EXPECT_EQ(commit({"absent"}).hash, "");
  write("a", "1");
  commit({"a"});
  write("a", "1");
  const GitCommit none = commit({"a", "never"});
  EXPECT_EQ(none.hash, "");
  EXPECT_EQ(none.files, 0U);
  EXPECT_EQ(subjects().size(), 1U);
  EXPECT_EQ(commit({}).hash, "");
}

TEST_F(GitRepoTest, DeletedPathsAreRemovedAndFoldersAndFilesReplaceEachOther) {
  write("gone/x", "1");
  write("file", "1");
  write("folder/y", "1");
  write("folder/z", "1");
  commit({"gone/x", "file", "folder/y", "folder/z"});
  remove("gone");
  remove("file");
  remove("folder");
  write("file/in", "2");
  write("folder", "2");
  EXPECT_EQ(commit({"file", "file/in", "folder", "folder/y", "folder/z", "gone/x"}).files, 6U);
  EXPECT_THAT(tree(), ElementsAre("file/in", "folder"));
  EXPECT_EQ(status(), "");
}

TEST_F(GitRepoTest, TheExecutableBitIsCommittedAlone) {
  write("run.sh", "#!/bin/sh\n");
  commit({"run.sh"});
  EXPECT_THAT(git({"ls-tree", "HEAD"}), StartsWith("100644"));
  fs::permissions(path_ + "/run.sh", fs::perms::owner_exec, fs::perm_options::add);
  EXPECT_EQ(commit({"run.sh"}).files, 1U);
  EXPECT_THAT(git({"ls-tree", "HEAD"}), StartsWith("100755"));
  EXPECT_EQ(status(), "");
}

TEST_F(GitRepoTest, WithoutCoreFilemodeTheRecordedModesStay) {
  write("a", "1");
  commit({"a"});
  git({"config", "core.filemode", "false"});
  write("a", "2");
  fs::permissions(path_ + "/a", fs::perms::owner_exec, fs::perm_options::add);
  commit({"a"});
  EXPECT_THAT(git({"ls-tree", "HEAD"}), StartsWith("100644"));
}

TEST_F(GitRepoTest, ALinkStaysAsItIsRecorded) {
  write("a", "1");
  write("b", "1");
  commit({"a", "b"});
  remove("a");
  fs::create_symlink("b", path_ + "/a");
  write("b", "2");
  EXPECT_EQ(commit({"a", "b"}).files, 1U);
  EXPECT_EQ(git({"show", "HEAD:a"}), "1");
}

TEST_F(GitRepoTest, ALargeFileComesBackByteForByte) {
  std::string content;
  while (content.size() < (3U << 20U))
    content += std::string("line\r\n\0\xff", 8) + std::to_string(content.size());
  write("big", content);
  commit({"big"});
  git({"reset", "-q", "--hard"});
  EXPECT_TRUE(git({"cat-file", "blob", "HEAD:big"}) == content);
}

TEST_F(GitRepoTest, AStagedChangeOfAnotherPathIsLeftAloneAndNotCommitted) {
  write("a", "1");
  write("b", "1");
  commit({"a", "b"});
  write("b", "staged");
  write("new", "staged");
  git({"add", "b", "new"});
  const std::string staged = git({"ls-files", "--stage", "b", "new"});
  write("a", "2");
  commit({"a"});
  EXPECT_EQ(git({"ls-files", "--stage", "b", "new"}), staged);
  EXPECT_EQ(status(), "M  b\nA  new\n");
  EXPECT_EQ(git({"show", "HEAD:b"}), "1");
  git({"commit", "-q", "-m", "theirs"});
  EXPECT_EQ(git({"show", "HEAD:a"}), "2");
  EXPECT_EQ(status(), "");
}

TEST_F(GitRepoTest, AStagedChangeOfTheSamePathStaysStaged) {
  write("a", "1");
  write("gone", "1");
  commit({"a", "gone"});
  write("a", "staged");
  write("new", "staged");
  git({"add", "a", "new"});
  git({"rm", "-q", "--cached", "gone"});
  const std::string staged = git({"ls-files", "--stage"});
  write("a", "ours");
  write("new", "ours");
  write("gone", "ours");
  EXPECT_EQ(commit({"a", "new", "gone"}).files, 3U);
  EXPECT_EQ(git({"ls-files", "--stage"}), staged);
  EXPECT_EQ(git({"show", ":a"}), "staged");
  EXPECT_EQ(git({"show", "HEAD:a"}), "ours");
}

TEST_F(GitRepoTest, AStagedFolderIsNotReplacedByAFile) {
  write("a", "1");
  commit({"a"});
  write("x/staged", "1");
  git({"add", "x/staged"});
  remove("x");
  write("x", "ours");
  commit({"x"});
  EXPECT_EQ(git({"show", ":x/staged"}), "1");
  EXPECT_THAT(tree(), ElementsAre("a", "x"));
}

TEST_F(GitRepoTest, ARacilyCleanChangeIsStillSeenByGit) {
  write("theirs", "1");
  write("ours", "1");
  commit({"theirs", "ours"});
  // Staged and changed again within one second, with the same size: only the time of the index shows that.
  write("theirs", "2");
  git({"add", "theirs"});
  struct stat before {};
  ASSERT_EQ(::stat((path_ + "/theirs").c_str(), &before), 0);
  write("theirs", "3");
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, (path_ + "/theirs").c_str(), times, 0), 0);
  git({"config", "core.trustctime", "false"});
  ASSERT_EQ(::utimensat(AT_FDCWD, (path_ + "/.git/index").c_str(), times, 0), 0);
  ASSERT_EQ(status(), "MM theirs\n");
  ASSERT_EQ(::utimensat(AT_FDCWD, (path_ + "/.git/index").c_str(), times, 0), 0);
  write("ours", "2");
  commit({"ours"});
  // Sets the index's time as if it was written later.
  const timespec later[] = {{before.st_mtim.tv_sec + 10, 0}, {before.st_mtim.tv_sec + 10, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (path_ + "/.git/index").c_str(), later, 0), 0);
  EXPECT_EQ(status(), "MM theirs\n");
}

TEST_F(GitRepoTest, AStaleLockOfEventqIsRemoved) {
  write("a", "1");
  commit({"a"});
  const std::string lock = path_ + "/.git/index.lock";
  std::ofstream(lock) << "locked by eventq\n";
  std::ofstream(path_ + "/.git/index.eventq") << "half";
  std::ofstream(path_ + "/.git/index.eventq.lock") << "half";
  std::ofstream(path_ + "/.git/index.eventq-lock") << "half";
  write("a", "2");
  commit({"a"});
  EXPECT_FALSE(fs::exists(lock));
  EXPECT_EQ(status(), "");
  for (const auto& file : fs::directory_iterator(path_ + "/.git")) {
    EXPECT_THAT(file.path().filename().string(), Not(StartsWith("index.")));
  }
}

TEST_F(GitRepoTest, AStaleLockOfEventqIsRemovedWhenTheRepositoryIsOpened) {
  write("a", "1");
  commit({"a"});
  std::ofstream(path_ + "/.git/index.lock") << "locked by eventq\n";
  repo_.reset();
  repo();
  EXPECT_FALSE(fs::exists(path_ + "/.git/index.lock"));
  std::ofstream(path_ + "/.git/index.lock") << "somebody else's";
  repo_.reset();
  repo();
  EXPECT_TRUE(fs::exists(path_ + "/.git/index.lock"));
}

TEST_F(GitRepoTest, AnIndexThatCouldNotFollowACommitFollowsTheNextOne) {
  write("a", "1");
  commit({"a"});
  const std::string index = path_ + "/.git/index";
  fs::copy_file(index, directory_.file("index"));
  std::ofstream(index, std::ios::trunc) << "no index";
  write("a", "2");
  write("b", "2");
  EXPECT_EQ(commit({"a", "b"}).files, 2U);
  fs::copy_file(directory_.file("index"), index, fs::copy_options::overwrite_existing);
  write("mine", "staged");
  git({"add", "mine"});
  const GitMarks marks = repo().marks();
  repo_.reset();
  repo().remember(marks);
  write("c", "3");
  commit({"c"});
  EXPECT_EQ(status(), "A  mine\n");
  EXPECT_EQ(repo().marks().index, std::nullopt);
}

TEST_F(GitRepoTest, AnIntentToAddEntryFollowsTheCommitThatAddsIt) {
  write("a", "1");
  commit({"a"});
  write("new", "1");
  git({"add", "-N", "new"});
  EXPECT_EQ(commit({"new"}).files, 1U);
  EXPECT_EQ(status(), "");
}

TEST_F(GitRepoTest, FlagsSetByTheUserInTheIndexStay) {
  write("a", "1");
  commit({"a"});
  git({"update-index", "--assume-unchanged", "a"});
  write("a", "2");
  commit({"a"});
  EXPECT_EQ(git({"ls-files", "-v"}), "h a\n");
  EXPECT_EQ(git({"diff", "--cached", "--stat"}), "");
}

TEST_F(GitRepoTest, AFileThatASparseCheckoutLeavesOutIsNotDeletedInHead) {
  write("in/a", "1");
  write("out/b", "1");
  commit({"in/a", "out/b"});
  git({"sparse-checkout", "set", "in"});
  ASSERT_FALSE(fs::exists(path_ + "/out/b"));
  EXPECT_EQ(commit({"out/b"}).files, 0U);
  write("in/a", "2");
  EXPECT_EQ(commit({"in/a", "out/b"}).files, 1U);
  EXPECT_THAT(tree(), ElementsAre("in/a", "out/b"));
  EXPECT_EQ(status(), "");
}

TEST_F(GitRepoTest, ACorruptIndexIsNotChanged) {
  write("a", "1");
  commit({"a"});
  std::ofstream(path_ + "/.git/index", std::ios::trunc) << "no index";
  write("a", "2");
  EXPECT_EQ(commit({"a"}).files, 1U);
  EXPECT_EQ(fs::file_size(path_ + "/.git/index"), 8U);
  EXPECT_FALSE(fs::exists(path_ + "/.git/index.lock"));
  remove(".git/index");
}

TEST_F(GitRepoTest, AUserCommitDelayedByAHookDoesNotUndoANotebookCommit) {
  write("a", "1");
  write("b", "1");
  commit({"a", "b"});
  // The user's commit runs a hook while ours moves HEAD: git refuses the user's commit and keeps its staged
  // changes.
  const std::string go = directory_.file("go");
  ASSERT_EQ(::mkfifo(go.c_str(), 0600), 0);
  fs::create_directories(path_ + "/.git/hooks");
  std::ofstream(path_ + "/.git/hooks/pre-commit")
      << "#!/bin/sh\necho waiting >&2\nread line < " << go << "\n";
  fs::permissions(path_ + "/.git/hooks/pre-commit", fs::perms::all);
  write("b", "2");
  git({"add", "b"});
  Process theirs(setup({"git", "commit", "-m", "theirs"}, path_));
  ASSERT_TRUE(theirs.wait_for_line("waiting", std::chrono::minutes(1)));
  write("a", "2");
  commit({"a"});
  std::ofstream(go) << "go" << std::endl;
  EXPECT_NE(theirs.wait(std::chrono::minutes(1)), 0);
  EXPECT_EQ(status(), "M  b\n");
  git({"commit", "-q", "--no-verify", "-m", "theirs"});
  EXPECT_EQ(git({"show", "HEAD:a"}), "2");
  EXPECT_EQ(git({"show", "HEAD:b"}), "2");
}

TEST_F(GitRepoTest, TheIndexKeepsItsMode) {
  write("a", "1");
  commit({"a"});
  fs::permissions(path_ + "/.git/index", fs::perms(0640));
  write("a", "2");
  commit({"a"});
  EXPECT_EQ(fs::status(path_ + "/.git/index").permissions(), fs::perms(0640));
}

TEST_F(GitRepoTest, NoHookFilterOrConfiguredProgramIsRun) {
  git({"init", "-q"});
  const std::string mark = directory_.file("mark");
  const std::string program = directory_.file("evil.sh");
  std::ofstream(program) << "#!/bin/sh\necho \"$0 $*\" >> " << mark << "\ncat\n";
  fs::permissions(program, fs::perms::all);
  for (const std::string hook : {"pre-commit", "commit-msg", "prepare-commit-msg", "post-commit",
                                 "reference-transaction", "post-index-change", "post-checkout"}) {
    fs::create_directories(path_ + "/.git/hooks");
    fs::copy_file(program, path_ + "/.git/hooks/" + hook, fs::copy_options::overwrite_existing);
  }
  for (const std::string key : {"filter.evil.clean", "filter.evil.smudge", "filter.evil.process",
                                "core.fsmonitor", "gpg.program", "core.editor", "core.pager"}) {
    git({"config", key, program});
    git({"config", "--global", key, program});
  }
  git({"config", "commit.gpgSign", "true"});
  git({"config", "filter.evil.required", "true"});
  write(".gitattributes", "* filter=evil text eol=crlf ident\n");
  write("a", "raw $Id$\r\n");
  fs::remove(mark);
  repo().bypass_filters("evil");
  commit({".gitattributes", "a"});
  write("a", "raw again\r\n");
  commit({"a"});
  EXPECT_FALSE(fs::exists(mark));
  EXPECT_EQ(git({"cat-file", "blob", "HEAD:a"}), "raw again\n");
}

TEST_F(GitRepoTest, WithoutAUserTheAuthorIsEventq) {
  fs::remove(home_ + "/.gitconfig");
  std::ofstream(home_ + "/.gitconfig") << "[user]\n\tuseConfigOnly = true\n";
  write("a", "1");
  commit({"a"});
  EXPECT_EQ(git({"log", "-1", "--format=%an <%ae> %cn <%ce>"}),
            "eventq <eventq@localhost> eventq <eventq@localhost>\n");
  // A name that is set later is used; a name of only dots is not.
  git({"config", "user.name", "Bo"});
  git({"config", "user.email", "bo@example.org"});
  write("a", "2");
  commit({"a"});
  EXPECT_EQ(git({"log", "-1", "--format=%an <%ae>"}), "Bo <bo@example.org>\n");
  git({"config", "user.name", "..."});
  write("a", "3");
  commit({"a"});
  EXPECT_EQ(git({"log", "-1", "--format=%an"}), "eventq\n");
}

TEST_F(GitRepoTest, AFolderInsideAnotherRepositoryGetsItsOwnRepository) {
  git({"init", "-q"});
  const std::string inner = path_ + "/in/ner";
  fs::create_directories(inner);
  std::ofstream(inner + "/a") << "1";
  GitRepo repo = must(GitRepo::open(inner));
  Folder folder = must(Folder::open(inner, 022));
  const GitCommit made = must(repo.commit(folder, {"a"}, says("inner\n"), TimePoint()));
  EXPECT_EQ(git_in(inner, {"rev-parse", "HEAD"}), made.hash + "\n");
  EXPECT_TRUE(fs::exists(inner + "/.git/HEAD"));
  EXPECT_NE(run(setup({"git", "rev-parse", "--verify", "HEAD"}, path_)).exit_code, 0);
}

TEST_F(GitRepoTest, AWorktreeHasItsOwnBranchAndIndex) {
  write("a", "1");
  const GitCommit first = commit({"a"});
  const std::string tree = directory_.file("tree");
  git({"worktree", "add", "-q", "-b", "side", tree});
  std::ofstream(tree + "/b") << "1";
  GitRepo repo = must(GitRepo::open(tree));
  Folder folder = must(Folder::open(tree, 022));
  const GitCommit made = must(repo.commit(folder, {"b"}, says("side\n"), TimePoint()));
  EXPECT_EQ(git({"rev-parse", "side"}), made.hash + "\n");
  EXPECT_EQ(git({"rev-parse", "main"}), first.hash + "\n");
  EXPECT_EQ(git_in(tree, {"status", "--porcelain"}), "");
  EXPECT_EQ(status(), "");
  fs::create_directories(tree + "/.eventq");
  std::ofstream(tree + "/.eventq/x") << "1";
  EXPECT_EQ(git_in(tree, {"status", "--porcelain"}), "");
}

TEST_F(GitRepoTest, FilesOfASubmoduleAreNotCommitted) {
  const std::string other = directory_.file("other");
  fs::create_directories(other);
  git_in(other, {"init", "-q"});
  git_in(other, {"commit", "-q", "--allow-empty", "-m", "theirs"});
  write("a", "1");
  commit({"a"});
  git({"-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "sub"});
  git({"commit", "-q", "-m", "submodule"});
  write("sub/x", "1");
  write("a", "2");
  EXPECT_EQ(commit({"a", "sub/x", "sub"}).files, 1U);
  EXPECT_THAT(git({"ls-tree", "HEAD", "sub"}), StartsWith("160000 commit"));
}

TEST_F(GitRepoTest, FilesOfASubmoduleThatIsOnlyInTheIndexAreNotCommitted) {
  const std::string other = directory_.file("other");
  fs::create_directories(other);
  git_in(other, {"init", "-q"});
  git_in(other, {"commit", "-q", "--allow-empty", "-m", "theirs"});
  write("a", "1");
  commit({"a"});
  git({"-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "sub"});
  remove("sub/.git");  // as after a clone without submodules
  const std::string staged = git({"ls-files", "--stage"});
  write("sub/x", "1");
  write("a", "2");
  EXPECT_THAT(commit({"a", "sub/x"}).changed, ElementsAre("a"));
  EXPECT_THAT(git({"ls-files", "--stage", "sub"}), StartsWith("160000"));
}

TEST_F(GitRepoTest, AFolderWithItsOwnRepositoryIsNotCommitted) {
  write("a", "1");
  write("nested/deep/x", "1");
  write("linked/y", "1");
  write("plain/z", "1");
  git_in(path_ + "/nested", {"init", "-q"});
  write("linked/.git", "gitdir: elsewhere\n");
  fs::create_directories(path_ + "/plain/.git");  // not a repository
  EXPECT_THAT(commit({"a", "nested/deep/x", "linked/y", "plain/z"}).changed, ElementsAre("a", "plain/z"));
}

TEST_F(GitRepoTest, ADeletedLinkIsFoundAndCommittedAsDeleted) {
  write("a", "1");
  fs::create_directories(path_ + "/in");
  fs::create_symlink("../a", path_ + "/in/link");
  fs::create_symlink("a", path_ + "/kept");
  git({"init", "-q"});
  git({"add", "."});
  git({"commit", "-q", "-m", "theirs"});
  EXPECT_THAT(must(repo().gone_links(folder())), IsEmpty());
  fs::remove(path_ + "/in/link");
  EXPECT_THAT(must(repo().gone_links(folder())), ElementsAre("in/link"));
  EXPECT_THAT(commit({"in/link"}).changed, ElementsAre("in/link"));
  EXPECT_THAT(tree(), ElementsAre("a", "kept"));
  EXPECT_EQ(status(), "");
  EXPECT_THAT(must(repo().gone_links(folder())), IsEmpty());
}

TEST_F(GitRepoTest, AFolderReplacesALinkThatHeadHas) {
  write("a", "1");
  fs::create_symlink("a", path_ + "/x");
  git({"init", "-q"});
  git({"add", "."});
  git({"commit", "-q", "-m", "theirs"});
  fs::remove(path_ + "/x");
  write("x/y", "1");
  EXPECT_THAT(commit({"x/y"}).changed, ElementsAre("x", "x/y"));
  EXPECT_THAT(tree(), ElementsAre("a", "x/y"));
  EXPECT_EQ(status(), "");
}

TEST_F(GitRepoTest, ACommitOfOnePathWritesOnlyTheTreesAboveIt) {
  std::vector<std::string> paths;
  for (int folder = 0; folder < 20; ++folder) {
    for (int file = 0; file < 20; ++file) {
      paths.push_back("d" + std::to_string(folder) + "/e/f" + std::to_string(file));
      write(paths.back(), paths.back());
    }
  }
  commit(paths);
  const auto objects = [&] {
    return lines(git({"cat-file", "--batch-all-objects", "--batch-check"})).size();
  };
  const std::size_t before = objects();
  write("d7/e/f3", "changed");
  EXPECT_EQ(commit({"d7/e/f3"}).files, 1U);
  EXPECT_EQ(objects() - before, 5U);  // a blob, the trees d7/e, d7 and the root, and the commit
  EXPECT_EQ(tree().size(), 400U);
  EXPECT_EQ(status(), "");
}

TEST_F(GitRepoTest, AFolderInTheWorkTreeOfAnotherRepositoryIsRefusedUnlessItIsARepository) {
  git({"init", "-q"});
  const std::string inner = path_ + "/in/ner";
  fs::create_directories(inner);
  const auto refused = check_not_nested(inner);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("is inside the repository of " + path_));
  EXPECT_THAT(refused.error().message, HasSubstr("git_nested"));
  git_in(inner, {"init", "-q"});
  EXPECT_TRUE(check_not_nested(inner));
  EXPECT_TRUE(check_not_nested(path_));
  EXPECT_TRUE(check_not_nested(home_));
}

TEST_F(GitRepoTest, TheFolderDotEventqIsExcludedOnceAndTheRestOfTheFileStays) {
  git({"init", "-q"});
  fs::create_directories(path_ + "/.git/info");
  std::ofstream(path_ + "/.git/info/exclude", std::ios::trunc) << "/.eventq/x\n*.tmp";
  must(GitRepo::open(path_));
  must(GitRepo::open(path_));
  std::ifstream file(path_ + "/.git/info/exclude");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text, "/.eventq/x\n*.tmp\n/.eventq/\n");
  write(".eventq/y", "1");
  write("a.tmp", "1");
  EXPECT_EQ(status(), "");
  remove(".git/info");
  must(GitRepo::open(path_));
  EXPECT_TRUE(fs::exists(path_ + "/.git/info/exclude"));
}

TEST_F(GitRepoTest, ANewRepositoryCopiesNoTemplate) {
  const std::string templates = directory_.file("templates");
  fs::create_directories(templates + "/hooks");
  std::ofstream(templates + "/hooks/pre-commit") << "evil";
  git({"config", "--global", "init.templateDir", templates});
  git({"config", "--global", "init.defaultBranch", "trunk"});
  must(GitRepo::open(path_));
  EXPECT_FALSE(fs::exists(path_ + "/.git/hooks/pre-commit"));
  EXPECT_EQ(git({"symbolic-ref", "HEAD"}), "refs/heads/main\n");
}

TEST_F(GitRepoTest, AnInterruptedInitIsFinished) {
  fs::create_directories(path_ + "/.git/objects");
  write("a", "1");
  EXPECT_EQ(commit({"a"}).files, 1U);
}

TEST_F(GitRepoTest, ARepositoryThatCannotHoldTheseFilesIsRefused) {
  const std::string bare = directory_.file("bare");
  git({"init", "-q", "--bare", bare});
  const auto no_files = GitRepo::open(bare);
  ASSERT_FALSE(no_files);
  EXPECT_EQ(no_files.error().code, ErrorCode::conflict);
  EXPECT_THAT(no_files.error().message, HasSubstr("bare"));

  git({"init", "-q"});
  git({"config", "core.worktree", home_});
  const auto elsewhere = GitRepo::open(path_);
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().code, ErrorCode::conflict);
  EXPECT_THAT(elsewhere.error().message, HasSubstr("core.worktree"));

  remove(".git");
  write(".git", "gitdir: /nowhere\n");
  const auto nowhere = GitRepo::open(path_);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::unavailable);
  EXPECT_THAT(nowhere.error().message, HasSubstr(path_));

  EXPECT_FALSE(GitRepo::open(directory_.file("absent/folder")));
}

TEST_F(GitRepoTest, AnotherUsersRepositoryIsRefusedWithAdvice) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  git({"init", "-q"});
  for (const std::string name : {"", "/.git", "/.git/HEAD", "/.git/config"}) {
    ASSERT_EQ(::chown((path_ + name).c_str(), 12345, 12345), 0);
  }
  const auto refused = GitRepo::open(path_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("safe.directory " + path_));
  git({"config", "--global", "--add", "safe.directory", path_});
  EXPECT_TRUE(GitRepo::open(path_));
}

TEST_F(GitRepoTest, ARepositoryWithAnUnsupportedExtensionIsRefusedForGood) {
  git({"init", "-q", "--object-format=sha256"});
  const auto opened = GitRepo::open(path_);
  EXPECT_EQ(opened.error().code, ErrorCode::conflict);
  EXPECT_THAT(opened.error().message, HasSubstr("SHA-256"));
}

TEST_F(GitRepoTest, TrailersAreFoundInTheLastFiftyCommits) {
  const auto events = [&] { return must(repo().with_trailer("Eventq-Event")); };
  EXPECT_THAT(events(), IsEmpty());
  write("a", "1");
  const GitCommit made = commit({"a"}, "Update a\n\nEventq-Event: e0\nEventq-Event: e1\n");
  ASSERT_EQ(events().size(), 1U);
  EXPECT_EQ(events()[0].hash, made.hash);
  EXPECT_THAT(events()[0].values, ElementsAre("e0", "e1"));
  EXPECT_THAT(must(repo().with_trailer("Eventq-Correlation")), IsEmpty());
  const auto add = [&](int count) {
    for (int i = 0; i < count; ++i) git({"commit", "-q", "--allow-empty", "-m", "theirs\n\nOther: e9"});
  };
  add(49);
  EXPECT_EQ(events().size(), 1U);
  add(1);
  EXPECT_THAT(events(), IsEmpty());
}

TEST_F(GitRepoTest, TheHistoryOfAShallowCloneIsReadToItsEnd) {
  write("a", "1");
  commit({"a"}, "first\n\nEventq-Event: e0\n");
  write("a", "2");
  const GitCommit second = commit({"a"}, "second\n\nEventq-Event: e1\n");
  const std::string shallow = directory_.file("shallow");
  git_in(home_, {"clone", "-q", "--depth=1", "file://" + path_, shallow});

  const auto found = must(must(GitRepo::open(shallow)).with_trailer("Eventq-Event"));

  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].hash, second.hash);
}

}  // namespace
}  // namespace eventq::notebook
