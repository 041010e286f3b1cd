// cli_notebook_test.cc: tests the commands `eventq notebook ...` as a script runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli_support.h"

namespace eventq {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class CliNotebookTest : public CliTest {
 protected:
  CliNotebookTest() : CliTest({"--notebooks-allow", "."}) {}

  void SetUp() override {
    std::filesystem::create_directory(server_.file("notes"));
    CliTest::SetUp();
  }
};

TEST_F(CliNotebookTest, AddsAFolderByItsRelativePath) {
  const Finished added = eventq({"notebook", "add", "notes", "./notes", "git_commit_interval=0.5"});

  EXPECT_EQ(added.exit_code, 0) << added.err;
  EXPECT_EQ(member(added.out, "path"), server_.file("notes"));
  EXPECT_EQ(member(added.out, "settings.git_commit_interval"), "0.5");
  EXPECT_THAT(eventq({"notebook", "ls", "-o", "csv", "--fields", "name,uncommitted"}).out,
              HasSubstr("\nnotes,0\n"));
  EXPECT_THAT(eventq({"notebook", "ls", "-o", "table"}).out, StartsWith("NOTEBOOK  FILES  UNCOMMITTED  "));
  EXPECT_EQ(member(eventq({"notebook", "status", "notes"}).out, "queue"), "notebook:notes");
}

TEST_F(CliNotebookTest, ErrorsNameTheProblem) {
  std::filesystem::create_directory(server_.file("other"));
  const auto exit_code = [&](const std::vector<std::string>& arguments) {
    const Finished done = eventq(arguments);
    EXPECT_THAT(done.out, IsEmpty());
    EXPECT_THAT(done.err, StartsWith("eventq: "));
    return done.exit_code;
  };

  EXPECT_EQ(exit_code({"notebook", "add", "notes", "/"}), 4);
  EXPECT_EQ(exit_code({"notebook", "add", "notes", "notes", "git_commit_interval"}), 2);
  EXPECT_EQ(exit_code({"notebook", "add", "notes", "notes", "git_commit_interval=soon"}), 2);
  EXPECT_EQ(exit_code({"notebook", "add", "notes", "notes", "git_commit_interval=-1"}), 1);
  for (const char* verb : {"status", "commit", "rescan", "log"}) {
    EXPECT_EQ(exit_code({"notebook", verb, "none"}), 1) << verb;
  }
  EXPECT_EQ(exit_code({"notebook", "log", "none", "--limit", "x"}), 2);
}

TEST_F(CliNotebookTest, RescanAndCommitFindAFileWrittenByAnotherProgram) {
  ASSERT_EQ(eventq({"notebook", "add", "notes", "notes"}).exit_code, 0);
  std::ofstream(server_.file("notes/a.md")) << "a";

  const Finished found = eventq({"notebook", "rescan", "notes"});
  EXPECT_EQ(found.exit_code, 0) << found.err;
  const Finished committed = eventq({"notebook", "commit", "notes"});

  EXPECT_EQ(committed.exit_code, 0) << committed.err;
  EXPECT_EQ(member(committed.out, "status"), "COMPLETED");
  const Finished log = eventq({"notebook", "log", "notes", "-o", "csv", "--fields", "files,message"});
  EXPECT_EQ(log.exit_code, 0) << log.err;
  EXPECT_THAT(log.out, HasSubstr("\n1,Update a.md\n"));
  EXPECT_THAT(eventq({"notebook", "log", "notes"}).out, HasSubstr("\"event_ids\":[\"evt_"));
}

TEST_F(CliNotebookTest, CommitWithoutANameCommitsAllNotebooks) {
  std::filesystem::create_directory(server_.file("other"));
  ASSERT_EQ(eventq({"notebook", "add", "notes", "notes"}).exit_code, 0);
  ASSERT_EQ(eventq({"notebook", "add", "other", "other"}).exit_code, 0);

  const Finished committed = eventq({"notebook", "commit", "-o", "csv", "--fields", "notebook,status"});
  EXPECT_EQ(committed.exit_code, 0) << committed.err;
  EXPECT_EQ(committed.out, "notebook,status\nnotes,COMPLETED\nother,COMPLETED\n");

  ASSERT_EQ(eventq({"queue", "drain", "notebook:other"}).exit_code, 0);
  const Finished some = eventq({"notebook", "commit", "-o", "csv", "--fields", "notebook,status"});
  EXPECT_EQ(some.exit_code, 1);
  EXPECT_EQ(some.out, "notebook,status\nnotes,COMPLETED\nother,\n");
  EXPECT_EQ(some.err, "eventq: not every notebook was committed\n");
}

TEST_F(CliNotebookTest, ACommitIsRefusedWhileItsQueueIsDraining) {
  ASSERT_EQ(eventq({"notebook", "add", "notes", "notes"}).exit_code, 0);
  ASSERT_EQ(eventq({"queue", "drain", "notebook:notes"}).exit_code, 0);

  EXPECT_EQ(eventq({"notebook", "commit", "notes"}).exit_code, 1);
}

}  // namespace
}  // namespace eventq
