// work_test.cc: `eventq work` as a process: the input and the exit codes of commands, and workers that are
// killed or frozen.
#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "base/steady.h"
#include "support/file_text.h"
#include "support/http_client.h"
#include "support/rounds.h"
#include "support/server_process.h"
#include "support/store_audit.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

class WorkTest : public testing::Test {
 protected:
  void start(const std::vector<std::string>& arguments = {}) {
    server_ = std::make_unique<ServerProcess>(arguments);
    ASSERT_TRUE(server_->start()) << server_->log();
    client_ = std::make_unique<HttpClient>(server_->port());
  }

  void publish(const std::string& body) {
    const auto answer = client_->post("/events", body);
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_EQ(answer->status, 201) << answer->body;
  }

  std::string event(int id) {
    const auto answer = client_->get("/events/" + std::to_string(id) + "?include_logs=true");
    return answer ? answer->body : answer.error().message;
  }
  // Waits until the event has ended.
  std::string ended(int id) {
    const auto answer = client_->post("/events/" + std::to_string(id) + "/wait?timeout=50");
    EXPECT_TRUE(answer && answer->status == 200) << (answer ? answer->body : answer.error().message);
    return event(id);
  }

  ProcessSetup work(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all{"work"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return eventq_program(server_->file(""), all,
                          {"EVENTQ_URL=http://127.0.0.1:" + std::to_string(server_->port())});
  }

  std::string file(const std::string& name) const { return content_of(server_->file(name)); }

  // The first column of one row.
  std::string query_file(const std::string& sql) const {
    return query(server_->file("eventq.db"), sql).at(0);
  }

  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<HttpClient> client_;
};

TEST_F(WorkTest, TheCommandGetsThePayloadAndSharesStdoutWithTheWorker) {
  start();
  publish(
      R"({"title":"Hello","tags":["a","b"],"payload":{"x":[1, 2]},"priority":7,"correlation_id":"c1","pattern":"x.y"})");

  const Finished finished = run(work(
      {"b,a", "--until-empty", "--exec",
       "cat; echo; echo $EVENTQ_ID $EVENTQ_QUEUE $EVENTQ_TITLE $EVENTQ_TAGS $EVENTQ_ATTEMPT $EVENTQ_PATTERN "
       "$EVENTQ_CORRELATION_ID $EVENTQ_PRIORITY; echo ${EVENTQ_EVENT_ID%%_*} ${EVENTQ_URL%:*}"}));

  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out, "{\"x\":[1, 2]}\n1 main Hello a,b 1 x.y c1 7\nevt http://127.0.0.1\n");
  EXPECT_THAT(event(1), HasSubstr(R"("status":"COMPLETED")"));
}

TEST_F(WorkTest, TheCommandSeesTheTraceInItsEnvironment) {
  start();
  publish(
      R"({"title":"1","tags":"a","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"x=y"})");
  publish(R"({"title":"2","tags":"a"})");
  ProcessSetup setup =
      work({"a", "--until-empty", "--exec", "echo $EVENTQ_ID \"$TRACEPARENT\" \"$TRACESTATE\""});
  setup.environment.emplace_back("TRACEPARENT=of the worker");

  const Finished finished = run(setup);

  EXPECT_EQ(finished.out, "1 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 x=y\n2  \n");
}

TEST_F(WorkTest, TheMessageOfAFailureIsTheStderrOfTheCommand) {
  start();
  publish(R"({"title":"1","tags":"a","max_retries":1})");
  publish(R"({"title":"2","tags":"a","max_retries":1})");
  publish(R"({"title":"3","tags":"a","max_retries":1})");

  const Finished finished =
      run(work({"a", "--until-empty", "-o", "jsonl", "--exec",
                "case $EVENTQ_ID in 1) printf 'no \\377 network\\n' >&2; exit 4;; 2) exit 3;; "
                "3) kill -SEGV $$;; esac"}));

  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(event(1), AllOf(HasSubstr(R"("status":"FAILED")"), HasSubstr("\"no \xEF\xBF\xBD network\"")));
  EXPECT_THAT(event(2), HasSubstr(R"("error_message":"exit 3")"));
  EXPECT_THAT(event(3), HasSubstr(R"("error_message":"killed by SIGSEGV")"));
  EXPECT_THAT(finished.err, HasSubstr(R"({"id":2,"result":"failed","attempt":1,)"));
}

