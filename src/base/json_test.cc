// json_test.cc: which texts the parser accepts and which it refuses.
#include "base/json.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace eventq {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

// The message of the error, or "" for a text that parses.
std::string fault(std::string_view text) {
  JsonParser parser;
  const auto value = parser.parse(text);
  return value ? "" : value.error().message;
}

std::string repeat(std::string_view part, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += part;
  return out;
}

TEST(JsonParser, AcceptsWhatTheGrammarAllows) {
  constexpr std::string_view kTexts[] = {
      // Scalars and white space.
      "null", "true", "false", "0", "\"\"", "\"text\"", " \t\r\n1 \t\r\n", "[]", "{}", "[ ]", "{\n}",
      "[null, 1]",
      // Numbers, of any size and precision.
      "-0", "-1", "10", "1.0", "0.5", "-0.0", "1e3", "1E3", "1e+3", "1e-3", "0e0", "0.1e1", "-1.25E-12",
      "9223372036854775807", "9223372036854775808", "18446744073709551616", "123456789012345678901234567890",
      "1e400", "-1e400", "1e-400", "1e9999999999999", "0.000000000000000000000000000000000000000001",
      "3.141592653589793238462643383279502884197169399375105820974944592307816406286",
      // Strings.
      R"("\"\\\/\b\f\n\r\t")", R"("\u0000")", R"("\u00e9")", R"("\u00E9")", R"("\uFFFF")",
      R"("\ud83d\ude00")", R"("\uDBFF\uDFFF")", "\"\xC3\xA9\"", "\"\xF0\x9F\x98\x80\"",
      "\"\xF4\x8F\xBF\xBF\"", "\"\x7F\"", R"("[{,:}]")", "\"\xE2\x80\xA8\"", "\"\xEF\xBF\xBF\"",
      // Structure.
      R"({"a":1})", R"({"":1})", R"({"a":1,"b":2})", R"({"a":{"a":{"a":1}}})", R"([{"a":1},{"a":1}])",
      "[[],[],[[]]]", R"({ "a" : [ 1 , { } ] })", R"({"a":1,"A":2})", R"({"a\u0000":1,"a":2})"};

  for (const std::string_view text : kTexts) EXPECT_EQ(fault(text), "") << text;
}

TEST(JsonParser, RefusesEverythingElse) {
  constexpr std::string_view kTexts[] = {
      // No value, half a value, two values.
      ""sv, " "sv, "\n"sv, "\xEF\xBB\xBF{}"sv, "\xEF\xBB\xBF"sv, "1 2"sv, "{}{}"sv, "[]]"sv, "null,"sv,
      "{}x"sv, "[1]\0"sv, "\"a\" \"b\""sv, "1\0"sv,
      // Words.
      "tru"sv, "True"sv, "nul"sv, "nulll"sv, "truefalse"sv, "NaN"sv, "Infinity"sv, "-Infinity"sv,
      "undefined"sv, "a"sv,
      // Numbers.
      "-"sv, "+1"sv, "01"sv, "-01"sv, "00"sv, "1."sv, ".5"sv, "-.5"sv, "1.e3"sv, "1e"sv, "1e+"sv, "1E-"sv,
      "0x10"sv, "1_000"sv, "1,000"sv, "1a"sv, "1.2.3"sv, "--1"sv, "1e1.5"sv, "\xEF\xBC\x91"sv, "[1 000]"sv,
      "1\xC2\xA0"sv,
      // Strings.
      "\""sv, "\"a"sv, "'a'"sv, R"("\")"sv, R"("\x")"sv, R"("\a")"sv, R"("\u12")"sv, R"("\u12g4")"sv,
      R"("\U0041")"sv, R"("\ud800")"sv, R"("\ud800x")"sv, R"("\ud800\n")"sv, R"("\ud800\u0041")"sv,
      R"("\ud800\ud800")"sv, R"("\udc00")"sv, R"("\udc00\ud800")"sv, R"("\ud800\u12")"sv, "\"\n\""sv,
      "\"\t\""sv, "\"\0\""sv, "\"\x1F\""sv, "\"a\\\n\""sv,
      // Bad UTF-8: truncated, overlong, surrogate, beyond U+10FFFF, lone continuation.
      "\"\xC3\""sv, "\"\xC0\xAF\""sv, "\"\xE0\x80\xAF\""sv, "\"\xED\xA0\x80\""sv, "\"\xF4\x90\x80\x80\""sv,
      "\"\x80\""sv, "\"\xFF\""sv, "[\xC3\xA9]"sv, "\xFF"sv,
      // Structure.
      "["sv, "]"sv, "{"sv, "}"sv, "[1"sv, "[1,"sv, "[1,]"sv, "[,1]"sv, "[,]"sv, "[1,,2]"sv, "[1 2]"sv,
      "[1:2]"sv, "[1}"sv, "{1]"sv, "[\"a\":1]"sv, "{\"a\"}"sv, "{\"a\":}"sv, "{\"a\":1,}"sv, "{,}"sv,
      "{\"a\" 1}"sv, "{\"a\",1}"sv, "{a:1}"sv, "{1:1}"sv, "{null:1}"sv, "{'a':1}"sv, "{\"a\":1 \"b\":2}"sv,
      "{\"a\"::1}"sv, "{\"a\":1,,\"b\":2}"sv, "{[]:1}"sv, "[[[1]]"sv, "[1]]"sv, "{\"a\":[}"sv, ":"sv, ","sv,
      "\\"sv, "\\\"a\""sv, "[\\\"a\"]"sv,
      // Extensions that other parsers accept.
      "[1] // one"sv, "/* one */ 1"sv, "#1"sv, "[1]\f"sv, "\v1"sv, "[\f1]"sv, "\x1A"sv, "[1\x1A"sv, "1;"sv,
      "(1)"sv};

  for (const std::string_view text : kTexts) EXPECT_NE(fault(text), "") << text;
}

