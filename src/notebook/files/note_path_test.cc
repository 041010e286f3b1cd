// note_path_test.cc: tests which paths are valid and which names are refused.
#include "notebook/files/note_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eventq::notebook {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using namespace std::string_literals;

// "taken", or the reason why `text` is refused.
std::string fate_of(std::string_view text) {
  const auto path = note_path(text);
  if (path) return *path == text ? "taken" : "changed";
  EXPECT_EQ(path.error().field, "path");
  return path.error().message;
}

ErrorCode code_of(std::string_view text) { return note_path(text).error().code; }

TEST(NotePath, IsTakenAsItIsWhenItNamesAFileInTheNotebook) {
  for (const std::string_view text : {"a",
                                      "notes/today.md",
                                      "a/b/c/d/e",
                                      ".gitignore",
                                      ".github/x.yml",
                                      "git",
                                      "git~2x",
                                      ".gi",
                                      ".gitt",
                                      "a.git",
                                      ".git-old",
                                      ".git a",
                                      "x:.git",
                                      ".eventq2",
                                      "eventq",
                                      "a b/ c",
                                      "..a",
                                      "a..",
                                      "...a",
                                      "a.",
                                      "notes: today.md",
                                      "Übung/ß.md",
                                      "日本/語.txt",
                                      "\U0001F600.md",
                                      "e\u0301",
                                      "\u00A0x",
                                      "\u202Ax",
                                      "console.md",
                                      "con2",
                                      "com0",
                                      "com10",
                                      "com",
                                      "lpt",
                                      "com1x.md",
                                      "nuls",
                                      "auxiliary/x",
                                      "my.con",
                                      "x.aux",
                                      ".con",
                                      "~",
                                      "$x",
                                      "%2e%2e",
                                      "a*b?c<d>|\""}) {
    EXPECT_EQ(fate_of(text), "taken") << text;
  }
}

TEST(NotePath, IsRefusedWithTheReason) {
  struct Row {
    std::string text;
    std::string_view why;
  };
  for (const Row& row : {
           Row{"", "is empty"},
           Row{"/", "begins with"},
           Row{"/a", "begins with"},
           Row{"//a", "begins with"},
           Row{".", "has \".\" in it"},
           Row{"..", "has \"..\" in it"},
           Row{"../a", "has \"..\" in it"},
           Row{"a/../b", "has \"..\" in it"},
           Row{"a/..", "has \"..\" in it"},
           Row{"./a", "has \".\" in it"},
           Row{"a/./b", "has \".\" in it"},
           Row{"a//b", "an empty name"},
           Row{"a/", "an empty name"},
           Row{"a\\b", "holds a \"\\\""},
           Row{"..\\a", "holds a \"\\\""},
           Row{"...", "no name on every system"},
           Row{"a/.. /b", "no name on every system"},
           Row{" ", "no name on every system"},
           Row{"a\0b"s, "control character"},
           Row{"\0"s, "control character"},
           Row{"a\nb", "control character"},
           Row{"a\x1F", "control character"},
           Row{"a\x7F", "control character"},
           Row{"a\u0080", "control character"},
           Row{"a\u0085b", "control character"},
           Row{"\u00A9\u009F", "control character"},
           Row{"a\u2028b", "control character"},
           Row{"a\u2029", "control character"},
           Row{"a\xFF", "UTF-8"},
           Row{"\xC0\xAF", "UTF-8"},          // an overlong "/"
           Row{"\xED\xA0\x80", "UTF-8"},      // half of a surrogate pair
           Row{"a\xC2", "UTF-8"},             // truncated
           Row{"\xF4\x90\x80\x80", "UTF-8"},  // beyond U+10FFFF
       }) {
    EXPECT_THAT(fate_of(row.text), HasSubstr(row.why)) << row.text;
    EXPECT_EQ(code_of(row.text), ErrorCode::invalid_argument) << row.text;
  }
}

