// numbers_test.cc: which tokens are read as numbers.
#include "base/numbers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace eventq {
namespace {

using namespace std::string_view_literals;

TEST(ParseWhole, ReadsDigitsUpToTheLargestNumber) {
  EXPECT_EQ(parse_whole<int>("0"), 0);
  EXPECT_EQ(parse_whole<int>("42"), 42);
  EXPECT_EQ(parse_whole<std::int64_t>("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_whole<std::uint64_t>("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_whole<std::uint16_t>("65535"), 65535);
}

TEST(ParseWhole, RefusesANumberOutOfRange) {
  EXPECT_EQ(parse_whole<std::int64_t>("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_whole<std::int64_t>("18446744073709551617"), std::nullopt);
  EXPECT_EQ(parse_whole<std::uint64_t>("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_whole<std::uint16_t>("65536"), std::nullopt);
  EXPECT_EQ(parse_whole<int>("99999999999999999999999999999999"), std::nullopt);
}

TEST(ParseWhole, RefusesEverySpellingButOne) {
  constexpr std::string_view kTokens[] = {"",   "-1",    "-0",    "+1",           " 1",  "1 ",
                                          "00", "01",    "1.0",   "1e3",          "0x1", "1a",
                                          "a",  "1_000", "1,000", "\xEF\xBC\x91", "--1", "-"};

  for (const std::string_view token : kTokens)
    EXPECT_EQ(parse_whole<std::int64_t>(token), std::nullopt) << token;
  EXPECT_EQ(parse_whole<std::int64_t>("1\0"sv), std::nullopt);
}

TEST(ParseWholeSigned, ReadsALeadingMinus) {
  EXPECT_EQ(parse_whole_signed<int>("5"), 5);
  EXPECT_EQ(parse_whole_signed<int>("0"), 0);
  EXPECT_EQ(parse_whole_signed<int>("-5"), -5);
  EXPECT_EQ(parse_whole_signed<std::int64_t>("-9223372036854775808"),
            std::numeric_limits<std::int64_t>::min());
}

TEST(ParseWholeSigned, RefusesEverythingElse) {
  constexpr std::string_view kTokens[] = {
      "", "-", "-0", "-01", "--1", "- 1", "+1", "-1 ", "-1.0", "1-", "-9223372036854775809"};

  for (const std::string_view token : kTokens) {
    EXPECT_EQ(parse_whole_signed<std::int64_t>(token), std::nullopt) << token;
  }
}

TEST(ParseAll, ReadsLeadingZerosAndOtherBases) {
  EXPECT_EQ(parse_all<unsigned>("007"), 7U);
  EXPECT_EQ(parse_all<unsigned>("fF", 16), 255U);
  EXPECT_EQ(parse_all<double>("-1.5e3"), -1500.0);
}

TEST(ParseAll, RefusesATextThatIsNotWhollyANumber) {
  for (const std::string_view text : {"", " 1", "1 ", "-1", "+1", "0x1", "4294967296"}) {
    EXPECT_EQ(parse_all<unsigned>(text), std::nullopt) << text;
  }
}

TEST(Decimals, AreTheShortestTextThatReadsBackTheSame) {
  EXPECT_EQ(decimal_text(0.1), "0.1");
  EXPECT_EQ(decimal_text(100), "100");
  EXPECT_EQ(decimal_text(-2.2250738585072014e-308), "-2.2250738585072014e-308");
  std::string text = "n=";
  append_decimal(text, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(text, "n=-9223372036854775808");
}

}  // namespace
}  // namespace eventq
