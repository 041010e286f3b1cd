// command_line_test.cc: tests of command_line.h.
#include "cli/framework/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands/serve_request.h"
#include "cli/framework/command_table.h"
#include "cli/framework/help.h"
#include "cli/framework/record.h"
#include "server/serve.h"

namespace eventq::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::Pair;
using testing::StartsWith;

std::variant<ChosenCommand, Printout> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "eventq");
  return parse_command_line(all_commands(), static_cast<int>(arguments.size()), arguments.data());
}

ChosenCommand parse_chosen(const std::vector<const char*>& arguments) {
  auto parsed = parse(arguments);
  if (const auto* printout = std::get_if<Printout>(&parsed)) {
    ADD_FAILURE() << printout->err;
    return {};
  }
  return std::get<ChosenCommand>(std::move(parsed));
}

server::ServeRequest parse_serve(const std::vector<const char*>& arguments) {
  return serve_request(parse_chosen(arguments).arguments);
}

Printout parse_print(const std::vector<const char*>& arguments) {
  return std::get<Printout>(parse(arguments));
}

TEST(CommandLine, ServeNeedsNoFlags) {
  const server::ServeRequest command = parse_serve({"serve"});

  EXPECT_THAT(command.flags.values, IsEmpty());
  EXPECT_EQ(command.flags.config, std::nullopt);
  EXPECT_EQ(command.mode, server::ServeMode::serve);
}

TEST(CommandLine, ServeHasAFlagForEachSetting) {
  const server::ServeRequest command = parse_serve({"serve",
                                                    "--listen",
                                                    "[::1]:80",
                                                    "--allow-remote",
                                                    "--store",
                                                    "sqlite:a b.db",
                                                    "--retry-delay=1s",
                                                    "--lease",
                                                    "2s",
                                                    "--max-retries",
                                                    "-1",
                                                    "--max-attempts",
                                                    "x",
                                                    "--archive-dir",
                                                    "old",
                                                    "--stale-after",
                                                    "3s",
                                                    "--start-within",
                                                    "4s",
                                                    "--notebooks-allow",
                                                    "a",
                                                    "--notebooks-allow=b",
                                                    "--notebooks-state",
                                                    "known",
                                                    "--config",
                                                    "a.toml"});

  EXPECT_THAT(command.flags.values,
              ElementsAre(Pair("allow_remote", "true"), Pair("archive_dir", "old"), Pair("lease", "2s"),
                          Pair("listen", "[::1]:80"), Pair("max_attempts", "x"), Pair("max_retries", "-1"),
                          Pair("notebooks.allow", std::string("a\0b", 3)), Pair("notebooks.state", "known"),
                          Pair("retry_delay", "1s"), Pair("stale_after", "3s"), Pair("start_within", "4s"),
                          Pair("store", "sqlite:a b.db")));
  EXPECT_THAT(command.flags.config, Optional(std::string("a.toml")));
}

TEST(CommandLine, AnEmptyValueIsAValue) {
  EXPECT_THAT(parse_serve({"serve", "--store", ""}).flags.values, ElementsAre(Pair("store", "")));
}

TEST(CommandLine, AFlagCanDisableWhatAFileEnables) {
  EXPECT_THAT(parse_serve({"serve", "--allow-remote=false"}).flags.values,
              ElementsAre(Pair("allow_remote", "false")));
}

TEST(CommandLine, PrintConfigSelectsThePrintMode) {
  EXPECT_EQ(parse_serve({"serve", "--print-config"}).mode, server::ServeMode::print_config);
}

TEST(CommandLine, HelpListsEverySetting) {
  EXPECT_THAT(parse_print({"--help"}).out, HasSubstr("Usage: eventq COMMAND [OPTIONS]"));
  const Printout help = parse_print({"serve", "--help"});

  EXPECT_EQ(help.exit_code, ExitCode::done);
  EXPECT_THAT(help.err, IsEmpty());
  EXPECT_THAT(help.out, HasSubstr("Usage: eventq serve [OPTIONS]"));
  for (const server::ServerSetting& setting : server::all_settings()) {
    EXPECT_THAT(help.out, HasSubstr(server::flag_name(setting)));
    EXPECT_THAT(help.out, HasSubstr(server::variable_name(setting)));
  }
}

