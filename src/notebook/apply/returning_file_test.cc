// returning_file_test.cc: tests which row a file gets that another program renamed, deleted, restored or
// copied.
#include "notebook/apply/returning_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temporary_directory.h"

namespace eventq::notebook {
namespace {

namespace fs = std::filesystem;

constexpr TimePoint kDeleted{std::chrono::hours(1000)};
const std::string kText(kTellingBytes, 't');

class ReturningFileTest : public testing::Test {
 protected:
  template <typename T>
  static T must(Result<T> result) {
    EXPECT_TRUE(result) << result.error().message;
    return std::move(*result);
  }
  static std::string made(const std::string& path) {
    fs::create_directory(path);
    return path;
  }
  void write(const std::string& path, const std::string& content) const {
    std::ofstream(root_ + "/" + path) << content;
  }
  // Writes a file and stores its row; returns the id.
  std::int64_t know(const std::string& path, const std::string& content) {
    write(path, content);
    const Digest digest = must(folder_.digest(path));
    return must(state_.put_file(notebook_, {.path = path, .state = digest.state, .hash = digest.hash}));
  }
  // Deletes the file and its row.
  void remove(const std::string& path) {
    const auto row = must(state_.file_at(notebook_, path));
    EXPECT_TRUE(state_.remove_to_gone(notebook_, row->id, kDeleted));
    fs::remove(root_ + "/" + path);
  }
  void rename(const std::string& from, const std::string& to) const {
    fs::rename(root_ + "/" + from, root_ + "/" + to);
  }
  // The id that the file at `path` gets; 0: a new one.
  std::int64_t id(const std::string& path) {
    const ReturnSearch search{folder_, state_, notebook_, since_, used_};
    const auto found = must(find_returning(search, path, must(folder_.digest(path))));
    return found ? found->id : 0;
  }

  const TemporaryDirectory directory_;
  const std::string root_ = made(directory_.file("notes"));
  NotebookState state_ = must(NotebookState::open(directory_.file("state")));
  const std::int64_t notebook_ = must(state_.add_notebook({.name = "n", .path = root_})).id;
  Folder folder_ = must(Folder::open(root_, 022));
  TimePoint since_ = kDeleted - Millis(1);
  std::set<std::int64_t> used_;
};

TEST_F(ReturningFileTest, AFileWithAnUnknownContentIsNew) {
  know("a", kText + "1");
  write("b", kText + "2");
  EXPECT_EQ(id("b"), 0);
}

TEST_F(ReturningFileTest, ARenamedFileKeepsItsRow) {
  const std::int64_t a = know("a", "1");
  rename("a", "b");
  EXPECT_EQ(id("b"), a);
}

TEST_F(ReturningFileTest, AFileIsGivenItsRowOnlyOnce) {
  const std::int64_t a = know("a", "1");
  rename("a", "b");
  used_.insert(a);
  EXPECT_EQ(id("b"), 0);
}

TEST_F(ReturningFileTest, ACopyAndAHardLinkAreNew) {
  know("a", kText);
  write("copy", kText);
  fs::create_hard_link(root_ + "/a", root_ + "/link");
  EXPECT_EQ(id("copy"), 0);
  EXPECT_EQ(id("link"), 0);
}

TEST_F(ReturningFileTest, AFileThatReturnsToItsPathKeepsItsRowWithAnyContent) {
  const std::int64_t a = know("a", "1");
  remove("a");
  write("a", "2");
  EXPECT_EQ(id("a"), a);
}

TEST_F(ReturningFileTest, OfTwoFilesDeletedAtAPathTheLastOneReturns) {
  know("a", "1");
  remove("a");
  const std::int64_t second = know("a", "2");
  EXPECT_TRUE(state_.remove_to_gone(notebook_, second, kDeleted + Millis(1)));
  EXPECT_EQ(id("a"), second);
}

TEST_F(ReturningFileTest, ARenamedFileKeepsItsRowWhereAnotherFileWasDeleted) {
  know("a", "1");
  remove("a");
  const std::int64_t b = know("b", "2");
  rename("b", "a");
  EXPECT_EQ(id("a"), b);
}

TEST_F(ReturningFileTest, ThePathComesBeforeTheContent) {
  const std::int64_t a = know("a", "1");
  remove("a");
  know("b", kText);
  remove("b");
  write("a", kText);
  EXPECT_EQ(id("a"), a);
}

TEST_F(ReturningFileTest, ADeletedFileReturnsElsewhereByInodeAndContent) {
  const std::int64_t a = know("a", "1");
  fs::create_hard_link(root_ + "/a", root_ + "/kept");
  remove("a");
  EXPECT_EQ(id("kept"), a);
}

TEST_F(ReturningFileTest, ADeletedFileReturnsElsewhereByContentAlone) {
  const std::int64_t a = know("a", kText);
  write("b", kText);
  remove("a");
  EXPECT_EQ(id("b"), a);
}

TEST_F(ReturningFileTest, AMissingFileReturnsElsewhereByContentAlone) {
  const std::int64_t a = know("a", kText);
  write("b", kText);
  fs::remove(root_ + "/a");
  EXPECT_EQ(id("b"), a);
}

TEST_F(ReturningFileTest, AShortContentDoesNotTellWhereAFileIsFrom) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{kTellingBytes - 1}}) {
    know("a", std::string(size, 't'));
    write("b", std::string(size, 't'));
    remove("a");
    EXPECT_EQ(id("b"), 0) << size;
  }
  const std::int64_t longer = know("a", kText + "t");
  write("b", kText + "t");
  remove("a");
  EXPECT_EQ(id("b"), longer);
}

TEST_F(ReturningFileTest, TwoDeletedFilesWithOneContentAreAmbiguous) {
  know("a", kText);
  know("b", kText);
  write("c", kText);
  remove("a");
  remove("b");
  EXPECT_EQ(id("c"), 0);
}

TEST_F(ReturningFileTest, ACopyOfAFileIsNewAlsoWhenAnotherCopyWasDeleted) {
  know("a", kText);
  know("b", kText);
  remove("a");
  write("c", kText);
  EXPECT_EQ(id("c"), 0);
}

TEST_F(ReturningFileTest, AFileDeletedTooLongAgoIsForgotten) {
  const std::int64_t a = know("a", kText);
  remove("a");
  write("a", kText);
  EXPECT_EQ(id("a"), a);
  since_ = kDeleted;
  EXPECT_EQ(id("a"), 0);
}

}  // namespace
}  // namespace eventq::notebook
