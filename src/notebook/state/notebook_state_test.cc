// notebook_state_test.cc: tests every call of NotebookState, crashes, concurrent writers and foreign files.
#include "notebook/state/notebook_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <regex>
#include <set>
#include <thread>

#include "generated/notebook_sql.h"
#include "store/sqlite/connection.h"
#include "support/temporary_directory.h"

namespace eventq::notebook {
namespace {

using Connection = sqlite::SqliteConnection;
using sqlite::Statement;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class NotebookStateTest : public testing::Test {
 protected:
  template <typename T>
  static T must(Result<T> result) {
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return std::move(*result);
  }
  static void must(const Result<void>& result) {
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
  }
  template <typename T>
  static ErrorCode code(const Result<T>& result) {
    EXPECT_FALSE(result);
    return result ? ErrorCode::internal : result.error().code;
  }

  NotebookState open() { return must(NotebookState::open(path_)); }
  std::int64_t add(NotebookState& state, const std::string& name) {
    return must(state.add_notebook({.name = name, .path = "/notes/" + name})).id;
  }
  static FileRow row(const std::string& path) { return {.path = path, .state = {.inode = 1, .size = 10}}; }
  static std::vector<std::string> paths(const std::vector<FileRow>& rows) {
    std::vector<std::string> found;
    for (const FileRow& row : rows) found.push_back(row.path);
    return found;
  }
  std::vector<std::string> all(NotebookState& state, std::int64_t notebook,
                               FileFilter which = FileFilter::all) {
    return paths(must(state.files(notebook, which, "", 1000)));
  }
  static TimePoint at(std::int64_t milliseconds) { return TimePoint(Millis(milliseconds)); }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.file("notebooks.db");
};

TEST_F(NotebookStateTest, ANotebookComesBackWithItsSettings) {
  const NotebookSettings settings{.poll_interval = Millis(1),
                                  .batch_size = 2,
                                  .git_commit_interval = Millis(3),
                                  .git_commit_max_files = 4,
                                  .max_retries = 5,
                                  .retry_backoff = Millis(6),
                                  .completed_retention = std::chrono::seconds(7),
                                  .failed_retention = std::chrono::seconds(8),
                                  .git_bypass_filters = "lfs",
                                  .git_nested = true,
                                  .max_file_size = 9,
                                  .deleted_metadata_retention = std::chrono::seconds(10),
                                  .portable_names = false};
  {
    NotebookState state = open();
    EXPECT_THAT(must(state.notebooks()), IsEmpty());
    const NotebookRow added = must(
        state.add_notebook({.name = "b", .path = "/x\xff", .settings = settings, .created_at = at(1234)}));
    EXPECT_GT(added.id, 0);
    EXPECT_EQ(added.name, "b");
    add(state, "a");
  }
  NotebookState state = open();
  const auto found = must(state.notebooks());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "b");
  EXPECT_EQ(found[0].path, "/x\xff");
  EXPECT_EQ(found[0].settings, settings);
  EXPECT_EQ(found[0].created_at, at(1234));
  EXPECT_EQ(found[1].settings, NotebookSettings{});
}

TEST_F(NotebookStateTest, ANameOrAPathIsTakenByOneNotebook) {
  NotebookState state = open();
  must(state.add_notebook({.name = "a", .path = "/x"}));
  const auto same_name = state.add_notebook({.name = "a", .path = "/y"});
  EXPECT_EQ(code(same_name), ErrorCode::conflict);
  EXPECT_EQ(same_name.error().field, "name");
  const auto same_path = state.add_notebook({.name = "b", .path = "/x"});
  EXPECT_EQ(code(same_path), ErrorCode::conflict);
  EXPECT_EQ(same_path.error().field, "path");
  EXPECT_THAT(same_path.error().message, HasSubstr("/x"));
  must(state.add_notebook({.name = "A", .path = "/X"}));
  EXPECT_EQ(must(state.notebooks()).size(), 2U);
}

TEST_F(NotebookStateTest, ANotebookThatHasNothingCanBeRemoved) {
  NotebookState state = open();
  const auto empty = add(state, "empty");
  const auto used = add(state, "used");
  must(state.put_file(used, row("a")));
  must(state.remove_notebook(empty));
  EXPECT_FALSE(state.remove_notebook(used));
  EXPECT_EQ(must(state.notebooks()).size(), 1U);
  EXPECT_GT(add(state, "empty"), used);
}

TEST_F(NotebookStateTest, AFileComesBackWhole) {
  const FileRow file{.path = "a.md",
                     .state = {.inode = std::numeric_limits<std::uint64_t>::max(),
                               .size = 1LL << 40,
                               .modified_ns = -5,
                               .executable = true},
                     .hash = std::string(64, 'a'),
                     .content_type = "text/markdown",
                     .metadata = {.title = "", .description = "d", .extra = R"({"a":1})"},
                     .updated_at = at(99),
                     .event_id = "evt_1"};
  NotebookState state = open();
  const auto notebook = add(state, "n");
  const auto id = must(state.put_file(notebook, file));
  for (const auto& found : {must(state.file(notebook, id)), must(state.file_at(notebook, "a.md"))}) {
    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, id);
    EXPECT_FALSE(found->folder);
    EXPECT_EQ(found->path, file.path);
    EXPECT_EQ(found->state, file.state);
    EXPECT_EQ(found->hash, file.hash);
    EXPECT_EQ(found->content_type, file.content_type);
    EXPECT_EQ(found->metadata, file.metadata);
    EXPECT_EQ(found->updated_at, file.updated_at);
    EXPECT_EQ(found->event_id, file.event_id);
  }
  FileRow changed = row("b.md");
  changed.id = id;
  EXPECT_EQ(must(state.put_file(notebook, changed)), id);
  EXPECT_FALSE(must(state.file_at(notebook, "a.md")));
  const auto found = must(state.file(notebook, id));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, "b.md");
  EXPECT_EQ(found->metadata, Metadata{});
  EXPECT_EQ(found->event_id, "");
}

