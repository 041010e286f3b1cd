// docs_test.cc: every command of README.md, clients/README.md and docs/ runs, and prints what the page shows;
// and their C++ compiles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "docs/docs_page.h"
#include "docs/docs_session.h"
#include "docs/shown_output.h"
#include "support/file_text.h"
#include "support/process.h"
#include "support/temporary_directory.h"

namespace eventq {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// shell_test.cc compares this page with the program, and cli_examples_test.cc runs its examples.
constexpr const char* kGenerated = "docs/cli.md";
// transactional_enqueue_test.cc runs the SQL of this page.
constexpr const char* kSqlRunElsewhere = "docs/transactional.md";

// These pages describe the source for its developers. They contain drawings, and no commands.
bool describes_the_source(const std::string& page) {
  return page == "docs/architecture.md" || page.starts_with("docs/decisions/");
}

std::vector<std::string> all_pages() {
  const std::filesystem::path root = EVENTQ_SOURCE_DIR;
  std::vector<std::string> pages{"README.md", "clients/README.md"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "docs")) {
    const std::string page = std::filesystem::relative(entry.path(), root).string();
    if (page.ends_with(".md") && page != kGenerated) pages.push_back(page);
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

std::vector<std::string> pages_that(bool describe_the_source) {
  std::vector<std::string> pages = all_pages();
  std::erase_if(pages, [&](const auto& page) { return describes_the_source(page) != describe_the_source; });
  return pages;
}

std::string where(const std::string& page, const DocsBlock& block) {
  return page + ":" + std::to_string(block.line) + ": ";
}

class DocsTest : public testing::TestWithParam<std::string> {
 protected:
  DocsPage page() const { return read_docs_page(EVENTQ_SOURCE_DIR "/" + GetParam()); }
};

TEST_P(DocsTest, ThePagesCommandsPrintWhatItShows) {
  DocsSession session;
  for (const DocsBlock& block : page().blocks) {
    const std::string wrong = session.run(block);
    ASSERT_TRUE(wrong.empty()) << where(GetParam(), block) << wrong;
  }
  const std::string wrong = session.end();
  EXPECT_TRUE(wrong.empty()) << wrong;
}

TEST_P(DocsTest, EveryBlockNamesALanguageThatTheTestKnows) {
  const std::vector<std::string> languages = {"cmake", "console", "cpp",  "json", "python",
                                              "sql",   "text",    "toml", "ts",   "yaml"};
  const DocsPage shown = page();
  EXPECT_THAT(shown.problems, IsEmpty());
  for (const DocsBlock& block : shown.blocks)
    EXPECT_THAT(languages, Contains(block.language)) << where(GetParam(), block);
}

// The C++ of a block as a source file.
std::string source_of(const DocsBlock& block) {
  std::string code;
  for (const std::string& line : block.lines) code += line + "\n";
  if (block.note != "declarations") code = "int statements() {\n" + code + "return 0;\n}\n";
  return "#include \"docs/cpp_prelude.h\"\n" + code;
}

// Checks a source file with the warnings that many users turn on.
Finished compile(const std::string& source) {
  return run(
      {.command = {EVENTQ_CXX, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                   "-I" EVENTQ_SOURCE_DIR "/include", "-I" EVENTQ_SOURCE_DIR "/tests", source},
       .environment = {},
       .directory = std::filesystem::path(source).parent_path().string()});
}

TEST_P(DocsTest, ItsCppCompilesWithoutWarnings) {
  const TemporaryDirectory directory;
  const std::string source = directory.file("block.cc");
  for (const DocsBlock& block : page().blocks) {
    if (block.language != "cpp") continue;
    std::ofstream(source) << source_of(block);
    const Finished compiled = compile(source);
    EXPECT_EQ(compiled.exit_code, 0) << where(GetParam(), block) << compiled.err;
  }
}

TEST_P(DocsTest, ABlockThatDoesNotRunSaysWhy) {
  for (const DocsBlock& block : page().blocks) {
    const std::string reason = block.noted("not run:");
    if (block.note.starts_with("not run")) {
      EXPECT_GE(std::count(reason.begin(), reason.end(), ' '), 3)
          << where(GetParam(), block) << "give a reason";
    } else if (block.language == "console") {
      EXPECT_THAT(commands_of(block), Not(IsEmpty()))
          << where(GetParam(), block) << "no line begins with \"$ \"";
    } else if (block.language == "sql" && GetParam() != kSqlRunElsewhere) {
      ADD_FAILURE() << where(GetParam(), block) << "no test runs this SQL; say why: <!-- not run: REASON -->";
    }
  }
}

std::string name_of_page(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(0, info.param.size() - 3);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Page, DocsTest, testing::ValuesIn(pages_that(false)), name_of_page);

TEST(SourcePagesTest, APageAboutTheSourceContainsNoCommands) {
  const std::vector<std::string> shells = {"bash", "console", "sh", "shell"};
  for (const std::string& page : pages_that(true)) {
    for (const DocsBlock& block : read_docs_page(EVENTQ_SOURCE_DIR "/" + page).blocks) {
      EXPECT_THAT(shells, Not(Contains(block.language))) << where(page, block) << "move it to another page";
    }
  }
}

// Sets one member of each public struct and leaves out the others.
constexpr const char* kLeavesOutMembers = R"(
#include "eventq/admin.h"
#include "eventq/client.h"
#include "eventq/event_context.h"
#include "eventq/queue.h"
#include "eventq/serve.h"
#include "eventq/worker.h"
using namespace eventq;
void publish(Queue& queue) { (void)queue.publish({.title = "x", .tags = {"a"}}); }
const Actor actor{.by = "x"};
const Alive alive{.id = EventId{1}};
const Claim claim{.event = {}};
const ClientOptions client_options{.worker_id = "x"};
const Error error{.code = ErrorCode::internal};
const Event event{.id = EventId{1}};
const EventContext context{.traceparent = "x"};
const EventList list{.events = {}};
const EventQuery query{.queue = "x"};
const EventSummary summary{.id = EventId{1}};
const Failure failure{.status_code = 1};
const FailureSummary failures{.queue = "x"};
const Figures figures{.queues = {}};
const Lease lease{.id = EventId{1}};
const LogEntry entry{.log_id = LogId{1}};
const NewEvent new_event{.title = "x"};
const NextRequest request{.worker_id = "x"};
const NextResult result{.results = {}};
const Options options{.lease = Millis(1)};
const Outcome outcome{.status_code = 1};
const PollRequest poll{.tags = {"a"}};
const QueueConfig config{.max_queue_depth = 1};
const QueueFigures queue_figures{.queue = "x"};
const Report report{.id = EventId{1}};
const RetryPolicy retry{.kind = {}};
const Return back{.delay = Millis(1)};
const ServeOptions serve_options{.host = "x"};
const Source source{.type = "x"};
const StreamRequest stream{.queue = "x"};
const WorkerInfo worker{.worker_id = "x"};
const WorkerOptions worker_options{.threads = 1};
)";

TEST(PublicHeadersTest, AProgramLeavesOutMembersOfAStructWithoutAWarning) {
  const TemporaryDirectory directory;
  std::ofstream(directory.file("program.cc")) << kLeavesOutMembers;
  const Finished compiled = compile(directory.file("program.cc"));
  EXPECT_EQ(compiled.exit_code, 0) << compiled.err;
}

TEST(ReadmeTest, TheTableOfFoldersNamesEveryFolderOfSrc) {
  std::set<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(EVENTQ_SOURCE_DIR "/src")) {
    if (entry.is_directory()) folders.insert("src/" + entry.path().filename().string());
  }
  const std::string readme = content_of(EVENTQ_SOURCE_DIR "/README.md");
  const std::regex folder("`(src/[a-z]+)`");
  std::set<std::string> named;
  for (std::sregex_iterator it(readme.begin(), readme.end(), folder), end; it != end; ++it)
    named.insert((*it)[1]);
  EXPECT_EQ(named, folders);
}

