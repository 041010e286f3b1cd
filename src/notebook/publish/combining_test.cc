// combining_test.cc: tests every pair of operations on one file against a written-out table.
#include "notebook/publish/combining.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "notebook/operation.h"

namespace eventq::notebook {
namespace {

using Kind = OperationKind;

Operation created(std::string path, std::string content) {
  return {.kind = Kind::create, .path = std::move(path), .content = std::move(content)};
}
Operation updated(std::string path, std::string content) {
  return {.kind = Kind::update, .path = std::move(path), .content = std::move(content)};
}
Operation moved(std::string from, std::string to) {
  return {.kind = Kind::move, .path = std::move(to), .source = std::move(from)};
}
Operation removed(std::string path) { return {.kind = Kind::remove, .path = std::move(path)}; }
Operation synced(std::string path, std::string event) {
  return {.kind = Kind::sync, .path = std::move(path), .event = std::move(event)};
}
Operation commit() { return {.kind = Kind::batch_commit}; }
Operation nothing(Operation operation) {
  operation.nothing = true;
  return operation;
}

// The payload of the combined event; "both stay" when the operations are not combined.
std::string text_of(const std::optional<Operation>& operation) {
  if (!operation) return "both stay";
  return std::string(pattern_of(operation->kind)) + " " + write_operation(*operation);
}

struct Pair {
  Operation earlier;
  Operation later;
  std::string_view together;
};

constexpr std::string_view kBothStay = "both stay";

Operation if_match(Operation operation) {
  operation.if_match = "v1";
  return operation;
}

const Pair kPairs[] = {
    {created("b", "1"), created("b", "2"), kBothStay},
    {created("b", "1"), updated("b", "2"), R"(file.create {"path":"b","content":"2"})"},
    {created("b", "1"), moved("b", "c"), R"(file.create {"path":"c","content":"1"})"},
    {created("b", "1"), removed("b"), R"(file.delete {"path":"b","nothing":true})"},
    {created("b", "1"), synced("b", "modified"), kBothStay},
    {created("b", "1"), commit(), kBothStay},

    {updated("b", "1"), created("b", "2"), kBothStay},
    {updated("b", "1"), updated("b", "2"), R"(file.update {"path":"b","content":"2"})"},
    {updated("b", "1"), moved("b", "c"), kBothStay},
    {updated("b", "1"), removed("b"), R"(file.delete {"path":"b"})"},
    {updated("b", "1"), synced("b", "modified"), kBothStay},
    {updated("b", "1"), commit(), kBothStay},

    {moved("a", "b"), created("b", "2"), kBothStay},
    {moved("a", "b"), updated("b", "2"), kBothStay},
    {moved("a", "b"), moved("b", "c"), R"(file.move {"source_path":"a","dest_path":"c"})"},
    {moved("a", "b"), removed("b"), R"(file.delete {"path":"a"})"},
    {moved("a", "b"), synced("b", "modified"), kBothStay},
    {moved("a", "b"), commit(), kBothStay},

    {removed("b"), created("b", "2"), kBothStay},
    {removed("b"), updated("b", "2"), kBothStay},
    {removed("b"), moved("b", "c"), kBothStay},
    {removed("b"), removed("b"), kBothStay},
    {removed("b"), synced("b", "created"), kBothStay},
    {removed("b"), commit(), kBothStay},

    {synced("b", "created"), created("b", "2"), kBothStay},
    {synced("b", "created"), updated("b", "2"), kBothStay},
    {synced("b", "created"), moved("b", "c"), kBothStay},
    {synced("b", "created"), removed("b"), kBothStay},
    {synced("b", "created"), synced("b", "deleted"), R"(file.sync {"path":"b","event":"deleted"})"},
    {synced("b", "created"), commit(), kBothStay},

    {commit(), created("b", "2"), kBothStay},
    {commit(), updated("b", "2"), kBothStay},
    {commit(), moved("b", "c"), kBothStay},
    {commit(), removed("b"), kBothStay},
    {commit(), synced("b", "modified"), kBothStay},
    {commit(), commit(), kBothStay},
};

TEST(Combining, EveryPairOfKindsCombinesAsTheTableSays) {
  for (const Pair& pair : kPairs) {
    EXPECT_EQ(text_of(combine(pair.earlier, pair.later)), pair.together)
        << text_of(pair.earlier) << " and then " << text_of(pair.later);
  }
}

TEST(Combining, TheTableHasEveryPairOfKinds) {
  std::set<std::pair<Kind, Kind>> kinds;
  for (const Pair& pair : kPairs) kinds.insert({pair.earlier.kind, pair.later.kind});
  EXPECT_EQ(std::size(kPairs), 36U);
  EXPECT_EQ(kinds.size(), 36U);
}

TEST(Combining, MovesThatEndWhereTheyBeganLeaveNothing) {
  const auto together = combine(moved("a", "b"), moved("b", "a"));

  EXPECT_EQ(text_of(together), R"(file.move {"source_path":"b","dest_path":"a","nothing":true})");
}

TEST(Combining, AMoveIntoThePathTheFileHadIsNotCombined) {
  EXPECT_EQ(combine(moved("a", "b"), moved("b", "a/c")), std::nullopt);
  EXPECT_EQ(combine(moved("d/a", "b"), moved("b", "d")), std::nullopt);
  EXPECT_EQ(text_of(combine(moved("a", "b"), moved("b", "ac"))),
            R"(file.move {"source_path":"a","dest_path":"ac"})");
}

TEST(Combining, AnOperationThatDoesNothingCombinesOnlyWithACreate) {
  for (const Operation& earlier : {nothing(removed("b")), nothing(moved("a", "b"))}) {
    EXPECT_EQ(text_of(combine(earlier, created("b", "2"))), R"(file.create {"path":"b","content":"2"})");
    EXPECT_EQ(combine(earlier, updated("b", "2")), std::nullopt);
    EXPECT_EQ(combine(earlier, moved("b", "c")), std::nullopt);
    EXPECT_EQ(combine(earlier, removed("b")), std::nullopt);
    EXPECT_EQ(combine(earlier, synced("b", "modified")), std::nullopt);
    EXPECT_EQ(combine(earlier, commit()), std::nullopt);
  }
}

TEST(Combining, AnOperationThatDoesNothingIsNotCombinedWithAnEarlierOne) {
  for (const Operation& earlier : {created("b", "1"), updated("b", "1"), moved("a", "b")}) {
    EXPECT_EQ(combine(earlier, nothing(removed("b"))), std::nullopt);
  }
}

// Applies `change` to either operation of each pair; then no pair may combine.
void expect_all_stay(void (*change)(Operation&)) {
  for (const Pair& pair : kPairs) {
    Operation earlier = pair.earlier;
    Operation later = pair.later;
    change(earlier);
    change(later);
    EXPECT_EQ(combine(earlier, pair.later), std::nullopt) << text_of(earlier) << text_of(pair.later);
    EXPECT_EQ(combine(pair.earlier, later), std::nullopt) << text_of(pair.earlier) << text_of(later);
  }
}

TEST(Combining, OperationsOfAFolderGroupAreNotCombined) {
  expect_all_stay([](Operation& operation) { operation.group = FolderOperation{"x", "y", 2}; });
}

TEST(Combining, OperationsOnAFolderItselfAreNotCombined) {
  expect_all_stay([](Operation& operation) { operation.folder = true; });
}

TEST(Combining, ASyncThatSawARenameIsNotCombined) {
  Operation renamed = synced("b", "moved");
  renamed.source = "a";

  EXPECT_EQ(combine(renamed, synced("b", "modified")), std::nullopt);
  EXPECT_EQ(combine(synced("b", "modified"), renamed), std::nullopt);
  EXPECT_EQ(combine(renamed, renamed), std::nullopt);
}

TEST(Combining, AnUpdateOfMetadataAloneKeepsTheContent) {
  Operation later{.kind = Kind::update, .path = "b", .metadata = {.title = "T"}};

  EXPECT_EQ(text_of(combine(created("b", "1"), later)),
            R"(file.create {"path":"b","content":"1","metadata":{"title":"T"}})");
  EXPECT_EQ(text_of(combine(updated("b", "1"), later)),
            R"(file.update {"path":"b","content":"1","metadata":{"title":"T"}})");
}

TEST(Combining, AnUpdateToEmptyContentEmptiesIt) {
  EXPECT_EQ(text_of(combine(created("b", "1"), updated("b", ""))),
            R"(file.create {"path":"b","content":""})");
}

TEST(Combining, LaterMetadataReplacesEarlierMetadataMemberByMember) {
  struct Row {
    Metadata earlier;
    Metadata later;
    Metadata together;
  };
  const Metadata full{.title = "t", .description = "d", .extra = R"({"x":1})"};
  for (const Row& row : {
           Row{full, {}, full},
           Row{{}, full, full},
           Row{full, {.title = "T"}, {.title = "T", .description = "d", .extra = R"({"x":1})"}},
           Row{full, {.title = ""}, {.title = "", .description = "d", .extra = R"({"x":1})"}},
           Row{full, {.description = "D"}, {.title = "t", .description = "D", .extra = R"({"x":1})"}},
           Row{full, {.extra = R"({"y":2})"}, {.title = "t", .description = "d", .extra = R"({"y":2})"}},
       }) {
    for (const Kind kind : {Kind::create, Kind::update}) {
      const Operation earlier{.kind = kind, .path = "b", .content = "1", .metadata = row.earlier};
      const Operation later{.kind = Kind::update, .path = "b", .metadata = row.later};
      const Operation together{.kind = kind, .path = "b", .content = "1", .metadata = row.together};
      EXPECT_EQ(text_of(combine(earlier, later)), text_of(together)) << text_of(later);
    }
  }
}

TEST(Combining, AMovedCreateKeepsItsMetadata) {
  Operation earlier = created("b", "1");
  earlier.metadata.title = "t";

  EXPECT_EQ(text_of(combine(earlier, moved("b", "c"))),
            R"(file.create {"path":"c","content":"1","metadata":{"title":"t"}})");
}

TEST(Combining, ManyUpdatesInARowCombineToOne) {
  auto operation = combine(created("a", "1"), moved("a", "b"));
  operation = combine(*operation, updated("b", "2"));
  operation = combine(*operation, moved("b", "c"));
  EXPECT_EQ(text_of(operation), R"(file.create {"path":"c","content":"2"})");

  operation = combine(*operation, removed("c"));
  EXPECT_EQ(text_of(operation), R"(file.delete {"path":"c","nothing":true})");
}

TEST(CombiningDeathTest, OperationsOnTwoFilesFailAnAssertion) {
  EXPECT_DEATH(static_cast<void>(combine(created("a", "1"), updated("b", "2"))), "assertion failed");
  EXPECT_DEATH(static_cast<void>(combine(moved("a", "b"), moved("a", "c"))), "assertion failed");
}

TEST(Combining, AnOperationWithAConditionStaysAlone) {
  for (const auto& [earlier, later] : {std::pair(created("b", "1"), if_match(updated("b", "2"))),
                                       std::pair(updated("b", "1"), if_match(updated("b", "2"))),
                                       std::pair(if_match(updated("b", "1")), updated("b", "2")),
                                       std::pair(if_match(updated("b", "1")), removed("b")),
                                       std::pair(moved("a", "b"), if_match(moved("b", "c")))}) {
    EXPECT_EQ(text_of(combine(earlier, later)), kBothStay);
  }
}

}  // namespace
}  // namespace eventq::notebook