TEST(CommandLine, EveryCommandHasHelp) {
  const std::string all = parse_print({"--help"}).out;
  for (const CommandSpec& command : all_commands()) {
    EXPECT_THAT(all, HasSubstr("\n  " + std::string(command.name) + " "));
    std::vector<std::string> words = split_list(command.name, ' ');
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    arguments.push_back("--help");
    const Printout help = parse_print(arguments);

    EXPECT_EQ(help.exit_code, ExitCode::done);
    EXPECT_EQ(help.out, help_of(command));
    EXPECT_THAT(help.out, StartsWith(std::string(command.summary) + ".\n\nUsage: eventq "));
    for (const Example& example : command.examples) {
      EXPECT_THAT(example.line, HasSubstr("eventq " + std::string(command.name)));
      EXPECT_THAT(help.out, HasSubstr(std::string(example.line)));
    }
  }
}

TEST(CommandLine, HelpOfAGroupListsItsCommands) {
  const Printout requested = parse_print({"queue", "--help"});
  const Printout not_asked = parse_print({"queue"});

  EXPECT_EQ(requested.exit_code, ExitCode::done);
  EXPECT_THAT(requested.out, StartsWith("Usage: eventq queue COMMAND\n"));
  EXPECT_THAT(requested.out, HasSubstr("\n  queue pause "));
  EXPECT_EQ(not_asked.exit_code, ExitCode::usage);
  EXPECT_EQ(not_asked.err, requested.out);
  EXPECT_THAT(not_asked.out, IsEmpty());
}

TEST(CommandLine, VersionPrintsTheVersion) {
  EXPECT_THAT(parse_print({"--version"}).out, StartsWith("eventq "));
}

TEST(CommandLine, ReadsPositionalsAndOptionsInAnyOrder) {
  const ChosenCommand chosen =
      parse_chosen({"publish", "--queue=mail", "email", "--title", "-x", "{}", "-o", "json"});

  ASSERT_NE(chosen.command, nullptr);
  EXPECT_EQ(chosen.command->name, "publish");
  EXPECT_THAT(chosen.arguments.text("TAGS"), Optional(std::string("email")));
  EXPECT_THAT(chosen.arguments.text("PAYLOAD"), Optional(std::string("{}")));
  EXPECT_THAT(chosen.arguments.text("--queue"), Optional(std::string("mail")));
  EXPECT_THAT(chosen.arguments.text("--title"), Optional(std::string("-x")));
  EXPECT_THAT(chosen.arguments.text("--output"), Optional(std::string("json")));
  EXPECT_FALSE(chosen.arguments.has("--wait"));
}

TEST(CommandLine, ValuesAreNotChanged) {
  for (const char* payload :
       {"{}", "[]", "[1,2]", "[[1],[2]]", "\"x\"", "'x'", "-", "@file", "a,b", "%%", "", "serve", "queue"}) {
    EXPECT_THAT(parse_chosen({"publish", "email", payload}).arguments.texts("PAYLOAD"), ElementsAre(payload));
    EXPECT_THAT(parse_chosen({"publish", "email", "--title", payload}).arguments.texts("--title"),
                ElementsAre(payload));
  }
  EXPECT_THAT(parse_chosen({"publish", "--", "email", "-5"}).arguments.texts("PAYLOAD"), ElementsAre("-5"));
}

TEST(CommandLine, AnOptionalValueMustFollowAnEqualsSign) {
  const ChosenCommand bare = parse_chosen({"publish", "--wait", "email"});

  EXPECT_THAT(bare.arguments.text("--wait"), Optional(std::string()));
  EXPECT_THAT(bare.arguments.text("TAGS"), Optional(std::string("email")));
  EXPECT_THAT(parse_chosen({"publish", "email", "--wait=5s"}).arguments.text("--wait"),
              Optional(std::string("5s")));
}

