// watch_tree_test.cc: tests the paths of watches after attaching and detaching in any order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "notebook/watch/watch_tree.h"

namespace eventq::notebook {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// 1: the root, 2: a, 3: a/b, 4: a/b/c.
class WatchTreeTest : public testing::Test {
 protected:
  WatchTreeTest() {
    tree.attach_root(1);
    tree.attach(2, 1, "a");
    tree.attach(3, 2, "b");
    tree.attach(4, 3, "c");
  }
  WatchTree tree;
};

TEST_F(WatchTreeTest, APathIsRelativeToTheRoot) {
  EXPECT_EQ(tree.path(1), "");
  EXPECT_EQ(tree.path(2), "a");
  EXPECT_EQ(tree.path(4), "a/b/c");
  EXPECT_EQ(tree.path(5), std::nullopt);
  EXPECT_EQ(tree.child(2, "b"), 3);
  EXPECT_EQ(tree.child(2, "c"), WatchTree::kNone);
}

TEST_F(WatchTreeTest, AMovedFolderMovesThePathsOfItsChildren) {
  tree.attach(3, 1, "x");

  EXPECT_EQ(tree.path(4), "x/c");
  EXPECT_EQ(tree.child(2, "b"), WatchTree::kNone);
}

TEST_F(WatchTreeTest, ADetachedWatchHasNoPathUntilItIsAttachedAgain) {
  tree.detach(2);

  EXPECT_TRUE(tree.is_detached(2));
  EXPECT_EQ(tree.path(4), std::nullopt);
  EXPECT_THAT(tree.take_detached(), ElementsAre(2));

  tree.attach(2, 1, "z");

  EXPECT_FALSE(tree.is_detached(2));
  EXPECT_EQ(tree.path(4), "z/b/c");
}

TEST_F(WatchTreeTest, AttachingAnotherWatchAtTheSameNameDetachesTheFirst) {
  tree.attach(9, 2, "b");

  EXPECT_EQ(tree.path(9), "a/b");
  EXPECT_TRUE(tree.is_detached(3));
  EXPECT_THAT(tree.take_detached(), ElementsAre(3));
}

TEST_F(WatchTreeTest, AttachingAWatchWhereItIsChangesNothing) {
  tree.attach(3, 2, "b");

  EXPECT_EQ(tree.path(4), "a/b/c");
  EXPECT_THAT(tree.take_detached(), IsEmpty());
}

TEST_F(WatchTreeTest, AttachingAWatchBelowItselfDetachesItInsteadOfMakingACycle) {
  tree.attach(2, 4, "d");

  EXPECT_TRUE(tree.is_detached(2));
  EXPECT_EQ(tree.path(4), std::nullopt);
  EXPECT_EQ(tree.child(4, "d"), WatchTree::kNone);
}

TEST_F(WatchTreeTest, RemovingAWatchRemovesAllBelowIt) {
  EXPECT_THAT(tree.remove(2), UnorderedElementsAre(2, 3, 4));
  EXPECT_EQ(tree.size(), 1U);
  EXPECT_EQ(tree.child(1, "a"), WatchTree::kNone);
  EXPECT_THAT(tree.remove(2), IsEmpty());
}

TEST_F(WatchTreeTest, ForgettingAWatchDetachesItsChildren) {
  (void)tree.take_detached();
  tree.forget(3);

  EXPECT_FALSE(tree.knows(3));
  EXPECT_TRUE(tree.is_detached(4));
  EXPECT_THAT(tree.take_detached(), testing::Contains(4));
  tree.forget(3);
  EXPECT_EQ(tree.size(), 3U);
}

}  // namespace
}  // namespace eventq::notebook