TEST_F(NotebookStateTest, AFileBelongsToItsNotebookAlone) {
  NotebookState state = open();
  const auto one = add(state, "one");
  const auto two = add(state, "two");
  const auto id = must(state.put_file(one, row("a")));
  EXPECT_NE(must(state.put_file(two, row("a"))), id);
  EXPECT_FALSE(must(state.file(two, id)));
  must(state.remove_file(two, id));
  EXPECT_TRUE(must(state.file(one, id)));
  FileRow moved = row("b");
  moved.id = id;
  EXPECT_EQ(code(state.put_file(two, moved)), ErrorCode::not_found);
  EXPECT_EQ(code(state.put_file(77, row("a"))), ErrorCode::internal);
}

TEST_F(NotebookStateTest, AnIdIsNeverUsedAgain) {
  std::int64_t newest = 0;
  std::int64_t notebook = 0;
  {
    NotebookState state = open();
    notebook = add(state, "n");
    must(state.put_file(notebook, row("a")));
    newest = must(state.put_file(notebook, row("b")));
    must(state.remove_file(notebook, newest));
    EXPECT_FALSE(must(state.file(notebook, newest)));
  }
  NotebookState state = open();
  EXPECT_GT(must(state.put_file(notebook, row("b"))), newest);
}

TEST_F(NotebookStateTest, AnUpdateOfARemovedFileIsNotFound) {
  NotebookState state = open();
  const auto notebook = add(state, "n");
  FileRow file = row("a");
  file.id = must(state.put_file(notebook, file));
  must(state.remove_file(notebook, file.id));
  EXPECT_EQ(code(state.put_file(notebook, file)), ErrorCode::not_found);
  must(state.remove_file(notebook, file.id));
}

TEST_F(NotebookStateTest, FoldersOfAFileAreMade) {
  NotebookState state = open();
  const auto notebook = add(state, "n");
  FileRow file = row("a/b/c.md");
  file.updated_at = at(5);
  const auto id = must(state.put_file(notebook, file));
  EXPECT_THAT(all(state, notebook), ElementsAre("a", "a/b", "a/b/c.md"));
  EXPECT_EQ(must(state.file(notebook, id))->path, "a/b/c.md");
  const auto folder = must(state.file_at(notebook, "a/b"));
  ASSERT_TRUE(folder);
  EXPECT_TRUE(folder->folder);
  EXPECT_NE(folder->id, id);
  EXPECT_EQ(folder->updated_at, at(5));
  EXPECT_EQ(folder->state, FileState{});
  must(state.put_file(notebook, row("a/b/d.md")));
  EXPECT_EQ(must(state.file_at(notebook, "a/b"))->id, folder->id);
  file.id = id;
  file.path = "x/c.md";
  must(state.put_file(notebook, file));
  EXPECT_THAT(all(state, notebook, FileFilter::folders), ElementsAre("a", "a/b", "x"));
}

