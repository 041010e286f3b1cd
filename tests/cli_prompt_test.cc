// cli_prompt_test.cc: the prompts of commands that change many events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli_support.h"
#include "support/terminal.h"

namespace eventq {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class CliPromptTest : public CliTest {
 protected:
  void SetUp() override {
    if (!Terminal::possible()) GTEST_SKIP() << "tmux is not installed";
    CliTest::SetUp();
    publish("a");
    publish("a");
  }

  // The screen after `answer` was typed at the prompt.
  std::string cancel_and_answer(const std::string& answer) {
    const std::string program = eventq_program("", {}).command.front();
    Terminal terminal({.environment = {"EVENTQ_URL=http://127.0.0.1:" + std::to_string(server_.port()),
                                       "PATH=" + program.substr(0, program.rfind('/')) + ":/usr/bin:/bin"}});
    terminal.enter("eventq cancel --filter tag:a; echo exit $?.");
    EXPECT_THAT(terminal.screen_with("[y/N]"),
                ContainsRegex("Cancel 2 events \\(oldest [^)]*\\) in queue main\\? \\[y/N\\]"));
    terminal.enter(answer);
    return terminal.screen_when([](const std::string& screen) {
      return screen.find("exit 0.") != screen.npos || screen.find("exit 3.") != screen.npos;
    });
  }
};

TEST_F(CliPromptTest, ChangesNothingUnlessTheAnswerIsYes) {
  for (const char* answer : {"", "n", "yep"}) {
    const std::string screen = cancel_and_answer(answer);

    EXPECT_THAT(screen, HasSubstr("Nothing changed.\nexit 3."));
    EXPECT_EQ(status_of("1"), "PENDING");
  }
}

TEST_F(CliPromptTest, ChangesTheEventsWhenTheAnswerIsYes) {
  const std::string screen = cancel_and_answer("y");

  EXPECT_THAT(screen, HasSubstr("Cancelled 2 of 2 events.\nexit 0."));
  EXPECT_EQ(status_of("1"), "CANCELLED");
  EXPECT_EQ(status_of("2"), "CANCELLED");
}

TEST_F(CliPromptTest, RetryDoesNotChangeAnEventThatAWorkerClaimedDuringThePrompt) {
  EXPECT_EQ(eventq({"cancel", "1", "2"}).exit_code, 0);
  const std::string program = eventq_program("", {}).command.front();
  Terminal terminal({.environment = {"EVENTQ_URL=http://127.0.0.1:" + std::to_string(server_.port()),
                                     "PATH=" + program.substr(0, program.rfind('/')) + ":/usr/bin:/bin"}});
  terminal.enter("eventq retry --filter 'tag:a status:CANCELLED'; echo exit $?.");
  EXPECT_THAT(terminal.screen_with("[y/N]"), HasSubstr("Retry 2 events"));
  EXPECT_EQ(eventq({"retry", "1"}).exit_code, 0);
  EXPECT_EQ(claim("a"), "1");

  terminal.enter("y");

  const std::string screen = terminal.screen_with("exit 1.");
  EXPECT_THAT(screen, HasSubstr("event 1 is PROCESSING, so it was not changed."));
  EXPECT_THAT(screen, HasSubstr("Retried 1 of 2 events."));
  EXPECT_EQ(status_of("1"), "PROCESSING");
  EXPECT_EQ(status_of("2"), "PENDING");
}

}  // namespace
}  // namespace eventq
