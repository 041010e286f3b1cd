// json_writer_test.cc: the text that the writer writes, and that the parser reads it back.
#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/json.h"

namespace eventq {
namespace {

using namespace std::string_view_literals;

std::string as_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonWriter, PutsCommasBetweenMembersAndElements) {
  std::string out;
  JsonWriter writer(out);

  writer.begin_object();
  writer.key("id").integer(7);
  writer.key("tags").begin_array().string("a").string("b").end_array();
  writer.key("empty").begin_object().end_object();
  writer.key("none").begin_array().end_array();
  writer.key("list").begin_array().begin_object().end_object().begin_array().end_array().null().end_array();
  writer.key("done").boolean(true);
  writer.key("failed").boolean(false);
  writer.end_object();

  EXPECT_EQ(
      out,
      R"({"id":7,"tags":["a","b"],"empty":{},"none":[],"list":[{},[],null],"done":true,"failed":false})");
}

TEST(JsonWriter, InsertsRawJsonUnchanged) {
  std::string out;

  JsonWriter(out).begin_object().key("payload").raw("{ \"n\" : 1.0 }").key("b").null().end_object();

  EXPECT_EQ(out, R"({"payload":{ "n" : 1.0 },"b":null})");
}

TEST(JsonWriter, AppendsToTheString) {
  std::string out = "data: ";

  JsonWriter(out).begin_array().integer(1).end_array();

  EXPECT_EQ(out, "data: [1]");
}

TEST(JsonWriter, WritesTheSmallestAndTheLargestInteger) {
  std::string out;

  JsonWriter(out)
      .begin_array()
      .integer(std::numeric_limits<std::int64_t>::min())
      .integer(std::numeric_limits<std::int64_t>::max())
      .end_array();

  EXPECT_EQ(out, "[-9223372036854775808,9223372036854775807]");
}

TEST(JsonWriter, WritesTheShortestTextThatReadsBackAsTheNumber) {
  std::string out;

  JsonWriter(out).begin_array().number(0).number(0.1).number(-2.5).number(1e22).number(1.0 / 3).end_array();

  EXPECT_EQ(out, "[0,0.1,-2.5,1e+22,0.3333333333333333]");
}

TEST(JsonWriter, WritesNullForNumbersThatAreNotFinite) {
  std::string out;

  JsonWriter(out)
      .begin_array()
      .number(std::numeric_limits<double>::infinity())
      .number(std::numeric_limits<double>::quiet_NaN())
      .end_array();

  EXPECT_EQ(out, "[null,null]");
}

TEST(JsonWriter, WritesTimesAsStrings) {
  std::string out;

  JsonWriter(out).time(TimePoint(Millis(1'766'572'200'000)));

  EXPECT_EQ(out, "\"2025-12-24T10:30:00.000Z\"");
}

TEST(AppendJsonString, EscapesQuotesBackslashesAndControlCharacters) {
  EXPECT_EQ(as_json(""), R"("")");
  EXPECT_EQ(as_json("say \"hi\""), R"("say \"hi\"")");
  EXPECT_EQ(as_json("a\\b/c"), R"("a\\b/c")");
  EXPECT_EQ(as_json("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(as_json("\0\x01\x1F\x7F"sv), "\"\\u0000\\u0001\\u001f\x7F\"");
  EXPECT_EQ(as_json("\xC3\xA9\xF0\x9F\x98\x80"), "\"\xC3\xA9\xF0\x9F\x98\x80\"");
}

TEST(AppendJsonString, IsReadBackByTheParser) {
  std::string every_ascii;
  for (char c = 0; c < 0x7F; ++c) every_ascii += c;
  JsonParser parser;

  for (const std::string& text : {std::string(), every_ascii, every_ascii + every_ascii,
                                  std::string(1000, '"'), std::string("\xE2\x82\xAC\n\xF0\x9F\x98\x80\\")}) {
    const auto value = parser.parse(as_json(text));
    ASSERT_TRUE(value);
    EXPECT_EQ(value->string(), text);
  }
}

}  // namespace
}  // namespace eventq
