// utf8_test.cc: checks, counts and cuts of UTF-8 text.
#include "base/utf8.h"

#include <gtest/gtest.h>

namespace eventq {
namespace {

using namespace std::string_view_literals;

TEST(ValidUtf8, AcceptsEveryLengthOfSequence) {
  for (const std::string_view text :
       {""sv, "plain"sv, "\0"sv, "\xC3\xA9"sv, "\xE2\x82\xAC"sv, "\xF0\x9F\x98\x80"sv}) {
    EXPECT_TRUE(valid_utf8(text)) << text;
  }
}

TEST(ValidUtf8, RefusesWhatIsCutOverlongOrNoCharacter) {
  for (const std::string_view text :
       {"\xC3"sv, "a\xE2\x82"sv, "\xC0\x80"sv, "\xE0\x80\x80"sv, "\xED\xA0\x80"sv, "\xF4\x90\x80\x80"sv,
        "\x80"sv, "\xFF"sv, "\xF8\x88\x80\x80\x80"sv}) {
    EXPECT_FALSE(valid_utf8(text)) << text;
  }
}

TEST(Utf8Chars, CountsCodePoints) {
  EXPECT_EQ(utf8_chars(""), 0U);
  EXPECT_EQ(utf8_chars("plain"), 5U);
  EXPECT_EQ(utf8_chars("\xC3\xA9t\xC3\xA9"), 3U);
  EXPECT_EQ(utf8_chars("\xF0\x9F\x98\x80\xE2\x82\xAC"), 2U);
  EXPECT_EQ(utf8_chars("e\xCC\x81"), 2U);
}

TEST(HasControl, FindsC0ControlsAndDelete) {
  for (const std::string_view text : {"\0"sv, "a\nb"sv, "\t"sv, "\x1F"sv, "\x7F"sv, "\x1B[0m"sv}) {
    EXPECT_TRUE(has_control(text));
  }
  for (const std::string_view text : {""sv, " "sv, "~"sv, "\xC3\xA9"sv, "\xF0\x9F\x98\x80"sv}) {
    EXPECT_FALSE(has_control(text)) << text;
  }
}

TEST(ToValidUtf8, PutsAReplacementForEachByteOfNoCharacter) {
  EXPECT_EQ(to_valid_utf8(""), "");
  EXPECT_EQ(to_valid_utf8("\xC3\xA9t\xC3\xA9"), "\xC3\xA9t\xC3\xA9");
  EXPECT_EQ(to_valid_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(to_valid_utf8("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(to_valid_utf8("\xC3\xC3\xA9"), "\xEF\xBF\xBD\xC3\xA9");
  EXPECT_EQ(to_valid_utf8("\xF0\x9F\x98\x80\x80"), "\xF0\x9F\x98\x80\xEF\xBF\xBD");
}

TEST(CutUtf8, KeepsWholeCharacters) {
  EXPECT_EQ(cut_utf8("plain", 6), "plain");
  EXPECT_EQ(cut_utf8("plain", 5), "plain");
  EXPECT_EQ(cut_utf8("plain", 4), "plai");
  EXPECT_EQ(cut_utf8("a\xE2\x82\xAC", 4), "a\xE2\x82\xAC");
  EXPECT_EQ(cut_utf8("a\xE2\x82\xAC", 3), "a");
  EXPECT_EQ(cut_utf8("a\xE2\x82\xAC", 2), "a");
  EXPECT_EQ(cut_utf8("\xE2\x82\xAC", 1), "");
}

TEST(Utf8, TheEndOfATextHasWholeCharacters) {
  EXPECT_EQ(utf8_end("abc", 3), "abc");
  EXPECT_EQ(utf8_end("abcd", 3), "bcd");
  EXPECT_EQ(utf8_end("\u00e4\u20ac", 4), "\u20ac");  // 4 bytes would cut the first character
  EXPECT_EQ(utf8_end("\u20ac", 2), "");
  EXPECT_EQ(utf8_end("abc", 0), "");
}

}  // namespace
}  // namespace eventq
