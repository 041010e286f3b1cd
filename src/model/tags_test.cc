// tags_test.cc: which lists of tags are accepted, and how they are cleaned.
#include "model/tags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/utf8.h"

namespace eventq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> numbered_tags(int count) {
  std::vector<std::string> tags;
  for (int i = 0; i < count; ++i) tags.push_back("t" + std::to_string(i));
  return tags;
}

TEST(ParseTags, TrimsEachTagAndKeepsTheOrder) {
  EXPECT_THAT(*parse_tags("email"), ElementsAre("email"));
  EXPECT_THAT(*parse_tags("email,priority-high,notification"),
              ElementsAre("email", "priority-high", "notification"));
  EXPECT_THAT(*parse_tags("  b ,\ta\t, c"), ElementsAre("b", "a", "c"));
}

TEST(ParseTags, DropsRepeatedTagsAndKeepsTheFirst) {
  EXPECT_THAT(*parse_tags("b,a, b ,a"), ElementsAre("b", "a"));
}

TEST(ParseTags, DistinguishesUpperAndLowerCase) {
  EXPECT_THAT(*parse_tags("Email,email"), ElementsAre("Email", "email"));
}

TEST(ParseTags, AcceptsEveryAllowedCharacter) {
  EXPECT_THAT(*parse_tags("AZaz09._:/@-"), ElementsAre("AZaz09._:/@-"));
}

TEST(ParseTags, RefusesBadLists) {
  struct Row {
    std::string_view tags;
    std::string_view message;
  };
  const Row rows[] = {
      {"", "There are no tags; 1 to 32 are needed, such as \"email,priority-high\"."},
      {" \t ", "There are no tags; 1 to 32 are needed, such as \"email,priority-high\"."},
      {",", "A tag is empty; each tag needs 1 to 64 characters."},
      {"a,", "A tag is empty; each tag needs 1 to 64 characters."},
      {",a", "A tag is empty; each tag needs 1 to 64 characters."},
      {"a, ,b", "A tag is empty; each tag needs 1 to 64 characters."},
      {"a b", "The tag \"a b\" has a character that is not allowed; use only A-Z a-z 0-9 . _ : / @ and -."},
      {"a\nb", "The tag \"a\nb\" has a character that is not allowed; use only A-Z a-z 0-9 . _ : / @ and -."},
      {"gr\xC3\xBCn",
       "The tag \"gr\xC3\xBCn\" has a character that is not allowed; use only A-Z a-z 0-9 . _ : / @ and -."},
      {"a*", "The tag \"a*\" has a character that is not allowed; use only A-Z a-z 0-9 . _ : / @ and -."},
      {"a;b", "The tag \"a;b\" has a character that is not allowed; use only A-Z a-z 0-9 . _ : / @ and -."},
  };
  for (const Row& row : rows) {
    const auto parsed = parse_tags(row.tags);
    ASSERT_FALSE(parsed) << row.tags;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument) << row.tags;
    EXPECT_EQ(parsed.error().field, "tags") << row.tags;
    EXPECT_EQ(parsed.error().message, row.message);
  }
}

TEST(CleanTags, ATagHasAtMost64Characters) {
  EXPECT_TRUE(clean_tags({std::string(63, 'x')}));
  EXPECT_TRUE(clean_tags({std::string(64, 'x')}));

  const auto too_long = clean_tags({std::string(65, 'x')});

  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(too_long.error().field, "tags");
  EXPECT_THAT(too_long.error().message, HasSubstr("has 65 characters; a tag may have 64."));
}

TEST(CleanTags, AnEventHasAtMost32Tags) {
  EXPECT_EQ(clean_tags(numbered_tags(31))->size(), 31U);
  EXPECT_EQ(clean_tags(numbered_tags(32))->size(), 32U);

  const auto too_many = clean_tags(numbered_tags(33));

  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(too_many.error().field, "tags");
  EXPECT_EQ(too_many.error().message, "There are more than 32 tags; at most 32 are allowed.");
}

TEST(CleanTags, RepeatedTagsDoNotCountTowardsTheLimit) {
  std::vector<std::string> tags = numbered_tags(32);
  tags.insert(tags.end(), 10, "t0");

  EXPECT_EQ(clean_tags(tags)->size(), 32U);
}

TEST(CleanTags, TheMessageAboutALongTagIsShortAndValidUtf8) {
  // 65 bytes whose 64th is inside a character: a message cut there would not be valid UTF-8.
  std::string tag = "x";
  for (int i = 0; i < 32; ++i) tag += "\xC3\xA9";
  const std::string huge(60'000, '*');

  for (const std::string& sent : {tag, huge, std::string(60'000, 'x')}) {
    const auto refused = clean_tags({sent});
    ASSERT_FALSE(refused);
    EXPECT_TRUE(valid_utf8(refused.error().message));
    EXPECT_LT(refused.error().message.size(), 200U);
  }
}

TEST(JoinTags, IsUndoneBySplitTags) {
  EXPECT_EQ(join_tags({"a"}), "a");
  EXPECT_EQ(join_tags({"b", "a", "c"}), "b,a,c");
  EXPECT_THAT(split_tags("a"), ElementsAre("a"));
  EXPECT_THAT(split_tags("b,a,c"), ElementsAre("b", "a", "c"));
}

}  // namespace
}  // namespace eventq
