// operation_test.cc: tests writing and reading payloads, and the errors of invalid ones.
#include "notebook/operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/utf8.h"

namespace eventq::notebook {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Kind = OperationKind;

TEST(Operation, HasAPatternForEachKind) {
  struct Row {
    Kind kind;
    std::string_view pattern;
  };
  for (const Row& row : {Row{Kind::create, "file.create"}, Row{Kind::update, "file.update"},
                         Row{Kind::move, "file.move"}, Row{Kind::remove, "file.delete"},
                         Row{Kind::sync, "file.sync"}, Row{Kind::batch_commit, "file.batch_commit"}}) {
    EXPECT_EQ(pattern_of(row.kind), row.pattern);
    EXPECT_EQ(kind_of(row.pattern), row.kind);
    EXPECT_EQ(kind_of(row.pattern.substr(5)), row.kind);
  }
  for (const std::string_view other :
       {"", "file", "file.", "Create", "file.Create", "file.remove", "file.create ", "file.file.create"}) {
    EXPECT_EQ(kind_of(other), std::nullopt) << other;
  }
}

TEST(Operation, OneLeadingSlashOfAPathIsTheNotebooksRoot) {
  EXPECT_EQ(read_operation("create", R"({"path":"/etc/x.md","content":"c"})").value(),
            (Operation{.kind = Kind::create, .path = "etc/x.md", .content = "c"}));
  EXPECT_EQ(read_operation("move", R"({"source_path":"/n/a.md","dest_path":"/old/a.md"})").value(),
            (Operation{.kind = Kind::move, .path = "old/a.md", .source = "n/a.md"}));
  EXPECT_EQ(read_operation("sync", R"({"path":"/a","event":"moved","source_path":"/b"})").value(),
            (Operation{.kind = Kind::sync, .path = "a", .source = "b", .event = "moved"}));
  // The same path in two spellings is one path.
  EXPECT_FALSE(read_operation("file.move", R"({"source_path":"a","dest_path":"/a"})").has_value());
}

struct Written {
  Operation operation;
  std::string_view payload;
};

const Written kWritten[] = {
    {{.kind = Kind::create, .path = "n/a.md"}, R"({"path":"n/a.md"})"},
    {{.kind = Kind::create, .path = "n/a.md", .content = ""}, R"({"path":"n/a.md","content":""})"},
    {{.kind = Kind::create,
      .path = "n/a.md",
      .content = "one\n\"two\"",
      .metadata = {.title = "T", .description = "", .extra = R"({"x y":[1,{"a":2}],"q\"":1e400})"}},
     R"({"path":"n/a.md","content":"one\n\"two\"","metadata":{"title":"T","description":"","x y":[1,{"a":2}],"q\"":1e400}})"},
    {{.kind = Kind::create, .path = "n", .folder = true}, R"({"path":"n","is_directory":true})"},
    {{.kind = Kind::update, .path = "a", .content = "2"}, R"({"path":"a","content":"2"})"},
    {{.kind = Kind::update, .path = "a", .metadata = {.extra = R"({"k":null})"}},
     R"({"path":"a","metadata":{"k":null}})"},
    {{.kind = Kind::move, .path = "b", .source = "a"}, R"({"source_path":"a","dest_path":"b"})"},
    {{.kind = Kind::move, .path = "b", .source = "a", .nothing = true},
     R"({"source_path":"a","dest_path":"b","nothing":true})"},
    {{.kind = Kind::move, .path = "new/x/f", .source = "old/x/f", .group = FolderOperation{"old", "new", 3}},
     R"({"source_path":"old/x/f","dest_path":"new/x/f","group":{"source_path":"old","dest_path":"new","count":3}})"},
    {{.kind = Kind::move,
      .path = "new",
      .source = "old",
      .folder = true,
      .group = FolderOperation{"old", "new", 1}},
     R"({"source_path":"old","dest_path":"new","is_directory":true,"group":{"source_path":"old","dest_path":"new","count":1}})"},
    {{.kind = Kind::remove, .path = "a"}, R"({"path":"a"})"},
    {{.kind = Kind::remove, .path = "a", .if_match = "v1 v2"}, R"({"path":"a","if_match":"v1 v2"})"},
    {{.kind = Kind::update, .path = "a", .content = "2", .if_match = "v1"},
     R"({"path":"a","content":"2","if_match":"v1"})"},
    {{.kind = Kind::move, .path = "b", .source = "a", .if_match = "v1"},
     R"({"source_path":"a","dest_path":"b","if_match":"v1"})"},
    {{.kind = Kind::remove, .path = "a", .nothing = true}, R"({"path":"a","nothing":true})"},
    {{.kind = Kind::remove, .path = "old/f", .group = FolderOperation{"old", "", 2}},
     R"({"path":"old/f","group":{"source_path":"old","count":2}})"},
    {{.kind = Kind::remove, .path = "old", .folder = true, .group = FolderOperation{"old", "", 1}},
     R"({"path":"old","is_directory":true,"group":{"source_path":"old","count":1}})"},
    {{.kind = Kind::sync, .path = "a", .event = "created"}, R"({"path":"a","event":"created"})"},
    {{.kind = Kind::sync, .path = "a", .event = "modified"}, R"({"path":"a","event":"modified"})"},
    {{.kind = Kind::sync, .path = "a", .event = "deleted"}, R"({"path":"a","event":"deleted"})"},
    {{.kind = Kind::sync, .path = "b", .source = "a", .event = "moved"},
     R"({"path":"b","event":"moved","source_path":"a"})"},
    {{.kind = Kind::batch_commit}, "{}"},
};

