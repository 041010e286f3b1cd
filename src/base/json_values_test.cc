// json_values_test.cc: the values of a parsed document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/json.h"

namespace eventq {
namespace {

using testing::ElementsAre;
using namespace std::string_view_literals;

class JsonValues : public testing::Test {
 protected:
  JsonValue parse(std::string_view text) {
    auto value = parser_.parse(text);
    EXPECT_TRUE(value) << text;
    return value ? *value : JsonValue();
  }

  std::vector<std::string_view> raw_elements(std::string_view text) {
    std::vector<std::string_view> raw;
    for (const JsonValue& element : parse(text).elements()) raw.push_back(element.raw());
    return raw;
  }

  JsonParser parser_;
};

TEST_F(JsonValues, KnowTheirType) {
  EXPECT_EQ(parse("null").type(), JsonType::null);
  EXPECT_EQ(parse("true").type(), JsonType::boolean);
  EXPECT_EQ(parse("false").type(), JsonType::boolean);
  EXPECT_EQ(parse("-12").type(), JsonType::integer);
  EXPECT_EQ(parse("12.0").type(), JsonType::number);
  EXPECT_EQ(parse("9223372036854775808").type(), JsonType::number);
  EXPECT_EQ(parse("\"1\"").type(), JsonType::string);
  EXPECT_EQ(parse("[1]").type(), JsonType::array);
  EXPECT_EQ(parse("{}").type(), JsonType::object);
  EXPECT_EQ(JsonValue().type(), JsonType::null);
}

TEST_F(JsonValues, ReturnAnIntegerForAWholeNumberThatFits) {
  EXPECT_EQ(parse("0").integer(), 0);
  EXPECT_EQ(parse("-0").integer(), 0);
  EXPECT_EQ(parse("9223372036854775807").integer(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse("-9223372036854775808").integer(), std::numeric_limits<std::int64_t>::min());

  constexpr std::string_view kOthers[] = {"9223372036854775808",
                                          "-9223372036854775809",
                                          "18446744073709551617",
                                          "1.0",
                                          "1e3",
                                          "1E0",
                                          "\"1\"",
                                          "true",
                                          "null",
                                          "[1]",
                                          "{}"};
  for (const std::string_view text : kOthers) EXPECT_EQ(parse(text).integer(), std::nullopt) << text;
}

TEST_F(JsonValues, ReturnNothingForAnotherType) {
  EXPECT_EQ(parse("1").string(), std::nullopt);
  EXPECT_EQ(parse("null").string(), std::nullopt);
  EXPECT_EQ(parse("\"true\"").boolean(), std::nullopt);
  EXPECT_EQ(parse("1").boolean(), std::nullopt);
  EXPECT_EQ(parse("true").boolean(), true);
  EXPECT_EQ(parse("false").boolean(), false);
}

TEST_F(JsonValues, UnescapeStrings) {
  struct Case {
    std::string_view text;
    std::string_view expected;
  };
  constexpr Case kCases[] = {
      {R"("")", ""},
      {R"("plain")", "plain"},
      {R"("\"\\\/\b\f\n\r\t")", "\"\\/\b\f\n\r\t"},
      {R"("a\u0041z")", "aAz"},
      {R"("\u0000")", "\0"sv},
      {R"("\u007f\u0080\u07ff\u0800\uffff")", "\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF"},
      {R"("\ud83d\ude00")", "\xF0\x9F\x98\x80"},
      {R"("\uD800\uDC00\uDBFF\uDFFF")", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"},
      {R"("\\u0041")", "\\u0041"},
      {R"("\\\\\"")", "\\\\\""},
  };

  for (const Case& c : kCases) EXPECT_EQ(parse(c.text).string(), c.expected) << c.text;
}

TEST_F(JsonValues, KeepUnescapedStringsValidUntilTheNextParse) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "\"\\n" + std::to_string(i) + "\",";
  text += "\"\"]";

  const auto elements = parse(text).elements();
  const auto first = elements[0].string();
  for (const JsonValue& element : elements) EXPECT_TRUE(element.string());

  EXPECT_EQ(first, "\n0");
}

TEST_F(JsonValues, ReturnNumberTokensUnchanged) {
  EXPECT_THAT(raw_elements("[1.0, 1.50,-0,1E+2 ,\n0.1e-07\t, 123456789012345678901234567890,1e400]"),
              ElementsAre("1.0", "1.50", "-0", "1E+2", "0.1e-07", "123456789012345678901234567890", "1e400"));
}

TEST_F(JsonValues, ReturnTheirBytesWithoutSurroundingSpace) {
  EXPECT_EQ(parse(" \n {\"a\" : [ 1 , 2 ] } \t").raw(), "{\"a\" : [ 1 , 2 ] }");
  EXPECT_THAT(raw_elements(R"([ "a\u0041" , [ ] , { "k" : { } } , null , "] , [" , "\"" ])"),
              ElementsAre(R"("a\u0041")", "[ ]", R"({ "k" : { } })", "null", R"("] , [")", R"("\"")"));
}

TEST_F(JsonValues, ListMembersInTheOrderSent) {
  const auto members = parse(R"({"b":[{"x":[1]},2], "a\n" :"v" ,"c":{"d":{"e":"}"}} , "":null})").members();

  ASSERT_EQ(members.size(), 4U);
  EXPECT_EQ(members[0].name, "b");
  EXPECT_EQ(members[0].value.raw(), "[{\"x\":[1]},2]");
  EXPECT_EQ(members[1].name, "a\n");
  EXPECT_EQ(members[1].value.string(), "v");
  EXPECT_EQ(members[2].name, "c");
  EXPECT_EQ(members[2].value.raw(), R"({"d":{"e":"}"}})");
  EXPECT_EQ(members[3].name, "");
  EXPECT_EQ(members[3].value.type(), JsonType::null);
}

TEST_F(JsonValues, ReachTheInnermostValue) {
  const JsonValue outer = parse(R"([[],[{"a":[{},{"b":"deep"}]}]])");

  const JsonValue object = outer.elements()[1].elements()[0];
  const JsonValue inner = object.members()[0].value.elements()[1];

  EXPECT_EQ(inner.raw(), R"({"b":"deep"})");
  EXPECT_EQ(inner.members()[0].value.string(), "deep");
}

TEST_F(JsonValues, OfEmptyContainersHaveNoChildren) {
  EXPECT_TRUE(parse("[ ]").elements().empty());
  EXPECT_TRUE(parse("{ }").members().empty());
}

TEST(JsonParserPadded, ReturnsViewsIntoTheText) {
  std::string text = R"({"title":"mail"})";
  text.reserve(text.size() + kJsonPadding);
  JsonParser parser;

  const auto value = parser.parse_padded(text);

  ASSERT_TRUE(value);
  EXPECT_EQ(value->raw().data(), text.data());
  EXPECT_EQ(value->members()[0].value.string()->data(), text.data() + 10);
}

}  // namespace
}  // namespace eventq
