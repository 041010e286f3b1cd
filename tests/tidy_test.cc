// tidy_test.cc: holds the source to the rules of tidy.h, and the rules to examples.
#include "tidy.h"
#include "support/file_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>

namespace eventq::tidy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<File> read_tree() {
  namespace fs = std::filesystem;
  const fs::path root = EVENTQ_SOURCE_DIR;
  std::vector<File> files;
  for (const char* folder : {"include", "src", "tests", "bench", "examples"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path& path = entry.path();
      const fs::path kind = path.extension();
      if (kind != ".h" && kind != ".cc" && kind != ".sql" && path.filename() != "CMakeLists.txt") continue;
      files.push_back({path.lexically_relative(root).generic_string(), content_of(path)});
    }
  }
  return files;
}

const std::vector<File>& tree() {
  static const std::vector<File> files = read_tree();
  return files;
}

// Markdown pages, in all folders except what a build or git makes.
std::vector<File> read_pages() {
  namespace fs = std::filesystem;
  const fs::path root = EVENTQ_SOURCE_DIR;
  std::vector<File> files;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
    const fs::path name = entry->path().filename();
    if (entry->is_directory() && (name == "build" || name == ".git" || name == "node_modules")) {
      entry.disable_recursion_pending();
    } else if (name.extension() == ".md") {
      files.push_back({entry->path().lexically_relative(root).generic_string(), content_of(entry->path())});
    }
  }
  return files;
}

const std::vector<File>& pages() {
  static const std::vector<File> files = read_pages();
  return files;
}

void expect_none(const Faults& faults) {
  for (const Fault& fault : faults) ADD_FAILURE() << fault;
}

void expect_none_in_tree(Faults (*check)(const File&)) {
  for (const File& file : tree()) expect_none(check(file));
}

// The lines a check complains about.
std::vector<std::size_t> lines(const Faults& faults) {
  std::vector<std::size_t> numbers;
  for (const Fault& fault : faults) numbers.push_back(fault.line);
  return numbers;
}

TEST(TidyTree, IsThere) { EXPECT_GT(tree().size(), 20U); }
TEST(TidyTree, IncludesFollowTheLayers) { expect_none_in_tree(check_includes); }
TEST(TidyTree, EachAllowedIncludeIsUsed) { expect_none(check_layers_are_used(tree())); }
TEST(TidyTree, EachFileSaysWhatItIsFor) { expect_none_in_tree(check_head_comment); }
TEST(TidyTree, NoFunctionIsTooLong) { expect_none_in_tree(check_function_length); }
TEST(TidyTree, TimeAndRandomnessComeFromBase) { expect_none_in_tree(check_time_and_randomness); }
TEST(TidyTree, SqlIsInSqlFiles) { expect_none_in_tree(check_sql); }
TEST(TidyTree, EachThingHasOneWord) { expect_none_in_tree(check_words); }
TEST(TidyTree, NoNameIsARetiredWord) { expect_none_in_tree(check_retired_words); }
TEST(TidyTree, CommentsAndTestsUsePlainWords) { expect_none_in_tree(check_banned_words); }
TEST(TidyTree, NoMachineIsNamed) { expect_none_in_tree(check_machine_paths); }
TEST(TidyTree, EachSourceIsBuilt) { expect_none(check_in_cmake(tree())); }
TEST(TidyTree, NoTypeNameIsUsedTwice) { expect_none(check_type_names(tree())); }

TEST(TidyPages, AreThere) { EXPECT_GT(pages().size(), 10U); }
TEST(TidyPages, UsePlainWords) {
  for (const File& page : pages()) expect_none(check_banned_words(page));
}
TEST(TidyPages, OfTheDocsHaveShortSentences) {
  for (const File& page : pages()) {
    if (page.path == "README.md" || page.path.starts_with("docs/")) expect_none(check_sentences(page));
  }
}
TEST(TidyPages, ListEachFolderOfTheSource) {
  std::set<std::string> folders;
  for (const File& file : tree()) {
    if (file.path.starts_with("src/")) folders.insert(file.path.substr(4, file.path.find('/', 4) - 4));
  }
  folders.erase("CMakeLists.txt");
  int lists = 0;
  for (const File& page : pages()) {
    const bool has_list =
        page.path == "README.md" || page.path == "CONTRIBUTING.md" || page.path == "docs/architecture.md";
    if (!has_list) continue;
    ++lists;
    expect_none(check_folder_list(page, folders));
  }
  EXPECT_EQ(lists, 3);
}
TEST(TidyPages, LinksHaveATarget) {
  const std::filesystem::path root = EVENTQ_SOURCE_DIR;
  expect_none(check_links(pages(), [&](const std::string& path) { return exists(root / path); }));
}