TEST(Operation, IsWrittenAsThePayloadOfItsEventType) {
  for (const Written& row : kWritten) EXPECT_EQ(write_operation(row.operation), row.payload);
}

TEST(Operation, IsReadAsItWasWritten) {
  for (const Written& row : kWritten) {
    const auto read = read_operation(pattern_of(row.operation.kind), row.payload);
    ASSERT_TRUE(read) << row.payload << read.error().message;
    EXPECT_EQ(*read, row.operation) << row.payload;
  }
}

TEST(Operation, HasTheIdOfANewFileAsTheSourceOfItsEvent) {
  const Operation operation{.kind = Kind::create, .path = "a", .file = 7};
  EXPECT_EQ(source_of(operation), (Source{.type = "file", .id = "7"}));
  Event event{.payload = R"({"path":"a"})", .pattern = "file.create", .source = source_of(operation)};
  EXPECT_EQ(operation_of(event).value(), operation);
  EXPECT_EQ(source_of({.kind = Kind::create, .path = "a"}), Source());
  for (const Source& other : {Source{"file", "x", ""}, Source{"workflow", "7", ""}}) {
    event.source = other;
    EXPECT_EQ(operation_of(event).value().file, 0);
  }
}

TEST(Operation, TakesNullForAbsent) {
  const auto read = read_operation(
      "file.create",
      R"({"path":"a","content":null,"metadata":{"title":null,"description":null},"is_directory":null,"nothing":false})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, (Operation{.kind = Kind::create, .path = "a"}));
}

TEST(Operation, KeepsOtherMetadataAsItWasSent) {
  const auto read = read_operation(
      "file.update",
      R"({"path":"a","metadata":{"tags" : [ "x" ], "title":"T", "n\u00e4":12345678901234567890}})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->metadata.title, "T");
  EXPECT_EQ(read->metadata.extra, R"({"tags":[ "x" ],"nä":12345678901234567890})");
}

TEST(Operation, WritesExtraMetadataWithoutMembersAsNone) {
  Operation operation{.kind = Kind::update, .path = "a", .metadata = {.title = "T", .extra = " { } "}};
  EXPECT_EQ(write_operation(operation), R"({"path":"a","metadata":{"title":"T"}})");
  operation.metadata.extra = "{ \"x\" : 1 }\n";
  EXPECT_EQ(write_operation(operation), R"({"path":"a","metadata":{"title":"T","x" : 1}})");
}

struct Refused {
  std::string_view pattern;
  std::string_view payload;
  std::string_view field;
  std::string_view why;
};

TEST(Operation, IsRefusedWithTheMemberToBlame) {
  for (const Refused& row : {
           Refused{"file.rename", "{}", "pattern", "there are file.create, file.update, file.move"},
           Refused{"", "{}", "pattern",
                   "There is no operation \"\"; there are file.create, file.update, file.move, file.delete, "
                   "file.sync and file.batch_commit; \"file.\" may be left out."},
           Refused{"create", R"({"path":"//a"})", "path", "path: The path begins with \"//\""},
           Refused{"create", R"({"path":"/../a"})", "path", "path: The path has \"..\""},
           Refused{"file.create", "", "", ""},
           Refused{"file.create", "[]", "", "object"},
           Refused{"file.create", "null", "", "object"},
           Refused{"file.create", R"({"path":"a")", "", ""},
           Refused{"file.create", R"({"path":"a","path":"b"})", "", ""},
           Refused{"file.create", "{}", "path", "path is missing"},
           Refused{"file.create", R"({"path":1})", "path", "must be a string"},
           Refused{"file.create", R"({"path":"../a"})", "path", "path: The path has \"..\""},
           Refused{"file.create", R"({"path":"a\u0000"})", "path", "control character"},
           Refused{"file.create", R"({"path":"a","content":{}})", "content", "must be a string"},
           Refused{"file.create", R"({"path":"a","metadata":"T"})", "metadata", "must be an object"},
           Refused{"file.create", R"({"path":"a","metadata":{"title":7}})", "metadata.title",
                   "must be a string"},
           Refused{"file.create", R"({"path":"a","contents":"x"})", "contents", "no member \"contents\""},
           Refused{"file.create", R"({"path":"a","event":"created"})", "event", "no member \"event\""},
           Refused{"file.create", R"({"path":"a","group":{}})", "group", "no member \"group\""},
           Refused{"file.create", R"({"path":"a","is_directory":1})", "is_directory", "true or false"},
           Refused{"file.create", R"({"path":"a","content":"","is_directory":true})", "is_directory",
                   "neither content nor metadata"},
           Refused{"file.create", R"({"path":"a","metadata":{"title":""},"is_directory":true})",
                   "is_directory", "neither content nor metadata"},
           Refused{"file.update", R"({"content":"x"})", "path", "path is missing"},
           Refused{"file.update", R"({"path":"a","is_directory":true})", "is_directory", "no member"},
           Refused{"file.move", R"({"source_path":"a"})", "dest_path", "dest_path is missing"},
           Refused{"file.move", R"({"dest_path":"a"})", "source_path", "source_path is missing"},
           Refused{"file.move", R"({"source_path":"a","dest_path":"//b"})", "dest_path",
                   "dest_path: The path begins"},
           Refused{"file.move", R"({"source_path":".git/x","dest_path":"b"})", "source_path",
                   "git keeps its own"},
           Refused{"file.move", R"({"source_path":"a","dest_path":"a"})", "dest_path",
                   "outside of source_path"},
           Refused{"file.move", R"({"source_path":"a","dest_path":"a/b"})", "dest_path",
                   "outside of source_path"},
           Refused{"file.move", R"({"source_path":"a","dest_path":"b","path":"c"})", "path", "no member"},
           Refused{"file.delete", R"({"path":"a","content":"x"})", "content", "no member"},
           Refused{"file.delete", R"({"path":"a/"})", "path", "an empty name"},
           Refused{"file.sync", R"({"path":"a"})", "event", "created, modified, deleted or moved"},
           Refused{"file.sync", R"({"path":"a","event":"renamed"})", "event",
                   "created, modified, deleted or moved"},
           Refused{"file.sync", R"({"path":"a","event":"moved"})", "source_path", "source_path is missing"},
           Refused{"file.sync", R"({"path":"a","event":"created","source_path":"b"})", "source_path",
                   "no member"},
           Refused{"file.batch_commit", R"({"path":"a"})", "path", "no member \"path\""},
           Refused{"file.batch_commit", R"({"nothing":true})", "nothing", "no member"},
       }) {
    const auto read = read_operation(row.pattern, row.payload);
    ASSERT_FALSE(read) << row.payload;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument) << row.payload;
    EXPECT_EQ(read.error().field, row.field) << row.payload << read.error().message;
    EXPECT_THAT(read.error().message, HasSubstr(row.why)) << row.payload;
  }
}

TEST(Operation, OfAGroupMustMoveAsTheGroupMoves) {
  struct Row {
    std::string_view pattern;
    std::string_view payload;
    std::string_view field;
  };
  for (
      const Row& row : {
          Row{"file.move", R"({"source_path":"a/x","dest_path":"b/x","group":{}})", "group.source_path"},
          Row{"file.move", R"({"source_path":"a/x","dest_path":"b/x","group":{"source_path":"a","count":1}})",
              "group.dest_path"},
          Row{"file.move",
              R"({"source_path":"a/x","dest_path":"a/b/x","group":{"source_path":"a","dest_path":"a/b","count":1}})",
              "group.dest_path"},
          Row{"file.move",
              R"({"source_path":"a/x","dest_path":"b/x","group":{"source_path":"a","dest_path":"b"}})",
              "group.count"},
          Row{"file.move",
              R"({"source_path":"a/x","dest_path":"b/y","group":{"source_path":"a","dest_path":"b","count":1}})",
              "group"},
          Row{"file.move",
              R"({"source_path":"ax","dest_path":"bx","group":{"source_path":"a","dest_path":"b","count":1}})",
              "group"},
          Row{"file.move",
              R"({"source_path":"c/x","dest_path":"b/x","group":{"source_path":"a","dest_path":"b","count":1}})",
              "group"},
          Row{"file.delete", R"({"path":"b/x","group":{"source_path":"a","count":1}})", "group"},
          Row{"file.delete", R"({"path":"a/x","group":{"source_path":"a","dest_path":"b","count":1}})",
              "group.dest_path"},
          Row{"file.delete", R"({"path":"a/x","group":{"source_path":"..","count":1}})", "group.source_path"},
          Row{"file.delete", R"({"path":"a/x","group":{"source_path":"a","count":1,"more":1}})",
              "group.more"},
          Row{"file.delete", R"({"path":"a/x","group":{"source_path":"a","count":2147483648}})",
              "group.count"},
          Row{"file.delete", R"({"path":"a/x","group":{"source_path":"a","count":-1}})", "group.count"},
          Row{"file.delete", R"({"path":"a/x","group":{"source_path":"a","count":0}})", "group.count"},
      }) {
    const auto read = read_operation(row.pattern, row.payload);
    ASSERT_FALSE(read) << row.payload;
    EXPECT_EQ(read.error().field, row.field) << row.payload << read.error().message;
  }
  for (const std::string_view count : {"1", "2147483647"}) {
    const auto read = read_operation(
        "file.delete", R"({"path":"a/x","group":{"source_path":"a","count":)" + std::string(count) + "}}");
    EXPECT_TRUE(read) << count;
  }
}

TEST(Operation, WithAPathTooLongIsRefused) {
  const auto read = read_operation("file.delete", R"({"path":")" + std::string(1025, 'x') + R"("})");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(read.error().field, "path");
}

TEST(Operation, ChangesOnePathOrTwo) {
  EXPECT_THAT(paths_of({.kind = Kind::create, .path = "a"}), ElementsAre("a"));
  EXPECT_THAT(paths_of({.kind = Kind::update, .path = "a"}), ElementsAre("a"));
  EXPECT_THAT(paths_of({.kind = Kind::remove, .path = "a"}), ElementsAre("a"));
  EXPECT_THAT(paths_of({.kind = Kind::move, .path = "b", .source = "a"}), ElementsAre("a", "b"));
  EXPECT_THAT(paths_of({.kind = Kind::sync, .path = "a", .event = "created"}), ElementsAre("a"));
  EXPECT_THAT(paths_of({.kind = Kind::sync, .path = "b", .source = "a", .event = "moved"}),
              ElementsAre("a", "b"));
  EXPECT_THAT(paths_of({.kind = Kind::batch_commit}), IsEmpty());
}

TEST(Operation, HasATitleForPeople) {
  EXPECT_EQ(title_of({.kind = Kind::create, .path = "notes/a.md"}), "Create notes/a.md");
  EXPECT_EQ(title_of({.kind = Kind::create, .path = "notes", .folder = true}), "Create folder notes");
  EXPECT_EQ(title_of({.kind = Kind::update, .path = "a"}), "Update a");
  EXPECT_EQ(title_of({.kind = Kind::move, .path = "b", .source = "a"}), "Move a to b");
  EXPECT_EQ(title_of({.kind = Kind::remove, .path = "a"}), "Delete a");
  EXPECT_EQ(title_of({.kind = Kind::sync, .path = "a", .event = "created"}), "Sync a");
  EXPECT_EQ(title_of({.kind = Kind::sync, .path = "b", .source = "a", .event = "moved"}), "Sync a to b");
  EXPECT_EQ(title_of({.kind = Kind::batch_commit}), "Commit");
}

TEST(Operation, HasATitleThatAnEventCanHave) {
  const auto title = [](std::size_t size) {
    std::string path;
    for (std::size_t i = 0; i < size; ++i) path += "ü";
    return title_of({.kind = Kind::create, .path = path});
  };
  EXPECT_EQ(utf8_chars(title(192)), 199U);
  EXPECT_EQ(utf8_chars(title(193)), 200U);
  EXPECT_TRUE(title(193).ends_with("ü"));
  EXPECT_LE(utf8_chars(title(194)), 200U);
  EXPECT_TRUE(title(194).ends_with("ü…"));
  EXPECT_TRUE(valid_utf8(title(194)));
}

}  // namespace
}  // namespace eventq::notebook