TEST_F(NotebookStateTest, APathIsTakenByOneFile) {
  NotebookState state = open();
  const auto notebook = add(state, "n");
  must(state.put_file(notebook, row("a")));
  FileRow other = row("b");
  other.id = must(state.put_file(notebook, other));
  const auto again = state.put_file(notebook, row("a"));
  EXPECT_EQ(code(again), ErrorCode::conflict);
  EXPECT_EQ(again.error().field, "path");
  other.path = "a";
  EXPECT_EQ(code(state.put_file(notebook, other)), ErrorCode::conflict);
  EXPECT_EQ(must(state.file(notebook, other.id))->path, "b");
  must(state.put_file(notebook, row("A")));
  must(state.put_file(notebook, row("\xc3\xa4")));   // ä
  must(state.put_file(notebook, row("a\xcc\x88")));  // a and two dots
  EXPECT_THAT(all(state, notebook), ElementsAre("A", "a", "a\xcc\x88", "b", "\xc3\xa4"));
}

TEST_F(NotebookStateTest, AFileCannotLieInAFileAndARefusedRowLeavesNothing) {
  NotebookState state = open();
  const auto notebook = add(state, "n");
  must(state.put_file(notebook, row("new/a")));
  must(state.begin());
  EXPECT_EQ(code(state.put_file(notebook, row("new/a/b/c"))), ErrorCode::conflict);
  must(state.commit());
  EXPECT_THAT(all(state, notebook), ElementsAre("new", "new/a"));
  const auto folder = must(state.file_at(notebook, "new"));
  FileRow moved = *folder;
  moved.path = "new/new";
  EXPECT_EQ(code(state.put_file(notebook, moved)), ErrorCode::conflict);
}

TEST_F(NotebookStateTest, FilesAreListedByPathInPieces) {
  NotebookState state = open();
  const auto notebook = add(state, "n");
  const auto other = add(state, "other");
  for (const std::string path : {"b/2", "a", "b/1", "b.md", "c"}) must(state.put_file(notebook, row(path)));
  must(state.put_file(other, row("aa")));
  EXPECT_THAT(all(state, notebook), ElementsAre("a", "b", "b.md", "b/1", "b/2", "c"));
  EXPECT_THAT(all(state, notebook, FileFilter::files), ElementsAre("a", "b.md", "b/1", "b/2", "c"));
  EXPECT_THAT(all(state, notebook, FileFilter::folders), ElementsAre("b"));
  const auto piece = [&](std::string_view after, std::size_t limit) {
    return paths(must(state.files(notebook, FileFilter::files, after, limit)));
  };
  EXPECT_THAT(piece("", 2), ElementsAre("a", "b.md"));
  EXPECT_THAT(piece("b.md", 2), ElementsAre("b/1", "b/2"));
  EXPECT_THAT(piece("b/2", 2), ElementsAre("c"));
  EXPECT_THAT(piece("c", 2), IsEmpty());
  EXPECT_THAT(piece("", 0), IsEmpty());
}

TEST_F(NotebookStateTest, FilesWithinAFolderExcludeTheFolderAndItsNeighbours) {
  NotebookState state = open();
  const auto notebook = add(state, "n");
  for (const std::string path : {"a/1", "a/b/2", "a.md", "a0", "a-b/x", "aa/x", "a%/x", "A/x", "a/\xff"}) {
    must(state.put_file(notebook, row(path)));
  }
  const auto within = [&](std::string_view folder, FileFilter which) {
    return paths(must(state.files_within(notebook, folder, which)));
  };
  EXPECT_THAT(within("a", FileFilter::all), ElementsAre("a/1", "a/b", "a/b/2", "a/\xff"));
  EXPECT_THAT(within("a", FileFilter::files), ElementsAre("a/1", "a/b/2", "a/\xff"));
  EXPECT_THAT(within("a", FileFilter::folders), ElementsAre("a/b"));
  EXPECT_THAT(within("a/b", FileFilter::all), ElementsAre("a/b/2"));
  EXPECT_THAT(within("a.md", FileFilter::all), IsEmpty());
}

