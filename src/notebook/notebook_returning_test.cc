// notebook_returning_test.cc: tests that files keep id and metadata when other programs rename, delete and
// restore them.
#include <algorithm>

#include "notebook/notebook.h"
#include "support/notebook_fixture.h"

namespace eventq::notebook {
namespace {

using enum OperationKind;

class NotebookReturningTest : public NotebookTest {
 protected:
  // Makes a file with a title, a description and extra metadata; returns its row.
  FileRow make_titled(const std::string& path, const std::string& content) {
    ChangeRequest request{.kind = create, .path = path, .content = content};
    request.metadata = {.title = "T " + path, .description = "D", .extra = R"({"mood":"good"})"};
    EXPECT_EQ(done(std::move(request)).status, Status::completed);
    return row_at(path);
  }
  FileRow row_at(const std::string& path) {
    auto row = notebook_->file_at(path);
    EXPECT_TRUE(row) << path;
    return row ? *row : FileRow{};
  }
  void wait_for(const std::string& path) {
    wait_until([&] { return notebook_->file_at(path).has_value(); }, path.c_str());
  }
  void wait_for_absence(const std::string& path) {
    wait_until([&] { return !notebook_->file_at(path).has_value(); }, path.c_str());
  }
  void expect_same(const std::string& path, const FileRow& before) {
    wait_for(path);
    const FileRow now = row_at(path);
    EXPECT_EQ(now.id, before.id) << path;
    EXPECT_EQ(now.metadata, before.metadata) << path;
  }
  void in_root(const std::string& command) {
    Process process({{"/bin/sh", "-c", command}, {"HOME=" + directory_.file("")}, root_});
    EXPECT_EQ(process.wait(kLongTime), 0) << command << process.err();
  }
};

TEST_F(NotebookReturningTest, ARenameIntoAFolderMadeJustBeforeKeepsIdAndMetadata) {
  for (int round = 0; round < 20; ++round) {
    const std::string name = std::to_string(round);
    const FileRow before = make_titled(name + ".md", "content " + name);
    fs::create_directories(root_ + "/new" + name + "/inner");
    fs::rename(root_ + "/" + name + ".md", root_ + "/new" + name + "/inner/" + name + ".md");
    expect_same("new" + name + "/inner/" + name + ".md", before);
  }
}

TEST_F(NotebookReturningTest, ARenameRightAfterAMoveOfTheApiKeepsIdAndMetadata) {
  for (int round = 0; round < 10; ++round) {
    const std::string name = std::to_string(round);
    const FileRow before = make_titled("a" + name, "content " + name);
    ASSERT_EQ(done({.kind = move, .file = before.id, .dest_path = "b" + name}).status, Status::completed);
    fs::rename(root_ + "/b" + name, root_ + "/c" + name);
    expect_same("c" + name, before);
    wait_for_absence("b" + name);
  }
}

TEST_F(NotebookReturningTest, AFileThatIsDeletedAndRestoredKeepsIdAndMetadata) {
  const FileRow before = make_titled("a.md", "content");
  fs::remove(root_ + "/a.md");
  wait_for_absence("a.md");
  EXPECT_FALSE(notebook_->file(before.id));
  put("a.md", "another content");
  expect_same("a.md", before);
  EXPECT_EQ(row_at("a.md").hash, hash_of("another content"));
}

TEST_F(NotebookReturningTest, AFileDeletedByTheApiAndRestoredByGitKeepsIdAndMetadata) {
  const FileRow before = make_titled("a.md", "content");
  commit();
  ASSERT_EQ(done({.kind = remove, .file = before.id}).status, Status::completed);
  git("checkout HEAD -- a.md");
  expect_same("a.md", before);
}

TEST_F(NotebookReturningTest, AFileCreatedByTheApiWhereOneWasDeletedIsANewOne) {
  const FileRow before = make_titled("a.md", "content");
  ASSERT_EQ(done({.kind = remove, .file = before.id}).status, Status::completed);
  ASSERT_EQ(make("a.md", "content").status, Status::completed);
  EXPECT_NE(id_of("a.md"), before.id);
  EXPECT_EQ(row_at("a.md").metadata, Metadata());
}

TEST_F(NotebookReturningTest, GitCheckoutThereAndBackKeepsIdsAndMetadata) {
  const FileRow a = make_titled("a.md", "content of a, which is long enough to tell");
  const FileRow b = make_titled("f/b.md", "content of b, which is long enough to tell");
  commit();
  git("branch other");
  git("checkout -q other && git rm -q -r f && mkdir g && git mv a.md g/a.md && "
      "git -c user.name=u -c user.email=u@u commit -q -m other");
  expect_same("g/a.md", a);
  wait_for_absence("f/b.md");
  git("checkout -q main");
  expect_same("a.md", a);
  expect_same("f/b.md", b);
}

TEST_F(NotebookReturningTest, FilesMovedWhileTheServerIsStoppedKeepIdAndMetadata) {
  const FileRow before = make_titled("a.md", "content");
  const FileRow other = make_titled("b.md", "content of b, which is long enough to tell");
  stop();
  fs::create_directories(root_ + "/f");
  fs::rename(root_ + "/a.md", root_ + "/f/a.md");
  in_root("cp b.md f/b.md && rm b.md");
  start();
  expect_same("f/a.md", before);
  expect_same("f/b.md", other);
}

TEST_F(NotebookReturningTest, ACopyIsANewFile) {
  const FileRow before = make_titled("a.md", "content of a, which is long enough to tell");
  in_root("cp a.md copy.md");
  wait_for("copy.md");
  EXPECT_NE(id_of("copy.md"), before.id);
  EXPECT_EQ(row_at("copy.md").metadata, Metadata());
  expect_same("a.md", before);
}

TEST_F(NotebookReturningTest, AFileThatIsRenamedAndChangedKeepsIdAndMetadata) {
  const FileRow before = make_titled("a.md", "content");
  in_root("mv a.md b.md && echo more >> b.md");
  expect_same("b.md", before);
  wait_until([&] { return row_at("b.md").hash == hash_of("contentmore\n"); }, "the new content is recorded");
}

}  // namespace
}  // namespace eventq::notebook