TEST(TidyPages, CompareEachRequirementOfTheSeedsWithATest) {
  const File page{"docs/from-the-seeds.md", content_of(EVENTQ_SOURCE_DIR "/docs/from-the-seeds.md")};
  expect_none(check_seed_rows(page, tests_in(tree())));
}

TEST(TidyTree, NoFileIsTooLong) {
  for (const File& file : tree()) {
    const auto count = std::count(file.text.begin(), file.text.end(), '\n');
    if (static_cast<std::size_t>(count) > kFileLinesQuestion) {
      std::cout << file.path << ": " << count << " lines; does it still have one purpose?\n";
    }
    expect_none(check_file_length(file));
  }
}

TEST(TidyIncludes, MayPointDownButNotUpOrSideways) {
  const std::string text =
      "#include <vector>\n"
      "#include \"base/json.h\"\n"
      "#include \"store/store.h\"\n"
      "#include \"http/transport/server.h\"\n"
      "#include \"store/sqlite/sqlite_store.h\"\n";

  EXPECT_THAT(lines(check_includes({"src/engine/commit_thread.cc", text})), ElementsAre(4, 5));
  EXPECT_THAT(lines(check_includes({"src/queue/open.cc", text})), ElementsAre(4));
  EXPECT_THAT(lines(check_includes({"src/model/retry.cc", text})), ElementsAre(3, 4, 5));
  EXPECT_THAT(lines(check_includes({"src/cli/commands/top_command.cc", text})), ElementsAre(4));
}

TEST(TidyIncludes, ThatNoFileHasAreNotInTheTable) {
  const auto is_named = [](const Faults& faults, std::string_view text) {
    return std::any_of(faults.begin(), faults.end(),
                       [&](const Fault& fault) { return fault.message.find(text) != fault.message.npos; });
  };
  const std::string text = "#include \"base/json.h\"\n";
  const std::string unused = "lets src/model include base/,";

  EXPECT_FALSE(is_named(check_layers_are_used({{"src/model/retry.cc", text}}), unused));
  EXPECT_TRUE(is_named(check_layers_are_used({{"src/wait/polls.h", text}}), unused));
  EXPECT_TRUE(is_named(check_layers_are_used({{"src/model/retry_test.cc", text}}), unused));
}

TEST(TidyIncludes, KnowEventsOnlyAboveBase) {
  const std::string text = "#include \"eventq/error.h\"\n#include \"eventq/event.h\"\n";

  EXPECT_THAT(lines(check_includes({"src/base/json.h", text})), ElementsAre(2));
  EXPECT_THAT(lines(check_includes({"src/wire/event_json.h", text})), IsEmpty());
}

TEST(TidyIncludes, KeepAThirdPartyHeaderInItsFolder) {
  const std::string text = "#include <sqlite3.h>\n#include <boost/asio.hpp>\n#include <simdjson.h>\n";

  EXPECT_THAT(lines(check_includes({"src/store/sqlite/statement.cc", text})), ElementsAre(2, 3));
  EXPECT_THAT(lines(check_includes({"src/store/memory/memory_store.cc", text})), ElementsAre(1, 2, 3));
  EXPECT_THAT(lines(check_includes({"src/http/transport/server.cc", text})), ElementsAre(1, 3));
  EXPECT_THAT(lines(check_includes({"tests/http_test.cc", text})), IsEmpty());
}

TEST(TidyIncludes, OfPublicHeadersAreStandard) {
  const std::string text = "#include <vector>\n#include <sys/socket.h>\n#include \"base/json.h\"\n";

  EXPECT_THAT(lines(check_includes({"include/eventq/queue.h", text})), ElementsAre(2, 3));
}