TEST_F(NotebookStateTest, CountsAreOfFilesFoldersAndBytes) {
  NotebookState state = open();
  const auto notebook = add(state, "n");
  EXPECT_EQ(must(state.counts(notebook)).files, 0);
  EXPECT_EQ(must(state.counts(notebook)).bytes, 0);
  must(state.put_file(notebook, row("a/b/1")));
  must(state.put_file(notebook, row("a/2")));
  must(state.put_file(add(state, "other"), row("a/2")));
  const auto counts = must(state.counts(notebook));
  EXPECT_EQ(counts.files, 2);
  EXPECT_EQ(counts.folders, 2);
  EXPECT_EQ(counts.bytes, 20);
}

TEST_F(NotebookStateTest, StepsComeBackInOrderUntilTheyAreCleared) {
  NotebookState state = open();
  const auto notebook = add(state, "n");
  const auto other = add(state, "other");
  const FileState what{.inode = 7, .size = 8, .modified_ns = 9, .executable = true};
  must(state.add_steps(notebook, {{.kind = StepKind::make_folder, .to = "a"},
                                  {.kind = StepKind::rename, .from = "x", .to = "a/x", .what = what}}));
  must(state.add_steps(other, {{.kind = StepKind::make_folder, .to = "o"}}));
  must(state.add_steps(notebook, {{.kind = StepKind::exchange, .from = "y", .to = "z"}}));
  const auto steps = must(open().steps(notebook));
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].kind, StepKind::make_folder);
  EXPECT_EQ(steps[0].to, "a");
  EXPECT_EQ(steps[1].kind, StepKind::rename);
  EXPECT_EQ(steps[1].from, "x");
  EXPECT_EQ(steps[1].to, "a/x");
  EXPECT_EQ(steps[1].what, what);
  EXPECT_EQ(steps[2].kind, StepKind::exchange);
  must(state.clear_steps(notebook));
  EXPECT_THAT(must(state.steps(notebook)), IsEmpty());
  EXPECT_EQ(must(state.steps(other)).size(), 1U);
}

TEST_F(NotebookStateTest, AnAppliedEventIsKeptOnceUntilForgotten) {
  NotebookState state = open();
  const auto notebook = add(state, "n");
  for (const auto event : {EventId{5}, EventId{3}, EventId{5}}) must(state.add_applied(notebook, event));
  must(state.add_applied(add(state, "other"), EventId{4}));
  EXPECT_THAT(must(open().applied(notebook)), ElementsAre(EventId{3}, EventId{5}));
  must(state.forget_applied(notebook, {EventId{5}, EventId{9}, EventId{4}}));
  EXPECT_THAT(must(state.applied(notebook)), ElementsAre(EventId{3}));
}

TEST_F(NotebookStateTest, TheBacklogCountsEachPathOnceSinceItsOldestChange) {
  NotebookState state = open();
  const auto notebook = add(state, "n");
  EXPECT_EQ(must(state.waiting(notebook)).paths, 0);
  EXPECT_FALSE(must(state.waiting(notebook)).since);
  must(state.add_pending(notebook, {{.path = "b", .event_id = "1", .correlation_id = "c", .since = at(20)}}));
  must(state.add_pending(notebook, {{.path = "a", .event_id = "2", .since = at(30)}}));
  must(state.add_pending(notebook, {{.path = "b", .event_id = "3", .since = at(40)}}));
  must(state.add_pending(add(state, "other"), {{.path = "z", .event_id = "4", .since = at(1)}}));
  EXPECT_EQ(must(state.waiting(notebook)).paths, 2);
  EXPECT_EQ(must(state.waiting(notebook)).since, at(20));
  const auto changes = must(open().pending(notebook));
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0].path, "b");
  EXPECT_EQ(changes[0].event_id, "1");
  EXPECT_EQ(changes[0].correlation_id, "c");
  EXPECT_EQ(changes[0].since, at(20));
  EXPECT_EQ(changes[2].event_id, "3");
  EXPECT_LT(changes[0].number, changes[1].number);
}