TEST(CommandLine, CollectsAllValuesOfARepeatedOption) {
  const ChosenCommand chosen = parse_chosen({"ls", "--tag", "a", "--tag=b"});
  const ChosenCommand ids = parse_chosen({"cancel", "1", "--reason", "x", "2", "3"});

  EXPECT_THAT(chosen.arguments.texts("--tag"), ElementsAre("a", "b"));
  EXPECT_THAT(ids.arguments.texts("ID"), ElementsAre("1", "2", "3"));
}

TEST(CommandLine, AChoiceMayBeInAnyLetterCase) {
  const ChosenCommand chosen = parse_chosen({"ls", "--status", "failed", "-o", "JSON"});

  EXPECT_THAT(chosen.arguments.text("--status"), Optional(std::string("FAILED")));
  EXPECT_THAT(chosen.arguments.text("--output"), Optional(std::string("json")));
}

TEST(CommandLine, FindsCommandsOfTwoWords) {
  const ChosenCommand chosen = parse_chosen({"queue", "set", "mail", "a=1", "b="});

  ASSERT_NE(chosen.command, nullptr);
  EXPECT_EQ(chosen.command->name, "queue set");
  EXPECT_THAT(chosen.arguments.texts("SETTING"), ElementsAre("a=1", "b="));
}

TEST(CommandLine, AFlagGivenAsFalseIsNotSet) {
  EXPECT_FALSE(parse_chosen({"ls", "--all=false"}).arguments.has("--all"));
  EXPECT_TRUE(parse_chosen({"ls", "--all"}).arguments.has("--all"));
}

TEST(CommandLine, ErrorsNameTheArgumentAndTheHelp) {
  struct Case {
    std::vector<const char*> arguments;
    const char* message;
  };
  for (const Case& row : {
           Case{{"serve", "--lisen", "x"},
                "eventq: unexpected argument \"--lisen\"; did you mean --listen?\n"},
           Case{{"serve", "--lisen=x"}, "eventq: unexpected argument \"--lisen\"; did you mean --listen?\n"},
           Case{{"serve", "--print-confg"},
                "eventq: unexpected argument \"--print-confg\"; did you mean --print-config?\n"},
           Case{{"serve", "now"}, "eventq: unexpected argument \"now\"\n"},
           Case{{"sreve"}, "eventq: unexpected argument \"sreve\"; did you mean serve?\n"},
           Case{{"serve", "--listen"}, "eventq: --listen: 1 required ADDRESS missing\n"},
           Case{{"serve", "--lease", "1s", "--lease", "2s"}, "eventq: --lease: "},
           Case{{"publish"}, "eventq: TAGS is required\nSee eventq publish --help.\n"},
           Case{{"publish", "email", "{}", "x"}, "eventq: unexpected argument \"x\"\n"},
           Case{{"publish", "--quue", "x", "email"},
                "eventq: unexpected argument \"--quue\"; did you mean --queue?\n"},
           Case{{"ls", "-o", "xml"},
                "eventq: --output must be table, json, jsonl, csv or id, not \"xml\"\nSee eventq ls "
                "--help.\n"},
           Case{{"ls", "--status", "lost"}, "eventq: --status must be PENDING, "},
           Case{{"ls", "--all=perhaps"}, "eventq: --all takes no value, but was given \"perhaps\"\n"},
           Case{{"queue", "puase", "mail"},
                "eventq: unexpected argument \"puase\"; did you mean pause?\nSee eventq queue --help.\n"},
           Case{{"queue", "pause"}, "eventq: NAME is required\nSee eventq queue pause --help.\n"},
           Case{{}, "eventq: a durable event queue\n"},
       }) {
    const Printout wrong = parse_print(row.arguments);

    EXPECT_EQ(wrong.exit_code, ExitCode::usage) << row.message;
    EXPECT_THAT(wrong.err, StartsWith(row.message));
    EXPECT_THAT(wrong.out, IsEmpty());
  }
}

}  // namespace
}  // namespace eventq::cli