// A block that runs the commands in this order, with `eventq ls` before and after each. Ids depend on the
// order, so only outputs without an id are compared.
DocsBlock in_order(const std::vector<DocsCommand>& commands) {
  DocsBlock block{.language = "console", .lines = {"$ eventq ls"}};
  for (const DocsCommand& command : commands) {
    block.lines.push_back("$ " + command.text);
    if (command.text.ends_with("--fields status")) {
      block.lines.insert(block.lines.end(), command.output.begin(), command.output.end());
    }
    block.lines.emplace_back("$ eventq ls");
  }
  return block;
}

// A reader tries the commands in any order: none of them needs another to have run.
TEST(ReadmeTest, TheFirstCommandsWorkInEveryOrder) {
  const DocsPage readme = read_docs_page(EVENTQ_SOURCE_DIR "/README.md");
  const DocsBlock& server = readme.blocks.at(0);
  ASSERT_EQ(server.note, "stays running");
  std::vector<DocsCommand> commands = commands_of(readme.blocks.at(1));
  ASSERT_EQ(std::erase_if(commands, [](const DocsCommand& it) { return it.text == "eventq ls"; }), 1U);
  ASSERT_EQ(commands.size(), 3U);
  std::ranges::sort(commands, {}, &DocsCommand::text);
  int orders = 0;
  do {
    DocsSession session;
    ASSERT_EQ(session.run(server), "");
    const DocsBlock block = in_order(commands);
    EXPECT_EQ(session.run(block), "") << testing::PrintToString(block.lines);
    EXPECT_EQ(session.end(), "");
    ++orders;
  } while (std::ranges::next_permutation(commands, {}, &DocsCommand::text).found);
  EXPECT_EQ(orders, 6);
}

