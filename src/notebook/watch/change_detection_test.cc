// change_detection_test.cc: tests which differences between files and rows become sync operations.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "notebook/watch/change_detection.h"
#include "support/temporary_directory.h"

namespace eventq::notebook {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// A time far from the writes of these tests.
const TimePoint kLongAgo{1000h};
const TimePoint kLater{24h * 365 * 200};

template <typename T>
T must(Result<T> result) {
  EXPECT_TRUE(result) << result.error().message;
  return std::move(*result);
}

class ChangeDetectionTest : public testing::Test {
 protected:
  static std::string made(const std::string& path) {
    fs::create_directory(path);
    return path;
  }

  [[nodiscard]] std::string path(const std::string& name) const { return root + "/" + name; }
  void write(const std::string& name, const std::string& content) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << content;
  }
  void rename(const std::string& from, const std::string& to) const {
    fs::create_directories(fs::path(path(to)).parent_path());
    fs::rename(path(from), path(to));
  }
  // Writes a file and stores its row.
  void know(const std::string& name, const std::string& content) {
    write(name, content);
    learn(name);
  }
  void learn(const std::string& name) {
    const Digest digest = must(folder.digest(name));
    FileRow row;
    if (const auto known = must(state.file_at(notebook, name))) row = *known;
    row.path = name;
    row.state = digest.state;
    row.hash = digest.hash;
    row.content_type = digest.content_type;
    row.updated_at = kLongAgo;
    must(state.put_file(notebook, row));
  }
  void announce(const std::string& name, const std::string& content) {
    own_writes.announce(
        name, OwnWrites::WrittenContent{static_cast<std::int64_t>(content.size()), hash_of(content)});
  }
  void set_modified(const std::string& name, TimePoint time) const {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch());
    const std::chrono::nanoseconds rest = time.time_since_epoch() - seconds;
    const timespec to{seconds.count(), rest.count()};
    const timespec times[2] = {to, to};
    ASSERT_EQ(::utimensat(AT_FDCWD, path(name).c_str(), times, 0), 0);
  }

  // "modified a", "moved a>b".
  static std::vector<std::string> texts(const Result<std::vector<Operation>>& operations) {
    EXPECT_TRUE(operations) << operations.error().message;
    std::vector<std::string> texts;
    for (const Operation& operation : *operations) {
      EXPECT_EQ(operation.kind, OperationKind::sync);
      const std::string source = operation.source.empty() ? "" : operation.source + ">";
      texts.push_back(operation.event + " " + source + operation.path);
    }
    return texts;
  }
  std::vector<std::string> changes(const std::vector<TouchedPath>& touched) {
    return texts(find_changes({folder, digests, state, own_writes, notebook}, touched));
  }
  std::vector<std::string> all_changes(TimePoint now = kLater) {
    return texts(find_all_changes({folder, digests, state, own_writes, notebook}, now));
  }

  const TemporaryDirectory directory;
  const std::string root = made(directory.file("notebook"));
  Folder folder = must(Folder::open(root, 022));
  Digests digests{folder, 100};
  NotebookState state = must(NotebookState::open(directory.file("state.db")));
  const std::int64_t notebook = must(state.add_notebook({.name = "n", .path = root})).id;
  OwnWrites own_writes;
};

TEST_F(ChangeDetectionTest, AnUnchangedFileGivesNoOperation) {
  know("a", "text");

  EXPECT_THAT(changes({{"a"}, {"never-was"}}), IsEmpty());
  EXPECT_THAT(all_changes(), IsEmpty());
}

TEST_F(ChangeDetectionTest, AFileRewrittenWithTheSameContentGivesNoOperation) {
  know("a", "text");
  fs::remove(path("a"));
  write("other", "");  // takes the freed inode, so that the file gets another one
  write("a", "text");
  fs::remove(path("other"));

  EXPECT_THAT(changes({{"a"}}), IsEmpty());
  EXPECT_THAT(all_changes(), IsEmpty());
}

TEST_F(ChangeDetectionTest, FindsDeletedCreatedAndModifiedFilesDeletionsFirst) {
  know("a", "1");
  know("z", "1");
  write("a", "2");
  write("b", "1 too");
  fs::remove(path("z"));

  EXPECT_THAT(changes({{"a"}, {"b"}, {"z"}}), ElementsAre("deleted z", "created b", "modified a"));
  EXPECT_THAT(all_changes(), ElementsAre("deleted z", "created b", "modified a"));
}