TEST(NotePath, OneLeadingSlashIsTheNotebooksRoot) {
  EXPECT_EQ(requested_path("/a").value(), "a");
  EXPECT_EQ(requested_path("/notes/today.md").value(), "notes/today.md");
  EXPECT_EQ(requested_path("/etc/x.md").value(), "etc/x.md");
  EXPECT_EQ(requested_path("notes/today.md").value(), "notes/today.md");
  struct Row {
    std::string_view text;
    std::string_view why;
  };
  for (const Row& row : {
           Row{"/", "is empty"},
           Row{"//", "begins with \"//\""},
           Row{"//etc/x.md", "begins with \"//\""},
           Row{"///x", "begins with \"//\""},
           Row{"/..", "has \"..\" in it"},
           Row{"/../x", "has \"..\" in it"},
           Row{"/a/../../x", "has \"..\" in it"},
           Row{"/./x", "has \".\" in it"},
           Row{"/a//b", "an empty name"},
           Row{"/a/", "an empty name"},
           Row{"/\\x", "holds a \"\\\""},
           Row{"/.git/config", "git keeps its own"},
           Row{"/.eventq/x", "eventq keeps for itself"},
       }) {
    const auto path = requested_path(row.text);
    ASSERT_FALSE(path.has_value()) << row.text;
    EXPECT_THAT(path.error().message, HasSubstr(row.why)) << row.text;
    EXPECT_EQ(path.error().field, "path") << row.text;
  }
}

TEST(NotePath, HasNoNameThatSomeFileSystemTreatsAsDotGit) {
  for (const std::string name : {".git",
                                 ".GIT",
                                 ".Git",
                                 ".giT",
                                 ".git.",
                                 ".git ",
                                 ".git. . ",
                                 ".git:",
                                 ".git::$INDEX_ALLOCATION",
                                 ".GIT:x",
                                 ".git .:x",
                                 "git~1",
                                 "GIT~1",
                                 "Git~1. ",
                                 "git~1:x",
                                 ".g\u200Cit",
                                 "\u200D.git",
                                 ".git\u200E",
                                 ".gi\u200Ft",
                                 ".g\u202Ait",
                                 ".g\u202Bit",
                                 ".g\u202Cit",
                                 ".g\u202Dit",
                                 ".g\u202Eit",
                                 ".g\u206Ait",
                                 ".g\u206Bit",
                                 ".g\u206Cit",
                                 ".g\u206Dit",
                                 ".g\u206Eit",
                                 ".g\u206Fit",
                                 "\uFEFF.git",
                                 ".\uFEFFG\u200CI\u206FT",
                                 ".git\u200C.",
                                 ".git.\u200C"}) {
    for (const std::string& path : {name, name + "/config", "a/" + name, "a/" + name + "/hooks/x"}) {
      EXPECT_THAT(fate_of(path), HasSubstr("git keeps its own")) << path;
    }
  }
}

TEST(NotePath, HasNoNameThatSomeFileSystemTreatsAsDotEventq) {
  for (const std::string name : {".eventq", ".EVENTQ", ".EventQ.", ".eventq ", ".eventq:x", "eventq~1",
                                 "EVENTQ~1", ".event\u200Cq", "\uFEFF.eventq"}) {
    for (const std::string& path : {name, name + "/x", "a/" + name}) {
      EXPECT_THAT(fate_of(path), HasSubstr("eventq keeps for itself")) << path;
    }
  }
}

TEST(NotePath, HasNoNameOfAWindowsDevice) {
  for (const std::string name :
       {"con",       "CON",    "prn",     "Aux",        "nul",     "com1",   "COM2",      "com3",
        "com4",      "com5",   "com6",    "com7",       "com8",    "com9",   "lpt1",      "lpt2",
        "lpt3",      "lpt4",   "lpt5",    "lpt6",       "lpt7",    "lpt8",   "LPT9",      "NUL.",
        "nul ",      "con:",   "con.txt", "aux.tar.gz", "nul .md", "com1:x", "com\u00B9", "com\u00B2.x",
        "lpt\u00B3", "conin$", "CONOUT$", "conout$.log"}) {
    for (const std::string& path : {name, name + "/x", "a/" + name}) {
      EXPECT_THAT(fate_of(path), HasSubstr("device on Windows")) << path;
    }
  }
}

