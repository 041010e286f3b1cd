// log_test.cc: a log line stays one line for every value.
#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace eventq {
namespace {

using namespace std::string_view_literals;

std::string line_with(std::string_view value) { return LogLine("m").add("v", value).str(); }

TEST(LogLine, ConsistsOfKeysAndValues) {
  EXPECT_EQ(LogLine("listening").add("address", "127.0.0.1:8080").add("threads", 2).str(),
            "msg=listening address=127.0.0.1:8080 threads=2");
  EXPECT_EQ(LogLine("lease lost").add("event", -1).str(), "msg=\"lease lost\" event=-1");
}

TEST(LogLine, QuotesValuesThatCouldBeMisread) {
  EXPECT_EQ(line_with(""), R"(msg=m v="")");
  EXPECT_EQ(line_with("two words"), R"(msg=m v="two words")");
  EXPECT_EQ(line_with("say \"hi\""), R"(msg=m v="say \"hi\"")");
  EXPECT_EQ(line_with("a=b"), R"(msg=m v="a=b")");
  EXPECT_EQ(line_with("C:\\notes"), R"(msg=m v="C:\\notes")");
  EXPECT_EQ(line_with("\xC3\xA9t\xC3\xA9"), "msg=m v=\xC3\xA9t\xC3\xA9");
}

TEST(LogLine, StaysOneLineWhateverTheValue) {
  EXPECT_EQ(line_with("ok\n2026-01-01T00:00:00.000Z error msg=forged"),
            R"(msg=m v="ok\n2026-01-01T00:00:00.000Z error msg=forged")");
  EXPECT_EQ(line_with("a\r\tb\0c\x1B[2J\x7F"sv), R"(msg=m v="a\x0d\x09b\x00c\x1b[2J\x7f")");
  EXPECT_EQ(line_with("\xC3("), R"(msg=m v="\xc3(")");
  EXPECT_EQ(LogLine("two\nlines").str(), R"(msg="two\nlines")");
}

TEST(StderrLogger, WritesTimeLevelAndLine) {
  testing::internal::CaptureStderr();

  stderr_logger(LogLevel::info)(LogLevel::warning, LogLine("disk {} full").add("percent", 97).str());

  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z "
                                    "warning msg=\"disk \\{\\} full\" percent=97\n"));
}

TEST(StderrLogger, LeavesOutLinesBelowItsLevel) {
  testing::internal::CaptureStderr();

  const Logger logger = stderr_logger(LogLevel::warning);
  logger(LogLevel::debug, "msg=a");
  logger(LogLevel::info, "msg=b");
  logger(LogLevel::error, "msg=c");

  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_THAT(written, testing::EndsWith("Z error msg=c\n"));
  EXPECT_EQ(written.find("msg=a"), std::string::npos);
  EXPECT_EQ(written.find("msg=b"), std::string::npos);
}

}  // namespace
}  // namespace eventq
