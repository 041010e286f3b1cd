// file_version_test.cc: tests what a version covers, and reading If-Match.
#include "notebook/file_version.h"

#include <gtest/gtest.h>

namespace eventq::notebook {
namespace {

FileRow row() {
  FileRow row;
  row.path = "a.md";
  row.hash = "h";
  row.content_type = "text/markdown";
  row.event_id = "evt_1";
  return row;
}

TEST(FileVersion, DiffersAfterEachChangeOfContentMetadataAndPath) {
  const std::string before = version_of(row());
  EXPECT_EQ(before.size(), 32U);
  EXPECT_EQ(version_of(row()), before);
  const auto changed = [&](auto change) {
    FileRow other = row();
    change(other);
    return version_of(other) != before;
  };
  EXPECT_TRUE(changed([](FileRow& file) { file.hash = "i"; }));
  EXPECT_TRUE(changed([](FileRow& file) { file.path = "b.md"; }));
  EXPECT_TRUE(changed([](FileRow& file) { file.metadata.title = ""; }));
  EXPECT_TRUE(changed([](FileRow& file) { file.metadata.description = "d"; }));
  EXPECT_TRUE(changed([](FileRow& file) { file.metadata.extra = "{}"; }));
  EXPECT_TRUE(changed([](FileRow& file) { file.event_id = "evt_2"; }));
  EXPECT_FALSE(changed([](FileRow& file) { file.state.inode = 7; })) << "the same content, saved again";
}

TEST(FileVersion, AListOfEntityTagsIsRead) {
  const auto read = [](std::string_view field) { return read_if_match(field).value(); };
  EXPECT_EQ(read("*"), std::nullopt);
  EXPECT_EQ(read(" * "), std::nullopt);
  EXPECT_EQ(read(R"("a")"), "a");
  EXPECT_EQ(read(R"("a", "b","c")"), "a b c");
  EXPECT_EQ(read(R"(,"a",, "b" ,)"), "a b");
  EXPECT_EQ(read(R"("")"), "");
  EXPECT_EQ(read(R"(W/"a")"), "") << "a weak tag never matches";
  EXPECT_EQ(read(R"(W/"a", "b")"), "b");
}

TEST(FileVersion, AFieldThatIsNoListIsRefused) {
  for (const std::string_view field : {"", ",", "a", "\"a", "a\"", "\"a\" \"b\"", "*, \"a\"", "\"a\", *",
                                       "w/\"a\"", "W/a", "\"a b\"", "\"a\x7F\""}) {
    const auto read = read_if_match(field);
    ASSERT_FALSE(read) << field;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(read.error().field, "If-Match");
  }
}

TEST(FileVersion, IsComparedAsAWhole) {
  EXPECT_TRUE(has_version("ab", "ab"));
  EXPECT_TRUE(has_version("x ab y", "ab"));
  EXPECT_FALSE(has_version("abc", "ab"));
  EXPECT_FALSE(has_version("xab", "ab"));
  EXPECT_FALSE(has_version("", "ab"));
  EXPECT_FALSE(has_version("x y", "ab"));
}

}  // namespace
}  // namespace eventq::notebook