TEST(JsonParser, SaysWhatIsWrongAndWhere) {
  struct Case {
    std::string_view text;
    std::string_view reason;
  };
  constexpr Case kCases[] = {
      {"", "it is empty"},
      {" \n", "it is empty"},
      {"\xEF\xBB\xBF{}", "it begins with a byte order mark"},
      {"{} {}", "there is more text after the value at byte 3"},
      {"[1,]", "a value is missing at byte 3"},
      {"[1", "a ',' or ']' is missing at byte 2"},
      {"{\"a\":1", "a ',' or '}' is missing at byte 6"},
      {"{\"a\" 1}", "a ':' after a member name is missing at byte 5"},
      {"{a:1}", "a member name in double quotes is missing at byte 1"},
      {"[1, 01]", "an unknown word or a malformed number is at byte 4"},
      {"\"a", "a string is not closed"},
      {"\"\n\"", "a string holds a control character without escape"},
      {"\"\xC3\"", "it holds invalid UTF-8"},
      {"[\"a\\x\"]", "a string holds an unknown escape sequence at byte 3"},
      {"[\"a\\uDC00\"]", "a string holds a lone surrogate at byte 3"},
      {"{\"title\":1,\"title\":2}", "duplicate member \"title\""},
  };

  for (const Case& c : kCases) {
    EXPECT_EQ(fault(c.text), "The body is not valid JSON: " + std::string(c.reason) + ".") << c.text;
  }
}

TEST(JsonParser, RefusesADuplicateMemberAtAnyLevel) {
  constexpr std::string_view kTexts[] = {
      R"({"a":1,"a":1})",
      R"({"a":1,"b":2,"a":3})",
      R"({"":1,"":2})",
      R"({"outer":{"a":1,"a":2}})",
      R"({"a":{"b":1},"c":[1,[{"x":{"a":1,"b":[],"a":2}}]]})",
      R"([{"b":1},{"a":1,"a":2}])",
      R"({"a":{"b":1,"c":2},"b":1,"a":2})",
  };

  for (const std::string_view text : kTexts) {
    EXPECT_NE(fault(text).find("duplicate member"), std::string::npos) << text;
  }
}

