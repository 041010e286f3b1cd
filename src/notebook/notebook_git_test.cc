// notebook_git_test.cc: tests a notebook while a user works with git and editors save at any moment.
#include <sys/stat.h>

#include "support/notebook_fixture.h"

namespace eventq::notebook {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using enum OperationKind;

// A user's `git commit` from the index as it was at keep_index(), as if it began before our last commit.
class NotebookBesideGitTest : public NotebookTest {
 protected:
  void keep_index() { fs::copy_file(root_ + "/.git/index", directory_.file("index")); }
  void commit_kept_index() {
    fs::copy_file(directory_.file("index"), root_ + "/.git/index", fs::copy_options::overwrite_existing);
    git(kUser + "commit -q --allow-empty -m theirs");
  }
  // User commits that undo an update, a deletion and a creation of the notebook.
  void undo_ours() {
    make("a", "1");
    make("gone", "1");
    commit();
    keep_index();
    done({.kind = update, .file = id_of("a"), .content = "2"});
    done({.kind = remove, .file = id_of("gone")});
    make("new", "2");
    commit();
    commit_kept_index();
    EXPECT_EQ(git("show HEAD:a"), "1");
    EXPECT_EQ(git("ls-tree --name-only HEAD"), "a\ngone\n");
  }
  void expect_redone() {
    EXPECT_EQ(git("show HEAD:a"), "2");
    EXPECT_EQ(git("ls-tree --name-only HEAD"), "a\nnew\n");
    EXPECT_EQ(git("log --format=%s"),
              "Batch update: 3 files\ntheirs\nBatch update: 3 files\nBatch update: 2 files\n");
    EXPECT_EQ(git("status --porcelain"), "");
    EXPECT_EQ(notebook_->commits(10, "")->size(), 3U);
  }

