// terminal_text_test.cc: tests of terminal_text.h.
#include "cli/terminal/terminal_text.h"

#include <gtest/gtest.h>

#include <string_view>

namespace eventq::cli {
namespace {

using std::string_view_literals::operator""sv;

TEST(Printable, EscapesControlCharacters) {
  struct Case {
    std::string_view text;
    std::string_view shown;
  };
  for (const Case& row : {
           Case{"", ""}, Case{"plain", "plain"}, Case{"Grüße 東京 🙂", "Grüße 東京 🙂"},
           Case{"\x1b[2J", "\\u001b[2J"}, Case{"a\nb\tc\rd", "a\\nb\\tc\\rd"},
           Case{"\0\a\x7f"sv, "\\u0000\\u0007\\u007f"},
           Case{"\xc2\x9b"
                "31m",
                "\\u009b31m"},  // CSI in one character
           Case{"\xe2\x80\xae"
                "gpj.exe",
                "\\u202egpj.exe"},                   // reverses the direction of the text
           Case{"\xff\xc3", "\\xff\\xc3"},           // not UTF-8
           Case{"\xed\xa0\x80", "\\xed\\xa0\\x80"},  // a surrogate
           Case{"\xc2\xa0", "\xc2\xa0"},             // the first character after C1
       }) {
    EXPECT_EQ(printable(row.text), row.shown);
  }
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("Grüße"), 5U);
  EXPECT_EQ(display_width("東京"), 4U);
  EXPECT_EQ(display_width("e\xcc\x81"), 1U);  // a letter and a combining accent
}

TEST(CutToWidth, MarksTextThatWasCutOff) {
  EXPECT_EQ(cut_to_width("abcd", 5), "abcd");
  EXPECT_EQ(cut_to_width("abcd", 4), "abcd");
  EXPECT_EQ(cut_to_width("abcd", 3), "ab…");
  EXPECT_EQ(cut_to_width("abcd", 1), "…");
  EXPECT_EQ(cut_to_width("abcd", 0), "");
  EXPECT_EQ(cut_to_width("東京都", 6), "東京都");
  EXPECT_EQ(cut_to_width("東京都", 5), "東京…");
  EXPECT_EQ(cut_to_width("東京都", 4), "東…");  // half a character cannot be shown
}

TEST(Padded, FillsUpToTheWidth) {
  EXPECT_EQ(padded("東", 4), "東  ");
  EXPECT_EQ(padded("abc", 3), "abc");
  EXPECT_EQ(padded("abcd", 3), "abcd");
}

}  // namespace
}  // namespace eventq::cli
