// child_test.cc: commands that end by themselves, by a signal, by a timeout and by a stop.
#include "cli/commands/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/descriptor.h"
#include "base/steady.h"
#include "eventq/limits.h"
#include "support/temporary_directory.h"

namespace eventq::cli {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using testing::HasSubstr;

class ChildTest : public testing::Test {
 protected:
  void SetUp() override { std::signal(SIGPIPE, SIG_IGN); }

  ChildEnd run(const ChildSetup& setup, const std::stop_token& stop = {}) {
    const auto end = children_.run(setup, stop);
    EXPECT_TRUE(end) << end.error().message;
    return end ? *end : ChildEnd{};
  }

  struct Stopped {
    ChildEnd end;
    std::string said;
  };
  // The stop token fires when the command has written a line to $FIFO.
  Stopped stopped_when_it_speaks(const std::string& command, Millis grace) {
    const std::string fifo = directory_.file("fifo");
    EXPECT_EQ(std::system(("mkfifo " + fifo).c_str()), 0);
    std::stop_source source;
    std::string said;
    std::thread stopper([&] {
      std::ifstream started(fifo);
      std::getline(started, said);
      source.request_stop();
    });
    const ChildEnd end =
        run({.command = command, .environment = {"FIFO=" + fifo}, .input = {}, .grace = grace},
            source.get_token());
    stopper.join();
    return {end, said};
  }

  std::string read(const std::string& name) const {
    std::ifstream file(directory_.file(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  Children children_;
  TemporaryDirectory directory_;
};

TEST_F(ChildTest, ACommandGetsItsInputAndItsEnvironment) {
  const ChildEnd end = run({.command = "cat > \"$OUT\"; echo \"$EVENTQ_ID\" >> \"$OUT\"",
                            .environment = {"OUT=" + directory_.file("out"), "EVENTQ_ID=12"},
                            .input = "payload\n"});

  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(read("out"), "payload\n12\n");
}

TEST_F(ChildTest, ACommandMayIgnoreItsInput) {
  const ChildEnd end = run({.command = "exit 0", .environment = {}, .input = std::string(1 << 20, 'x')});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.signal, 0);
}

TEST_F(ChildTest, ACommandThatReadsNothingMayWriteMoreThanAPipeHolds) {
  const ChildEnd end =
      run({.command = "head -c 1000000 /dev/zero | tr '\\0' e >&2; echo last >&2; cat > /dev/null; exit 3",
           .environment = {},
           .input = std::string(1 << 20, 'x')});
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_LE(end.stderr_tail.size(), limits::kErrorDetail);
  EXPECT_TRUE(end.stderr_tail.ends_with("elast") || end.stderr_tail.ends_with("last"))
      << end.stderr_tail.size();
}

TEST_F(ChildTest, StdoutIsCapturedUpToOneByteMoreThanAskedFor) {
  const auto output = [&](const std::string& command, std::size_t capture) {
    return run({.command = command, .capture = capture}).output;
  };

  EXPECT_EQ(output("printf abc", 2), "abc");
  EXPECT_EQ(output("printf abc", 3), "abc");
  EXPECT_EQ(output("printf abcdef", 3), "abcd");
  EXPECT_EQ(output("cat > /dev/null; head -c 1000000 /dev/zero", 100).size(), 101U);
  EXPECT_EQ(output("printf err >&2", 100), "");
}

TEST_F(ChildTest, TheResultHasTheExitCodeOrTheSignal) {
  EXPECT_EQ(describe(run({.command = "exit 3"})), "exit 3");
  EXPECT_EQ(describe(run({.command = "kill -SEGV $$"})), "killed by SIGSEGV");
}

TEST_F(ChildTest, ACommandThatExceedsItsTimeoutIsEnded) {
  const SteadyTime start = steady_now();
  const ChildEnd end = run({.command = "sleep 60", .environment = {}, .input = {}, .timeout = 50ms});
  EXPECT_EQ(end.cause, ChildEnd::Cause::timed_out);
  EXPECT_EQ(end.signal, SIGTERM);
  EXPECT_LT(steady_now() - start, 60s);
}

TEST_F(ChildTest, ACommandThatIgnoresSigtermIsKilledWithItsWholeGroup) {
  const auto [end, said] =
      stopped_when_it_speaks("trap '' TERM; sleep 60 & echo $! > \"$FIFO\"; wait; sleep 60", 100ms);
  EXPECT_EQ(end.signal, SIGKILL);
  const pid_t grandchild = std::stoi(said);
  // A pidfd becomes readable when the process dies. pidfd_open() fails when it is already gone.
  const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, grandchild, 0)));
  pollfd ended{process.number(), POLLIN, 0};
  EXPECT_TRUE(!process.open() || ::poll(&ended, 1, 60'000) == 1);
}

TEST_F(ChildTest, ACommandIsEndedWhenItsStopTokenFires) {
  const ChildEnd end = stopped_when_it_speaks("echo up > \"$FIFO\"; exec sleep 60", 60s).end;
  EXPECT_EQ(end.cause, ChildEnd::Cause::stopped);
  EXPECT_EQ(end.signal, SIGTERM);
}

TEST_F(ChildTest, ACommandWithoutAPidDescriptorIsKilledAtOnce) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int free = dup(STDERR_FILENO);  // the lowest free number
  ASSERT_GE(free, 0);
  close(free);
  // Enough descriptors for two pipes and an eventfd, but not for the pidfd.
  const rlimit tight{.rlim_cur = static_cast<rlim_t>(free) + 5, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);

  const auto end = children_.run({.command = "sleep 60"}, {});

  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().message, HasSubstr("Cannot follow the command"));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "it still runs, or nobody has reaped it";
}

