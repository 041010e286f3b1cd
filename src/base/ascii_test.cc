// ascii_test.cc: that only ASCII letters, digits, spaces and tabs have a meaning.
#include "base/ascii.h"

#include <gtest/gtest.h>

namespace eventq {
namespace {

TEST(Ascii, LettersAndDigitsOutsideAsciiAreNeither) {
  EXPECT_TRUE(is_digit('0') && is_digit('9'));
  EXPECT_FALSE(is_digit('/') || is_digit(':') || is_digit('a'));
  EXPECT_TRUE(is_alphanumeric('a') && is_alphanumeric('Z') && is_alphanumeric('5'));
  EXPECT_FALSE(is_alphanumeric('_') || is_alphanumeric('\xE4') || is_alphanumeric('\0'));
}

TEST(Ascii, ComparisonIgnoresTheCaseOfLettersOnly) {
  EXPECT_TRUE(equals_ignoring_case("Keep-Alive", "keep-aLIVE"));
  EXPECT_FALSE(equals_ignoring_case("wait", "waits"));
  EXPECT_FALSE(equals_ignoring_case("@", "`"));
  EXPECT_FALSE(equals_ignoring_case("\xC4", "\xE4"));
}

TEST(Ascii, TrimRemovesSpacesAndTabsAtBothEnds) {
  EXPECT_EQ(trim(" \t a b\t "), "a b");
  EXPECT_EQ(trim("a"), "a");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim("\na\r"), "\na\r");
}

}  // namespace
}  // namespace eventq