TEST_F(ChangeDetectionTest, OnlyTouchedPathsAreCompared) {
  know("a", "1");
  write("a", "2");

  EXPECT_THAT(changes({{"b"}}), IsEmpty());
}

TEST_F(ChangeDetectionTest, TheExecutableBitIsAChangeOtherModeBitsAreNot) {
  know("a", "1");
  ASSERT_EQ(::chmod(path("a").c_str(), 0600), 0);
  EXPECT_THAT(changes({{"a"}}), IsEmpty());

  ASSERT_EQ(::chmod(path("a").c_str(), 0755), 0);
  EXPECT_THAT(changes({{"a"}}), ElementsAre("modified a"));
  EXPECT_THAT(all_changes(), ElementsAre("modified a"));
}

TEST_F(ChangeDetectionTest, AnAnnouncedWriteIsNoChangeButALaterWriteIs) {
  know("a", "before");
  announce("a", "ours");
  announce("new", "ours");

  write("a", "ours");
  write("new", "ours");
  EXPECT_THAT(changes({{"a"}, {"new"}}), IsEmpty());
  EXPECT_THAT(all_changes(), IsEmpty());

  write("a", "ouRs");
  EXPECT_THAT(changes({{"a"}, {"new"}}), ElementsAre("modified a"));
  fs::remove(path("new"));
  EXPECT_THAT(changes({{"a"}, {"new"}}), ElementsAre("modified a"));
  EXPECT_THAT(all_changes(), ElementsAre("modified a"));
}

TEST_F(ChangeDetectionTest, AnAnnouncedDeletionIsNoChange) {
  know("a", "1");
  own_writes.announce("a", std::nullopt);

  fs::remove(path("a"));
  EXPECT_THAT(changes({{"a"}}), IsEmpty());
  EXPECT_THAT(all_changes(), IsEmpty());

  write("a", "2");
  EXPECT_THAT(changes({{"a"}}), ElementsAre("modified a"));
}

TEST_F(ChangeDetectionTest, ATouchedFolderStandsForAllFilesInIt) {
  know("f/a", "1");
  know("f/in/b", "1");
  know("f-not", "1");
  write("f/a", "2");
  write("f/in/deep/c", "1");
  fs::remove(path("f/in/b"));
  write("f-not", "2");

  EXPECT_THAT(changes({{"f"}}), ElementsAre("deleted f/in/b", "created f/in/deep/c", "modified f/a"));
  // Repeated touches give the same result.
  EXPECT_THAT(changes({{"f/in/b"}, {"f"}, {"f/in"}, {"f/a", "f"}}),
              ElementsAre("deleted f/in/b", "created f/in/deep/c", "modified f/a"));
}

TEST_F(ChangeDetectionTest, AMissingFolderStandsForAllFilesThatWereInIt) {
  know("f/a", "1");
  know("f/in/b", "1");
  fs::remove_all(path("f"));

  EXPECT_THAT(changes({{"f"}}), ElementsAre("deleted f/a", "deleted f/in/b"));
}

TEST_F(ChangeDetectionTest, AnEmptyFolderIsNoFile) {
  fs::create_directory(path("f"));

  EXPECT_THAT(changes({{"f"}}), IsEmpty());
  EXPECT_THAT(all_changes(), IsEmpty());
}

TEST_F(ChangeDetectionTest, AFileAndAFolderMayReplaceEachOther) {
  know("f/a", "1");
  know("g", "2");
  fs::remove_all(path("f"));
  fs::remove(path("g"));
  write("f", "3");
  write("g/a", "4");

  EXPECT_THAT(changes({{"f"}, {"g"}}), ElementsAre("deleted f/a", "deleted g", "created f", "created g/a"));
  EXPECT_THAT(all_changes(), ElementsAre("deleted f/a", "deleted g", "created f", "created g/a"));
}