TEST_F(NotebookStateTest, ACommitRemovesPendingChangesUpToItsLastNumber) {
  NotebookState state = open();
  const auto notebook = add(state, "n");
  const auto other = add(state, "other");
  must(state.add_pending(other, {{.path = "z", .event_id = "0", .since = at(1)}}));
  must(state.add_pending(notebook, {{.path = "a", .event_id = "1", .since = at(20)}}));
  must(state.add_pending(notebook, {{.path = "b", .event_id = "2", .since = at(30)}}));
  const auto last = must(state.pending(notebook)).back().number;
  must(state.add_pending(notebook, {{.path = "b", .event_id = "3", .since = at(40)}}));
  must(state.add_commit(
      notebook, {.hash = "h1", .message = "m1", .at = at(50), .files = 2, .event_ids = {"2", "1"}}, last));
  const auto left = must(state.pending(notebook));
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].event_id, "3");
  EXPECT_EQ(must(state.waiting(other)).paths, 1);

  must(state.add_commit(notebook, {.hash = "h2", .message = "m2", .at = at(60), .files = 1}, 0));
  must(state.add_commit(notebook, {.hash = "h3", .files = 1, .event_ids = {"3", "1"}}, left[0].number));
  const auto commits = must(state.commits(notebook, 10));
  ASSERT_EQ(commits.size(), 3U);
  EXPECT_EQ(commits[0].hash, "h3");
  EXPECT_THAT(commits[1].event_ids, IsEmpty());
  EXPECT_EQ(commits[2].hash, "h1");
  EXPECT_EQ(commits[2].message, "m1");
  EXPECT_EQ(commits[2].at, at(50));
  EXPECT_EQ(commits[2].files, 2);
  EXPECT_THAT(commits[2].event_ids, ElementsAre("2", "1"));
  EXPECT_EQ(must(state.commits(notebook, 1)).size(), 1U);
  EXPECT_THAT(must(state.commits(other, 10)), IsEmpty());
  EXPECT_EQ(must(state.commit_of(notebook, "2")), "h1");
  EXPECT_EQ(must(state.commit_of(notebook, "1")), "h3");
  EXPECT_EQ(must(state.commit_of(notebook, "9")), std::nullopt);
  EXPECT_EQ(must(state.commit_of(other, "1")), std::nullopt);

  // The number is not reused: a new change with it would look like part of this commit.
  must(state.add_pending(notebook, {{.path = "c", .event_id = "5", .since = at(70)}}));
  EXPECT_GT(must(state.pending(notebook))[0].number, left[0].number);
}

TEST_F(NotebookStateTest, GitMarksAndTheirPendingChangesAreStoredTogether) {
  NotebookState state = open();
  const auto notebook = add(state, "n");
  const auto other = add(state, "other");
  EXPECT_EQ(must(state.git_marks(notebook)), GitMarks());
  must(state.set_git_marks(notebook, {.head = "", .index = "i"}));
  EXPECT_EQ(must(state.git_marks(notebook)), (GitMarks{.head = "", .index = "i"}));
  must(state.set_git_marks(notebook, {.head = "h"}, {{.path = "a", .since = at(20)}, {.path = "b"}}));
  EXPECT_EQ(must(open().git_marks(notebook)), GitMarks{.head = "h"});
  EXPECT_EQ(must(open().waiting(notebook)).paths, 2);
  EXPECT_EQ(must(state.git_marks(other)), GitMarks());
}

TEST_F(NotebookStateTest, ACommitWithoutAHashOnlyRemovesPendingChanges) {
  NotebookState state = open();
  const auto notebook = add(state, "n");
  must(state.add_pending(notebook, {{.path = "a", .event_id = "1"}}));
  must(state.add_commit(notebook, {.event_ids = {"1"}}, must(state.pending(notebook)).back().number));
  EXPECT_EQ(must(state.waiting(notebook)).paths, 0);
  EXPECT_THAT(must(state.commits(notebook, 10)), IsEmpty());
  EXPECT_EQ(must(state.commit_of(notebook, "1")), std::nullopt);
}

TEST_F(NotebookStateTest, ARolledBackTransactionLeavesNothing) {
  std::int64_t notebook = 0;
  {
    NotebookState state = open();
    notebook = add(state, "n");
    must(state.begin());
    must(state.put_file(notebook, row("kept")));
    must(state.commit());
    must(state.begin());
    must(state.put_file(notebook, row("lost/1")));
    must(state.add_steps(notebook, {{.to = "x"}}));
    must(state.add_applied(notebook, EventId{1}));
    must(state.add_pending(notebook, {{.path = "lost/1"}}));
    EXPECT_THAT(all(state, notebook), ElementsAre("kept", "lost", "lost/1"));
    NotebookState reader = open();
    EXPECT_THAT(all(reader, notebook), ElementsAre("kept"));
  }
  NotebookState state = open();
  EXPECT_THAT(all(state, notebook), ElementsAre("kept"));
  EXPECT_THAT(must(state.steps(notebook)), IsEmpty());
  EXPECT_THAT(must(state.applied(notebook)), IsEmpty());
  EXPECT_EQ(must(state.waiting(notebook)).paths, 0);
}