TEST_F(WorkTest, TheDetailOfAFailureIsTheEndOfStderr) {
  start();
  publish(R"({"title":"1","tags":"a","max_retries":1})");
  publish(R"({"title":"2","tags":"a","max_retries":1})");

  run(work({"a", "--until-empty", "--exec",
            "case $EVENTQ_ID in 1) printf 'first\\n  at line 7\\nlast\\n' >&2; exit 1;; 2) echo one >&2; "
            "exit 1;; esac"}));

  EXPECT_THAT(event(1), AllOf(HasSubstr(R"("error_message":"last")"),
                              HasSubstr(R"("error_detail":"first\n  at line 7\nlast")")));
  EXPECT_THAT(event(2), AllOf(HasSubstr(R"("error_message":"one")"), HasSubstr(R"("error_detail":null)")));
}

TEST_F(WorkTest, CaptureMakesStdoutTheResult) {
  start();
  for (int i = 0; i < 5; ++i) publish(R"({"title":"t","tags":"a","payload":[1, 2]})");

  const Finished finished =
      run(work({"a", "--until-empty", "--capture", "--exec",
                "case $EVENTQ_ID in 1) cat; echo;; 2) echo 'two words';; 3) ;; "
                "4) head -c 65534 /dev/zero | tr '\\0' x;; 5) head -c 65535 /dev/zero | tr '\\0' x;; esac"}));

  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(event(1), HasSubstr(R"("result":[1, 2])"));
  EXPECT_THAT(event(2), HasSubstr(R"("result":"two words")"));
  EXPECT_THAT(event(3), AllOf(HasSubstr(R"("status":"COMPLETED")"), HasSubstr(R"("result":null)")));
  EXPECT_THAT(event(4), HasSubstr(R"("status":"COMPLETED")"));
  EXPECT_THAT(event(5), AllOf(HasSubstr(R"("status":"FAILED")"), HasSubstr("stdout is too long")));
}

TEST_F(WorkTest, Exit75ReleasesTheEventWithoutAFailure) {
  start();
  publish(R"({"title":"later","tags":"a"})");

  const Finished finished =
      run(work({"a", "--until-empty", "--later", "1s", "--exec", "[ $EVENTQ_ATTEMPT -ge 2 ] || exit 75"}));

  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(event(1), AllOf(HasSubstr(R"("status":"COMPLETED")"), HasSubstr(R"("retry_count":0)"),
                              HasSubstr(R"("action":"RELEASED")")));
}

TEST_F(WorkTest, ACommandThatTakesTooLongFails) {
  start();
  publish(R"({"title":"slow","tags":"a","max_retries":1})");
  const Finished finished = run(work({"a", "--until-empty", "--timeout", "200ms", "--exec", "sleep 60"}));
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(event(1), HasSubstr("took longer than 200ms"));
}

TEST_F(WorkTest, AStopLetsTheCommandFinish) {
  start();
  publish(R"({"title":"long","tags":"a"})");
  publish(R"({"title":"not begun","tags":"a"})");
  ASSERT_EQ(std::system(("mkfifo " + server_->file("go")).c_str()), 0);
  Process worker(work({"a", "--exec", "echo begun > begun.$EVENTQ_ID; cat go > /dev/null"}));
  const auto await = [&](const auto& holds) {
    const SteadyTime limit = steady_now() + 60s;
    while (!holds() && steady_now() < limit) worker.wait(10ms);
  };
  const auto second_is = [&](const char* status) { return event(2).find(status) != std::string::npos; };
  await([&] { return !file("begun.1").empty() && second_is(R"("status":"PROCESSING")"); });

  worker.signal(SIGTERM);
  // The worker gives back events that it has not started, and finishes the running command.
  await([&] { return second_is(R"("status":"PENDING")"); });
  EXPECT_EQ(worker.wait(300ms), std::nullopt) << worker.err();
  std::ofstream(server_->file("go")) << "on\n";

  EXPECT_THAT(worker.wait(60s), Optional(0)) << worker.err();
  EXPECT_THAT(event(1), HasSubstr(R"("status":"COMPLETED")"));
  EXPECT_THAT(event(2), HasSubstr(R"("status":"PENDING")"));
}