// A path of `size` bytes, with names of 100 bytes.
std::string path_of_size(std::size_t size) {
  std::string path(size, 'x');
  for (std::size_t at = 100; at + 1 < size; at += 101) path[at] = '/';
  return path;
}

TEST(NotePath, MayBeginWithAColonOrEndWithADot) {
  for (const char* path : {":x", ":(top)x.md", "a:b.md", "foo.", "foo "}) {
    EXPECT_EQ(fate_of(path), "taken") << path;
  }
}

TEST(NotePath, HasAtMost1024Bytes) {
  EXPECT_EQ(fate_of(path_of_size(1023)), "taken");
  EXPECT_EQ(fate_of(path_of_size(1024)), "taken");
  EXPECT_THAT(fate_of(path_of_size(1025)), HasSubstr("1025 bytes; at most 1024"));
  EXPECT_EQ(code_of(path_of_size(1025)), ErrorCode::invalid_argument);
}

TEST(NotePath, HasNamesOfAtMost255Bytes) {
  for (const std::string before : {"", "a/"}) {
    for (const std::string after : {"", "/b"}) {
      const auto with = [&](std::size_t size) { return before + std::string(size, 'n') + after; };
      EXPECT_EQ(fate_of(with(254)), "taken");
      EXPECT_EQ(fate_of(with(255)), "taken");
      EXPECT_THAT(fate_of(with(256)), HasSubstr("256 bytes; at most 255"));
      EXPECT_EQ(code_of(with(256)), ErrorCode::invalid_argument);
    }
  }
}

TEST(NotePath, CountsBytesNotCharacters) {
  std::string name;
  while (name.size() < 254) name += "ü";
  EXPECT_EQ(fate_of(name + "x"), "taken");
  EXPECT_EQ(code_of(name + "ü"), ErrorCode::invalid_argument);
}

TEST(NotePath, LiesInTheFoldersBeforeItsName) {
  EXPECT_EQ(parent_of("a"), "");
  EXPECT_EQ(parent_of("a/b"), "a");
  EXPECT_EQ(parent_of("a/b/c"), "a/b");
  EXPECT_THAT(folders_of("a"), IsEmpty());
  EXPECT_THAT(folders_of("a/b"), ElementsAre("a"));
  EXPECT_THAT(folders_of("a/b/c"), ElementsAre("a", "a/b"));
}

TEST(NotePath, IsWithinAFolderByWholeNames) {
  EXPECT_TRUE(is_within("a", "a"));
  EXPECT_TRUE(is_within("a/b", "a"));
  EXPECT_TRUE(is_within("a/b/c", "a"));
  EXPECT_TRUE(is_within("a/b/c", "a/b"));
  EXPECT_TRUE(is_within("a", ""));
  EXPECT_FALSE(is_within("ab", "a"));
  EXPECT_FALSE(is_within("ab/c", "a"));
  EXPECT_FALSE(is_within("a", "a/b"));
  EXPECT_FALSE(is_within("b/a", "a"));
  EXPECT_FALSE(is_within("A/b", "a"));
}

TEST(NotePath, OverlapsWhatItLiesInAndWhatLiesInIt) {
  EXPECT_TRUE(overlap("a", "a"));
  EXPECT_TRUE(overlap("a", "a/b"));
  EXPECT_TRUE(overlap("a/b", "a"));
  EXPECT_FALSE(overlap("a/b", "a/c"));
  EXPECT_FALSE(overlap("a", "ab"));
}

TEST(NotePath, IsRefusedWhereGitWouldReadItAsDotGitmodules) {
  for (const std::string_view path : {".gitmodules", ".GitModules", "a/.gitmodules"}) {
    EXPECT_THAT(fate_of(path), testing::HasSubstr("where to fetch from")) << path;
  }
  EXPECT_EQ(fate_of("gitmodules"), "taken");
}

}  // namespace
}  // namespace eventq::notebook
