// command_line_test.cc: tests of command_line.h.
#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace eventq::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::Pair;
using testing::StartsWith;

Command parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "eventq");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

ServeCommand parse_serve(const std::vector<const char*>& arguments) {
  return std::get<ServeCommand>(parse(arguments));
}

PrintCommand parse_print(const std::vector<const char*>& arguments) {
  return std::get<PrintCommand>(parse(arguments));
}

TEST(CommandLine, ServesWithoutAnyFlag) {
  const ServeCommand command = parse_serve({"serve"});

  EXPECT_THAT(command.flags.values, IsEmpty());
  EXPECT_EQ(command.flags.config, std::nullopt);
  EXPECT_EQ(command.mode, ServeCommand::Mode::serve);
}

TEST(CommandLine, HasAFlagForEachSetting) {
  const ServeCommand command = parse_serve({"serve",
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
                                            "--config",
                                            "a.toml"});

  EXPECT_THAT(command.flags.values,
              ElementsAre(Pair("allow_remote", "true"), Pair("archive_dir", "old"), Pair("lease", "2s"),
                          Pair("listen", "[::1]:80"), Pair("max_attempts", "x"), Pair("max_retries", "-1"),
                          Pair("retry_delay", "1s"), Pair("stale_after", "3s"), Pair("start_within", "4s"),
                          Pair("store", "sqlite:a b.db")));
  EXPECT_THAT(command.flags.config, Optional(std::string("a.toml")));
}

TEST(CommandLine, TakesAnEmptyValueAsAValue) {
  EXPECT_THAT(parse_serve({"serve", "--store", ""}).flags.values, ElementsAre(Pair("store", "")));
}

TEST(CommandLine, CanSwitchOffWhatAFileSwitchesOn) {
  EXPECT_THAT(parse_serve({"serve", "--allow-remote=false"}).flags.values,
              ElementsAre(Pair("allow_remote", "false")));
}

TEST(CommandLine, PrintsTheConfigurationOnRequest) {
  EXPECT_EQ(parse_serve({"serve", "--print-config"}).mode, ServeCommand::Mode::print_config);
}

TEST(CommandLine, GivesHelpOnRequest) {
  EXPECT_THAT(parse_print({"--help"}).out, HasSubstr("Usage: eventq [OPTIONS]"));
  const PrintCommand help = parse_print({"serve", "--help"});

  EXPECT_EQ(help.exit_code, ExitCode::done);
  EXPECT_THAT(help.err, IsEmpty());
  EXPECT_THAT(help.out, HasSubstr("Usage: eventq serve [OPTIONS]"));
  for (const Setting& setting : all_settings()) {
    EXPECT_THAT(help.out, HasSubstr(flag_name(setting)));
    EXPECT_THAT(help.out, HasSubstr(variable_name(setting)));
  }
}

TEST(CommandLine, SaysWhatIsWrongWithIt) {
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
           Case{{}, "eventq: a durable event queue\n"},
       }) {
    const PrintCommand wrong = parse_print(row.arguments);

    EXPECT_EQ(wrong.exit_code, ExitCode::usage) << row.message;
    EXPECT_THAT(wrong.err, StartsWith(row.message));
    EXPECT_THAT(wrong.out, IsEmpty());
  }
}

}  // namespace
}  // namespace eventq::cli