TEST(TidyIncludes, NeedALayer) {
  EXPECT_THAT(lines(check_includes({"src/utils/strings.h", "#pragma once\n"})), ElementsAre(1));
}

TEST(TidyHeadComment, NamesTheFile) {
  EXPECT_THAT(check_head_comment({"src/base/json.h", "// json.h: strict JSON in.\n"}), IsEmpty());
  EXPECT_THAT(lines(check_head_comment({"src/base/json.h", "// other.h: strict JSON in.\n"})),
              ElementsAre(1));
  EXPECT_THAT(lines(check_head_comment({"src/base/json.h", "#pragma once\n"})), ElementsAre(1));
}

std::string repeat(std::string_view line, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += line;
  return text;
}

TEST(TidyFileLength, EndsAtTheMaximum) {
  EXPECT_THAT(check_file_length({"src/a.cc", repeat("\n", 800)}), IsEmpty());
  EXPECT_THAT(lines(check_file_length({"src/a.cc", repeat("\n", 801)})), ElementsAre(801));
}

TEST(TidyFunctionLength, EndsAtTheMaximum) {
  const auto function = [](std::size_t body) {
    return "\nint f(int a) {\n" + repeat("  a += 1;\n", body) + "}\n";
  };

  EXPECT_THAT(check_function_length({"src/a.cc", function(68)}), IsEmpty());
  EXPECT_THAT(lines(check_function_length({"src/a.cc", function(69)})), ElementsAre(2));
  EXPECT_THAT(check_function_length({"src/a_test.cc", function(69)}), IsEmpty());
}

TEST(TidyFunctionLength, FindsFunctionsWhereverTheyAre) {
  const std::string body = repeat("  f();\n", 80) + "}\n";

  for (const std::string head : {
           "namespace a {\nvoid f() {\n",
           "class A {\n public:\n  void f() {\n",
           "class A : public B {\n  A(int x)\n      : x_{x} {\n",
           "class A {\n  A(int x) : x_{x},\n      y_(x) {\n",
           "template <class T>\nT f(const T& t,\n    int b) const noexcept {\n",
           "struct stat f() {\n  auto g = [](int x) { return x; };\n",
           "const char* k = \"}\"; void f() {\n  // }\n  char c = '}';\n",
           "void f() {\n  g(R\"x(}})x\", 1'000);\n",
           "#define A {\nvoid f() {\n",
       }) {
    EXPECT_EQ(check_function_length({"src/a.cc", head + body}).size(), 1U) << head;
  }
}

TEST(TidyFunctionLength, LetsTablesAndClassesBeLong) {
  for (const std::string head : {
           "constexpr Route kRoutes[] = {\n",
           "constexpr std::array<int, 3> kAll{\n",
           "namespace a {\n",
           "class A : public B {\n",
           "enum class A : int {\n",
           "extern \"C\" {\n",
       }) {
    EXPECT_THAT(check_function_length({"src/a.cc", head + repeat("  {1, 2},\n", 80) + "};\n"}), IsEmpty())
        << head;
  }
}

