// shell_test.cc: completions in real shells, the man page in mandoc, and docs/cli.md against the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/framework/command_table.h"
#include "support/file_text.h"
#include "support/http_client.h"
#include "support/process.h"
#include "support/server_process.h"
#include "support/temporary_directory.h"
#include "support/terminal.h"

namespace eventq {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

std::set<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

// Completes a command line in each shell, and returns the offered words.
class ShellTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(server_.start()) << server_.log();
    ASSERT_EQ(
        HttpClient(server_.port()).post("/events", R"({"title":"t","tags":["a"],"queue":"mail"})")->status,
        201);
    std::ofstream(directory_.file("orders.ndjson")) << "{}\n";
    program_ = eventq_program("", {}).command.front();
    path_ = "PATH=" + program_.substr(0, program_.rfind('/')) + ":/usr/bin:/bin";
    url_ = "EVENTQ_URL=http://127.0.0.1:" + std::to_string(server_.port());
  }

  std::string output(const std::vector<std::string>& command) const {
    const Finished finished =
        run({.command = command, .environment = {path_, url_}, .directory = directory_.file("")});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_EQ(finished.err, "");
    return finished.out;
  }

  // `words` are separated by single blanks; the last one may be empty.
  std::set<std::string> by_bash(const std::string& words) const {
    return words_of(
        output({"/bin/bash", "--norc", "-c",
                "source <(eventq completion bash); IFS=' ' read -ra COMP_WORDS <<<\"$1\"; "
                "[[ $1 == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _eventq; "
                "printf '%s\\n' \"${COMPREPLY[@]}\"",
                "bash", words}));
  }

  std::set<std::string> by_fish(const std::string& words) const {
    // Each line is a word, a tab and a description.
    const std::string completions = output(
        {EVENTQ_FISH, "--no-config", "-c", "eventq completion fish | source; complete -C '" + words + "'"});
    std::set<std::string> found;
    for (const std::string& line : lines_of(completions)) found.insert(line.substr(0, line.find('\t')));
    return found;
  }

  const TemporaryDirectory directory_;
  ServerProcess server_{{"--store", "memory:"}};
  std::string program_;
  std::string path_;
  std::string url_;
};

std::set<std::string> first_words() {
  std::set<std::string> words;
  for (const cli::CommandSpec& command : cli::all_commands()) {
    words.emplace(command.name.substr(0, command.name.find(' ')));
  }
  return words;
}

TEST_F(ShellTest, BashOffersCommandsOptionsChoicesFilesAndQueues) {
  EXPECT_THAT(by_bash("eventq "), IsSupersetOf(first_words()));
  EXPECT_THAT(by_bash("eventq compl"), ElementsAre("completion"));
  EXPECT_THAT(by_bash("eventq completion "), ElementsAre("bash", "fish", "zsh"));
  EXPECT_THAT(by_bash("eventq top --on"), ElementsAre("--once"));
  EXPECT_THAT(by_bash("eventq top -o js"), ElementsAre("json", "jsonl"));
  EXPECT_THAT(by_bash("eventq top --output = c"), ElementsAre("csv")) << "as bash splits --output=c";
  EXPECT_THAT(by_bash("eventq serve --config or"), ElementsAre("orders.ndjson"));
  EXPECT_THAT(by_bash("eventq publish --queue "), ElementsAre("mail", "main"));
  EXPECT_THAT(by_bash("eventq queue pa"), ElementsAre("pause"));
  EXPECT_THAT(by_bash("eventq queue pause m"), ElementsAre("mail", "main"));
  EXPECT_THAT(by_bash("eventq nonsense "), IsEmpty());
}

TEST_F(ShellTest, BashOffersNothingWithoutAServer) {
  server_.kill();
  EXPECT_THAT(by_bash("eventq queue pause m"), IsEmpty());
}