TEST(JsonParser, ComparesMemberNamesWithoutTheirEscapes) {
  constexpr std::string_view kTexts[] = {
      R"({"a":1,"\u0061":2})",
      R"({"\u0061":1,"a":2})",
      R"({"\u00e9":1,"\u00E9":2})",
      "{\"\\u00e9\":1,\"\xC3\xA9\":2}",
      "{\"\\ud83d\\ude00\":1,\"\xF0\x9F\x98\x80\":2}",
      R"({"\/":1,"/":2})",
      R"({"\n":1,"\u000a":2})",
  };

  for (const std::string_view text : kTexts) {
    EXPECT_NE(fault(text).find("duplicate member"), std::string::npos) << text;
  }
}

TEST(JsonParser, FindsADuplicateAmongManyMembers) {
  std::string members;
  for (int i = 0; i < 50'000; ++i) members += "\"member " + std::to_string(i) + "\":1,";

  EXPECT_EQ(fault("{" + members + "\"last\":1}"), "");
  EXPECT_EQ(fault("{" + members + "\"member 777\":1}"),
            "The body is not valid JSON: duplicate member \"member 777\".");
  EXPECT_EQ(fault("{" + members + "\"member\\u0020777\":1}"),
            "The body is not valid JSON: duplicate member \"member 777\".");
}

TEST(JsonParser, FindsADuplicateWhateverTheNumberOfMembers) {
  for (int count = 1; count <= 40; ++count) {
    std::string members;
    for (int i = 0; i < count; ++i) members += "\"" + std::to_string(i) + "\":1,";

    EXPECT_EQ(fault("{" + members + "\"x\":1}"), "") << count;
    EXPECT_NE(fault("{" + members + "\"0\":1}"), "") << count;
  }
}

TEST(JsonParser, CutsALongNameInItsSentence) {
  const std::string name = repeat("\xC3\xA9", 51);

  const std::string message = fault("{\"" + name + "\":1,\"" + name + "\":2}");

  EXPECT_EQ(message, "The body is not valid JSON: duplicate member \"" + repeat("\xC3\xA9", 50) + "\"....");
}

TEST(JsonParser, AcceptsDepth64AndRefusesDepth65) {
  const auto arrays = [](std::size_t depth) { return repeat("[", depth) + repeat("]", depth); };
  const auto objects = [](std::size_t depth) {
    return repeat("{\"a\":", depth - 1) + "{}" + repeat("}", depth - 1);
  };
  const auto both = [](std::size_t pairs) { return repeat("[{\"a\":", pairs) + "1" + repeat("}]", pairs); };
  const std::string refusal = "The body is not valid JSON: it is nested deeper than 64 levels at byte ";

  EXPECT_EQ(fault(arrays(63)), "");
  EXPECT_EQ(fault(arrays(64)), "");
  EXPECT_EQ(fault(arrays(65)), refusal + "64.");
  EXPECT_EQ(fault(objects(63)), "");
  EXPECT_EQ(fault(objects(64)), "");
  EXPECT_EQ(fault(objects(65)), refusal + "320.");
  EXPECT_EQ(fault(both(32)), "");
  EXPECT_EQ(fault("[" + both(32) + "]"), refusal + "188.");
  EXPECT_EQ(fault(repeat("[", 100'000)), refusal + "64.");
}

TEST(JsonParser, AcceptsManySiblingsAtTheGreatestDepth) {
  const std::string text = repeat("[", 63) + repeat("[],", 1000) + "[]" + repeat("]", 63);

  EXPECT_EQ(fault(text), "");
}

TEST(JsonParser, ParsesAValidTextAfterARefusedOne) {
  JsonParser parser;

  EXPECT_FALSE(parser.parse(R"({"a":1,"b":{"a":)"));
  EXPECT_FALSE(parser.parse(R"({"a":1,"b":"\x"})"));
  const auto value = parser.parse(R"({"a":1,"b":2})");

  ASSERT_TRUE(value);
  EXPECT_EQ(value->members().size(), 2U);
}

TEST(JsonParser, ParsesTextsOfVeryDifferentSizesOneAfterTheOther) {
  JsonParser parser;
  const std::string large = "\"" + std::string(9 * 1024 * 1024, 'x') + "\"";

  for (const std::string& text : {"[1]"s, large, "[2]"s, large, large, "[3]"s}) {
    const auto value = parser.parse(text);
    ASSERT_TRUE(value);
    EXPECT_EQ(value->raw().size(), text.size());
  }
}

}  // namespace
}  // namespace eventq