TEST(TidyTime, IsReadInBaseOnly) {
  const std::string text =
      "// system_clock::now() is not for us.\n"
      "auto a = std::chrono::system_clock::now();\n"
      "auto b = time(nullptr);\n"
      "auto c = std::mt19937(1);\n"
      "auto d = operand(1) + rand();\n"
      "auto e = operand(1);\n";

  EXPECT_THAT(lines(check_time_and_randomness({"src/engine/commit_thread.cc", text})),
              ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(check_time_and_randomness({"src/base/system_clock.cc", text}), IsEmpty());
  EXPECT_THAT(check_time_and_randomness({"tests/http_test.cc", text}), IsEmpty());
}

TEST(TidyTime, IsBoundInSql) {
  const std::string text = "-- CURRENT_TIMESTAMP would be wrong\nSELECT CURRENT_TIMESTAMP;\n";

  EXPECT_THAT(lines(check_time_and_randomness({"src/store/sqlite/sql/now.sql", text})), ElementsAre(2));
}

TEST(TidyTime, IsNeverSlept) {
  const std::string text = "std::this_thread::sleep_for(1ms);\n";

  EXPECT_THAT(lines(check_time_and_randomness({"tests/http_test.cc", text})), ElementsAre(1));
  EXPECT_THAT(lines(check_time_and_randomness({"src/base/a.cc", text})), ElementsAre(1));
}

TEST(TidySql, IsFoundInLiteralsButNotInComments) {
  const std::string text =
      "// SELECT is what claim.sql does.\n"
      "auto a = \"SELECT 1\";\n"
      "auto b = R\"(\n"
      "  UPDATE events SET status = 1)\";\n"
      "auto c = \"please SELECTED\";\n"
      "/* PRAGMA */ auto d = 'x';\n";

  EXPECT_THAT(lines(check_sql({"src/store/sqlite/statement.cc", text})), ElementsAre(2, 4));
}

TEST(TidyWords, AreFoundAloneAndInNames) {
  const std::string text =
      "// Runs the job.\n"
      "int task_id = 1;\n"
      "void acquire();\n"
      "std::memory_order_acquire;\n"
      "// multitasking, jobless\n";

  EXPECT_THAT(lines(check_words({"src/engine/commit_thread.h", text})), ElementsAre(1, 2, 3));
  EXPECT_THAT(check_words({"src/wire/event_json.h", text}), IsEmpty());
}

TEST(TidyRetiredWords, AreFoundInAnyPartOfAName) {
  const std::string text =
      "class CommitLane {};\n"
      "int lane_count = 0;\n"
      "void f(Lanes& all);\n"
      "int planet = kPlane;  // a lane\n"
      "auto text = \"lane\";\n"
      "constexpr int kLaneMax = 1;\n";

  EXPECT_THAT(lines(check_retired_words({"src/engine/a.cc", text})), ElementsAre(1, 2, 3, 6));
}

TEST(TidyRetiredWords, ThatAreUsualEnglishAreFoundInTypesAndMembers) {
  const std::string text =
      "enum class Told { yes };\n"
      "using RoomMap = int;\n"
      "int room_ = 0;\n"
      "int room = make_room();\n"
      "TEST(Window, AnEndedLeaseMakesRoom) {}\n";

  EXPECT_THAT(lines(check_retired_words({"src/engine/a.cc", text})), ElementsAre(1, 2, 3));
}

TEST(TidyRetiredWords, AreFoundInFileNames) {
  EXPECT_THAT(lines(check_retired_words({"src/engine/read_lane.h", ""})), ElementsAre(1));
  EXPECT_THAT(lines(check_retired_words({"src/room/wait.sql", ""})), ElementsAre(1));
  EXPECT_THAT(check_retired_words({"src/engine/planes.h", ""}), IsEmpty());
}

TEST(TidyBannedWords, AreFoundInCommentsAndNamesOfTests) {
  const std::string text =
      "// Nobody reads this.\n"
      "auto standby = \"nobody\";\n"
      "int nobody = 0;  // amended\n"
      "TEST(Window, NobodyWaits) {}\n"
      "TEST_F(Window, AMendedLeaseIsHeeded) {\n"
      "  f(1);  // for those who wait\n";

  EXPECT_THAT(lines(check_banned_words({"src/core/a_test.cc", text})), ElementsAre(1, 4, 5, 6));
}

TEST(TidyBannedWords, AreFoundInMessagesOfTheProgram) {
  const std::string text =
      "auto a = \"Nobody answers.\";\n"
      "auto b = \"The database is away.\";  // is away\n"
      "auto c = \"It lies in a folder that is there.\";\n"
      "// This lies in a folder.\n"
      "auto d = \"There are, at least, two.\";\n";

  EXPECT_THAT(lines(check_banned_words({"src/core/a.cc", text})), ElementsAre(1, 2, 3));
  EXPECT_THAT(check_banned_words({"src/core/a_test.cc", text}), IsEmpty());
}

TEST(TidyBannedWords, ASecondWordForARetryIsFoundUnlessItNamesTheEarlierRoute) {
  const std::string text =
      "// A redrive resets events.\n"
      "// POST /failures/redrive: the earlier name.\n"
      "// The member \"redriven\" of that route.\n"
      "int redrive_all();\n";

  EXPECT_THAT(lines(check_banned_words({"src/core/a.cc", text})), ElementsAre(1));
  EXPECT_THAT(lines(check_retired_words({"src/core/a.cc", text})), ElementsAre(4));
}

TEST(TidyBannedWords, AreFoundInPagesAndStatements) {
  const File page{"docs/a.md", "Whoever waits.\n`nobody` and\n\n    nobody\n\nsomebody\n"};

  EXPECT_THAT(lines(check_banned_words(page)), ElementsAre(1, 6));
  EXPECT_THAT(lines(check_banned_words({"src/a.sql", "-- For nobody.\nSELECT nobody;\n"})), ElementsAre(1));
}

TEST(TidyMachinePaths, AreFoundInSource) {
  const std::string text = "auto a = \"/tmp/x\";\nauto b = \"/events/tmp/\";\n";

  EXPECT_THAT(lines(check_machine_paths({"src/server/serve.cc", text})), ElementsAre(1));
}

TEST(TidyCmake, NamesASourceInItsFolderOrAbove) {
  const Faults faults = check_in_cmake({
      {"src/store/CMakeLists.txt", "add_library(store memory/a.cc\n  b.cc)\n"},
      {"src/store/memory/a.cc", ""},
      {"src/store/b.cc", ""},
      {"src/store/ab.cc", ""},
      {"src/base/b.cc", ""},
  });

  ASSERT_EQ(faults.size(), 2U);
  EXPECT_EQ(faults[0].path, "src/store/ab.cc");
  EXPECT_EQ(faults[1].path, "src/base/b.cc");
}

TEST(TidySentences, HaveAtMostThirtyWords) {
  EXPECT_THAT(check_sentences({"docs/a.md", repeat("word ", 29) + "end.\n"}), IsEmpty());
  EXPECT_THAT(lines(check_sentences({"docs/a.md", "\n" + repeat("word ", 30) + "end.\n"})), ElementsAre(2));
  EXPECT_THAT(lines(check_sentences({"docs/a.md", repeat("word\n", 31)})), ElementsAre(1));
}

TEST(TidySentences, EndAtAStopAnItemOrAnEmptyLine) {
  const std::string half = repeat("word ", 20);

  for (const std::string between :
       {". Next ", ".) Next ", "? `code` ", "\n\n", "\n- ", "\n1. ", "\n## Heading\n"}) {
    EXPECT_THAT(check_sentences({"docs/a.md", half + "end" + between + half + "\n"}), IsEmpty()) << between;
  }
  for (const std::string between : {", ", ": ", "; ", " e.g. ", "\n", " 1.5 "}) {
    EXPECT_THAT(lines(check_sentences({"docs/a.md", half + "on" + between + half + "\n"})), ElementsAre(1))
        << between;
  }
}

TEST(TidySentences, DoNotCountCodeTablesAndTargets) {
  const std::string many = repeat("word ", 40);

  for (const std::string& text : {
           "\n    " + many + "\n",
           "```\n" + many + "\n```\n",
           "| " + many + "|\n",
           "A `" + many + "` span.\n",
           "A [link](" + repeat("word/", 40) + ") and\n" + repeat("[a](b c) ", 20) + ".\n",
       }) {
    EXPECT_THAT(check_sentences({"docs/a.md", text}), IsEmpty()) << text;
  }
}

TEST(TidyFolderList, NamesEachFolderAndNoOther) {
  const std::set<std::string> folders{"base", "http", "wire"};
  const File readme{"README.md", "| `src/base`, `src/wire` | a `src/b` |\n| `src/http/api`, `docs/` | |\n"};
  const File architecture{
      "docs/architecture.md",
      "## Folders\n| `base` | |\n| `http/api` | |\n| `none` | |\n## Threads\n| `x` | |\n"};

  EXPECT_THAT(check_folder_list(readme, folders), IsEmpty());
  EXPECT_THAT(lines(check_folder_list(architecture, folders)), ElementsAre(4, 1));
}

TEST(TidySeedRows, NameTestsThatExist) {
  const std::set<std::string> tests = tests_in({
      {"src/core/a_test.cc",
       "TEST(One, IsThere) {}\nTEST_P(Two,\n       IsThere) {}\n// TEST(Three, IsAComment)\n"},
      {"examples/CMakeLists.txt",
       "add_test(NAME Four.IsThere COMMAND x)\neventq_with_server(Five.IsThere y)\n"},
  });
  EXPECT_THAT(tests, ElementsAre("Five.IsThere", "Four.IsThere", "One.IsThere", "Two.IsThere"));

  const File page{"docs/from-the-seeds.md",
                  "| seed | line | what it says | what eventq does | test |\n|---|---|---|---|---|\n"
                  "| 000 | 1-2 | a | as written | `One.IsThere`<br>`Four.IsThere` |\n"
                  "| 000 | 3,4 | a | as written | `Three.IsAComment` |\n"
                  "| 000 | 5 | a | as written | One.IsThere |\n"
                  "| 000 | 6 | a | as written | |\n"};
  EXPECT_THAT(lines(check_seed_rows(page, tests, 4)), ElementsAre(4, 5, 6));
  EXPECT_THAT(lines(check_seed_rows(page, tests, 5)), ElementsAre(4, 5, 6, 1));
}

TEST(TidySeedRows, HaveFiveCellsAndAReasonForADifference) {
  const File page{"docs/from-the-seeds.md",
                  "| 000 | 1 | a | **differently:** b. Reason: c | `A.B` |\n"
                  "| 000 | 2 | a | **differently:** b | `A.B` |\n"
                  "| 005 | 3 | a | b | `A.B` |\n"
                  "| 000 | x | a | b | `A.B` |\n"
                  "| 000 | 5 |  | b | `A.B` |\n"
                  "| 000 | 6 | a | `A.B` |\n"};

  EXPECT_THAT(lines(check_seed_rows(page, {"A.B"}, 6)), ElementsAre(2, 3, 4, 5, 6));
}

const auto kOnlyTheLicence = [](const std::string& path) { return path == "LICENSE" || path == "docs/a.md"; };

TEST(TidyLinks, NeedAFile) {
  const File page{"docs/a.md",
                  "[here](../LICENSE), [there](../NOTICE)\n"
                  "and [on\na second line](b.md \"title\")\n"
                  "[web](https://example.com/x), [mail](mailto:a@b)\n"
                  "`[code](c.md)`\n"
                  "\n"
                  "    [block](d.md)\n"
                  "\n"
                  "```\n[fence](e.md)\n```\n"
                  "[name]: f.md\n"};

  EXPECT_THAT(lines(check_links({page}, kOnlyTheLicence)), ElementsAre(1, 3, 12));
}

TEST(TidyLinks, NeedAHeading) {
  const File a{"docs/a.md",
               "# The `eventq serve` page: what, why\n"
               "## Same\n"
               "## Same\n"
               "[1](#the-eventq-serve-page-what-why) [2](#same) [3](#same-1)\n"
               "[4](#same-2)\n"
               "<a id=\"made\"></a> [5](a.md#made)\n"
               "```\n# Comment\n```\n"
               "[6](#comment)\n"};
  const File readme{"README.md", "[1](docs/a.md#same)\n[2](docs/a.md#other)\n"};

  const Faults faults = check_links({a, readme}, kOnlyTheLicence);

  EXPECT_THAT(lines(faults), ElementsAre(5, 10, 2));
}

TEST(TidyTypeNames, AreUsedOnce) {
  const File one{"src/core/one.h",
                 "struct Plan;\nstruct Plan {\n};\nenum class Kind : std::uint8_t { a };\n"};
  const File same{"src/core/two.h", "class Plan final : public Base {\n};\n"};
  const File nested{"include/eventq/three.h", "class Other {\n  enum class Kind : std::uint8_t { b };\n};\n"};
  const File declared{"src/core/four.h", "class Plan;\nusing Kind = int;\n"};
  const File test{"src/core/one_test.cc", "struct Plan {\n};\n"};

  EXPECT_THAT(check_type_names({one, declared, test}), IsEmpty());
  EXPECT_THAT(lines(check_type_names({one, same})), ElementsAre(1));
  EXPECT_THAT(lines(check_type_names({one, nested})), ElementsAre(2));
}

}  // namespace
}  // namespace eventq::tidy
