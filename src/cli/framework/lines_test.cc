// lines_test.cc: lines of every length.
#include "cli/framework/lines.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "support/temporary_directory.h"

namespace eventq::cli {
namespace {

using LineStatus = LineReader::LineStatus;
using testing::ElementsAre;

class LinesTest : public testing::Test {
 protected:
  // Each line; "!" precedes a line that was too long.
  std::vector<std::string> read_all(const std::string& text, std::size_t longest = 100) {
    const std::string path = directory_.file("lines");
    std::ofstream(path) << text;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    LineReader reader(file, longest);
    std::vector<std::string> lines;
    std::string line;
    for (;;) {
      const auto got = reader.next(line);
      if (!got || *got == LineStatus::end) break;
      lines.push_back((*got == LineStatus::too_long ? "!" : "") + line);
    }
    close(file);
    EXPECT_EQ(count_lines(path).value(), static_cast<std::int64_t>(lines.size()));
    return lines;
  }

  TemporaryDirectory directory_;
};

TEST_F(LinesTest, TheLastLineNeedsNoLineEnd) {
  EXPECT_THAT(read_all("a\nb\n"), ElementsAre("a", "b"));
  EXPECT_THAT(read_all("a\n\nb"), ElementsAre("a", "", "b"));
  EXPECT_THAT(read_all(""), ElementsAre());
}

TEST_F(LinesTest, CarriageReturnsAtLineEndsAreRemoved) {
  EXPECT_THAT(read_all("a\r\nb\r\n"), ElementsAre("a", "b"));
}

TEST_F(LinesTest, ALineOverTheLimitIsCutAndTheNextIsComplete) {
  EXPECT_THAT(read_all("abc\nabcd\nabcde\nx\n", 4), ElementsAre("abc", "abcd", "!abcd", "x"));
}

TEST_F(LinesTest, ALineFarOverTheLimitNeedsNoMemoryForItsRest) {
  EXPECT_THAT(read_all(std::string(3'000'000, 'a') + "\nx\n", 4), ElementsAre("!aaaa", "x"));
  EXPECT_THAT(read_all(std::string(3'000'000, 'a'), 4), ElementsAre("!aaaa"));
}

TEST_F(LinesTest, ALineLongerThanOneReadIsComplete) {
  const std::string line(1'000'000, 'b');
  EXPECT_THAT(read_all(line + "\nx", 2'000'000), ElementsAre(line, "x"));
}

TEST_F(LinesTest, AMissingFileIsAnError) {
  EXPECT_EQ(count_lines(directory_.file("none")).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace eventq::cli
