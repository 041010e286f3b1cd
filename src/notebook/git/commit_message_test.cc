// commit_message_test.cc: tests the message of a commit and when a commit is due.
#include "notebook/git/commit_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eventq::notebook {
namespace {

PendingChange change_of(std::string path, std::string event, std::string correlation = "") {
  return {.path = std::move(path), .event_id = std::move(event), .correlation_id = std::move(correlation)};
}

std::string message_of(const std::vector<PendingChange>& changes) {
  return commit_message(paths_of(changes), changes);
}

TEST(CommitMessageTest, ASinglePathIsNamedHoweverOftenItChanged) {
  EXPECT_EQ(message_of({change_of("a/ä.md", "e2"), change_of("a/ä.md", "e1")}),
            "Update a/ä.md\n\nEventq-Event: e2\nEventq-Event: e1\n");
}

TEST(CommitMessageTest, SeveralPathsAreCounted) {
  EXPECT_EQ(message_of({change_of("b", "e1"), change_of("a", "e2"), change_of("b", "e3")}),
            "Batch update: 2 files\n\nEventq-Event: e1\nEventq-Event: e2\nEventq-Event: e3\n");
}

TEST(CommitMessageTest, AnIdIsNamedOnceInTheOrderOfTheChanges) {
  EXPECT_EQ(message_of({change_of("a", "e2", "c2"), change_of("b", "e2", "c2"), change_of("c", "e1", "c1"),
                        change_of("d", "e3", "c2")}),
            "Batch update: 4 files\n\nEventq-Event: e2\nEventq-Event: e1\nEventq-Event: e3\n"
            "Eventq-Correlation: c2\nEventq-Correlation: c1\n");
}

std::vector<std::string> events_in_commit(const std::vector<PendingChange>& changes,
                                          const std::vector<std::string>& changed) {
  std::vector<std::string> events;
  for (const PendingChange& change : changes_in_commit(changes, changed)) events.push_back(change.event_id);
  return events;
}

TEST(CommitMessageTest, ACommitContainsTheChangesOfItsPathsOnly) {
  EXPECT_THAT(events_in_commit({change_of("a", "e1"), change_of("b", "e2"), change_of("a", "e3")}, {"a"}),
              testing::ElementsAre("e1", "e3"));
}

TEST(CommitMessageTest, ACommitContainsTheChangesOfAFileBeforeItWasMoved) {
  const std::vector<PendingChange> changes = {change_of("a", "create"), change_of("a", "update"),
                                              change_of("a", "move"), change_of("b", "move"),
                                              change_of("a", "another file")};
  EXPECT_THAT(events_in_commit(changes, {"b"}), testing::ElementsAre("create", "update", "move", "move"));
}

TEST(CommitMessageTest, ChangesWithoutAnEventAreNotTakenForAMove) {
  EXPECT_THAT(events_in_commit({change_of("a", "e1"), change_of("a", ""), change_of("b", "")}, {"b"}),
              testing::ElementsAre(""));
}

TEST(CommitMessageTest, ChangesWithoutIdsGiveNoTrailers) {
  EXPECT_EQ(message_of({change_of("a", "")}), "Update a\n");
}

TEST(CommitMessageTest, PathsAreSortedByBytesAndThereOnce) {
  EXPECT_THAT(paths_of({change_of("b", "1"), change_of("a/x", "2"), change_of("b", "3"), change_of("B", "4"),
                        change_of("a.md", "5")}),
              testing::ElementsAre("B", "a.md", "a/x", "b"));
  EXPECT_THAT(paths_of(std::vector<PendingChange>{}), testing::IsEmpty());
}

TEST(CommitMessageTest, ACommitIsDueAtTheIntervalAndNotBefore) {
  const NotebookSettings settings{.git_commit_interval = Millis(100), .git_commit_max_files = 10};
  const TimePoint since{Millis(5000)};
  const CommitBacklog waiting{.paths = 1, .since = since};
  EXPECT_FALSE(is_time_to_commit(waiting, settings, since));
  EXPECT_FALSE(is_time_to_commit(waiting, settings, since + Millis(99)));
  EXPECT_TRUE(is_time_to_commit(waiting, settings, since + Millis(100)));
  EXPECT_TRUE(is_time_to_commit(waiting, settings, since + Millis(101)));
}

TEST(CommitMessageTest, ACommitIsDueAtTheMaximumOfFilesAndNotBefore) {
  const NotebookSettings settings{.git_commit_interval = Millis(100), .git_commit_max_files = 10};
  const TimePoint now{Millis(5000)};
  EXPECT_FALSE(is_time_to_commit({.paths = 9, .since = now}, settings, now));
  EXPECT_TRUE(is_time_to_commit({.paths = 10, .since = now}, settings, now));
  EXPECT_TRUE(is_time_to_commit({.paths = 11, .since = now}, settings, now));
}

TEST(CommitMessageTest, AnEmptyBacklogIsNeverDue) {
  const NotebookSettings settings{.git_commit_interval = Millis(0), .git_commit_max_files = 0};
  EXPECT_FALSE(is_time_to_commit({}, settings, TimePoint(Millis(5000))));
}

TEST(CommitMessageTest, AChangeFromTheFutureIsDueAtOnce) {
  const NotebookSettings settings{.git_commit_interval = Millis(100), .git_commit_max_files = 10};
  EXPECT_TRUE(
      is_time_to_commit({.paths = 1, .since = TimePoint(Millis(5000))}, settings, TimePoint(Millis(4999))));
}

}  // namespace
}  // namespace eventq::notebook
