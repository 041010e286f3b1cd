// progress_test.cc: the progress bar at given points in time.
#include "cli/terminal/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace eventq::cli {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using testing::HasSubstr;

constexpr SteadyTime kStart{};

TEST(ProgressBar, IsNotShownForShortWork) {
  std::ostringstream err;
  {
    ProgressBar progress(err, true, "Importing", 100, kStart);
    progress.show(50, "", kStart + 499ms);
  }
  EXPECT_EQ(err.str(), "");
}

TEST(ProgressBar, HasABarARateAndANote) {
  std::ostringstream err;
  ProgressBar progress(err, true, "Importing", 1'000'000, kStart);
  progress.show(500'000, "0 rejected", kStart + 1s);
  EXPECT_EQ(
      err.str(),
      "\rImporting  ████████████░░░░░░░░░░░░  50 %  500 000 / 1 000 000   500 000/s   0 rejected\033[K");
}

TEST(ProgressBar, EstimatesTheRemainingTimeAfterTwoSeconds) {
  std::ostringstream err;
  ProgressBar progress(err, true, "Importing", 400, kStart);
  progress.show(100, "", kStart + 2s);
  EXPECT_THAT(err.str(), HasSubstr("50/s   6 s left"));
}

TEST(ProgressBar, WithoutATotalItShowsTheCount) {
  std::ostringstream err;
  ProgressBar progress(err, true, "Importing", std::nullopt, kStart);
  progress.show(1234, "", kStart + 1s);
  EXPECT_THAT(err.str(), HasSubstr("Importing  1 234   1 234/s"));
}

TEST(ProgressBar, WithoutATerminalItPrintsALineEveryTenSeconds) {
  std::ostringstream err;
  ProgressBar progress(err, false, "Importing", 100, kStart);
  progress.show(10, "", kStart + 9'999ms);
  EXPECT_EQ(err.str(), "");
  progress.show(50, "", kStart + 10s);
  progress.show(51, "", kStart + 11s);
  const std::string shown = err.str();
  EXPECT_THAT(shown, HasSubstr("50 %"));
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 1);
}

TEST(ProgressBar, ATotalOfZeroDividesByNothing) {
  std::ostringstream err;
  ProgressBar progress(err, true, "Importing", 0, kStart);
  progress.show(0, "", kStart + 1s);
  EXPECT_THAT(err.str(), HasSubstr("0 / 0"));
}

TEST(Grouped, HasABlankEveryThreeDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1 000");
  EXPECT_EQ(grouped(-1234567), "-1 234 567");
}

}  // namespace
}  // namespace eventq::cli