TEST_F(ChildTest, ACommandGetsItsOwnLimitOnOpenFiles) {
  const ChildEnd end = run({.command = "ulimit -n > \"$OUT\"",
                            .environment = {"OUT=" + directory_.file("out")},
                            .open_files = 77});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(read("out"), "77\n");
}

TEST_F(ChildTest, ACommandInheritsNoDescriptorsAndLeaksNone) {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const std::ifstream ours("/proc/self/status");  // std::ifstream does not set O_CLOEXEC
  const auto before = descriptors();
  // Built-ins of the shell list the descriptors. Number 3 is the folder that the shell reads for it.
  const ChildEnd end = run({.command = "for f in /proc/$$/fd/*; do echo ${f##*/} >&2; done; exit 1"});
  EXPECT_EQ(end.stderr_tail, "0\n1\n2\n3");
  EXPECT_EQ(descriptors(), before);
}

TEST(ErrorLine, IsTheLineThatSaysWhatWentWrong) {
  EXPECT_EQ(error_line(""), "");
  EXPECT_EQ(error_line("no route\n"), "no route");
  EXPECT_EQ(error_line("warning: old\nsh: 1: foo: not found\n"), "sh: 1: foo: not found");
  EXPECT_EQ(
      error_line("Traceback (most recent call last):\n  File \"a.py\", line 7\nValueError: no address\n"),
      "ValueError: no address");
  EXPECT_EQ(
      error_line("/a.js:1\nthrow new Error()\n^\n\nError: boom\n    at main (a.js:1:7)\n\nNode.js v20.1.0\n"),
      "Error: boom");
  EXPECT_EQ(
      error_line(
          "Exception in thread \"main\"\n\tat A.main(A.java:3)\nCaused by: no disk\n\tat B.b(B.java:4)\n"),
      "Caused by: no disk");
  EXPECT_EQ(error_line("  indented only\n"), "  indented only");
}

TEST(TailText, CutsOnlyBetweenCharacters) {
  EXPECT_EQ(tail_text("one\ntwo \n", 100), "one\ntwo");
  EXPECT_EQ(tail_text("abc", 3), "abc");
  EXPECT_EQ(tail_text("abcd", 3), "bcd");
  EXPECT_EQ(tail_text("ä€", 4), "€");  // 4 bytes would cut the first character
  EXPECT_EQ(tail_text("a\xFFz", 100), "a\xEF\xBF\xBDz");
  EXPECT_EQ(tail_text(std::string("a\0b", 3), 100), "ab");
  EXPECT_LE(tail_text(std::string(100, '\xFF'), 100).size(), 100U);
}

}  // namespace
}  // namespace eventq::cli
