// serve_test.cc: `eventq serve` as a process: its log, its sockets and its exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/steady.h"
#include "support/file_text.h"
#include "support/http_client.h"
#include "support/server_process.h"
#include "support/temporary_directory.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""s;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::Optional;
using testing::StartsWith;

constexpr std::string_view kLongPoll = "/events/subscribe?tags=email&worker_id=host:1&wait=60";

class ServeTest : public testing::Test {
 protected:
  void start() { ASSERT_TRUE(server_.start()) << server_.log(); }

  // Runs the program in the server's folder until it ends.
  Finished run_eventq(const std::vector<std::string>& arguments,
                      const std::vector<std::string>& environment = {}) const {
    return run(eventq_program(server_.file(""), arguments, environment));
  }

  void write_file(const std::string& name, std::string_view text) const {
    std::ofstream(server_.file(name)) << text;
  }

  // Returns when each of the server's threads has handled all earlier requests. The server
  // assigns connections to its threads round robin, and has at most four threads.
  void let_every_thread_answer() const {
    for (int i = 0; i < 4; ++i) {
      HttpClient client(server_.port());
      ASSERT_TRUE(client.get("/healthz"));
    }
  }

  ServerProcess server_;
};

TEST_F(ServeTest, AnswersOnThePortItLogs) {
  start();
  HttpClient client(server_.port());

  const auto response = client.get("/healthz");

  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
}

TEST_F(ServeTest, LogsItsVersionSettingsStoreAndAddresses) {
  start();
  const std::string port = std::to_string(server_.port());
  const std::string log = server_.log();

  EXPECT_THAT(log, HasSubstr(" info msg=starting version="));
  EXPECT_THAT(
      log,
      HasSubstr(
          " info msg=settings listen=127.0.0.1:0 allow_remote=false allow_origin=\"\" "
          "store=sqlite:eventq.db migrate=false retry_delay=5m "
          "retry_kind=fixed retry_delay_cap=1h lease=1m max_retries=3 max_attempts=20 "
          "archive_dir=\"\" stale_after=30s start_within=5m notebooks.allow=\"\" notebooks.state=\"\"\n"));
  EXPECT_THAT(log, HasSubstr(" path=" + server_.file("eventq.db") + "\n"));
  EXPECT_THAT(log, HasSubstr(" info msg=listening address=127.0.0.1:" + port +
                             " dashboard=http://127.0.0.1:" + port + "/ store=sqlite:eventq.db\n"));
}

// A server in a session of its own, so that it has no terminal, also if the tests have one.
class ReloadTest : public testing::Test {
 protected:
  void write_config(std::string_view text) const { std::ofstream(folder_.file("my.toml")) << text; }

  // The server, and its port when it listens.
  std::unique_ptr<Process> start() {
    ProcessSetup setup = eventq_program(
        folder_.file(""), {"serve", "--listen", "127.0.0.1:0", "--store", "memory:", "--config", "my.toml"});
    setup.command.insert(setup.command.begin(), "/usr/bin/setsid");
    auto server = std::make_unique<Process>(setup);
    const auto line = server->wait_for_line("msg=listening address=127.0.0.1:", 60s);
    EXPECT_TRUE(line) << server->err();
    port_ = static_cast<std::uint16_t>(std::stoi(line.value_or("0")));
    return server;
  }

  TemporaryDirectory folder_;
  std::uint16_t port_ = 0;
};

TEST_F(ReloadTest, SighupWithoutATerminalReloadsWhatCanBeReloadedAndLogsWhatNeedsARestart) {
  write_config("[queues.mail]\nbatchSize = 5\n");
  const auto server = start();
  write_config(
      "lease = \"5s\"\nallow_origin = \"https://a.example\"\n[queues.mail]\nbatchSize = 6\n[queues.new]\n");

  server->signal(SIGHUP);

  EXPECT_TRUE(server->wait_for_line(
      "msg=\"configuration reloaded\" allow_origin=https://a.example queues=mail,new", 60s))
      << server->err();
  EXPECT_TRUE(server->wait_for_line("warning msg=\"changed settings need a restart\" settings=lease", 60s));
  HttpClient client(port_);
  EXPECT_THAT(client.get("/queues/mail")->body, HasSubstr("\"batchSize\":6"));
  EXPECT_EQ(client.get("/queues/new")->status, 200);
  EXPECT_EQ(client.request("GET", "/events", {}, {{"Origin", "https://a.example"}})
                ->header("Access-Control-Allow-Origin"),
            "https://a.example");
  server->signal(SIGTERM);
  EXPECT_THAT(server->wait(60s), Optional(0));
}