TEST_F(NotebookStateTest, ATransactionIsRolledBackByTheNextOne) {
  NotebookState state = open();
  const auto notebook = add(state, "n");
  must(state.begin());
  must(state.put_file(notebook, row("a")));
  must(state.begin());
  must(state.put_file(notebook, row("b")));
  must(state.commit());
  must(state.begin());
  must(state.put_file(notebook, row("c")));
  state.rollback();
  state.rollback();
  must(state.put_file(notebook, row("d")));
  EXPECT_THAT(all(state, notebook), ElementsAre("b", "d"));
}

TEST_F(NotebookStateTest, ACommittedTransactionSurvivesAProcessThatDiesWithoutClosing) {
  NotebookState state = open();
  const auto notebook = add(state, "n");
  must(state.put_file(notebook, row("a")));
  must(state.begin());
  must(state.put_file(notebook, row("b")));
  // Copies the files as they are now, as a process finds them after this one was killed.
  const std::string copy = directory_.file("copy.db");
  std::filesystem::copy_file(path_, copy);
  std::filesystem::copy_file(path_ + "-wal", copy + "-wal");
  NotebookState after = must(NotebookState::open(copy));
  EXPECT_THAT(all(after, notebook), ElementsAre("a"));
}

TEST_F(NotebookStateTest, TwoConcurrentWritersWaitForEachOther) {
  constexpr int kRounds = 50;
  const auto notebook = [&] {
    NotebookState state = open();
    return add(state, "n");
  }();
  const auto write = [&](const std::string& name) {
    NotebookState state = open();
    for (int round = 0; round < kRounds; ++round) {
      must(state.begin());
      const auto before = must(state.counts(notebook)).files;
      must(state.put_file(notebook, row(name + std::to_string(round) + "/a")));
      must(state.put_file(notebook, row(name + std::to_string(round) + "/b")));
      EXPECT_EQ(must(state.counts(notebook)).files, before + 2);
      must(state.commit());
      must(state.add_pending(notebook, {{.path = name}}));
    }
  };
  std::thread one(write, "one");
  std::thread two(write, "two");
  one.join();
  two.join();
  NotebookState state = open();
  EXPECT_EQ(must(state.counts(notebook)).files, 4 * kRounds);
  EXPECT_EQ(must(state.pending(notebook)).size(), 2U * kRounds);
}

TEST_F(NotebookStateTest, TheReasonWhyGitDoesNotHaveAFileIsKeptWithItsRow) {
  NotebookState state = open();
  const std::int64_t notebook = add(state, "n");
  for (const std::string path : {"a", "b", "c"}) must(state.put_file(notebook, {.path = path}));
  must(state.set_git_note(notebook, {"a", "b", "absent"}, kGitFiltered));
  EXPECT_EQ(must(state.file_at(notebook, "a"))->git, "filtered");
  EXPECT_EQ(must(state.file_at(notebook, "c"))->git, "");
  FileRow row = *must(state.file_at(notebook, "a"));
  row.path = "z";
  must(state.put_file(notebook, row));
  EXPECT_THAT(must(state.git_noted(notebook, kGitFiltered, 10)), ElementsAre("b", "z"));
  const auto found = must(state.uncommitted(notebook, 1));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].git, "filtered");
  EXPECT_EQ(found[0].count, 2);
  EXPECT_THAT(found[0].paths, ElementsAre("b"));
  must(state.set_git_note(notebook, {"b", "z"}, ""));
  EXPECT_TRUE(must(state.uncommitted(notebook, 1)).empty());
}

TEST_F(NotebookStateTest, SeveralThreadsMayCreateTheSameFile) {
  for (int round = 0; round < 10; ++round) {
    const std::string path = directory_.file("new" + std::to_string(round));
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] { must(must(NotebookState::open(path)).notebooks()); });
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(NotebookStateTest, TheFilesAreReadableByTheirOwnerOnly) {
  const mode_t before = ::umask(0);
  NotebookState state = open();
  add(state, "n");
  ::umask(before);
  for (const std::string end : {"", "-wal", "-shm"}) {
    struct stat found {};
    ASSERT_EQ(::stat((path_ + end).c_str(), &found), 0) << end;
    EXPECT_EQ(found.st_mode & 0777U, 0600U) << end;
  }
}