TEST(ShownOutputTest, AnotherNumberOfAFileIsADifference) {
  ShownOutput shown;

  EXPECT_EQ(shown.difference({"{\"id\": 1, \"kind\": \"file\"}"}, R"({"id":1,"kind":"file"})"), "");
  EXPECT_THAT(shown.difference({"{\"id\": 2, \"kind\": \"file\"}"}, R"({"id":1,"kind":"file"})"),
              HasSubstr("the command printed:\n{\"id\":1,"));
}

TEST(ShownOutputTest, TimesMatchByTheirForm) {
  ShownOutput shown;

  EXPECT_EQ(shown.difference({"at 2026-11-15T22:45:17.291Z"}, "at 2027-01-01T00:00:00.000Z\n"), "");
  EXPECT_NE(shown.difference({"at 2026-11-15T22:45:17.291Z"}, "at 2027-01-01\n"), "");
}

TEST(ShownOutputTest, AnIdStandsForOneOtherIdOnTheWholePage) {
  ShownOutput shown;
  const std::string page_id = "01a1e162-e56b-7056-8f91-d3ad5aabf944";
  const std::string own_id = "02b2f273-f67c-8167-9fa2-e4be6bbc0a55";
  const std::string other_id = "03c3f273-f67c-8167-9fa2-e4be6bbc0a55";

  EXPECT_EQ(shown.difference({"evt_" + page_id}, "evt_" + own_id), "");
  EXPECT_EQ(shown.with_own_ids("eventq get evt_" + page_id), "eventq get evt_" + own_id);
  EXPECT_NE(shown.difference({"evt_" + page_id}, "evt_" + other_id), "");
}

TEST(ShownOutputTest, AnEllipsisMatchesAnyTextAndABlankAnyWhiteSpace) {
  ShownOutput shown;

  EXPECT_EQ(
      shown.difference({"ID  STATUS", " 1  PENDING  …", "end"}, "ID   STATUS  \n 1 PENDING 1 s ago\nend\n"),
      "");
  EXPECT_NE(shown.difference({" 1  PENDING  …", "end"}, " 1 FAILED 1 s ago\nend\n"), "");
}

}  // namespace
}  // namespace eventq