TEST_F(ReloadTest, ABadConfigurationIsLoggedWithItsLineAndTheRunningOneStays) {
  write_config("[queues.mail]\nbatchSize = 5\n");
  const auto server = start();
  write_config("\nleese = \"5s\"\n");

  server->signal(SIGHUP);

  EXPECT_TRUE(server->wait_for_line(
      "error msg=\"configuration not reloaded, the running one stays\" error=\"my.toml:2: ", 60s))
      << server->err();
  HttpClient client(port_);
  EXPECT_THAT(client.get("/queues/mail")->body, HasSubstr("\"batchSize\":5"));
  server->signal(SIGTERM);
  EXPECT_THAT(server->wait(60s), Optional(0));
}

TEST_F(ReloadTest, ClosingTheTerminalStopsTheServerInOrder) {
  ProcessSetup setup = eventq_program(folder_.file(""), {});
  const std::string serve =
      "exec " + setup.command.front() + " serve --listen 127.0.0.1:0 --store memory: 2>&9";
  // `script` gives the server a terminal. Descriptor 9 is the pipe that outlives the terminal.
  setup.command = {"/bin/sh", "-c", "exec script -qec '" + serve + "' /dev/null 9>&2 </dev/null"};
  Process terminal(setup);
  ASSERT_TRUE(terminal.wait_for_line("msg=listening", 60s)) << terminal.err();

  terminal.signal(SIGKILL);

  EXPECT_TRUE(terminal.wait_for_line("msg=stopping signal=SIGHUP", 60s)) << terminal.err();
  EXPECT_TRUE(terminal.wait_for_line("msg=stopped", 60s)) << terminal.err();
}

TEST_F(ServeTest, WithClosedStreamsNothingIsPrintedIntoItsFiles) {
  start();
  ASSERT_EQ(server_.terminate(), 0);
  const std::string program = eventq_program("", {}).command.front();

  // The server opens the store within a second. If it takes longer, the test checks nothing, but does not
  // fail.
  run({.command = {"/bin/sh", "-c",
                   "exec timeout -s TERM 1 '" + program +
                       "' serve --listen 127.0.0.1:0 --store sqlite:eventq.db <&- >&- 2>&-"},
       .environment = {},
       .directory = server_.file("")});

  EXPECT_THAT(content_of(server_.file("eventq.db")), StartsWith("SQLite format 3"));
  EXPECT_THAT(content_of(server_.file("eventq.db.lock")), Not(HasSubstr("msg=")));
}

TEST_F(ServeTest, KeepsItsFilesFromOtherUsers) {
  start();
  for (const char* name : {"eventq.db", "eventq.db-wal", "eventq.db-shm", "eventq.db.lock"}) {
    struct stat file {};
    ASSERT_EQ(stat(server_.file(name).c_str(), &file), 0) << name;
    EXPECT_EQ(file.st_mode & 07777, 0600U) << name;
  }
}

TEST_F(ServeTest, RaisesItsLimitOnOpenFilesToTheHardLimit) {
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit low{.rlim_cur = 256, .rlim_max = usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  start();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);

  rlimit raised{};
  ASSERT_EQ(prlimit(server_.pid(), RLIMIT_NOFILE, nullptr, &raised), 0);

  EXPECT_EQ(raised.rlim_cur, usual.rlim_max);
}

TEST_F(ServeTest, NeverLogsAPayload) {
  start();
  HttpClient client(server_.port());
  const auto status = [](const Result<HttpResponse>& response) { return response ? response->status : 0; };

  EXPECT_EQ(
      status(client.post("/events", R"({"title":"a","tags":"email","payload":{"card":"4111-secret"}})")),
      201);
  EXPECT_EQ(status(client.post("/events", R"({"title":"a","tags":"email","payload":{"card":"4111-secret"})")),
            400);
  EXPECT_EQ(status(client.post("/events", R"({"title":"","tags":"email","payload":"4111-secret"})")), 400);
  EXPECT_EQ(status(client.get("/events/subscribe?tags=email&worker_id=host:1")), 200);
  EXPECT_EQ(status(client.get("/4111-secret")), 404);
  EXPECT_THAT(server_.terminate(), Optional(0));

  EXPECT_THAT(server_.log(), Not(HasSubstr("4111")));
}

TEST_F(ServeTest, RefusesAStoreInUse) {
  start();

  const Finished second = run_eventq({"serve", "--listen", "127.0.0.1:0"});

  EXPECT_THAT(second.exit_code, Optional(1));
  EXPECT_THAT(second.err, HasSubstr("\neventq: eventq.db is in use by process " +
                                    std::to_string(server_.pid()) + ". Only one process may open a store"));
}

TEST_F(ServeTest, WarnsOfAMissingFolderForNotebooks) {
  ServerProcess server({"--notebooks-allow", "nowhere"});
  ASSERT_TRUE(server.start()) << server.log();

  EXPECT_THAT(server.log(), HasSubstr("msg=\"notebooks.allow: cannot find this folder\" folder=nowhere\n"));
}

