// terminal_test.cc: the program on a real terminal, run by tmux.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/file_text.h"
#include "support/http_client.h"
#include "support/server_process.h"
#include "support/terminal.h"

namespace eventq {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::string line_with(const std::string& text, std::string_view part) {
  for (const std::string& line : lines_of(text)) {
    if (line.find(part) != line.npos) return line;
  }
  return "";
}

class TerminalTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Terminal::possible()) GTEST_SKIP() << "tmux is not installed";
    ASSERT_TRUE(server_.start()) << server_.log();
    HttpClient client(server_.port());
    for (const char* queue : {"mail", "main", "main", "reports"}) {
      const auto answer = client.post(
          "/events", std::string(R"({"title":"Hello, 世界","tags":["email"],"queue":")") + queue + "\"}");
      ASSERT_EQ(answer->status, 201) << answer->body;
    }
    ASSERT_EQ(client.post("/queues/reports/pause", "{}")->status, 200);
    ASSERT_EQ(client.get("/events/subscribe?tags=email&worker_id=host-1:8742")->status, 200);
  }

  Terminal::Setup terminal() const {
    const std::string program = eventq_program("", {}).command.front();
    return {.environment = {"EVENTQ_URL=http://127.0.0.1:" + std::to_string(server_.port()),
                            "PATH=" + program.substr(0, program.rfind('/')) + ":/usr/bin:/bin"}};
  }

  ServerProcess server_;
};

// Checks that the earlier lines are visible again, and that the terminal echoes keys and edits lines.
void expect_restored(Terminal& terminal) {
  // The lines below the prompt are empty.
  const std::string prompt = terminal.screen_when([](const std::string& screen) {
    const std::size_t last = screen.find_last_not_of('\n');
    return screen.find("QUEUE") == screen.npos && last != screen.npos && screen[last] == '$';
  });
  EXPECT_THAT(prompt, HasSubstr("printed before"));
  terminal.enter("stty -a | tr ' ' '\\n' | grep -E '^-?(icanon|echo);?$' | tr '\\n' ' '; echo restored");
  EXPECT_THAT(terminal.screen_with("icanon echo restored"), HasSubstr("icanon echo restored"));
}

TEST_F(TerminalTest, TopFillsTheScreenAndRestoresItOnQ) {
  Terminal terminal(this->terminal());
  terminal.enter("echo printed before");
  terminal.enter("eventq top");
  // `top` draws from the first line on, so the last line is complete when it is there.
  const std::string screen = terminal.screen_when([](const std::string& seen) {
    return seen.find("DONE/s") != seen.npos && seen.find("(by name)") != seen.npos;
  });
  EXPECT_THAT(screen, Not(HasSubstr("printed before")));
  EXPECT_THAT(screen, Not(ContainsRegex("[[?]|\x1b|[0-9]m ")));
  EXPECT_EQ(lines_of(screen).size(), 30U);
  EXPECT_EQ(lines_of(screen).back(), "q quit  ↑↓ select  p pause or resume  s sort (by name)");
  EXPECT_THAT(line_with(screen, "host-1:8742"), HasSubstr("active          1"));

  // Numbers are right-aligned with their heading.
  const std::string heading = line_with(screen, "QUEUE");
  const std::size_t waiting = heading.find("WAITING") + 6;
  const std::size_t running = heading.find("RUNNING") + 6;
  EXPECT_EQ(line_with(screen, " main ").substr(waiting - 1, 2), " 1");
  EXPECT_EQ(line_with(screen, " main ").substr(running - 1, 2), " 1");
  EXPECT_EQ(line_with(screen, " reports ").substr(waiting - 1, 2), " 1");
  EXPECT_EQ(line_with(screen, " reports ").substr(heading.find("STATE"), 6), "paused");

  terminal.press({"q"});
  expect_restored(terminal);
}