TEST_F(ChangeDetectionTest, LinksAndFifosAreNoFiles) {
  know("a", "1");
  know("b", "1");
  fs::remove(path("a"));
  fs::create_symlink("b", path("a"));
  fs::create_symlink("b", path("link"));
  fs::create_directory_symlink(directory.file(""), path("folder-link"));
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);

  EXPECT_THAT(changes({{"a"}, {"link"}, {"fifo"}, {"folder-link"}}), ElementsAre("deleted a"));
  EXPECT_THAT(all_changes(), ElementsAre("deleted a"));
}

TEST_F(ChangeDetectionTest, ARenamedFileIsMoved) {
  know("a", "1");
  rename("a", "f/b");

  EXPECT_THAT(changes({{"f/b", "a"}}), ElementsAre("moved a>f/b"));
}

TEST_F(ChangeDetectionTest, AFileThatWasRenamedAndThenWrittenIsMoved) {
  know("a", "1");
  rename("a", "b");
  write("b", "2");

  EXPECT_THAT(changes({{"b", "a"}}), ElementsAre("moved a>b"));
}

TEST_F(ChangeDetectionTest, AnotherFileAtTheEndOfARenameIsANewOne) {
  know("a", "1");
  rename("a", "b");
  write("c", "2");
  rename("c", "b");

  EXPECT_THAT(changes({{"b", "a"}}), ElementsAre("deleted a", "created b"));
}

TEST_F(ChangeDetectionTest, ARenameThatWasNotSeenIsAMoveByInodeAndContent) {
  know("a", "1");
  rename("a", "new/a");

  EXPECT_THAT(changes({{"a"}, {"new/a"}}), ElementsAre("moved a>new/a"));
}

TEST_F(ChangeDetectionTest, AFileWithTheInodeAndContentOfADeletedOneAndAnotherTimeIsANewOne) {
  know("a", "1");
  rename("a", "b");  // keeps the inode, which stands for one that the file system used again
  set_modified("b", kLater);

  EXPECT_THAT(changes({{"a"}, {"b"}}), ElementsAre("deleted a", "created b"));
}

TEST_F(ChangeDetectionTest, ARenameOverAKnownFileChangesThatOne) {
  know("a", "1");
  know("b", "2");
  rename("a", "b");

  EXPECT_THAT(changes({{"b", "a"}}), ElementsAre("deleted a", "modified b"));
}

TEST_F(ChangeDetectionTest, ARenameOfAnUnknownFileOverAKnownOneIsAModification) {
  know("a", "1");
  write("a~", "2");
  rename("a~", "a");

  EXPECT_THAT(changes({{"a", "a~"}}), ElementsAre("modified a"));
}

TEST_F(ChangeDetectionTest, ARenameWhoseSourceExistsAgainIsNoMove) {
  know("a", "1");
  rename("a", "b");
  write("a", "2");

  EXPECT_THAT(changes({{"b", "a"}, {"a"}}), ElementsAre("created b", "modified a"));
}

TEST_F(ChangeDetectionTest, AFileMovedIntoAFolderOfItsOwnNameIsDeletedBeforeItIsMade) {
  know("a", "1");
  rename("a", "x");
  rename("x", "a/a");

  EXPECT_THAT(changes({{"a/a", "a"}}), ElementsAre("deleted a", "created a/a"));
  EXPECT_THAT(all_changes(), ElementsAre("deleted a", "created a/a"));
}

TEST_F(ChangeDetectionTest, AnAnnouncedRenameIsNoChange) {
  know("a", "1");
  own_writes.announce("a", std::nullopt);
  announce("b", "1");
  rename("a", "b");

  EXPECT_THAT(changes({{"b", "a"}}), IsEmpty());
  EXPECT_THAT(all_changes(), IsEmpty());
}

TEST_F(ChangeDetectionTest, ARenamedFolderMovesEachFileInIt) {
  know("f/a", "1");
  know("f/in/b", "1");
  know("f/in/c", "1");
  rename("f", "g/h");
  write("g/h/in/c", "2");
  write("g/h/d", "1");

  EXPECT_THAT(changes({{"g/h", "f"}}), ElementsAre("moved f/a>g/h/a", "moved f/in/b>g/h/in/b",
                                                   "moved f/in/c>g/h/in/c", "created g/h/d"));
}

TEST_F(ChangeDetectionTest, AFileRenamedInARenamedFolderIsMoved) {
  know("f/a", "1");
  know("f/b", "2");
  rename("f/a", "f/c");
  rename("f", "g");

  EXPECT_THAT(changes({{"g", "f"}, {"g/c", "f/a"}}), ElementsAre("moved f/b>g/b", "moved f/a>g/c"));
}

