// portable_name_test.cc: tests names that other systems cannot hold, and names that differ in case only.
#include "notebook/files/portable_name.h"

#include <gtest/gtest.h>

namespace eventq::notebook {
namespace {

TEST(PortableName, IsRefusedWhereWindowsWouldChangeOrRefuseIt) {
  for (const std::string_view path : {"foo.", "foo ", "a:b.md", ":(top)x.md", "a<b", "a>b", "a|b", "a?b",
                                      "a*b", "a\"b", "dir./x", "x/dir /y", "x/a:b"}) {
    const auto fault = unportable_name(path);
    ASSERT_TRUE(fault) << path;
    EXPECT_EQ(fault->code, ErrorCode::invalid_argument);
    EXPECT_EQ(fault->field, "path");
  }
  for (const std::string_view path :
       {"foo", ".hidden", " a", "a.b/c d.md", "ü/日本.md", "(top)x.md", "a'b", "-x"}) {
    EXPECT_FALSE(unportable_name(path)) << path;
  }
}

TEST(PortableName, IgnoresTheCaseOfAllLetters) {
  EXPECT_EQ(case_folded("Notes/A.MD"), "notes/a.md");
  EXPECT_EQ(case_folded("ÄÖÜ"), "äöü");
  EXPECT_EQ(case_folded("ПРИВЕТ"), "привет");
  EXPECT_EQ(case_folded("ΑΒΓ"), "αβγ");
  EXPECT_EQ(case_folded("日本 ß 🎉"), "日本 ß 🎉");
  EXPECT_EQ(case_folded("𐐀"), "𐐨");
  EXPECT_EQ(case_folded(""), "");
}

}  // namespace
}  // namespace eventq::notebook