TEST_F(TerminalTest, AListIsATableWithAlignedColumns) {
  Terminal terminal(this->terminal());
  terminal.enter("eventq ls; echo $? listed");
  const std::string screen = terminal.screen_with("\n0 listed");
  EXPECT_THAT(screen, Not(ContainsRegex("\\[[0-9;]*m|\x1b")));
  const std::string heading = line_with(screen, "STATUS");
  EXPECT_EQ(line_with(screen, "PROCESSING").find("PROCESSING"), heading.find("STATUS")) << screen;
  EXPECT_EQ(line_with(screen, "PENDING").find("PENDING"), heading.find("STATUS")) << screen;
  EXPECT_THAT(screen, HasSubstr("世界"));
  EXPECT_EQ(screen.find("{\""), screen.npos) << "a terminal gets a table, not JSON";
}

TEST_F(TerminalTest, TopPausesAndResumesTheSelectedQueue) {
  Terminal terminal(this->terminal());
  terminal.enter("eventq top");
  EXPECT_THAT(terminal.screen_with(">mail"), HasSubstr(">mail"));
  terminal.press({"Down"});
  EXPECT_THAT(terminal.screen_with(">main"), HasSubstr(">main"));
  terminal.press({"p"});
  const auto is = [](std::string_view state) {
    return [state](const std::string& screen) {
      return line_with(screen, ">main").find(state) != std::string::npos;
    };
  };
  EXPECT_THAT(line_with(terminal.screen_when(is("paused")), ">main"), HasSubstr("paused"));
  terminal.press({"p"});
  EXPECT_THAT(line_with(terminal.screen_when(is("active")), ">main"), HasSubstr("active"));
}

TEST_F(TerminalTest, TopFollowsTheSizeOfTheTerminal) {
  Terminal terminal(this->terminal());
  terminal.enter("eventq top");
  EXPECT_THAT(terminal.screen_with("5 MIN"), HasSubstr("5 MIN"));
  terminal.resize(60, 12);
  const std::string screen = terminal.screen_when([](const std::string& seen) {
    return line_with(seen, "RUNNING").ends_with("IN/s") && lines_of(seen).back().starts_with("q quit");
  });
  EXPECT_EQ(lines_of(screen).size(), 12U) << screen;
  EXPECT_THAT(line_with(screen, "QUEUE"), testing::EndsWith("IN/s")) << "columns that do not fit are omitted";
}

TEST_F(TerminalTest, TopRestoresTheTerminalWhenItIsStoppedAndWhenItIsEnded) {
  Terminal terminal(this->terminal());
  terminal.enter("echo printed before");
  terminal.enter("eventq top");
  terminal.screen_with("QUEUE");
  terminal.press({"C-z"});
  EXPECT_THAT(terminal.screen_with("Stopped"), HasSubstr("printed before"));
  expect_restored(terminal);
  SCOPED_TRACE("fg");
  terminal.enter("clear; echo printed before; fg");
  EXPECT_THAT(terminal.screen_with("QUEUE"), Not(HasSubstr("printed before")));
  terminal.press({"C-c"});
  expect_restored(terminal);

  terminal.enter("clear; echo printed before; sh -c 'echo $$ >" + server_.file("pid") + "; exec eventq top'");
  EXPECT_THAT(terminal.screen_with("QUEUE"), HasSubstr("QUEUE"));
  SCOPED_TRACE("SIGTERM");
  pid_t pid = 0;
  std::ifstream(server_.file("pid")) >> pid;
  ASSERT_GT(pid, 0);
  kill(pid, SIGTERM);
  expect_restored(terminal);
}

TEST_F(TerminalTest, TopReportsAnUnreachableServerAndContinues) {
  Terminal terminal(this->terminal());
  terminal.enter("eventq top");
  terminal.screen_with("DONE/s");
  server_.kill();
  const std::string screen = terminal.screen_with("retrying. q quits.");
  EXPECT_THAT(screen, HasSubstr("No eventq server at"));
  EXPECT_THAT(lines_of(screen).back(), HasSubstr("; retrying. q quits."));
  EXPECT_THAT(screen, HasSubstr("main")) << "the last state that was read";
  terminal.press({"q"});
  EXPECT_THAT(terminal.screen_with("$ eventq top\n$"), HasSubstr("$ eventq top\n$"));
}

}  // namespace
}  // namespace eventq
