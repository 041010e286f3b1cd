// pending_operations_test.cc: tests the predicted paths of files after pending operations.
#include "notebook/publish/pending_operations.h"

#include <gtest/gtest.h>

#include <map>

namespace eventq::notebook {
namespace {

using enum OperationKind;

Operation create_of(const std::string& path) { return {.kind = create, .path = path, .content = "x"}; }
Operation remove_of(const std::string& path) { return {.kind = remove, .path = path}; }
Operation move_of(const std::string& from, const std::string& to) {
  return {.kind = move, .path = to, .source = from};
}

TEST(PendingOperations, APathThatNoEventTouchesHasNoPrediction) {
  PendingOperations pending;
  pending.add(create_of("a"), "a");
  EXPECT_FALSE(pending.exists("b").has_value());
  EXPECT_EQ(pending.last_at("b"), nullptr);
}

TEST(PendingOperations, TheLastEventOfAPathDecidesWhetherAFileWillExistThere) {
  PendingOperations pending;
  pending.add(create_of("a"), "a");
  EXPECT_EQ(pending.exists("a"), true);
  pending.add(move_of("a", "b"), "a (2)");
  EXPECT_EQ(pending.exists("a"), false);
  EXPECT_EQ(pending.exists("b"), true);
  pending.add(remove_of("b"), "b");
  EXPECT_EQ(pending.exists("b"), false);
}

TEST(PendingOperations, AnEventThatEndedIsForgotten) {
  PendingOperations pending;
  const auto ticket = pending.add(create_of("a"), "a");
  pending.name(ticket, EventId{7});
  pending.begin(EventId{7});
  EXPECT_TRUE(pending.last_at("a")->begun);
  pending.end(EventId{7});
  EXPECT_FALSE(pending.exists("a").has_value());
  EXPECT_EQ(pending.free_key("a"), "a");
}

TEST(PendingOperations, AKeyInUseIsNotGivenTwice) {
  PendingOperations pending;
  pending.add(create_of("a"), pending.free_key("a"));
  EXPECT_EQ(pending.free_key("a"), "a (2)");
  pending.add(move_of("a", "b"), pending.free_key("a"));
  EXPECT_EQ(pending.free_key("a"), "a (3)");
  EXPECT_EQ(pending.free_key("b"), "b");
}

TEST(PendingOperations, TheKeyOfALongPathFitsAndIsWholeUtf8) {
  PendingOperations pending;
  std::string path(399, 'a');
  for (int i = 0; i < 100; ++i) path += "ü";
  const std::string key = pending.free_key(path);
  EXPECT_EQ(key, std::string(399, 'a') + " (2)");
}

TEST(PendingOperations, AFileIsFollowedThroughItsMoves) {
  PendingOperations pending;
  pending.add(move_of("a", "b"), "1");
  pending.add(create_of("a"), "2");
  pending.add(move_of("b", "c"), "3");
  EXPECT_EQ(pending.future_path("a"), "c");
  pending.add(remove_of("c"), "4");
  EXPECT_EQ(pending.future_path("a"), "");
  EXPECT_EQ(pending.future_path("d"), "d");
}

TEST(PendingOperations, AFolderAndWhatLiesInItFollowTheGroup) {
  PendingOperations pending;
  Operation one = move_of("a/x", "b/x");
  one.group = FolderOperation{"a", "b", 1};
  pending.add(one, "");
  EXPECT_EQ(pending.future_path("a"), "b");
  EXPECT_EQ(pending.future_path("a/sub"), "b/sub");
  EXPECT_EQ(pending.future_path("a/x"), "b/x");
  EXPECT_EQ(pending.future_path("ab"), "ab");
}

TEST(PendingOperations, EachWithinVisitsThePathsInAFolderWithTheirFuture) {
  PendingOperations pending;
  pending.add(create_of("a/new"), "1");
  pending.add(remove_of("a/old"), "2");
  pending.add(move_of("a/gone", "b/came"), "3");
  pending.add(create_of("ab"), "4");
  std::map<std::string, bool> seen;
  pending.each_within("a", [&](const std::string& path, bool exists) { seen[path] = exists; });
  EXPECT_EQ(seen, (std::map<std::string, bool>{{"a/gone", false}, {"a/new", true}, {"a/old", false}}));
}

TEST(PendingOperations, AnEventIsNotTheLastOnceAnotherTouchesOneOfItsPaths) {
  PendingOperations pending;
  pending.add(move_of("a", "b"), "1");
  const PendingOperation first = *pending.last_at("b");
  EXPECT_TRUE(pending.is_last(first, move_of("a", "c")));
  pending.add(create_of("a"), "2");  // a combined move from a to c would now move the new file
  EXPECT_FALSE(pending.is_last(first, move_of("a", "c")));
}

TEST(PendingOperations, AnEventIsNotTheLastWhenAnotherTouchesItsNewPath) {
  PendingOperations pending;
  pending.add(move_of("a", "b"), "1");
  const PendingOperation first = *pending.last_at("b");
  pending.add(remove_of("c"), "2");
  EXPECT_FALSE(pending.is_last(first, move_of("a", "c")));
}

TEST(PendingOperations, AnEventIsNotTheLastWhenAnotherTouchesAPathInsideItsPath) {
  PendingOperations pending;
  pending.add(move_of("a", "b"), "1");
  const PendingOperation first = *pending.last_at("b");
  pending.add(create_of("a/x"),
              "2");  // needs `a` to be gone, so a combined move of `a` must not come after it
  EXPECT_FALSE(pending.is_last(first, move_of("a", "c")));
}

TEST(PendingOperations, AnEventIsNotTheLastOnceACommitWasAskedFor) {
  PendingOperations pending;
  pending.add(create_of("a"), "1");
  const PendingOperation first = *pending.last_at("a");
  EXPECT_TRUE(pending.is_last(first, create_of("a")));
  pending.add({.kind = batch_commit}, "");
  EXPECT_FALSE(pending.is_last(first, create_of("a")));
}

TEST(PendingOperations, AFileIsFollowedThroughAMoveByAnotherProgram) {
  PendingOperations pending;
  pending.add({.kind = sync, .path = "b", .source = "a", .event = "moved"}, "1");
  EXPECT_EQ(pending.future_path("a"), "b");
}

TEST(PendingOperations, ARestoredOperationKeepsItsOrder) {
  PendingOperations pending;
  pending.name(pending.add(create_of("a"), "a"), EventId{1});
  const PendingOperation earlier = *pending.last_at("a");
  pending.drop(earlier.ticket);
  EXPECT_EQ(pending.last_at("a"), nullptr);
  pending.restore(earlier);
  EXPECT_EQ(pending.last_at("a")->ticket, earlier.ticket);
  EXPECT_EQ(pending.free_key("a"), "a (2)");
  pending.end(EventId{1});
  EXPECT_EQ(pending.last_at("a"), nullptr);
}

}  // namespace
}  // namespace eventq::notebook
