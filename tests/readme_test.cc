// readme_test.cc: the README's commands, exactly as they stand there, from an empty folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "support/process.h"
#include "support/server_process.h"
#include "support/temporary_directory.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// What stands behind "    $ ", in order; a backslash at the end takes the next line along.
std::vector<std::string> commands_of_readme() {
  std::ifstream file(EVENTQ_SOURCE_DIR "/README.md");
  std::vector<std::string> commands;
  bool goes_on = false;
  for (std::string line; std::getline(file, line);) {
    if (goes_on) commands.back() += "\n" + line;
    if (line.starts_with("    $ ")) commands.push_back(line.substr(6));
    goes_on = (goes_on || line.starts_with("    $ ")) && line.ends_with('\\');
  }
  return commands;
}

// A shell in a folder of its own. The port is any free one, so that tests can run beside each other;
// the lines need not say so.
class Shell {
 public:
  ProcessSetup setup(const std::string& line) const {
    const std::string program = eventq_program(directory_.file(""), {}).command.front();
    const std::string path =
        std::filesystem::path(program).parent_path().string() + ":" + std::getenv("PATH");
    return {.command = {"/bin/bash", "-c", line},
            .environment = {"PATH=" + path, "EVENTQ_LISTEN=127.0.0.1:" + std::to_string(port_),
                            "EVENTQ_URL=http://127.0.0.1:" + std::to_string(port_)},
            .directory = directory_.file("")};
  }
  void use(std::uint16_t port) { port_ = port; }

 private:
  TemporaryDirectory directory_;
  std::uint16_t port_ = 0;
};

TEST(Readme, ItsCommandsDoWhatItSaysFromAnEmptyFolder) {
  const auto commands = commands_of_readme();
  ASSERT_EQ(commands.size(), 10U);
  Shell shell;

  ASSERT_EQ(commands[0], "eventq dev");
  Process dev(shell.setup("exec " + commands[0] + " 1>&2"));  // where the test can wait for a line
  const auto address = dev.wait_for_line("http://127.0.0.1:", 60s);
  ASSERT_TRUE(address) << dev.err();
  shell.use(static_cast<std::uint16_t>(std::stoi(*address)));

  ASSERT_EQ(commands[1], "eventq publish email '{\"to\":\"a@b\"}' --wait");
  const Finished published = run(shell.setup(commands[1]));
  EXPECT_EQ(published.exit_code, 0) << published.err;
  EXPECT_THAT(published.out, HasSubstr(R"("status":"COMPLETED")"));
  EXPECT_THAT(published.out, HasSubstr(R"("payload":{"to":"a@b"})"));

  ASSERT_EQ(commands[2], "eventq work report --exec 'jq -r .month'");
  Process work(shell.setup("exec " + commands[2]));
  ASSERT_TRUE(work.wait_for_line("report", 60s)) << work.err();

  const Finished report = run(shell.setup(commands[3]));
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_THAT(report.out, HasSubstr(R"("status":"COMPLETED")"));
  for (std::size_t i = 4; i < 7; ++i) {
    const Finished shown = run(shell.setup(commands[i]));
    EXPECT_EQ(shown.exit_code, 0) << commands[i] << "\n" << shown.err;
    EXPECT_NE(shown.out, "") << commands[i];
  }

  const char* const answers[] = {R"("status":"PENDING")", R"("worker_id":"laptop:1")",
                                 R"("action":"COMPLETED")"};
  for (std::size_t i = 7; i < commands.size(); ++i) {
    const std::string line = std::regex_replace(commands[i], std::regex("localhost:8080"),
                                                "localhost:" + std::to_string(std::stoi(*address)));
    ASSERT_THAT(line, testing::StartsWith("curl -s "));
    const Finished answered = run(shell.setup(line));
    EXPECT_EQ(answered.exit_code, 0) << line << "\n" << answered.err;
    EXPECT_THAT(answered.out, HasSubstr(answers[i - 7])) << line;
  }
  work.signal(SIGTERM);
  EXPECT_EQ(work.wait(60s), 0) << work.err();
  EXPECT_EQ(work.out(), "2026-10\n");
  dev.signal(SIGTERM);
  EXPECT_EQ(dev.wait(60s), 0) << dev.err();
}

}  // namespace
}  // namespace eventq