  const std::string kUser = "-c user.name=Ann -c user.email=ann@example.org ";
};

TEST_F(NotebookBesideGitTest, AChangeUndoneByACommitFromAnOlderIndexIsCommittedAgain) {
  undo_ours();
  commit();
  expect_redone();
  commit();
  EXPECT_EQ(notebook_->status()->waiting.paths, 0);
  EXPECT_EQ(git("rev-list --count HEAD"), "4\n");
}

TEST_F(NotebookBesideGitTest, AChangeUndoneWhileTheServerIsStoppedIsCommittedAfterTheStart) {
  undo_ours();
  const std::string theirs = git("rev-parse HEAD");
  const std::string before = git("rev-parse HEAD~1");
  git("update-ref HEAD " + before);
  commit();  // HEAD equals the files: nothing to commit
  stop();
  git("update-ref HEAD " + theirs);
  start();
  wait_until([&] { return notebook_->status()->waiting.paths == 3; }, "it is noticed");
  commit();
  expect_redone();
}

TEST_F(NotebookBesideGitTest, AnUndoneChangeIsNoticedAfterTheCommitIntervalWithoutAnotherChange) {
  const std::string path = directory_.file("other");
  fs::create_directory(path);
  NotebookSettings settings;
  settings.git_commit_interval = Millis(10);
  ASSERT_TRUE(notebooks_->add("other", path, settings));
  const auto other = notebooks_->find("other");
  const auto git_there = [&](const std::string& arguments) { return git("-C " + path + " " + arguments); };
  std::ofstream(path + "/a") << "1";
  wait_until([&] { return other->status()->worker.commits == 1; }, "the file is committed");
  git_there(kUser + "rm -q --cached a");
  git_there(kUser + "commit -q -m theirs");
  wait_until([&] { return other->status()->worker.commits == 2; }, "it is committed again");
  EXPECT_EQ(git_there("log --format=%s"), "Update a\ntheirs\nUpdate a\n");
  EXPECT_EQ(git_there("status --porcelain"), "");
  git_there("fsck --strict");
}

TEST_F(NotebookBesideGitTest, AStagedChangeStaysStagedWhenTheUsersCommitIsCorrected) {
  undo_ours();
  const std::string blob = git("hash-object -w .git/HEAD").substr(0, 40);
  for (const std::string path : {"a", "mine"}) {
    git("update-index --add --cacheinfo 100644," + blob + "," + path);
  }
  commit();
  EXPECT_EQ(git("ls-files --stage a mine"), "100644 " + blob + " 0\ta\n100644 " + blob + " 0\tmine\n");
  EXPECT_EQ(git("show HEAD:a"), "2");
  EXPECT_EQ(git("ls-tree --name-only HEAD"), "a\nnew\n");
}

TEST_F(NotebookBesideGitTest, ANewRepositoryGetsAllFilesCommitted) {
  make("a", "1");
  make("b/c", "2");
  commit();
  fs::remove_all(root_ + "/.git");
  git("init -q -b other");
  commit();
  EXPECT_EQ(git("ls-tree -r --name-only other"), "a\nb/c\n");
  EXPECT_EQ(git("log --format=%s"), "Batch update: 2 files\n");
  EXPECT_EQ(git("status --porcelain"), "");
}

TEST_F(NotebookBesideGitTest, ABranchWithoutCommitsGetsAllFilesCommitted) {
  make("a", "1");
  commit();
  git("checkout -q --orphan side");
  make("b", "2");
  // All files are staged. As long as the index is new, git may be about to move HEAD.
  const std::string index = root_ + "/.git/index";
  fs::last_write_time(index, fs::last_write_time(index) - std::chrono::minutes(1));
  commit();
  EXPECT_EQ(git("ls-tree --name-only side"), "a\nb\n");
  EXPECT_EQ(git("rev-list --count --all"), "2\n");
}

TEST_F(NotebookBesideGitTest, ACheckedOutBranchIsTakenAsItIs) {
  make("a", "1");
  make("only main's", "1");
  commit();
  git("checkout -q -b side");
  done({.kind = update, .file = id_of("a"), .content = "22"});
  done({.kind = remove, .file = id_of("only main's")});
  make("b", "22");
  commit();
  const auto become = [&](const std::vector<std::string>& files, std::int64_t size) {
    commit();  // also before change detection has recorded the files
    wait_until([&] { return known() == files && notebook_->file_at("a")->state.size == size; },
               "the files are known");
    commit();
    EXPECT_EQ(notebook_->status()->waiting.paths, 0);
    EXPECT_EQ(git("status --porcelain"), "");
  };
  git("checkout -q main");
  become({"a", "only main's"}, 1);
  git("checkout -q --detach side");
  become({"a", "b"}, 2);
  EXPECT_EQ(git("rev-list --count main"), "1\n");
  EXPECT_EQ(git("rev-list --count HEAD"), "2\n");
}

TEST_F(NotebookBesideGitTest, AFileTheUserUntracksAndIgnoresStaysOutOfTheRepository) {
  make("x.tmp", "1");
  commit();
  make(".gitignore", "*.tmp\n");
  git(kUser + "rm -q --cached x.tmp");
  git(kUser + "commit -q -m theirs");
  commit();
  EXPECT_EQ(git("ls-tree --name-only HEAD"), ".gitignore\n");
  EXPECT_EQ(get("x.tmp"), "1");
  EXPECT_EQ(notebook_->status()->waiting.paths, 0);
}

TEST_F(NotebookBesideGitTest, ACommitIsRecordedOnceWhateverIsPendingWhenTheProcessEnds) {
  const std::string first = make("a", "1").event_id;
  const std::string second = make("b", "1").event_id;
  commit();
  stop();
  // Left out of the commit, so that the change stays pending.
  auto state = NotebookState::open(directory_.file("state"));
  const auto since = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  ASSERT_TRUE(state->add_pending(1, {{.path = "b", .event_id = second, .since = since}}));
  start();
  EXPECT_EQ(notebook_->status()->waiting.paths, 1);
  stop();
  // In a commit that was not recorded, so it is unknown whether it contains all of them.
  ASSERT_TRUE(state->add_pending(1, {{.path = "b", .since = since}}));
  ASSERT_TRUE(state->add_pending(1, {{.path = "a", .event_id = "evt_3", .since = since}}));
  git(kUser + "commit -q --allow-empty -m ours -m 'Eventq-Event: evt_3'");
  start();
  EXPECT_EQ(notebook_->status()->waiting.paths, 2);
  commit();
  EXPECT_EQ(notebook_->status()->waiting.paths, 0);
  const auto commits = notebook_->commits(10, "");
  ASSERT_EQ(commits->size(), 2U);
  EXPECT_THAT(commits->front().event_ids, ElementsAre("evt_3"));
  EXPECT_THAT(commits->back().event_ids, ElementsAre(first, second));
}

TEST_F(NotebookBesideGitTest, AFileDeletedBeforeTheFolderBecameANotebookIsDeletedInHead) {
  const std::string path = directory_.file("other");
  fs::create_directory(path);
  const auto git_there = [&](const std::string& arguments) { return git("-C " + path + " " + arguments); };
  git_there("init -q");
  for (const std::string name : {"kept", "gone"}) std::ofstream(path + "/" + name) << "1";
  git_there("add .");
  git_there(kUser + "commit -q -m theirs");
  fs::remove(path + "/gone");
  NotebookSettings settings;
  settings.git_commit_interval = Millis(10);
  ASSERT_TRUE(notebooks_->add("other", path, settings));
  const auto other = notebooks_->find("other");
  wait_until([&] { return git_there("ls-tree --name-only HEAD") == "kept\n"; }, "it is deleted");
  EXPECT_EQ(git_there("log --format=%s"), "Update gone\ntheirs\n");
}

TEST_F(NotebookBesideGitTest, ACommitCountsTheFilesInIt) {
  make("a", "1");
  make("b", "1");
  commit();
  put("a", "theirs");
  git(kUser + "commit -q -a -m theirs");
  wait_until([&] { return notebook_->status()->waiting.paths == 1; }, "it is known");
  done({.kind = update, .file = id_of("b"), .content = "2"});
  commit();
  EXPECT_EQ(git("log -1 --format=%s"), "Update b\n");
  EXPECT_EQ(notebook_->commits(1, "")->front().message, "Update b");
}

TEST_F(NotebookBesideGitTest, AnEditMadeBeforeARestartIsCommittedBeforeItIsReplaced) {
  make("a", "1");
  commit();
  put("a", "theirs");
  wait_until([&] { return notebook_->status()->waiting.paths == 1; }, "it is known");
  std::ofstream(root_ + "/.git/MERGE_HEAD")
      << git("rev-parse HEAD");  // keeps stop() from committing the file
  stop();
  fs::remove(root_ + "/.git/MERGE_HEAD");
  start();
  done({.kind = update, .file = id_of("a"), .content = "3"});
  commit();
  EXPECT_THAT(git("log -p --format="), HasSubstr("+theirs"));
}

TEST_F(NotebookBesideGitTest, AnEditedFileThatWasMovedIsCommittedBeforeItIsReplaced) {
  make("a", "1");
  commit();
  put("a", "theirs");
  wait_until([&] { return notebook_->status()->waiting.paths == 1; }, "it is known");
  done({.kind = move, .file = id_of("a"), .dest_path = "b"});
  done({.kind = update, .file = id_of("b"), .content = "3"});
  commit();
  EXPECT_THAT(git("log -p --format="), HasSubstr("+theirs"));
  EXPECT_EQ(git("show HEAD:b"), "3");
}

TEST_F(NotebookBesideGitTest, AFileWithAFilterIsListedUntilTheFilterIsGone) {
  make(".gitattributes", "secret/** filter=crypt\n");
  make("secret/a", "plaintext");
  make("b", "1");
  commit();
  EXPECT_EQ(git("ls-tree -r --name-only HEAD"), ".gitattributes\nb\n");
  EXPECT_EQ(notebook_->file_at("secret/a")->git, "filtered");
  EXPECT_EQ(notebook_->file_at("b")->git, "");
  const auto status = notebook_->status();
  ASSERT_EQ(status->not_committed.size(), 1U);
  EXPECT_EQ(status->not_committed[0].git, "filtered");
  EXPECT_EQ(status->not_committed[0].count, 1);
  EXPECT_THAT(status->not_committed[0].paths, ElementsAre("secret/a"));
  EXPECT_EQ(status->waiting.paths, 0);

  done({.kind = update, .file = id_of(".gitattributes"), .content = ""});
  commit();
  commit();  // the files that had a filter became pending with the first one
  EXPECT_EQ(git("show HEAD:secret/a"), "plaintext");
  EXPECT_EQ(notebook_->file_at("secret/a")->git, "");
  EXPECT_TRUE(notebook_->status()->not_committed.empty());
}

TEST_F(NotebookBesideGitTest, AFolderWithEncryptedFilesKeepsThemWhenItBecomesANotebook) {
  const std::string path = directory_.file("other");
  fs::create_directories(path + "/secret");
  const auto git_there = [&](const std::string& arguments) { return git("-C " + path + " " + arguments); };
  git_there("init -q");
  std::ofstream(path + "/.gitattributes") << "secret/** filter=crypt\n";
  std::ofstream(path + "/secret/key") << "plaintext";
  git_there("add .gitattributes");
  const std::string blob = git_there("hash-object -w .gitattributes").substr(0, 40);  // as if encrypted
  git_there("update-index --add --cacheinfo 100644," + blob + ",secret/key");
  git_there(kUser + "commit -q -m theirs");
  NotebookSettings settings;
  settings.git_commit_interval = Millis(10);
  ASSERT_TRUE(notebooks_->add("other", path, settings));
  const auto other = notebooks_->find("other");
  wait_until([&] { return other->status()->not_committed.size() == 1; }, "the file is listed");
  wait_until([&] { return other->status()->waiting.paths == 0; }, "nothing is pending");
  EXPECT_EQ(git_there("log --format=%s"), "theirs\n");
  EXPECT_EQ(git_there("rev-parse HEAD:secret/key"), blob + "\n");
}

TEST_F(NotebookBesideGitTest, AFilterThatTheSettingsNameIsBypassed) {
  const std::string path = directory_.file("other");
  fs::create_directories(path);
  std::ofstream(path + "/.gitattributes") << "* filter=lfs\n";
  NotebookSettings settings;
  settings.git_commit_interval = Millis(10);
  settings.git_bypass_filters = "lfs";
  ASSERT_TRUE(notebooks_->add("other", path, settings));
  const auto other = notebooks_->find("other");
  wait_until([&] { return other->status()->worker.commits == 1; }, "the file is committed");
  EXPECT_TRUE(other->status()->not_committed.empty());
}

TEST_F(NotebookBesideGitTest, ACommitNamesOnlyTheEventsWhoseChangesAreInIt) {
  make(".gitignore", "*.tmp\n");
  make("same", "1");
  commit();
  const std::string changed = make("a", "1").event_id;
  make("x.tmp", "ignored");
  done({.kind = update, .file = id_of("same"), .content = "2"});
  done({.kind = update, .file = id_of("same"), .content = "1"});
  commit();
  EXPECT_EQ(git("log -1 --format='%(trailers:key=Eventq-Event,valueonly)'"), changed + "\n\n");
  EXPECT_THAT(notebook_->commits(1, "")->front().event_ids, ElementsAre(changed));
  EXPECT_EQ(notebook_->status()->waiting.paths, 0);
}

TEST_F(NotebookBesideGitTest, ALinkDeletedByAnotherProgramIsCommittedAsDeleted) {
  make("a", "1");
  commit();
  fs::create_symlink("a", root_ + "/link");
  git("add link");
  git(kUser + "commit -q -m theirs");
  commit();
  fs::remove(root_ + "/link");
  commit();
  EXPECT_EQ(git("ls-tree --name-only HEAD"), "a\n");
  EXPECT_EQ(git("status --porcelain"), "");
}

TEST_F(NotebookBesideGitTest, AnIgnoredFolderIsNotListedExceptForTrackedFilesAndThoseOfTheApi) {
  make(".gitignore", "build/\n");
  put("build/tracked", "1");
  git("add -f build/tracked");
  git(kUser + "commit -q -m theirs");
  put("build/deep/output", "1");
  put("src", "1");
  make("build/asked", "1");
  EXPECT_TRUE(notebook_->rescan());
  wait_until([&] { return known().size() == 4; }, "the files are known");
  EXPECT_THAT(known(), ElementsAre(".gitignore", "build/asked", "build/tracked", "src"));
  done({.kind = update, .file = id_of(".gitignore"), .content = ""});
  wait_until([&] { return known().size() == 5; }, "the files that are no longer ignored are known");
  commit();
  EXPECT_EQ(git("status --porcelain"), "");
}

TEST_F(NotebookBesideGitTest, AFolderInsideAnotherRepositoryNeedsTheSettingGitNested) {
  const std::string outer = directory_.file("outer");
  fs::create_directories(outer + "/notes");
  git("init -q " + outer);
  const auto refused = notebooks_->add("nested", outer + "/notes", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_FALSE(fs::exists(outer + "/notes/.git"));
  NotebookSettings settings;
  settings.git_nested = true;
  EXPECT_TRUE(notebooks_->add("nested", outer + "/notes", settings));
}

// A smudge filter stops `git checkout` half way, while it holds index.lock.
TEST_F(NotebookBesideGitTest, ACheckoutThatTakesLongIsNotCommittedHalf) {
  make("a", "main");
  make("z", "main");
  commit();
  git("checkout -q -b side");
  put("a", "side");
  put("z", "side");
  git(kUser + "commit -q -a -m side");
  git("checkout -q main");
  wait_until([&] { return *notebook_->rescan() == 0; }, "the files are known");
  const std::string go = directory_.file("go");
  ASSERT_EQ(::mkfifo(go.c_str(), 0600), 0);
  std::ofstream(root_ + "/.git/info/attributes") << "z filter=slow\n";
  git("config filter.slow.smudge 'read line < " + go + "; cat'");
  Process theirs({{"/bin/sh", "-c", "git checkout -q side"}, {"HOME=" + directory_.file("")}, root_});
  wait_until([&] { return notebook_->file_at("a")->hash == hash_of("side"); },
             "half of the checkout is known");
  auto asked = ask({.kind = batch_commit}).get();
  ASSERT_TRUE(asked);
  const auto is_tried = [&] {
    return !notebook_->status()->worker.commit_trouble.empty() || git("rev-list --count main") != "1\n";
  };
  wait_until(is_tried, "the commit is tried");
  EXPECT_THAT(notebook_->status()->worker.commit_trouble, HasSubstr("Changes wait"));
  std::ofstream(go) << "go" << std::endl;
  EXPECT_EQ(theirs.wait(kLongTime), 0) << theirs.err();
  EXPECT_EQ(end_of(asked->event.id).status, Status::completed);
  EXPECT_EQ(git("log --format=%s main"), "Batch update: 2 files\n");
  EXPECT_EQ(git("log --format=%s side"), "side\nBatch update: 2 files\n");
}

// Two branches with many different files, in a notebook that commits as often as it can.
class NotebookDuringCheckoutTest : public NotebookBesideGitTest {
 protected:
  static constexpr int kFiles = 400;
  NotebookDuringCheckoutTest() {
    fs::create_directories(path_);
    there("init -q -b main");
    write_files("main");
    there("add .");
    there(kUser + "commit -q -m main");
    there("checkout -q -b side");
    write_files("side");
    there("add .");
    there(kUser + "commit -q -m side");
  }
  void add() {
    NotebookSettings settings;
    settings.git_commit_interval = Millis(1);
    settings.git_commit_max_files = 1;
    settings.poll_interval = Millis(10);
    EXPECT_TRUE(notebooks_->add("other", path_, settings));
    other_ = notebooks_->find("other");
  }
  void write_files(const std::string& content) const {
    for (int i = 0; i < kFiles; ++i) {
      std::ofstream(path_ + "/" + std::to_string(i)) << content << i;
    }
  }
  std::string there(const std::string& arguments) { return git("-C " + path_ + " " + arguments); }
  // Runs git until it succeeds; it may fail only because the notebook commits at this moment.
  void run_git(const std::string& arguments) {
    const std::string command = "git " + arguments + " 2> ../err";
    Process process({{"/bin/sh", "-c", "until " + command + "; do grep -q index.lock ../err || exit 1; done"},
                     {"HOME=" + directory_.file("")},
                     path_});
    EXPECT_EQ(process.wait(kLongTime), 0) << arguments;
  }
  void expect_rest(const std::string& content) {
    const auto is_known = [&] {
      const auto row = other_->file_at(std::to_string(kFiles - 1));
      return row && row->hash == hash_of(content + std::to_string(kFiles - 1));
    };
    wait_until(is_known, "the last file is known");
    // In this order: when no file differs from its row, every change has become pending.
    wait_until([&] { return *other_->rescan() == 0 && other_->status()->waiting.paths == 0; },
               "nothing is pending");
  }

  const std::string path_ = directory_.file("other");
  std::shared_ptr<Notebook> other_;
};

TEST_F(NotebookDuringCheckoutTest, NoFileOfOneBranchIsCommittedToTheOther) {
  add();
  run_git("checkout -q main");
  expect_rest("main");
  run_git("checkout -q side");
  expect_rest("side");
  EXPECT_EQ(there("log --format=%s side"), "side\nmain\n");
  EXPECT_EQ(there("log --format=%s main"), "main\n");
  EXPECT_EQ(there("status --porcelain"), "");
}

TEST_F(NotebookDuringCheckoutTest, AFastForwardPullAndAResetAreNotDisturbed) {
  there("clone -q . ../upstream");
  there("reset -q --hard main");
  there("checkout -q main");
  there("branch -q -D side");
  add();
  run_git("pull -q --ff-only ../upstream side");
  expect_rest("side");
  run_git("reset -q --hard HEAD~1");
  expect_rest("main");
  EXPECT_EQ(there("log --format=%s"), "main\n");
  EXPECT_EQ(there("status --porcelain"), "");
}

// An editor saves at some moment of an update, and another update replaces that: every save must be in the
// history.
TEST_F(NotebookBesideGitTest, NoSaveOfAnEditorIsLostWhileTheWorkerReplacesTheFile) {
  make("a", "0");
  const std::int64_t id = id_of("a");
  const ChangeRequest ours{.kind = update, .file = id, .content = "ours"};
  constexpr int kSaves = 40;
  for (int i = 1; i <= kSaves; ++i) {
    put(".x", "save-" + std::to_string(i) + "\n");
    auto racing = ask(ours).get();
    ASSERT_TRUE(racing);
    const SteadyTime asked = steady_now();
    while (steady_now() - asked < i * std::chrono::microseconds(500)) std::this_thread::yield();
    fs::rename(root_ + "/.x", root_ + "/a");
    EXPECT_EQ(end_of(racing->event.id).status, Status::completed);
    EXPECT_EQ(done(ours).status, Status::completed);
    EXPECT_EQ(get("a"), "ours");
  }
  commit();
  const std::string history = git("log -p --format= -- a");
  for (int i = 1; i <= kSaves; ++i) {
    EXPECT_THAT(history, HasSubstr("+save-" + std::to_string(i) + "\n"));
  }
}

}  // namespace
}  // namespace eventq::notebook