TEST_F(NotebookStateTest, AnotherProgramsDatabaseIsLeftAlone) {
  {
    Connection other = must(Connection::open(path_, Connection::OpenMode::write));
    must(other.run("CREATE TABLE t (a); PRAGMA user_version = 1;"));
  }
  const auto size = std::filesystem::file_size(path_);
  const auto refused = NotebookState::open(path_);
  EXPECT_EQ(code(refused), ErrorCode::corrupt);
  EXPECT_THAT(refused.error().message, HasSubstr(path_));
  EXPECT_EQ(std::filesystem::file_size(path_), size);
  EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
}

TEST_F(NotebookStateTest, ANewerSchemaVersionIsRefusedAndTheCurrentOneIsNot) {
  add(*std::make_unique<NotebookState>(open()), "n");
  {
    Connection newer = must(Connection::open(path_, Connection::OpenMode::write));
    must(newer.run("PRAGMA user_version = 4;"));
  }
  const auto refused = NotebookState::open(path_);
  EXPECT_EQ(code(refused), ErrorCode::corrupt);
  EXPECT_THAT(refused.error().message, HasSubstr("newer"));
  {
    Connection same = must(Connection::open(path_, Connection::OpenMode::write));
    must(same.run("PRAGMA user_version = 3;"));
  }
  NotebookState state = open();
  EXPECT_EQ(must(state.notebooks()).size(), 1U);
}

// Takes away what version 3 added to version 2.
constexpr const char* kBackToVersion2 =
    "ALTER TABLE notebook DROP COLUMN git_bypass_filters; ALTER TABLE notebook DROP COLUMN git_nested;"
    "ALTER TABLE notebook DROP COLUMN max_file_size; ALTER TABLE notebook DROP COLUMN deleted_retention;"
    "ALTER TABLE notebook DROP COLUMN portable_names;"
    "DROP INDEX file_git; ALTER TABLE file DROP COLUMN git;"
    "DROP TABLE reserved_file;"
    "DROP INDEX file_case;"
    "DELETE FROM sqlite_sequence WHERE name = 'file';"
    "ALTER TABLE notebook DROP COLUMN imported; DROP INDEX file_hash; DROP TABLE gone;"
    "PRAGMA user_version = 2;";

TEST_F(NotebookStateTest, AFileOfSchemaVersion2GetsTheDefaultsOfNewSettings) {
  add(*std::make_unique<NotebookState>(open()), "n");
  {
    Connection second = must(Connection::open(path_, Connection::OpenMode::write));
    must(second.run(kBackToVersion2));
  }
  NotebookState state = open();
  ASSERT_EQ(must(state.notebooks()).size(), 1U);
  EXPECT_EQ(must(state.notebooks())[0].settings, NotebookSettings{});
  EXPECT_EQ(must(state.reserve_file(must(state.notebooks())[0].id)), 1);
}

TEST_F(NotebookStateTest, AReservedIdIsGivenToItsFileOnceAndToNoOther) {
  NotebookState state = open();
  const std::int64_t notebook = add(state, "n");
  const std::int64_t promised = must(state.reserve_file(notebook));
  const std::int64_t other = must(state.put_file(notebook, row("other")));
  EXPECT_NE(other, promised);
  FileRow file = row("a");
  file.reserved = promised;
  EXPECT_EQ(must(state.put_file(notebook, file)), promised);
  must(state.remove_file(notebook, promised));

  EXPECT_NE(must(state.put_file(notebook, file)), promised) << "an id is never reused";
  file.path = "b";
  file.reserved = promised + 1000;
  EXPECT_LT(must(state.put_file(notebook, file)), promised + 1000) << "it was never reserved";
}

TEST_F(NotebookStateTest, AReservedIdOfAnotherNotebookIsNotGiven) {
  NotebookState state = open();
  const std::int64_t first = add(state, "a");
  const std::int64_t second = add(state, "b");
  FileRow file = row("x");
  file.reserved = must(state.reserve_file(first));
  EXPECT_NE(must(state.put_file(second, file)), file.reserved);
  EXPECT_EQ(must(state.put_file(first, file)), file.reserved);
}

