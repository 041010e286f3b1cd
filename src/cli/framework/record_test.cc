// record_test.cc: tests of record.h.
#include "cli/framework/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace eventq::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

class RecordTest : public testing::Test {
 protected:
  JsonValue parse(std::string_view text) {
    auto value = parser_.parse(text);
    EXPECT_TRUE(value);
    return value ? *value : JsonValue();
  }

  JsonParser parser_;
};

TEST_F(RecordTest, FindsMembersByPath) {
  const JsonValue record = parse(R"({"id":1,"payload":{"to":"a@b","deep":{"x":[1, 2]}},"none":null})");

  EXPECT_THAT(integer_at(record, "id"), Optional(1));
  EXPECT_THAT(text_at(record, "id"), Optional(std::string("1")));
  EXPECT_THAT(text_at(record, "payload.to"), Optional(std::string("a@b")));
  EXPECT_THAT(text_at(record, "payload.deep.x"), Optional(std::string("[1, 2]")));
  EXPECT_EQ(text_at(record, "none"), std::nullopt);
  for (const char* absent : {"", ".", "id.x", "payload.", "payload.from", "payload.to.x", ".id"}) {
    EXPECT_FALSE(value_at(record, absent)) << absent;
  }
}

TEST_F(RecordTest, PrefersAMemberWhoseNameHasTheDots) {
  EXPECT_THAT(text_at(parse(R"({"a":{"b":1},"a.b":2})"), "a.b"), Optional(std::string("2")));
}

TEST_F(RecordTest, AMemberThatIsNotAnArrayHasNoElements) {
  const JsonValue record = parse(R"({"a":[1,2],"b":{}})");

  EXPECT_EQ(elements_at(record, "a").size(), 2U);
  EXPECT_THAT(elements_at(record, "b"), IsEmpty());
  EXPECT_THAT(elements_at(record, "c"), IsEmpty());
}

TEST(AnswerJson, HasNoMembersWhenTheBodyIsNotJson) {
  const AnswerJson html("<html>");

  EXPECT_FALSE(html);
  EXPECT_NE(html.error(), "");
  EXPECT_EQ(text_at(*html, "status"), std::nullopt);
  EXPECT_THAT(elements_at(*html, "events"), IsEmpty());
}

TEST(AnswerJson, KeepsACopyOfTheBody) {
  const AnswerJson answer(std::string(R"({"status":"PENDING"})"));

  EXPECT_TRUE(answer);
  EXPECT_THAT(text_at(*answer, "status"), Optional(std::string("PENDING")));
}

TEST(SplitList, LeavesOutEmptyParts) {
  EXPECT_THAT(split_list(",a,,b c,"), ElementsAre("a", "b c"));
  EXPECT_THAT(split_list("a  b", ' '), ElementsAre("a", "b"));
  EXPECT_THAT(split_list(""), IsEmpty());
}

TEST(JoinList, PutsSeparatorsOnlyBetweenParts) {
  EXPECT_EQ(join_list({}), "");
  EXPECT_EQ(join_list({"a"}), "a");
  EXPECT_EQ(join_list({"queue", "pause"}, " "), "queue pause");
}

}  // namespace
}  // namespace eventq::cli