TEST_F(ServeTest, RefusesAPortInUse) {
  start();
  const std::string port = std::to_string(server_.port());

  const Finished second = run_eventq({"serve", "--listen", "127.0.0.1:" + port, "--store", "memory:"});

  EXPECT_THAT(second.exit_code, Optional(1));
  EXPECT_THAT(second.err, EndsWith("\neventq: Cannot listen on 127.0.0.1 port " + port +
                                   ": Address already in use. "
                                   "Another program listens there. Stop it, or listen on another port.\n"));
}

TEST_F(ServeTest, RefusesAnUnknownKindOfStore) {
  const Finished finished = run_eventq({"serve", "--listen", "127.0.0.1:0", "--store", "mysql:x"});

  EXPECT_THAT(finished.exit_code, Optional(2));
  EXPECT_THAT(finished.err,
              HasSubstr("eventq: --store must be sqlite:PATH, memory: or postgres://USER@HOST/DB"));
}

TEST_F(ServeTest, KeepsEventsWhenItIsKilled) {
  start();
  ASSERT_EQ(HttpClient(server_.port()).post("/events", R"({"title":"a","tags":"email"})")->status, 201);

  server_.kill();
  start();

  const auto event = HttpClient(server_.port()).get("/events/1");
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->status, 200);
}

TEST_F(ServeTest, AnswersAWaitingPollBeforeItStops) {
  start();
  HttpClient worker(server_.port());
  ASSERT_TRUE(worker.send("GET", kLongPoll));
  let_every_thread_answer();

  const SteadyTime begin = steady_now();
  server_.signal(SIGTERM);
  const auto answer = worker.receive();
  const auto exit_code = server_.wait(60s);

  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 204);
  EXPECT_THAT(exit_code, Optional(0));
  EXPECT_LT(millis_since(begin), 60s) << "as long as the poll would have waited";
  EXPECT_THAT(server_.log(), HasSubstr(" info msg=stopping signal=SIGTERM\n"));
  EXPECT_THAT(server_.log(), EndsWith(" info msg=stopped\n"));
}

TEST_F(ServeTest, StopsOnSigintTooWithAnIdleConnectionOpen) {
  start();
  HttpClient client(server_.port());
  ASSERT_TRUE(client.get("/healthz"));

  server_.signal(SIGINT);

  EXPECT_THAT(server_.wait(60s), Optional(0));
  EXPECT_THAT(server_.log(), HasSubstr(" info msg=stopping signal=SIGINT\n"));
}

// A client that does not read delays a stop, because its answer is too long for the buffers of the sockets.
class SlowStopTest : public ServeTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(start());
    HttpClient publisher(server_.port());
    const std::string body =
        R"({"title":"big","tags":"big","payload":")" + std::string(1'000'000, 'x') + "\"}";
    for (int i = 0; i < 20; ++i) ASSERT_EQ(publisher.post("/events", body)->status, 201);
    client_.emplace(server_.port());
    ASSERT_TRUE(client_->send("GET", "/events/subscribe?tags=big&worker_id=host:1&limit=20"));
    ASSERT_TRUE(client_->readable_within(60s));
    server_.signal(SIGTERM);
    ASSERT_TRUE(server_.wait_for_line("msg=stopping"));
  }

  std::optional<HttpClient> client_;
};

TEST_F(SlowStopTest, AStopDoesNotWaitForeverForAClientThatDoesNotRead) {
  EXPECT_THAT(server_.wait(60s), Optional(0));

  EXPECT_THAT(server_.log(), HasSubstr(" warning msg=\"some requests stay unanswered\"\n"));
}

TEST_F(SlowStopTest, AStopGivesTheClientTimeToRead) {
  const auto answer = client_->receive();

  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_GT(answer->body.size(), 20'000'000U);
  EXPECT_THAT(server_.wait(60s), Optional(0));
}

TEST_F(SlowStopTest, ASecondSignalEndsAStopAtOnce) {
  server_.signal(SIGINT);

  EXPECT_THAT(server_.wait(60s), Optional(130));
}

TEST_F(SlowStopTest, ASecondSigtermEndsAStopAtOnce) {
  server_.signal(SIGTERM);

  EXPECT_THAT(server_.wait(60s), Optional(143));
}

TEST_F(ServeTest, RefusesAnAddressThatOtherMachinesCanReach) {
  const Finished finished = run_eventq({"serve", "--listen", "0.0.0.0:0"});

  EXPECT_THAT(finished.exit_code, Optional(2));
  EXPECT_THAT(finished.err, StartsWith("eventq: --listen: 0.0.0.0:0 can be reached from other machines, and "
                                       "eventq has no authentication yet."));
  EXPECT_THAT(finished.err, HasSubstr("--allow-remote"));
}