TEST_F(NotebookStateTest, AGoneFileReturnsWithItsIdUntilItExpires) {
  NotebookState state = open();
  const std::int64_t notebook = add(state, "n");
  const TimePoint then{std::chrono::hours(1000)};
  FileRow row{.path = "f/a", .hash = "h"};
  row.metadata.title = "A";
  row.id = must(state.put_file(notebook, row));
  must(state.remove_to_gone(notebook, row.id, then));
  EXPECT_FALSE(must(state.file_at(notebook, "f/a")));
  EXPECT_FALSE(must(state.gone_at(notebook, "f/a", then)));
  EXPECT_EQ(must(state.gone_at(notebook, "f/a", then - Millis(1)))->metadata.title, "A");
  EXPECT_EQ(must(state.gone_with(notebook, "h", then - Millis(1), 10)).size(), 1U);

  row.path = "b";
  EXPECT_EQ(must(state.put_file(notebook, row)), row.id);
  EXPECT_EQ(must(state.file_at(notebook, "b"))->id, row.id);
  EXPECT_TRUE(must(state.gone_with(notebook, "h", TimePoint(), 10)).empty());

  must(state.remove_to_gone(notebook, row.id, then));
  must(state.expire_gone(notebook, then - Millis(1)));
  EXPECT_TRUE(must(state.gone_at(notebook, "b", TimePoint())));
  must(state.expire_gone(notebook, then));
  EXPECT_FALSE(must(state.gone_at(notebook, "b", TimePoint())));
  EXPECT_EQ(code(state.put_file(notebook, row)), ErrorCode::not_found);
}

TEST_F(NotebookStateTest, AFileOfSchemaVersion1IsMigrated) {
  const std::int64_t notebook = add(*std::make_unique<NotebookState>(open()), "n");
  {
    Connection first = must(Connection::open(path_, Connection::OpenMode::write));
    must(first.run(kBackToVersion2));
    must(
        first.run("ALTER TABLE notebook DROP COLUMN git_head; ALTER TABLE notebook DROP COLUMN git_index;"
                  "PRAGMA user_version = 1;"));
  }
  NotebookState state = open();
  EXPECT_EQ(must(state.notebooks()).size(), 1U);
  EXPECT_EQ(must(state.git_marks(notebook)), GitMarks());
  must(state.set_git_marks(notebook, {.head = "h"}));
  EXPECT_EQ(must(state.git_marks(notebook)).head, "h");
}

TEST_F(NotebookStateTest, AFileThatIsNoDatabaseIsCorruptAndAnUnwritablePathIsUnavailable) {
  std::ofstream(path_) << std::string(4096, 'x');
  EXPECT_EQ(code(NotebookState::open(path_)), ErrorCode::corrupt);
  EXPECT_EQ(code(NotebookState::open(directory_.file("no/such/folder.db"))), ErrorCode::unavailable);
}

TEST_F(NotebookStateTest, EveryStatementHasACommentAndUsesAnIndex) {
  open();
  Connection connection = must(Connection::open(path_, Connection::OpenMode::write));
  // Settings, and statements that need all of a few rows.
  const std::set<std::string_view> scans = {"schema", "open", "count_tables", "notebooks", "next_file_id"};
  for (const auto& [name, text] : sql::kAll) {
    EXPECT_TRUE(text.starts_with("-- " + std::string(name) + ".sql: ")) << name;
    if (scans.contains(name) || std::string(text).find("PRAGMA") != std::string::npos) continue;
    const std::string plain = std::regex_replace(std::string(text), std::regex("--[^\n]*\n"), "");
    EXPECT_EQ(std::count(plain.begin(), plain.end(), ';'), 1) << name;
    Statement statement = must(Statement::prepare(connection, "EXPLAIN QUERY PLAN " + plain));
    std::string plan;
    while (must(statement.step())) plan += std::string(statement.text(3)) + "; ";
    // Subqueries whose rows were found by an index.
    plan = std::regex_replace(plan, std::regex("SCAN (c|CONSTANT ROW|\\(subquery-1\\));"), "");
    EXPECT_THAT(plan, Not(HasSubstr("SCAN"))) << name;
    if (name == "commits") continue;
    EXPECT_THAT(plan, Not(HasSubstr("TEMP B-TREE"))) << name;
  }
}

}  // namespace
}  // namespace eventq::notebook
