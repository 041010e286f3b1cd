// range_test.cc: the bounds belong to the range, and the error names the value and the range.
#include "base/range.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>

namespace eventq {
namespace {

using namespace std::chrono_literals;

std::string message(const std::optional<Error>& fault) { return fault ? fault->message : "in range"; }

TEST(OutOfRange, BothBoundsBelongToTheRange) {
  EXPECT_EQ(message(out_of_range("n", 1, 1, 3)), "in range");
  EXPECT_EQ(message(out_of_range("n", 3, 1, 3)), "in range");
  EXPECT_EQ(message(out_of_range("n", 0, 1, 3)), "n is 0; it must be from 1 to 3.");
  EXPECT_EQ(message(out_of_range("n", 4, 1, 3)), "n is 4; it must be from 1 to 3.");
}

TEST(OutOfRange, TheErrorIsAnInvalidArgumentAboutTheField) {
  const auto fault = out_of_range("wait", 61, 0, 60, "seconds");
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->code, ErrorCode::invalid_argument);
  EXPECT_EQ(fault->field, "wait");
  EXPECT_EQ(fault->message, "wait is 61; it must be from 0 to 60 seconds.");
}

TEST(OutOfRange, AnAbsentNumberIsInRange) {
  EXPECT_EQ(message(out_of_range("n", std::nullopt, 1, 3)), "in range");
}

TEST(OutOfRange, DurationsAreWrittenWithTheirUnits) {
  EXPECT_EQ(message(out_of_range("lease", 100ms, 100ms, 8760h)), "in range");
  EXPECT_EQ(message(out_of_range("lease", 8760h, 100ms, 8760h)), "in range");
  EXPECT_EQ(message(out_of_range("lease", 99ms, 100ms, 8760h)),
            "lease is 99ms; it must be from 100ms to 365d.");
  EXPECT_EQ(message(out_of_range("lease", -1ms, 0ms, 1h)), "lease is -1ms; it must be from 0s to 1h.");
}

TEST(FractionOutOfRange, NotANumberIsOutOfEveryRange) {
  EXPECT_EQ(message(fraction_out_of_range("jitter", 0, 0, 1)), "in range");
  EXPECT_EQ(message(fraction_out_of_range("jitter", 1, 0, 1)), "in range");
  EXPECT_EQ(message(fraction_out_of_range("jitter", 1.5, 0, 1)), "jitter is 1.5; it must be from 0 to 1.");
  EXPECT_EQ(message(fraction_out_of_range("jitter", std::numeric_limits<double>::quiet_NaN(), 0, 1)),
            "jitter is nan; it must be from 0 to 1.");
}

}  // namespace
}  // namespace eventq
