// notebook_import_test.cc: tests how the files are recorded that a folder has when it becomes a notebook.
#include <algorithm>

#include "notebook/import.h"
#include "notebook/notebook.h"
#include "support/notebook_fixture.h"

namespace eventq::notebook {
namespace {

using testing::HasSubstr;
using enum OperationKind;

class NotebookImportTest : public NotebookTest {
 protected:
  void write(const std::string& path, const std::string& content) const {
    fs::create_directories(fs::path(folder_ + "/" + path).parent_path());
    std::ofstream(folder_ + "/" + path) << content;
  }
  std::string run(const std::string& command) {
    Process process({{"/bin/sh", "-c", command}, {"HOME=" + directory_.file("")}, folder_});
    EXPECT_EQ(process.wait(kLongTime), 0) << command << process.err();
    return process.out();
  }
  void commit_all() {
    run("git init -q -b main && git add -A && git -c user.name=u -c user.email=u@u commit -q -m all");
  }
  // Adds the folder as notebook `m`, and waits until `count` files are recorded and none waits for a commit.
  void add(std::int64_t count,
           NotebookSettings settings = {.poll_interval = Millis(10), .git_commit_interval = Millis(10)}) {
    ASSERT_TRUE(notebooks_->add("m", folder_, settings));
    notebook_ = notebooks_->find("m");
    wait_until(
        [&] {
          const auto status = notebook_->status();
          return status && status->counts.files == count && status->waiting.paths == 0;
        },
        "the import ends");
  }
  std::size_t events() {
    Command command;
    command.list = ListFilter{.queue = "notebook:m"};
    const Answer answer = engine_->call(std::move(command));
    return (*answer.page)->events.size();
  }

  const std::string folder_ = [this] {
    fs::create_directory(directory_.file("m"));
    return directory_.file("m");
  }();
};

TEST_F(NotebookImportTest, APlainFolderBecomesOneCommitWithoutEvents) {
  for (int i = 0; i < 1000; ++i)
    write("f" + std::to_string(i % 7) + "/" + std::to_string(i), std::to_string(i));
  add(1000, {.poll_interval = Millis(10), .git_commit_interval = Millis(10), .git_commit_max_files = 100});
  EXPECT_EQ(run("git rev-list --count HEAD"), "1\n");
  EXPECT_EQ(run("git ls-files | wc -l"), "1000\n");
  EXPECT_EQ(run("git status --porcelain"), "");
  EXPECT_EQ(events(), 0U);
}

TEST_F(NotebookImportTest, FilesThatHeadHasNeedNoCommitNoObjectAndNoEvent) {
  for (int i = 0; i < 100; ++i) write("f/" + std::to_string(i), std::to_string(i));
  write("run.sh", "#!/bin/sh\n");
  fs::permissions(folder_ + "/run.sh", fs::perms::owner_all);
  commit_all();
  const std::string objects = run("git count-objects");
  add(101);
  EXPECT_EQ(run("git rev-list --count HEAD"), "1\n");
  EXPECT_EQ(run("git count-objects"), objects);
  EXPECT_EQ(events(), 0U);
  const auto row = notebook_->file_at("f/42");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->hash, hash_of("42"));
  EXPECT_EQ(row->event_id, "");
}

TEST_F(NotebookImportTest, FilesThatDifferFromHeadAreInOneCommit) {
  for (int i = 0; i < 10; ++i) write(std::to_string(i), "1");
  commit_all();
  write("1", "changed");
  write("new", "2");
  fs::permissions(folder_ + "/2", fs::perms::owner_all);
  fs::remove(folder_ + "/3");
  add(10);
  wait_until([&] { return run("git rev-list --count HEAD") == "2\n"; }, "one commit is made");
  EXPECT_EQ(run("git diff --name-status HEAD~1"), "M\t1\nM\t2\nD\t3\nA\tnew\n");
}

TEST_F(NotebookImportTest, ContentThatHeadDoesNotHaveIsCommittedBeforeItIsReplaced) {
  write("a", "before");
  NotebookSettings settings{.poll_interval = Millis(10), .git_commit_interval = std::chrono::hours(1)};
  ASSERT_TRUE(notebooks_->add("m", folder_, settings));
  notebook_ = notebooks_->find("m");
  wait_until([&] { return notebook_->file_at("a").has_value(); }, "the file is recorded");
  EXPECT_EQ(done({.kind = update, .file = id_of("a"), .content = "after"}).status, Status::completed);
  EXPECT_EQ(run("git show HEAD:a"), "before");
  EXPECT_EQ(run("cat a"), "after");
}

TEST_F(NotebookImportTest, AChangeRequestedDuringTheImportIsAppliedAfterIt) {
  for (int i = 0; i < 2000; ++i) write(std::to_string(i), std::to_string(i));
  ASSERT_TRUE(notebooks_->add("m", folder_, {}));
  notebook_ = notebooks_->find("m");
  EXPECT_EQ(make("new.md", "new").status, Status::completed);
  EXPECT_EQ(notebook_->status()->counts.files, 2001);
}

TEST_F(NotebookImportTest, AFolderThatGitIgnoresIsNotImported) {
  write("a", "1");
  write(".gitignore", "out/\n");
  commit_all();
  write("out/b", "2");
  ASSERT_TRUE(notebooks_->add("m", folder_, {}));
  notebook_ = notebooks_->find("m");
  EXPECT_EQ(make("new.md", "new").status, Status::completed);
  EXPECT_FALSE(notebook_->file_at("out/b"));
  EXPECT_EQ(notebook_->status()->counts.files, 3);
}

TEST_F(NotebookImportTest, AnInterruptedImportContinuesAtTheNextCall) {
  write("a", "1");
  write("f/b", "2");
  commit_all();
  NotebookState state = std::move(*NotebookState::open(directory_.file("other-state")));
  const NotebookRow row = *state.add_notebook({.name = "m", .path = folder_});
  const Folder opened = std::move(*Folder::open(folder_, 022));
  GitIgnores ignores = std::move(*GitIgnores::open(folder_));
  Digests stopped(opened, 100);
  stopped.stop();
  EXPECT_FALSE(import_files({opened, stopped, ignores, state, row, TimePoint()}));
  EXPECT_FALSE((*state.notebooks())[0].imported);
  Digests digests(opened, 100);
  EXPECT_TRUE(import_files({opened, digests, ignores, state, row, TimePoint()}));
  EXPECT_TRUE(import_files({opened, digests, ignores, state, row, TimePoint()}));
  EXPECT_TRUE((*state.notebooks())[0].imported);
  EXPECT_EQ(state.counts(row.id)->files, 2);
}

}  // namespace
}  // namespace eventq::notebook