TEST_F(ShellTest, FishOffersCommandsOptionsChoicesFilesAndQueues) {
  if (std::string_view(EVENTQ_FISH).empty()) GTEST_SKIP() << "fish is not installed";
  EXPECT_THAT(by_fish("eventq "), IsSupersetOf(first_words()));
  EXPECT_THAT(by_fish("eventq compl"), ElementsAre("completion"));
  EXPECT_THAT(by_fish("eventq completion "), ElementsAre("bash", "fish", "zsh"));
  EXPECT_THAT(by_fish("eventq top --on"), ElementsAre("--once"));
  EXPECT_THAT(by_fish("eventq top -o js"), ElementsAre("json", "jsonl"));
  EXPECT_THAT(by_fish("eventq serve --config or"), ElementsAre("orders.ndjson"));
  EXPECT_THAT(by_fish("eventq publish --queue "), ElementsAre("mail", "main"));
  EXPECT_THAT(by_fish("eventq queue pa"), ElementsAre("pause"));
  EXPECT_THAT(by_fish("eventq queue pause m"), ElementsAre("mail", "main"));
  EXPECT_THAT(by_fish("eventq queue "), Not(Contains("top")));
}

TEST_F(ShellTest, ZshOffersCommandsOptionsChoicesFilesAndQueues) {
  if (!Terminal::possible() || std::string_view(EVENTQ_ZSH).empty())
    GTEST_SKIP() << "zsh or tmux is not installed";
  Terminal terminal({.shell = EVENTQ_ZSH " -f", .environment = {path_, url_, "HOME=" + directory_.file("")}});
  terminal.enter(
      "cd; PS1='$ '; autoload -U compinit; compinit -u; source <(eventq completion zsh); clear; echo ready");
  const auto is_ready = [](const std::string& screen) { return screen.starts_with("ready\n"); };
  ASSERT_TRUE(is_ready(terminal.screen_when(is_ready))) << terminal.screen();
  const auto completes = [&](const std::string& typed, const std::string& expected) {
    terminal.press({"C-u", "C-l"});
    terminal.press({typed, "Tab"});
    EXPECT_THAT(terminal.screen_with(expected), HasSubstr(expected)) << typed;
  };
  completes("eventq compl", "$ eventq completion");
  completes("eventq completion f", "$ eventq completion fish");
  completes("eventq top --on", "$ eventq top --once");
  completes("eventq top -o cs", "$ eventq top -o csv");
  completes("eventq serve --config or", "$ eventq serve --config orders.ndjson");
  completes("eventq publish --queue mail", "$ eventq publish --queue mail");
  completes("eventq queue pau", "$ eventq queue pause");
  completes("eventq queue pause mai", "mail  main");
  completes("eventq ver", "eventq ver");
}

TEST_F(ShellTest, MandocFindsNoErrorsInTheManPage) {
  if (std::string_view(EVENTQ_MANDOC).empty()) GTEST_SKIP() << "mandoc is not installed";
  std::ofstream(directory_.file("eventq.1")) << output({program_, "man"});
  // The page has no date, because builds must be reproducible, and mandoc warns about that.
  const Finished lint =
      run({.command = {EVENTQ_MANDOC, "-Tlint", "-Wwarning", "eventq.1"}, .directory = directory_.file("")});
  for (const std::string& fault : lines_of(lint.out)) EXPECT_THAT(fault, HasSubstr("missing date"));
  const std::string page = output({EVENTQ_MANDOC, "-Tascii", directory_.file("eventq.1")});
  EXPECT_THAT(page, HasSubstr("EVENTQ(1)"));
}

TEST_F(ShellTest, TheReferenceInTheDocsEqualsTheOutputOfTheProgram) {
  EXPECT_TRUE(content_of(EVENTQ_SOURCE_DIR "/docs/cli.md") == output({program_, "man", "--markdown"}))
      << "docs/cli.md differs; regenerate it: build/release/eventq man --markdown > docs/cli.md";
}

}  // namespace
}  // namespace eventq