// True while the signal is pending. A second signal of the same number would be merged with it.
bool is_pending(int signal, pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("ShdPnd:")) continue;
    return ((std::stoull(line.substr(7), nullptr, 16) >> (signal - 1)) & 1) != 0;
  }
  return false;
}

TEST_F(WorkTest, ASecondSignalEndsTheCommandAtOnce) {
  start();
  publish(R"({"title":"long","tags":"a"})");
  Process worker(work({"a", "--exec", "echo $$ > pid; exec sleep 500"}));
  const SteadyTime limit = steady_now() + 60s;
  while (file("pid").empty() && steady_now() < limit) worker.wait(10ms);

  worker.signal(SIGINT);
  while (is_pending(SIGINT, worker.pid()) && steady_now() < limit) worker.wait(10ms);
  worker.signal(SIGINT);

  EXPECT_THAT(worker.wait(60s), Optional(130)) << worker.err();
  const pid_t child = std::stoi(file("pid"));
  while (::kill(child, 0) == 0 && steady_now() < limit) worker.wait(10ms);
  EXPECT_NE(::kill(child, 0), 0);
}

TEST_F(WorkTest, ReportsThatNoServerAnswers) {
  start();
  server_->kill();
  const Finished finished = run(work({"a", "--exec", "true"}));
  EXPECT_EQ(finished.exit_code, 7);
  EXPECT_THAT(finished.err, HasSubstr("eventq serve"));
}

TEST_F(WorkTest, WrongOptionsAreWrongUsage) {
  start();
  const std::vector<std::vector<std::string>> wrong = {
      {"a"},
      {"a", "--exec", "true", "-j", "0"},
      {"a", "--exec", "true", "-j", "1001"},
      {"a", "--exec", "true", "--timeout", "0s"},
      {"a", "--exec", "true", "--timeout", "soon"},
      {"a", "--exec", "true", "--prefetch", "1001"},
  };
  for (const auto& arguments : wrong) EXPECT_EQ(run(work(arguments)).exit_code, 2) << arguments.back();
}

TEST_F(WorkTest, ParallelCommandsKeepTheOriginalLimitOnOpenFiles) {
  start();
  publish(R"({"title":"t","tags":"a"})");
  const auto limited = [&](const std::string& limit, const std::string& parallel) {
    ProcessSetup setup = work({"a", "--exec", "ulimit -n; ulimit -Hn", "-j", parallel, "--until-empty"});
    const std::vector<std::string> shell = {"/bin/sh", "-c", limit + R"(; exec "$0" "$@")"};
    setup.command.insert(setup.command.begin(), shell.begin(), shell.end());
    return run(setup);
  };

  const Finished refused = limited("ulimit -n 159", "16");
  EXPECT_EQ(refused.exit_code, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("--parallel 16 needs 160 open files, and the limit is 159 (ulimit -Hn), "
                                     "enough for --parallel 15."));

  const Finished raised = limited("ulimit -S -n 100; ulimit -H -n 160", "16");
  EXPECT_EQ(raised.exit_code, 0) << raised.err;
  EXPECT_EQ(raised.out, "100\n160\n");
}

