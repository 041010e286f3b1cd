// git_pack_test.cc: tests that loose objects are packed and nothing is lost.
#include "notebook/git/git_pack.h"

#include "support/git_repo_fixture.h"

namespace eventq::notebook {
namespace {

using testing::HasSubstr;

class GitPackTest : public GitRepoTest {
 protected:
  GitPackTest() {
    git({"init", "-q"});
    for (int i = 0; i < 300; ++i) std::ofstream(path_ + "/" + std::to_string(i)) << "content " << i;
    git({"add", "-A"});
    git({"commit", "-q", "-m", "all"});
  }
  std::atomic<bool> stop_ = false;
};

TEST_F(GitPackTest, AllLooseObjectsBecomeOnePackAndTheHistoryIsComplete) {
  EXPECT_THAT(git({"count-objects", "-v"}), HasSubstr("count: 302\n"));
  ASSERT_TRUE(pack_loose_objects(path_, stop_));
  const std::string counts = git({"count-objects", "-v"});
  EXPECT_THAT(counts, HasSubstr("count: 0\n"));
  EXPECT_THAT(counts, HasSubstr("in-pack: 302\npacks: 1\n"));
  EXPECT_EQ(git({"show", "HEAD:299"}), "content 299");
  EXPECT_EQ(git({"status", "--porcelain"}), "");
}

TEST_F(GitPackTest, AStopLeavesTheObjectsLoose) {
  stop_ = true;
  ASSERT_TRUE(pack_loose_objects(path_, stop_));
  EXPECT_THAT(git({"count-objects", "-v"}), HasSubstr("count: 302\n"));
}

TEST_F(GitPackTest, AnUnreadableObjectIsReportedAndNothingIsRemoved) {
  const std::string id = lines(git({"rev-parse", "HEAD:1"}))[0];
  const std::string file = path_ + "/.git/objects/" + id.substr(0, 2) + "/" + id.substr(2);
  const std::string kept = file + ".kept";
  fs::copy(file, kept);
  fs::permissions(file, fs::perms::owner_all);
  std::ofstream(file) << "damaged";
  EXPECT_FALSE(pack_loose_objects(path_, stop_));
  fs::remove(file);
  fs::rename(kept, file);
  EXPECT_THAT(git({"count-objects", "-v"}), HasSubstr("count: 302\n"));
}

TEST_F(GitPackTest, ManyLooseObjectsAreMoreThanGcAutoAllows) {
  EXPECT_FALSE(has_many_loose_objects(path_));
  git({"config", "gc.auto", "1"});
  // Git looks at one folder of 256 only: an object in it counts as 256.
  fs::create_directories(path_ + "/.git/objects/17");
  std::ofstream(path_ + "/.git/objects/17/" + std::string(38, 'a')) << "x";
  EXPECT_TRUE(has_many_loose_objects(path_));
  git({"config", "gc.auto", "0"});
  EXPECT_FALSE(has_many_loose_objects(path_));
  fs::remove(path_ + "/.git/objects/17/" + std::string(38, 'a'));
}

}  // namespace
}  // namespace eventq::notebook
