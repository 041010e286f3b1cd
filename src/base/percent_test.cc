// percent_test.cc: encoding and strict decoding of paths and queries.
#include "base/percent.h"

#include <gtest/gtest.h>

#include <string>

namespace eventq {
namespace {

using namespace std::string_view_literals;

TEST(PercentEncode, EncodesAllButUnreservedCharacters) {
  EXPECT_EQ(percent_encode("azAZ09-._~"), "azAZ09-._~");
  EXPECT_EQ(percent_encode("a b/c?d&e=f+g%"), "a%20b%2Fc%3Fd%26e%3Df%2Bg%25");
  EXPECT_EQ(percent_encode("\xC3\xA9"), "%C3%A9");
}

TEST(PercentDecode, ReplacesEscapesByTheirBytes) {
  EXPECT_EQ(*percent_decode("", PlusIs::literal), "");
  EXPECT_EQ(*percent_decode("plain", PlusIs::literal), "plain");
  EXPECT_EQ(*percent_decode("a%20b%2Fc%2f", PlusIs::literal), "a b/c/");
  EXPECT_EQ(*percent_decode("%C3%a9", PlusIs::literal), "\xC3\xA9");
  EXPECT_EQ(*percent_decode("%2541", PlusIs::literal), "%41");
}

TEST(PercentDecode, ReadsAPlusAsTheCallerSays) {
  EXPECT_EQ(*percent_decode("a+b%2B", PlusIs::literal), "a+b+");
  EXPECT_EQ(*percent_decode("a+b%2B", PlusIs::space), "a b+");
}

TEST(PercentDecode, RefusesBadEscapesAndBadText) {
  for (const std::string_view text :
       {"%"sv, "%4"sv, "a%"sv, "%zz"sv, "%4g"sv, "%-1"sv, "%+1"sv, "% 1"sv, "%%41"sv, "%u0041"sv, "%00"sv,
        "a\0"sv, "%FF"sv, "%C3"sv, "%C0%AF"sv, "%ED%A0%80"sv}) {
    const auto decoded = percent_decode(text, PlusIs::literal);
    ASSERT_FALSE(decoded) << text;
    EXPECT_EQ(decoded.error().code, ErrorCode::invalid_argument);
  }
}

TEST(ParseQuery, SplitsAtAmpersandsAndTheFirstEqualsSign) {
  const auto parameters = parse_query("a=1&b=x%20y+z&c&d=&e=p=q&%C3%A9=%26");

  ASSERT_TRUE(parameters);
  ASSERT_EQ(parameters->size(), 6U);
  EXPECT_EQ((*parameters)[0].name, "a");
  EXPECT_EQ((*parameters)[0].value, "1");
  EXPECT_EQ((*parameters)[1].value, "x y z");
  EXPECT_EQ((*parameters)[2].name, "c");
  EXPECT_EQ((*parameters)[2].value, "");
  EXPECT_EQ((*parameters)[3].value, "");
  EXPECT_EQ((*parameters)[4].value, "p=q");
  EXPECT_EQ((*parameters)[5].name, "\xC3\xA9");
  EXPECT_EQ((*parameters)[5].value, "&");
}

TEST(ParseQuery, SkipsEmptyParts) {
  EXPECT_TRUE(parse_query("")->empty());
  EXPECT_TRUE(parse_query("&&")->empty());
  EXPECT_EQ(parse_query("&a=1&&b=2&")->size(), 2U);
}

TEST(ParseQuery, NamesTheParameterThatIsGivenTwice) {
  const auto parameters = parse_query("tag=a&limit=1&t%61g=b");

  ASSERT_FALSE(parameters);
  EXPECT_EQ(parameters.error().message, "The query parameter \"tag\" is given twice.");
  EXPECT_EQ(parameters.error().field, "tag");
}

TEST(ParseQuery, NamesTheParameterThatIsBadlyEscaped) {
  const auto parameters = parse_query("tag=%zz");

  ASSERT_FALSE(parameters);
  EXPECT_EQ(parameters.error().message,
            "The query parameter \"tag\": A percent sign must be followed by two hexadecimal digits.");
  EXPECT_EQ(parameters.error().field, "tag");
}

TEST(ParseQuery, RefusesAParameterWithoutAName) {
  EXPECT_FALSE(parse_query("=1"));
  EXPECT_FALSE(parse_query("a=1&=2"));
  EXPECT_FALSE(parse_query("="));
}

TEST(ParseQuery, RefusesMoreThan64Parameters) {
  std::string query;
  for (int i = 0; i < 64; ++i) query += "p" + std::to_string(i) + "&";

  EXPECT_EQ(parse_query(query)->size(), 64U);
  EXPECT_EQ(parse_query(query + "one_more").error().message, "The query has more than 64 parameters.");
}

}  // namespace
}  // namespace eventq
