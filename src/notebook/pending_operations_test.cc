// pending_operations_test.cc: what events that have not ended make of paths.
#include "notebook/pending_operations.h"

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

TEST(PendingOperations, APathThatNoEventTouchesIsNotSpokenOf) {
  PendingOperations live;
  live.add(create_of("a"), "a");
  EXPECT_FALSE(live.exists("b").has_value());
  EXPECT_EQ(live.last_at("b"), nullptr);
}

TEST(PendingOperations, TheLastEventOfAPathSaysWhetherItWillBeThere) {
  PendingOperations live;
  live.add(create_of("a"), "a");
  EXPECT_EQ(live.exists("a"), true);
  live.add(move_of("a", "b"), "a (2)");
  EXPECT_EQ(live.exists("a"), false);
  EXPECT_EQ(live.exists("b"), true);
  live.add(remove_of("b"), "b");
  EXPECT_EQ(live.exists("b"), false);
}

TEST(PendingOperations, AnEventThatEndedIsForgotten) {
  PendingOperations live;
  const auto ticket = live.add(create_of("a"), "a");
  live.name(ticket, EventId{7});
  live.begin(EventId{7});
  EXPECT_TRUE(live.last_at("a")->begun);
  live.end(EventId{7});
  EXPECT_FALSE(live.exists("a").has_value());
  EXPECT_EQ(live.free_key("a"), "a");
}

TEST(PendingOperations, AKeyInUseIsNotGivenTwice) {
  PendingOperations live;
  live.add(create_of("a"), live.free_key("a"));
  EXPECT_EQ(live.free_key("a"), "a (2)");
  live.add(move_of("a", "b"), live.free_key("a"));
  EXPECT_EQ(live.free_key("a"), "a (3)");
  EXPECT_EQ(live.free_key("b"), "b");
}

TEST(PendingOperations, TheKeyOfALongPathFitsAndIsWholeUtf8) {
  PendingOperations live;
  std::string path(399, 'a');
  for (int i = 0; i < 100; ++i) path += "ü";
  const std::string key = live.free_key(path);
  EXPECT_EQ(key, std::string(399, 'a') + " (2)");
}

TEST(PendingOperations, AFileIsFollowedThroughItsMoves) {
  PendingOperations live;
  live.add(move_of("a", "b"), "1");
  live.add(create_of("a"), "2");
  live.add(move_of("b", "c"), "3");
  EXPECT_EQ(live.future_path("a"), "c");
  live.add(remove_of("c"), "4");
  EXPECT_EQ(live.future_path("a"), "");
  EXPECT_EQ(live.future_path("d"), "d");
}

TEST(PendingOperations, AFolderAndWhatLiesInItFollowTheGroup) {
  PendingOperations live;
  Operation one = move_of("a/x", "b/x");
  one.group = FolderOperation{"a", "b", 1};
  live.add(one, "");
  EXPECT_EQ(live.future_path("a"), "b");
  EXPECT_EQ(live.future_path("a/sub"), "b/sub");
  EXPECT_EQ(live.future_path("a/x"), "b/x");
  EXPECT_EQ(live.future_path("ab"), "ab");
}

TEST(PendingOperations, WhatLiesInAFolderIsToldWithWhatWillBecomeOfIt) {
  PendingOperations live;
  live.add(create_of("a/new"), "1");
  live.add(remove_of("a/old"), "2");
  live.add(move_of("a/gone", "b/came"), "3");
  live.add(create_of("ab"), "4");
  std::map<std::string, bool> seen;
  live.each_within("a", [&](const std::string& path, bool exists) { seen[path] = exists; });
  EXPECT_EQ(seen, (std::map<std::string, bool>{{"a/gone", false}, {"a/new", true}, {"a/old", false}}));
}

TEST(PendingOperations, AnEventIsNotTheLastOnceAnotherTouchesOneOfItsPaths) {
  PendingOperations live;
  live.add(move_of("a", "b"), "1");
  const PendingOperation first = *live.last_at("b");
  EXPECT_TRUE(live.is_last(first, move_of("a", "c")));
  live.add(create_of("a"), "2");  // a move from a to c would now take the new file
  EXPECT_FALSE(live.is_last(first, move_of("a", "c")));
}

TEST(PendingOperations, AnEventIsNotTheLastWhenAnotherTouchesWhatItWouldBecome) {
  PendingOperations live;
  live.add(move_of("a", "b"), "1");
  const PendingOperation first = *live.last_at("b");
  live.add(remove_of("c"), "2");
  EXPECT_FALSE(live.is_last(first, move_of("a", "c")));
}

TEST(PendingOperations, AnEventIsNotTheLastWhenAnotherTouchesWhatLiesInItsPath) {
  PendingOperations live;
  live.add(move_of("a", "b"), "1");
  const PendingOperation first = *live.last_at("b");
  live.add(create_of("a/x"), "2");  // needs a to be gone: a move of a behind it would be in its way
  EXPECT_FALSE(live.is_last(first, move_of("a", "c")));
}

TEST(PendingOperations, AnEventIsNotTheLastOnceACommitWasAskedFor) {
  PendingOperations live;
  live.add(create_of("a"), "1");
  const PendingOperation first = *live.last_at("a");
  EXPECT_TRUE(live.is_last(first, create_of("a")));
  live.add({.kind = batch_commit}, "");
  EXPECT_FALSE(live.is_last(first, create_of("a")));
}

TEST(PendingOperations, AFileIsFollowedWhereSomebodyElseMovedIt) {
  PendingOperations live;
  live.add({.kind = sync, .path = "b", .source = "a", .event = "moved"}, "1");
  EXPECT_EQ(live.future_path("a"), "b");
}

TEST(PendingOperations, WhatIsRestoredIsInItsOldPlace) {
  PendingOperations live;
  live.name(live.add(create_of("a"), "a"), EventId{1});
  const PendingOperation earlier = *live.last_at("a");
  live.drop(earlier.ticket);
  EXPECT_EQ(live.last_at("a"), nullptr);
  live.restore(earlier);
  EXPECT_EQ(live.last_at("a")->ticket, earlier.ticket);
  EXPECT_EQ(live.free_key("a"), "a (2)");
  live.end(EventId{1});
  EXPECT_EQ(live.last_at("a"), nullptr);
}

}  // namespace
}  // namespace eventq::notebook