TEST_F(ChangeDetectionTest, InARescanTheSameInodeAndContentIsAMove) {
  know("a", "1");
  know("f/b", "1");
  rename("a", "c");
  rename("f", "g");

  EXPECT_THAT(all_changes(), ElementsAre("moved a>c", "moved f/b>g/b"));
}

TEST_F(ChangeDetectionTest, InARescanTheSameContentAloneIsNoMove) {
  know("a", "1");
  write("b", "1");
  fs::remove(path("a"));

  EXPECT_THAT(all_changes(), ElementsAre("deleted a", "created b"));
}

TEST_F(ChangeDetectionTest, InARescanTheSameInodeAloneIsNoMove) {
  know("a", "1");
  rename("a", "b");
  write("b", "2");

  EXPECT_THAT(all_changes(), ElementsAre("deleted a", "created b"));
}

// A file with the same inode, size and time but other content: only reading it shows the change.
class RacyTest : public ChangeDetectionTest {
 protected:
  const TimePoint modified{500'000h};

  void change_unseen(TimePoint updated_at) {
    write("a", "before");
    set_modified("a", modified);
    learn("a");
    FileRow row = must(state.file_at(notebook, "a")).value();
    row.updated_at = updated_at;
    must(state.put_file(notebook, row));
    write("a", "behind");
    set_modified("a", modified);
    ASSERT_EQ(must(folder.file_state("a")), row.state);
  }
};

TEST_F(RacyTest, AFileChangedLongBeforeIsNotRead) {
  change_unseen(kLongAgo);

  EXPECT_THAT(all_changes(modified + 2001ms), IsEmpty());
  EXPECT_THAT(all_changes(modified - 2001ms), IsEmpty());
}

TEST_F(RacyTest, AFileChangedJustNowIsRead) {
  change_unseen(kLongAgo);

  EXPECT_THAT(all_changes(modified + 1999ms), ElementsAre("modified a"));
  EXPECT_THAT(all_changes(modified + 2000ms), ElementsAre("modified a"));
  EXPECT_THAT(all_changes(modified - 2000ms), ElementsAre("modified a"));
}

TEST_F(RacyTest, AFileThatHadJustChangedWhenItBecameKnownIsRead) {
  change_unseen(modified + 2000ms);
  EXPECT_THAT(all_changes(), ElementsAre("modified a"));

  change_unseen(modified + 2001ms);
  EXPECT_THAT(all_changes(), IsEmpty());
}

TEST_F(RacyTest, ATouchedFileIsAlwaysRead) {
  change_unseen(kLongAgo);

  EXPECT_THAT(changes({{"a"}}), ElementsAre("modified a"));
}

TEST_F(ChangeDetectionTest, ARescanComparesMoreFilesThanOnePageOfRows) {
  ASSERT_TRUE(state.begin());
  for (int i = 0; i < 999; ++i) {
    FileRow row;
    row.path = "f/" + std::to_string(i);
    must(state.put_file(notebook, row));
  }
  ASSERT_TRUE(state.commit());
  for (const std::size_t count : {999U, 1000U, 1001U, 1002U}) {
    EXPECT_EQ(all_changes().size(), count);
    FileRow row;
    row.path = "g/" + std::to_string(count);
    must(state.put_file(notebook, row));
  }
}

TEST_F(ChangeDetectionTest, RowsOfAnotherNotebookAreIgnored) {
  const std::int64_t other = must(state.add_notebook({.name = "o", .path = root + "/other"})).id;
  FileRow row;
  row.path = "a";
  must(state.put_file(other, row));

  EXPECT_THAT(changes({{"a"}}), IsEmpty());
  EXPECT_THAT(all_changes(), IsEmpty());
}

TEST_F(ChangeDetectionTest, AMissingNotebookFolderReportsNoDeletions) {
  know("a", "1");
  fs::remove_all(root);

  const auto found = find_all_changes({folder, digests, state, own_writes, notebook}, kLater);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::unavailable);
  EXPECT_FALSE(find_changes({folder, digests, state, own_writes, notebook}, {{"a"}}));
}

}  // namespace
}  // namespace eventq::notebook