TEST(ServeRemoteTest, ServesOtherMachinesWithAWarningIfAllowed) {
  ServerProcess server({"--listen", "0.0.0.0:0", "--allow-remote"});

  ASSERT_TRUE(server.start()) << server.log();

  EXPECT_THAT(server.log(), HasSubstr(" warning msg=\"other machines can connect without authentication\" "
                                      "listen=0.0.0.0:0\n"));
}

TEST(ServeVariablesTest, WarnsAboutAnUnknownVariable) {
  ServerProcess server({}, {"EVENTQ_LEESE=1s", "EVENTQ_MAX_RETRIES=7"});

  ASSERT_TRUE(server.start()) << server.log();

  EXPECT_THAT(server.log(), HasSubstr(" warning msg=\"unknown variable in the environment\" "
                                      "variable=EVENTQ_LEESE nearest=EVENTQ_LEASE\n"));
  EXPECT_THAT(server.log(), HasSubstr(" max_retries=7 "));
}

TEST_F(ServeTest, PrintsTheEffectiveSettingsAndTheirOrigins) {
  write_file("my.toml", "lease = \"30s\"\nmax_retries = 5\n");

  const Finished finished = run_eventq(
      {"serve", "--config", "my.toml", "--retry-delay", "90s", "--print-config"}, {"EVENTQ_MAX_RETRIES=7"});

  EXPECT_THAT(finished.exit_code, Optional(0));
  EXPECT_THAT(finished.out, HasSubstr("\nlease = \"30s\"  # my.toml:1\n"));
  EXPECT_THAT(finished.out, HasSubstr("\nmax_retries = 7  # EVENTQ_MAX_RETRIES\n"));
  EXPECT_THAT(finished.out, HasSubstr("\nretry_delay = \"1m30s\"  # --retry-delay\n"));
  EXPECT_THAT(finished.out, HasSubstr("\nmax_attempts = 20  # default\n"));
  EXPECT_THAT(finished.err, IsEmpty());
}

TEST_F(ServeTest, WarnsAboutAnUnknownVariableBesideThePrintedSettings) {
  const Finished finished = run_eventq({"serve", "--print-config"}, {"EVENTQ_LEESE=1s"});

  EXPECT_THAT(finished.exit_code, Optional(0));
  EXPECT_THAT(finished.out, HasSubstr("\nlease = \"1m\"  # default\n"));
  EXPECT_THAT(finished.err, HasSubstr("variable=EVENTQ_LEESE nearest=EVENTQ_LEASE\n"));
}

TEST_F(ServeTest, AnErrorNamesTheLineOfTheInvalidSetting) {
  write_file("my.toml", "\nleese = \"30s\"\n");

  const Finished finished = run_eventq({"serve"}, {"EVENTQ_CONFIG=my.toml"});

  EXPECT_THAT(finished.exit_code, Optional(1));
  EXPECT_EQ(finished.err, "eventq: my.toml:2: there is no setting \"leese\"; did you mean lease?\n");
}

TEST_F(ServeTest, AWrongValueOfAFlagIsWrongUsage) {
  const Finished flag = run_eventq({"serve", "--lease", "5"});
  EXPECT_THAT(flag.exit_code, Optional(2));
  EXPECT_EQ(flag.err,
            "eventq: --lease must be a whole number and its unit (ms, s, m, h or d), such as \"1m\", not "
            "\"5\".\n");

  const Finished variable = run_eventq({"serve"}, {"EVENTQ_LEASE=5"});
  EXPECT_THAT(variable.exit_code, Optional(1));
  EXPECT_THAT(variable.err, StartsWith("eventq: EVENTQ_LEASE: lease must be a whole number"));
}

TEST_F(ServeTest, AnUnknownFlagIsWrongUsage) {
  const Finished finished = run_eventq({"serve", "--lissen", "127.0.0.1:0"});

  EXPECT_THAT(finished.exit_code, Optional(2));
  EXPECT_THAT(finished.err, StartsWith("eventq: unexpected argument \"--lissen\"; did you mean --listen?\n"));
  EXPECT_THAT(finished.out, IsEmpty());
}

TEST_F(ServeTest, PrintsHelpWhenCalledWithoutACommand) {
  const Finished finished = run_eventq({});

  EXPECT_THAT(finished.exit_code, Optional(2));
  EXPECT_THAT(finished.err, HasSubstr("serve"));
  EXPECT_THAT(finished.out, IsEmpty());
}

TEST_F(ServeTest, PrintsItsVersion) {
  EXPECT_THAT(run_eventq({"version"}).out, MatchesRegex("eventq [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(run_eventq({"--version"}).out, run_eventq({"version"}).out);
}

}  // namespace
}  // namespace eventq
