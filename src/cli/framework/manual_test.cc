// manual_test.cc: the manual contains the whole command table, and escapes its markup.
#include "cli/framework/manual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/framework/command_table.h"
#include "cli/framework/help.h"

namespace eventq::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

CommandSpec odd_command() {
  return {.name = "odd",
          .summary = "Do it with `care`",
          .details = ".TH is no request here.\n'Neither is this.\n\n  C:\\x   stays as it is\nEnd.",
          .positionals = {{.name = "WHAT", .help = "A|B", .required = true}},
          .options = {{.name = "-n,--number", .value = "N", .help = "How many", .fallback = "3"}},
          .examples = {{"eventq odd 'a b' | cat", "Be odd"}},
          .run = nullptr};
}

TEST(ManualTest, TheManPageEscapesRoffMarkup) {
  const CommandSpec commands[] = {odd_command()};
  const std::string page = man_page(commands, "1.2.3");
  EXPECT_THAT(page, HasSubstr("\"eventq 1.2.3\""));
  EXPECT_THAT(page, HasSubstr("Do it with \\fBcare\\fR.\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&.TH is no request here.\n"));
  EXPECT_THAT(page, HasSubstr("\n\\(aqNeither is this.\n"));
  EXPECT_THAT(page, HasSubstr(".nf\n  C:\\ex   stays as it is\n.fi\nEnd.\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-n, \\-\\-number N\\fR\nHow many [3]\n"));
  EXPECT_THAT(page, HasSubstr("eventq odd \\(aqa b\\(aq | cat\n"));
}

TEST(ManualTest, MarkdownKeepsTablesAndListingsIntact) {
  const CommandSpec commands[] = {odd_command()};
  const std::string page = markdown_manual(commands);
  EXPECT_THAT(page, HasSubstr("| [`odd`](#eventq-odd) | Do it with `care` |\n"));
  EXPECT_THAT(page, HasSubstr("| `WHAT` | A\\|B |\n| `-n, --number N` | How many [3] |\n"));
  EXPECT_THAT(page, HasSubstr("```\n  C:\\x   stays as it is\n```\nEnd.\n"));
  EXPECT_THAT(page, HasSubstr("```sh\n# Be odd\neventq odd 'a b' | cat\n```\n"));
}

TEST(ManualTest, EveryCommandIsInTheManual) {
  const std::string page = markdown_manual(all_commands());
  for (const CommandSpec& command : all_commands()) {
    EXPECT_THAT(page, HasSubstr("\n### eventq " + std::string(command.name) + "\n"));
    for (const Parameter& option : command.options) EXPECT_THAT(page, HasSubstr("`" + written(option) + "`"));
  }
}

// Scripts depend on exit codes, so the manual must explain each.
TEST(ManualTest, EveryExitCodeIsExplained) {
  const std::string page = man_page(all_commands(), "1");
  for (const ExitCode code :
       {ExitCode::done, ExitCode::failed, ExitCode::usage, ExitCode::timed_out, ExitCode::event_failed,
        ExitCode::moved, ExitCode::unreachable, ExitCode::pending, ExitCode::interrupted}) {
    EXPECT_THAT(page, HasSubstr(".TP\n\\fB" + std::to_string(static_cast<int>(code)) + "\\fR\n"));
  }
}

}  // namespace
}  // namespace eventq::cli