// Stops the process of the worker but not its command. Another worker gets the event. When the first worker
// continues, the server must refuse its report, and the worker must end its command.
TEST_F(WorkTest, AWorkerFrozenPastItsLeaseIsRefusedAndItsCommandEnds) {
  start({"--lease", "1s"});
  publish(R"({"title":"once","tags":"a"})");
  Process frozen(work({"a", "--exec", "echo $$ > pid; exec sleep 500", "-o", "jsonl"}));
  const SteadyTime limit = steady_now() + 60s;
  while (file("pid").empty() && steady_now() < limit) frozen.wait(10ms);
  frozen.signal(SIGSTOP);

  const Finished other = run(work({"a", "--exec", "true", "--until-empty"}));
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(event(1), HasSubstr(R"("status":"COMPLETED")"));
  const pid_t child = std::stoi(file("pid"));
  EXPECT_EQ(::kill(child, 0), 0) << "the command has ended by itself";
  frozen.signal(SIGCONT);

  EXPECT_TRUE(frozen.wait_for_line(R"("result":"stopped")", 60s)) << frozen.err();
  while (::kill(child, 0) == 0 && steady_now() < limit) frozen.wait(10ms);
  EXPECT_NE(::kill(child, 0), 0) << "the command still runs";
  frozen.signal(SIGTERM);
  EXPECT_THAT(frozen.wait(60s), Optional(0)) << frozen.err();
  EXPECT_EQ(query_file("SELECT count(*) FROM event_log WHERE action = 'COMPLETED'"), "1");
  EXPECT_EQ(
      query_file(
          "SELECT worker_id <> (SELECT worker_id FROM event_log WHERE action = 'PICKED' AND attempt = 1) "
          "FROM event_log WHERE action = 'COMPLETED'"),
      "1");
}

// Processes whose parent is `parent`.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;  // the kernel lists children per thread
  std::error_code gone;
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/" + std::to_string(parent) + "/task", gone)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t pid = 0; list >> pid;) found.push_back(pid);
  }
  return found;
}

TEST_F(WorkTest, EightProcessesFinishEveryEventOnceWhileTheyAreKilled) {
  const int count = rounds(10'000, 10'000, 50'000);
  // A short run has fewer moments to kill a worker, so it kills with a higher probability.
  const std::uint32_t kill_one_in = is_long_run() ? 40 : 8;
  constexpr int kBatch = 5'000;
  start({"--lease", "2s", "--max-attempts", "1000"});
  for (int sent = 0; sent < count; sent += kBatch) {
    std::string body = R"({"correlated":false,"events":[)";
    for (int i = 0; i < kBatch; ++i) body += std::string(i == 0 ? "" : ",") + R"({"title":"t","tags":"a"})";
    const auto answer = client_->post("/events/batch", body + "]}");
    ASSERT_TRUE(answer && answer->status == 201) << (answer ? answer->body : answer.error().message);
  }

  const auto start_worker = [&] {
    return std::make_unique<Process>(
        work({"a", "--exec", "exit 0", "-j", "4", "--prefetch", "20", "--until-empty"}));
  };
  std::vector<std::unique_ptr<Process>> workers(8);
  for (auto& worker : workers) worker = start_worker();
  std::mt19937 random(4711);  // NOLINT: a fixed seed, so that runs are reproducible
  int kills = 0;
  const SteadyTime limit = steady_now() + 500s;
  std::vector<bool> done(workers.size());
  while (std::count(done.begin(), done.end(), true) < std::ssize(done)) {
    ASSERT_LT(steady_now(), limit) << query_file("SELECT group_concat(status || ' ' || n) FROM event_count");
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (done[i]) continue;
      const auto ended = workers[i]->wait(25ms);
      if (ended) {
        ASSERT_EQ(*ended, 0) << workers[i]->err();
        done[i] = true;
        continue;
      }
      if (kills >= 60 || random() % kill_one_in != 0) continue;
      const std::vector<pid_t> commands = children_of(workers[i]->pid());
      workers[i]->signal(SIGKILL);
      for (const pid_t command : commands) ::kill(command, SIGKILL);
      workers[i] = start_worker();
      ++kills;
    }
  }

  EXPECT_GT(kills, 5);
  EXPECT_EQ(query_file("SELECT n FROM event_count WHERE status = 'COMPLETED'"), std::to_string(count));
  EXPECT_EQ(
      query_file(
          "SELECT count(*) || ' ' || count(DISTINCT event_id) FROM event_log WHERE action = 'COMPLETED'"),
      std::to_string(count) + " " + std::to_string(count));
  const Finished verified = run(eventq_program(server_->file(""), {"verify", "sqlite:eventq.db"}));
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  RecordProperty("kills", kills);
  RecordProperty("abandoned", query_file("SELECT count(*) FROM event_log WHERE action = 'ABANDONED'"));
}

}  // namespace
}  // namespace eventq
