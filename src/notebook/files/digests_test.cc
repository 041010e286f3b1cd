// digests_test.cc: tests what is hashed at once, what in the background, and which files are reported.
#include "notebook/files/digests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "base/steady.h"
#include "support/temporary_directory.h"

namespace eventq::notebook {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class DigestsTest : public testing::Test {
 protected:
  static std::string made(const std::string& path) {
    fs::create_directory(path);
    return path;
  }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(root_ + "/" + name) << content;
  }
  void write_sparse(const std::string& name, std::uintmax_t size) const {
    write(name, "");
    fs::resize_file(root_ + "/" + name, size);
  }

  const TemporaryDirectory directory_;
  const std::string root_ = made(directory_.file("notes"));
  Folder folder_ = std::move(*Folder::open(root_, 022));
};

TEST_F(DigestsTest, AFileOfTheLimitHasAHashAndALargerOneHasNone) {
  Digests digests(folder_, 10);
  for (const std::size_t size : {9U, 10U, 11U}) write(std::to_string(size), std::string(size, 'x'));
  EXPECT_EQ((*digests.of("9"))->hash, hash_of(std::string(9, 'x')));
  EXPECT_EQ((*digests.of("10"))->hash, hash_of(std::string(10, 'x')));
  const auto large = *digests.of("11");
  EXPECT_EQ(large->hash, "");
  EXPECT_EQ(large->state.size, 11);
  EXPECT_EQ(large->content_type, "text/plain");
  EXPECT_THAT(digests.troubles().too_large.paths, ElementsAre("11"));
}

TEST_F(DigestsTest, TheBlobIsTheIdThatGitGives) {
  Digests digests(folder_, 1000);
  write("a", "hello\n");
  write("empty", "");
  EXPECT_EQ((*digests.of("a"))->blob, "ce013625030ba8dba906f756967f9e9ca394464a");
  EXPECT_EQ((*digests.of("empty"))->blob, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
}

TEST_F(DigestsTest, OnlyALargeFileIsHashedInTheBackground) {
  Digests digests(folder_, 100 << 20);
  std::promise<std::string> ready;
  digests.start([](const auto&, const auto&) {}, [&](const std::string& path) { ready.set_value(path); });
  write_sparse("small", kLargeBytes);
  write_sparse("large", kLargeBytes + 1);
  EXPECT_TRUE(*digests.of("small"));
  EXPECT_FALSE(*digests.of("large"));
  EXPECT_EQ(ready.get_future().get(), "large");
  EXPECT_EQ((*digests.of("large"))->hash, hash_of(std::string(kLargeBytes + 1, 0)));
}

TEST_F(DigestsTest, AStopEndsTheHashingOfALargeFile) {
  Digests digests(folder_, std::int64_t{1} << 40);
  digests.start([](const auto&, const auto&) {}, [](const std::string&) {});
  write_sparse("large", std::uintmax_t{1} << 40);
  EXPECT_FALSE(*digests.of("large"));
  const SteadyTime start = steady_now();
  digests.stop();
  EXPECT_LT(millis_since(start), Millis(2000));
}

TEST_F(DigestsTest, UnreadableFilesAreReportedUntilTheyCanBeRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  Digests digests(folder_, 10);
  for (const char* name : {"a", "b", "c", "d"}) {
    write(name, name);
    fs::permissions(root_ + "/" + name, fs::perms::none);
  }
  ::setfsuid(65534);  // of this thread only
  for (const char* name : {"a", "b", "c", "d"}) EXPECT_FALSE(digests.of(name));
  ::setfsuid(0);
  EXPECT_EQ(digests.troubles().unreadable.count, 4U);
  EXPECT_THAT(digests.troubles().unreadable.paths, ElementsAre("a", "b", "c"));
  EXPECT_TRUE(digests.of("a"));
  EXPECT_THAT(digests.troubles().unreadable.paths, ElementsAre("b", "c", "d"));
  fs::remove(root_ + "/b");
  EXPECT_FALSE(digests.of("b"));
  EXPECT_EQ(digests.troubles().unreadable.count, 2U);
}

TEST_F(DigestsTest, TheTroublesOfAFolderAreForgottenWithIt) {
  Digests digests(folder_, 10);
  for (const char* path : {"f", "f/a", "f/g/b", "f-a", "z"}) digests.note_too_large(path);
  digests.forget_troubles("f");
  EXPECT_THAT(digests.troubles().too_large.paths, ElementsAre("f-a", "z"));
  digests.forget_troubles("");
  EXPECT_THAT(digests.troubles().too_large.paths, IsEmpty());
}

}  // namespace
}  // namespace eventq::notebook
