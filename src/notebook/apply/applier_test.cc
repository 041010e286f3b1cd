// applier_test.cc: tests that units are applied completely, refused, or undone after a crash.
#include "notebook/apply/applier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "notebook/files/note_path.h"
#include "support/manual_clock.h"
#include "support/temporary_directory.h"

namespace eventq::notebook {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using enum OperationKind;
namespace fs = std::filesystem;

constexpr std::string_view kHelloHash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

class ApplierTest : public testing::Test {
 protected:
  ApplierTest() {
    fs::create_directory(root_);
    fs::create_directory(root_ + "/" + std::string(kOwnFolder));
    NotebookRow row;
    row.name = "n";
    row.path = root_;
    notebook_ = state_.add_notebook(row)->id;
  }

  static Result<NotebookState> opened(const std::string& path) { return NotebookState::open(path); }

  void put(const std::string& path, const std::string& content) const {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << content;
  }
  [[nodiscard]] std::string get(const std::string& path) const {
    std::ifstream file(root_ + "/" + path);
    return file ? std::string(std::istreambuf_iterator<char>(file), {}) : "(absent)";
  }
  // All files in the folder, including kOwnFolder.
  [[nodiscard]] std::map<std::string, std::string> all() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      if (entry.is_regular_file()) {
        const std::string path = fs::relative(entry.path(), root_).string();
        found[path] = get(path);
      }
    }
    return found;
  }
  [[nodiscard]] std::vector<std::string> known() {
    std::vector<std::string> paths;
    const auto rows = state_.files(notebook_, FileFilter::all, "", 1000);
    for (const FileRow& row : *rows) paths.push_back(row.path);
    return paths;
  }
  [[nodiscard]] std::vector<std::string> waiting() {
    std::vector<std::string> paths;
    const auto changes = state_.pending(notebook_);
    for (const PendingChange& change : *changes) paths.push_back(change.path);
    return paths;
  }

  FileEvent event(Operation operation) {
    ++last_;
    return {EventId{last_}, 1, "evt_" + std::to_string(last_), "", std::move(operation)};
  }
  ApplyUnit group(const std::vector<Operation>& operations, const FolderOperation& of) {
    ApplyUnit unit;
    for (Operation operation : operations) {
      operation.group = of;
      unit.push_back(event(std::move(operation)));
      unit.back().correlation_id = "c";
    }
    return unit;
  }
  ApplyOutcome apply(ApplyUnit unit, const SafeToReplace& safe = {}) {
    const std::vector<ApplyUnit> units = {std::move(unit)};
    auto outcomes = applier_.apply(units, safe);
    EXPECT_TRUE(outcomes) << (outcomes ? "" : outcomes.error().message);
    return outcomes ? outcomes->front() : ApplyOutcome{OutcomeKind::retry, outcomes.error().message};
  }
  ApplyOutcome apply(Operation operation) { return apply(ApplyUnit{event(std::move(operation))}); }

  const TemporaryDirectory directory_;
  const std::string root_ = directory_.file("notebook");
  NotebookState state_ = std::move(*NotebookState::open(directory_.file("state")));
  std::int64_t notebook_ = 0;
  Folder folder_ = std::move(*[this] {
    fs::create_directory(root_);
    return Folder::open(root_, 022);
  }());
  OwnWrites own_writes_;
  ManualClock clock_{TimePoint(std::chrono::seconds(1'700'000'000))};
  SharedPendingOperations pending_operations_;
  Digests digests_{folder_, 100};
  Applier applier_{folder_, digests_, state_, own_writes_, pending_operations_, NotebookRow{.id = 1}, clock_};
  std::int64_t last_ = 0;
};

TEST_F(ApplierTest, ACreationMakesTheFileItsFoldersAndItsMetadata) {
  Operation operation{.kind = create, .path = "a/b/note.md", .content = "hello"};
  operation.metadata.title = "Hello";
  EXPECT_EQ(apply(operation).kind, OutcomeKind::done);
  EXPECT_EQ(all(), (std::map<std::string, std::string>{{"a/b/note.md", "hello"}}));
  EXPECT_THAT(known(), ElementsAre("a", "a/b", "a/b/note.md"));
  const auto row = state_.file_at(notebook_, "a/b/note.md");
  EXPECT_EQ((*row)->hash, kHelloHash);
  EXPECT_EQ((*row)->state.size, 5);
  EXPECT_EQ((*row)->content_type, "text/markdown");
  EXPECT_EQ((*row)->metadata.title, "Hello");
  EXPECT_THAT(waiting(), ElementsAre("a/b/note.md"));
  EXPECT_THAT(*state_.applied(notebook_), ElementsAre(EventId{1}));
}

TEST_F(ApplierTest, ACreationOfAnExistingFileFailsForGoodAndChangesNothing) {
  put("a", "theirs");
  const ApplyOutcome outcome = apply({.kind = create, .path = "a", .content = "ours"});
  EXPECT_EQ(outcome.kind, OutcomeKind::failed);
  EXPECT_THAT(outcome.message, HasSubstr("There is already a file or folder at a."));
  EXPECT_EQ(all(), (std::map<std::string, std::string>{{"a", "theirs"}}));
  EXPECT_THAT(known(), IsEmpty());
  EXPECT_THAT(waiting(), IsEmpty());
}

TEST_F(ApplierTest, ACreationInAFileFailsForGood) {
  put("a", "theirs");
  const ApplyOutcome outcome = apply({.kind = create, .path = "a/b", .content = "ours"});
  EXPECT_EQ(outcome.kind, OutcomeKind::failed);
  EXPECT_THAT(outcome.message, HasSubstr("a is no folder"));
}

TEST_F(ApplierTest, AnUpdateKeepsTheIdAndTheModeAndLeavesNothingBehind) {
  apply({.kind = create, .path = "a", .content = "one"});
  const auto id = (*state_.file_at(notebook_, "a"))->id;
  fs::permissions(root_ + "/a", fs::perms::owner_all);
  EXPECT_EQ(apply({.kind = update, .path = "a", .content = "two"}).kind, OutcomeKind::done);
  EXPECT_EQ(all(), (std::map<std::string, std::string>{{"a", "two"}}));
  EXPECT_EQ((*state_.file_at(notebook_, "a"))->id, id);
  EXPECT_EQ(fs::status(root_ + "/a").permissions(), fs::perms::owner_all);
}

TEST_F(ApplierTest, AnUpdateOfMetadataAloneLeavesTheFileAndNeedsNoCommit) {
  apply({.kind = create, .path = "a", .content = "one"});
  Operation operation{.kind = update, .path = "a"};
  operation.metadata.description = "about";
  EXPECT_EQ(apply(operation).kind, OutcomeKind::done);
  EXPECT_EQ(get("a"), "one");
  EXPECT_EQ((*state_.file_at(notebook_, "a"))->metadata.description, "about");
  EXPECT_THAT(waiting(), ElementsAre("a"));  // from the creation
}

TEST_F(ApplierTest, AnUpdateOfAMissingFileFailsForGood) {
  EXPECT_EQ(apply({.kind = update, .path = "a", .content = "x"}).kind, OutcomeKind::failed);
  EXPECT_THAT(all(), IsEmpty());
}

TEST_F(ApplierTest, AMoveKeepsTheId) {
  apply({.kind = create, .path = "a", .content = "one"});
  const auto id = (*state_.file_at(notebook_, "a"))->id;
  EXPECT_EQ(apply({.kind = move, .path = "b/c", .source = "a"}).kind, OutcomeKind::done);
  EXPECT_EQ(all(), (std::map<std::string, std::string>{{"b/c", "one"}}));
  EXPECT_EQ((*state_.file_at(notebook_, "b/c"))->id, id);
  EXPECT_THAT(waiting(), ElementsAre("a", "a", "b/c"));
}

TEST_F(ApplierTest, AMoveOverAFileFailsForGoodAndBothStay) {
  apply({.kind = create, .path = "a", .content = "one"});
  put("b", "theirs");
  EXPECT_EQ(apply({.kind = move, .path = "b", .source = "a"}).kind, OutcomeKind::failed);
  EXPECT_EQ(all(), (std::map<std::string, std::string>{{"a", "one"}, {"b", "theirs"}}));
}

TEST_F(ApplierTest, ADeletionRemovesFileAndMetadata) {
  apply({.kind = create, .path = "a", .content = "one"});
  EXPECT_EQ(apply({.kind = remove, .path = "a"}).kind, OutcomeKind::done);
  EXPECT_THAT(all(), IsEmpty());
  EXPECT_THAT(known(), IsEmpty());
  EXPECT_EQ(apply({.kind = remove, .path = "a"}).kind, OutcomeKind::failed);
}

TEST_F(ApplierTest, ADeletionOfAMissingFileRemovesItsRow) {
  apply({.kind = create, .path = "a", .content = "one"});
  fs::remove(root_ + "/a");
  EXPECT_EQ(apply({.kind = remove, .path = "a"}).kind, OutcomeKind::done);
  EXPECT_THAT(known(), IsEmpty());
}

TEST_F(ApplierTest, AnOperationMarkedNothingIsDoneWithoutAStep) {
  EXPECT_EQ(apply({.kind = remove, .path = "a", .nothing = true}).kind, OutcomeKind::done);
}

TEST_F(ApplierTest, ASyncRecordsTheFileAsItIsOnDisk) {
  put("a", "hello");
  EXPECT_EQ(apply({.kind = sync, .path = "a", .event = "created"}).kind, OutcomeKind::done);
  EXPECT_EQ((*state_.file_at(notebook_, "a"))->hash, kHelloHash);
  put("a", "hello again");
  apply({.kind = sync, .path = "a", .event = "modified"});
  EXPECT_EQ((*state_.file_at(notebook_, "a"))->state.size, 11);
  fs::remove(root_ + "/a");
  apply({.kind = sync, .path = "a", .event = "deleted"});
  EXPECT_THAT(known(), IsEmpty());
  EXPECT_THAT(waiting(), ElementsAre("a", "a", "a"));
}

TEST_F(ApplierTest, ASyncOfAnUnchangedFileNeedsNoCommit) {
  apply({.kind = create, .path = "a", .content = "one"});
  EXPECT_EQ(apply({.kind = sync, .path = "a", .event = "modified"}).kind, OutcomeKind::done);
  EXPECT_THAT(waiting(), ElementsAre("a"));
}

TEST_F(ApplierTest, ASyncOfARenameKeepsTheIdAndRemovesRowsOfMissingFolders) {
  apply({.kind = create, .path = "a/x", .content = "one"});
  const auto id = (*state_.file_at(notebook_, "a/x"))->id;
  fs::rename(root_ + "/a/x", root_ + "/y");
  fs::remove(root_ + "/a");
  apply({.kind = sync, .path = "y", .source = "a/x", .event = "moved"});
  EXPECT_EQ((*state_.file_at(notebook_, "y"))->id, id);
  EXPECT_THAT(known(), ElementsAre("y"));
}

TEST_F(ApplierTest, AFolderMovesAsAWholeAndKeepsItsIdAndThatOfEmptyFoldersInIt) {
  apply({.kind = create, .path = "a/x", .content = "1"});
  apply({.kind = create, .path = "a/b/y", .content = "2"});
  apply({.kind = create, .path = "a/empty", .folder = true});
  const auto id = (*state_.file_at(notebook_, "a"))->id;
  const FolderOperation of{"a", "c", 2};
  EXPECT_EQ(apply(group({{.kind = move, .path = "c/b/y", .source = "a/b/y"},
                         {.kind = move, .path = "c/x", .source = "a/x"}},
                        of))
                .kind,
            OutcomeKind::done);
  EXPECT_EQ(all(), (std::map<std::string, std::string>{{"c/b/y", "2"}, {"c/x", "1"}}));
  EXPECT_THAT(known(), ElementsAre("c", "c/b", "c/b/y", "c/empty", "c/x"));
  EXPECT_EQ((*state_.file_at(notebook_, "c"))->id, id);
  EXPECT_FALSE(fs::exists(root_ + "/a"));
  EXPECT_TRUE(fs::is_directory(root_ + "/c/empty"));
}

TEST_F(ApplierTest, AFolderMoveThatFailsInTheMiddleLeavesEverythingAsItWas) {
  apply({.kind = create, .path = "a/1", .content = "1"});
  apply({.kind = create, .path = "a/2", .content = "2"});
  const auto rows = known();
  const auto waited = waiting();
  // The second path lies in the first file, so the second rename fails after the first one succeeded.
  const ApplyOutcome outcome = apply(group(
      {{.kind = move, .path = "b/x", .source = "a/1"}, {.kind = move, .path = "b/x/y", .source = "a/2"}},
      {"a", "b", 2}));
  EXPECT_NE(outcome.kind, OutcomeKind::done);
  EXPECT_EQ(all(), (std::map<std::string, std::string>{{"a/1", "1"}, {"a/2", "2"}}));
  EXPECT_FALSE(fs::exists(root_ + "/b"));
  EXPECT_EQ(known(), rows);
  EXPECT_EQ(waiting(), waited);
  EXPECT_THAT(*state_.steps(notebook_), IsEmpty());
}

TEST_F(ApplierTest, AUnitThatFailsDoesNotStopTheOtherUnits) {
  const std::vector<ApplyUnit> units = {{event({.kind = create, .path = "a", .content = "1"})},
                                        {event({.kind = update, .path = "gone", .content = "2"})},
                                        {event({.kind = create, .path = "b", .content = "3"})}};
  const auto outcomes = applier_.apply(units);
  ASSERT_TRUE(outcomes);
  EXPECT_EQ((*outcomes)[0].kind, OutcomeKind::done);
  EXPECT_EQ((*outcomes)[1].kind, OutcomeKind::failed);
  EXPECT_EQ((*outcomes)[2].kind, OutcomeKind::done);
  EXPECT_EQ(all(), (std::map<std::string, std::string>{{"a", "1"}, {"b", "3"}}));
}

TEST_F(ApplierTest, StepsLeftInTheJournalAreUndoneInReverse) {
  put("a", "old");
  put("b", "moved");
  put("deleted", "kept");
  put(".eventq/new", "new");
  const FileState fresh = *folder_.file_state(".eventq/new");
  const std::vector<JournalStep> steps = {
      {StepKind::exchange, ".eventq/new", "a", fresh},
      {StepKind::make_folder, "", "c", {}},
      {StepKind::rename, "b", "c/b", *folder_.file_state("b")},
      {StepKind::rename, "deleted", ".eventq/trash", *folder_.file_state("deleted")},
      {StepKind::rename, "never", "done", fresh},  // this step had not run before the crash
  };
  ASSERT_TRUE(state_.add_steps(notebook_, steps));
  ASSERT_TRUE(folder_.rename(".eventq/new", "a", Folder::Rename::exchange));
  ASSERT_TRUE(folder_.make_folder("c"));
  ASSERT_TRUE(folder_.rename("b", "c/b", Folder::Rename::no_replace));
  ASSERT_TRUE(folder_.rename("deleted", ".eventq/trash", Folder::Rename::no_replace));

  ASSERT_TRUE(applier_.recover());
  EXPECT_EQ(all(), (std::map<std::string, std::string>{{"a", "old"}, {"b", "moved"}, {"deleted", "kept"}}));
  EXPECT_FALSE(fs::exists(root_ + "/c"));
  EXPECT_THAT(*state_.steps(notebook_), IsEmpty());
  ASSERT_TRUE(applier_.recover());  // as after a crash during the first recovery
  EXPECT_EQ(get("a"), "old");
}

TEST_F(ApplierTest, AFileInTheWayOfAnUndoStays) {
  put("a", "moved");
  ASSERT_TRUE(state_.add_steps(notebook_, {{StepKind::rename, "a", "b", *folder_.file_state("a")}}));
  ASSERT_TRUE(folder_.rename("a", "b", Folder::Rename::no_replace));
  put("new", "put there by somebody else");
  fs::rename(root_ + "/new", root_ + "/b");
  ASSERT_TRUE(applier_.recover());
  EXPECT_EQ(all(), (std::map<std::string, std::string>{{"b", "put there by somebody else"}}));
}

TEST_F(ApplierTest, AnEditedFileMovesBackWithItsFolder) {
  put("a", "moved");
  ASSERT_TRUE(state_.add_steps(notebook_, {{StepKind::rename, "a", "b", *folder_.file_state("a")}}));
  ASSERT_TRUE(folder_.rename("a", "b", Folder::Rename::no_replace));
  put("b", "edited by somebody else");
  ASSERT_TRUE(applier_.recover());
  EXPECT_EQ(all(), (std::map<std::string, std::string>{{"a", "edited by somebody else"}}));
}

TEST_F(ApplierTest, ContentEditedAfterItWasPutInPlaceCountsAsApplied) {
  put("a", "old");
  put(".eventq/event-7", "new");
  ASSERT_TRUE(state_.add_steps(
      notebook_, {{StepKind::exchange, ".eventq/event-7", "a", *folder_.file_state(".eventq/event-7")}}));
  ASSERT_TRUE(folder_.rename(".eventq/event-7", "a", Folder::Rename::exchange));
  put("a", "edited by somebody else");
  ASSERT_TRUE(applier_.recover());
  EXPECT_EQ(all(), (std::map<std::string, std::string>{{"a", "edited by somebody else"}}));
  EXPECT_THAT(*state_.applied(notebook_), ElementsAre(EventId{7}));
}

TEST_F(ApplierTest, AFileThatWasOnlyTouchedIsReplacedAndDeleted) {
  apply({.kind = create, .path = "a", .content = "ours"});
  SafeToReplace safe = {{"a", SafeFile(*folder_.file_state("a"), hash_of("ours"))}};
  put("a", "ours");  // the same content, at another time
  EXPECT_EQ(apply(ApplyUnit{event({.kind = update, .path = "a", .content = "two"})}, safe).kind,
            OutcomeKind::done);
  safe = {{"a", SafeFile(*folder_.file_state("a"), hash_of("two"))}};
  put("a", "two");
  EXPECT_EQ(apply(ApplyUnit{event({.kind = remove, .path = "a"})}, safe).kind, OutcomeKind::done);
  EXPECT_THAT(all(), IsEmpty());
}

TEST_F(ApplierTest, AnEditMadeAfterTheFileStateWasReadIsNotReplacedOrDeleted) {
  apply({.kind = create, .path = "a", .content = "ours"});
  const SafeToReplace safe = {{"a", *folder_.file_state("a")}};
  put("new", "theirs");
  fs::rename(root_ + "/new", root_ + "/a");
  for (const Operation& operation :
       {Operation{.kind = update, .path = "a", .content = "two"}, Operation{.kind = remove, .path = "a"}}) {
    const ApplyOutcome outcome = apply(ApplyUnit{event(operation)}, safe);
    EXPECT_EQ(outcome.kind, OutcomeKind::retry);
    EXPECT_THAT(outcome.message, HasSubstr("a was written to just now"));
    EXPECT_EQ(all(), (std::map<std::string, std::string>{{"a", "theirs"}}));
    EXPECT_THAT(*state_.steps(notebook_), IsEmpty());
  }
  EXPECT_EQ(apply(ApplyUnit{event({.kind = remove, .path = "a"})}, {{"a", *folder_.file_state("a")}}).kind,
            OutcomeKind::done);
  EXPECT_THAT(all(), IsEmpty());
}

TEST_F(ApplierTest, AFileMovedAsideForDeletionComesBackAfterACrash) {
  put("a", "known");
  ASSERT_TRUE(
      state_.add_steps(notebook_, {{StepKind::rename, "a", ".eventq/event-7", *folder_.file_state("a")}}));
  put("new", "saved by somebody else just then");
  fs::rename(root_ + "/new", root_ + "/a");
  ASSERT_TRUE(folder_.rename("a", ".eventq/event-7", Folder::Rename::no_replace));
  ASSERT_TRUE(applier_.recover());
  EXPECT_EQ(all(), (std::map<std::string, std::string>{{"a", "saved by somebody else just then"}}));
}

TEST_F(ApplierTest, RowsOfFoldersInAMissingFolderAreRemovedWithIt) {
  apply({.kind = create, .path = "d/f", .content = "1"});
  apply({.kind = create, .path = "d/empty/inner", .folder = true});
  fs::remove_all(root_ + "/d");
  EXPECT_EQ(apply({.kind = sync, .path = "d/f", .event = "deleted"}).kind, OutcomeKind::done);
  EXPECT_THAT(known(), IsEmpty());
}

TEST_F(ApplierTest, AFileInALinkedFolderIsRefusedForGood) {
  fs::create_directory(directory_.file("elsewhere"));
  fs::create_directory_symlink(directory_.file("elsewhere"), root_ + "/link");
  EXPECT_EQ(apply({.kind = create, .path = "link/a", .content = "x"}).kind, OutcomeKind::failed);
  EXPECT_TRUE(fs::is_empty(directory_.file("elsewhere")));
}

TEST_F(ApplierTest, AfterApplyNoOwnWriteIsAnnounced) {
  apply({.kind = create, .path = "a", .content = "hello"});
  EXPECT_FALSE(own_writes_.is_announced("a", OwnWrites::WrittenContent{5, std::string(kHelloHash)}));
}

}  // namespace
}  // namespace eventq::notebook
