// notebook_large_test.cc: tests that large and unreadable files do not stop a notebook.
#include <unistd.h>

#include "notebook/notebook.h"
#include "support/notebook_fixture.h"

namespace eventq::notebook {
namespace {

using testing::ElementsAre;
using enum OperationKind;

constexpr std::int64_t kLimit = 1000;
constexpr std::uintmax_t kTebibyte = std::uintmax_t{1} << 40;

class NotebookLargeTest : public NotebookTest {
 protected:
  // Adds notebook `m` with this limit; the test uses it instead of `n`.
  void add(std::int64_t max_file_size) {
    fs::create_directory(directory_.file("m"));
    NotebookSettings settings;
    settings.git_commit_interval = std::chrono::hours(1);
    settings.poll_interval = Millis(10);
    settings.max_file_size = max_file_size;
    ASSERT_TRUE(notebooks_->add("m", directory_.file("m"), settings));
    notebook_ = notebooks_->find("m");
  }
  [[nodiscard]] std::string path(const std::string& name) const { return directory_.file("m") + "/" + name; }
  // A file of zeros that takes no space.
  void write_sparse(const std::string& name, std::uintmax_t size) const {
    std::ofstream(path(name)).close();
    fs::resize_file(path(name), size);
  }
  FileRow recorded(const std::string& name, std::int64_t size) {
    wait_until(
        [&] {
          const auto row = notebook_->file_at(name);
          return row && row->state.size == size;
        },
        name.c_str());
    const auto row = notebook_->file_at(name);
    return row ? *row : FileRow{};
  }
  std::string run(const std::string& command) {
    Process process({{"/bin/sh", "-c", command}, {"HOME=" + directory_.file("")}, directory_.file("m")});
    EXPECT_EQ(process.wait(kLongTime), 0) << command << process.err();
    return process.out();
  }
};

TEST_F(NotebookLargeTest, AFileLargerThanTheLimitIsListedWithoutAHashAndNotCommitted) {
  add(kLimit);
  for (const std::int64_t size : {kLimit - 1, kLimit, kLimit + 1}) {
    std::ofstream(path(std::to_string(size))) << std::string(static_cast<std::size_t>(size), 'x');
  }
  EXPECT_EQ(recorded("999", 999).hash, hash_of(std::string(999, 'x')));
  EXPECT_EQ(recorded("1000", 1000).hash, hash_of(std::string(1000, 'x')));
  EXPECT_EQ(recorded("1001", 1001).hash, "");
  EXPECT_EQ(done({.kind = batch_commit}).status, Status::completed);
  EXPECT_EQ(run("git ls-files"), "1000\n999\n");
  const auto status = notebook_->status();
  EXPECT_EQ(status->waiting.paths, 0);
  EXPECT_EQ(status->files.too_large.count, 1U);
  EXPECT_THAT(status->files.too_large.paths, ElementsAre("1001"));
  EXPECT_EQ(status->files.unreadable.count, 0U);

  fs::resize_file(path("1001"), kLimit);
  EXPECT_EQ(recorded("1001", 1000).hash, hash_of(std::string(1000, 'x')));
  EXPECT_EQ(notebook_->status()->files.too_large.count, 0U);
}

TEST_F(NotebookLargeTest, AFileLargerThanTheLimitCanBeMovedReplacedAndDeleted) {
  add(kLimit);
  write_sparse("a", kLimit + 1);
  const std::int64_t id = recorded("a", kLimit + 1).id;
  EXPECT_EQ(done({.kind = move, .file = id, .dest_path = "b"}).status, Status::completed);
  EXPECT_EQ(done({.kind = update, .file = id, .content = "short"}).status, Status::completed);
  EXPECT_EQ(recorded("b", 5).hash, hash_of("short"));
  EXPECT_EQ(done({.kind = update, .file = id, .content = std::string(kLimit + 1, 'x')}).status,
            Status::completed);
  EXPECT_EQ(recorded("b", kLimit + 1).hash, "");
  EXPECT_EQ(done({.kind = remove, .file = id}).status, Status::completed);
}

TEST_F(NotebookLargeTest, ALargeFileIsHashedAndStoredInTheBackgroundAndThenCommitted) {
  add(100 << 20);
  write_sparse("large", kLargeBytes + 1);
  const std::string zeros(kLargeBytes + 1, 0);
  EXPECT_EQ(recorded("large", kLargeBytes + 1).hash, hash_of(zeros));
  // The content is stored before the commit, which then does not take long.
  EXPECT_EQ(run("git cat-file -t $(git hash-object large)"), "blob\n");
  EXPECT_EQ(done({.kind = batch_commit}).status, Status::completed);
  EXPECT_EQ(run("git cat-file -s HEAD:large"), "2097153\n");
}

TEST_F(NotebookLargeTest, ALargeFileDelaysNoOtherFile) {
  add(std::int64_t{1} << 40);
  write_sparse("large", kTebibyte);  // hashing it takes longer than an hour
  std::ofstream(path("small")) << "small";
  EXPECT_EQ(recorded("small", 5).hash, hash_of("small"));
  EXPECT_EQ(make("made", "made").status, Status::completed);
  EXPECT_EQ(done({.kind = update, .file = id_of("made"), .content = "again"}).status, Status::completed);
  EXPECT_FALSE(notebook_->file_at("large"));
}

TEST_F(NotebookLargeTest, AStopEndsTheHashingOfALargeFile) {
  add(std::int64_t{1} << 40);
  write_sparse("large", kTebibyte);
  std::ofstream(path("small")) << "small";
  recorded("small", 5);
  const SteadyTime start = steady_now();
  stop();
  EXPECT_LT(millis_since(start), Millis(5000));  // a fraction of a second on an idle machine
}

TEST_F(NotebookLargeTest, AnUnreadableFileIsReportedUntilItCanBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads every file";
  add(kLimit);
  for (const char* name : {"a", "b", "c", "d"}) {
    std::ofstream(path(name)) << name;
    fs::permissions(path(name), fs::perms::none);
  }
  wait_until([&] { return notebook_->status()->files.unreadable.count == 4; }, "four files are reported");
  EXPECT_THAT(notebook_->status()->files.unreadable.paths, ElementsAre("a", "b", "c"));
  for (const char* name : {"a", "b", "c", "d"}) fs::permissions(path(name), fs::perms::owner_all);
  wait_until([&] { return notebook_->status()->files.unreadable.count == 0; }, "no file is reported");
  EXPECT_EQ(recorded("a", 1).hash, hash_of("a"));
}

}  // namespace
}  // namespace eventq::notebook
