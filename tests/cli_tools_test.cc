// cli_tools_test.cc: import, export, doctor, backup, bench and dev, run as programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "support/file_text.h"
#include "support/http_client.h"
#include "support/server_process.h"
#include "support/store_audit.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;

class ToolsTest : public testing::Test {
 protected:
  void start() { ASSERT_TRUE(server_.start()) << server_.log(); }

  ProcessSetup program(const std::vector<std::string>& arguments) const {
    return eventq_program(server_.file(""), arguments,
                          {"EVENTQ_URL=http://127.0.0.1:" + std::to_string(server_.port())});
  }
  Finished eventq(const std::vector<std::string>& arguments) const { return run(program(arguments)); }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream(server_.file(name)) << text;
  }
  std::string read(const std::string& name) const { return content_of(server_.file(name)); }
  std::string get(const std::string& target) const {
    HttpClient client(server_.port());
    const auto answer = client.get(target);
    return answer ? answer->body : answer.error().message;
  }
  std::string post(const std::string& target, const std::string& body = {}) const {
    HttpClient client(server_.port());
    const auto answer = client.post(target, body);
    return answer ? answer->body : answer.error().message;
  }
  // The file, and the files beside it.
  std::set<std::string> files_of(const std::string& name) const {
    std::set<std::string> files;
    for (const auto& file : std::filesystem::directory_iterator(server_.file(""))) {
      if (file.path().filename().string().starts_with(name)) files.insert(file.path().filename().string());
    }
    return files;
  }
  std::string query_file(const std::string& sql) const { return query(server_.file("eventq.db"), sql).at(0); }

  ServerProcess server_;
};

TEST_F(ToolsTest, RepeatedImportsPublishEveryLineOnce) {
  start();
  std::string lines;
  for (int i = 0; i < 2500; ++i) {
    lines += R"({"title":"Event )" + std::to_string(i) + R"(","tags":"a","payload":{"n": )" +
             std::to_string(i) + "}}\n";
  }
  write("events.ndjson", lines);

  Finished finished = eventq({"import", "events.ndjson"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("Imported 2 500 events"));
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(query_file("SELECT count(*) FROM event_body"), "2500");
  EXPECT_EQ(query_file("SELECT payload FROM event_body WHERE id = 8"), R"({"n": 7})");
  EXPECT_EQ(query_file("SELECT count(*) FROM correlation"), "0");

  write("events.ndjson", lines + R"({"title":"One more","tags":"a"})" + "\n");
  finished = eventq({"import", "events.ndjson", "--batch", "100"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "Imported 1 event; 2 500 existed already and are unchanged.\n");
  EXPECT_EQ(query_file("SELECT count(*) FROM event_body"), "2501");
}

TEST_F(ToolsTest, ImportOfStdinPublishesNewEventsEachTime) {
  start();
  write("line", "{\"title\":\"1\",\"tags\":\"a\"}\n");
  write("named", "{\"title\":\"2\",\"tags\":\"a\",\"event_id\":\"mine\"}\n");
  const auto pipe = [&](const std::string& name) {
    ProcessSetup setup = program({"import", "-"});
    const std::vector<std::string> shell = {"/bin/sh", "-c", R"("$0" "$@" <)" + name};
    setup.command.insert(setup.command.begin(), shell.begin(), shell.end());
    return run(setup).err;
  };
  EXPECT_EQ(pipe("line"), "Imported 1 event.\n");
  EXPECT_EQ(pipe("line"), "Imported 1 event.\n");
  EXPECT_EQ(query_file("SELECT count(*) FROM event_body"), "2");
  EXPECT_EQ(pipe("named"), "Imported 1 event.\n");
  EXPECT_EQ(pipe("named"), "Imported 0 events; 1 existed already and is unchanged.\n");
  EXPECT_EQ(query_file("SELECT count(*) FROM event_body"), "3");
}

TEST_F(ToolsTest, ImportListsInvalidLinesAndPublishesTheOthers) {
  start();
  write("events.ndjson",
        "{\"title\":\"good\",\"tags\":\"a\"}\n{\"title\":\"no tags\"}\n\nnot JSON\n"
        "{\"title\":\"good, too\",\"tags\":\"a\",\"queue\":\"other\"}");

  const Finished finished = eventq({"import", "events.ndjson"});

  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("events.ndjson:2: There are no tags"),
                                  HasSubstr("events.ndjson:4: The line is not valid JSON: an unknown word"),
                                  HasSubstr("2 lines were rejected; see events.ndjson.rejects")));
  EXPECT_THAT(read("events.ndjson.rejects"), AllOf(HasSubstr(R"({"line":2,"error":"There are no tags)"),
                                                   HasSubstr(R"("text":"not JSON"})")));
  EXPECT_EQ(query_file("SELECT group_concat(queue || ':' || title) FROM event_body"),
            "main:good,other:good, too");
}

TEST_F(ToolsTest, ImportAddsQueueAndTagsToLinesWithoutThem) {
  start();
  write("events.ndjson", "{\"title\":\"1\"}\n{\"title\":\"2\",\"tags\":\"own\",\"queue\":\"own\"}\n");
  const Finished finished = eventq({"import", "events.ndjson", "--queue", "q", "--tags", "x,y"});
  EXPECT_EQ(query_file("SELECT group_concat(queue || ':' || tags) FROM event_body"), "q:x,y,own:own");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
}

TEST_F(ToolsTest, ImportStartsAtTheGivenLine) {
  start();
  write("events.ndjson",
        "{\"title\":\"1\",\"tags\":\"a\"}\n{\"title\":\"2\",\"tags\":\"a\"}\n{\"title\":\"3\",\"tags\":\"a\"}"
        "\n");
  EXPECT_EQ(eventq({"import", "events.ndjson", "--from", "2"}).exit_code, 0);
  EXPECT_EQ(query_file("SELECT group_concat(title) FROM event_body"), "2,3");
}

TEST_F(ToolsTest, ImportWaitsForAFullQueueAndAnInterruptPrintsHowToContinue) {
  start();
  HttpClient client(server_.port());
  ASSERT_EQ(
      client.request("PUT", "/queues/main", R"({"config":{"maxQueueDepth":2,"highWatermark":2}})")->status,
      200);
  write("events.ndjson",
        "{\"title\":\"1\",\"tags\":\"a\"}\n{\"title\":\"2\",\"tags\":\"a\"}\n{\"title\":\"3\",\"tags\":\"a\"}"
        "\n");
  Process import(program({"import", "events.ndjson", "--batch", "2"}));
  const SteadyTime limit = steady_now() + 60s;
  while (query_file("SELECT count(*) FROM event_body") != "2" && steady_now() < limit) import.wait(20ms);
  EXPECT_EQ(import.wait(500ms), std::nullopt) << import.err();

  import.signal(SIGINT);

  EXPECT_THAT(import.wait(60s), Optional(130));
  EXPECT_THAT(import.err(), HasSubstr("To continue: eventq import events.ndjson --from 3"));
  post("/events/1/cancel", "{}");
  EXPECT_EQ(eventq({"import", "events.ndjson", "--from", "3"}).exit_code, 0);
  EXPECT_EQ(query_file("SELECT count(*) FROM event_body"), "3");
}

TEST_F(ToolsTest, ErrorsOfImportNameTheOptionOrTheFile) {
  start();
  EXPECT_EQ(eventq({"import", "none.ndjson"}).exit_code, 1);
  write("e", "{}");
  EXPECT_EQ(eventq({"import", "e", "--batch", "0"}).exit_code, 2);
  EXPECT_EQ(eventq({"import", "e", "--batch", "10001"}).exit_code, 2);
  EXPECT_EQ(eventq({"import", "e", "--from", "0"}).exit_code, 2);
  server_.kill();
  write("good", "{\"title\":\"1\",\"tags\":\"a\"}\n");
  const Finished finished = eventq({"import", "good"});
  EXPECT_EQ(finished.exit_code, 7);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("No eventq server"), HasSubstr("To continue: ")));
}

TEST_F(ToolsTest, ImportAcceptsTheOutputOfExport) {
  start();
  const std::string whole =
      R"({"title":"Everything ä","description":"Two\nlines","tags":"a,b","payload":{"n": 1.50e+400,"s":"\u00e4 ä"},)"
      R"("queue":"q","priority":-5,"max_retries":7,"event_id":"mine","correlation_id":"c","causation_id":"d",)"
      R"("trace_id":"t","pattern":"x.y","version":"2","source":{"type":"i","id":"1"},)"
      R"("timestamp":"2026-01-02T03:04:05.000Z","ordering_key":"o","supersede_key":"s",)"
      R"("retry":{"kind":"exponential","baseMs":1000,"capMs":5000,"jitter":0.5}})";
  ASSERT_THAT(post("/events", whole), HasSubstr(R"("id":1)"));
  post("/events", R"({"title":"plain","tags":"a","payload":null})");
  const Finished first = eventq({"export"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out.substr(0, first.out.find('\n')), whole);
  EXPECT_EQ(std::count(first.out.begin(), first.out.end(), '\n'), 2);

  ServerProcess other;
  ASSERT_TRUE(other.start());
  const std::string url = "http://127.0.0.1:" + std::to_string(other.port());
  write("all.ndjson", first.out);
  EXPECT_EQ(eventq({"import", "all.ndjson", "--url", url}).exit_code, 0);
  EXPECT_EQ(eventq({"export", "--url", url}).out, first.out);
}

TEST_F(ToolsTest, ExportFilters) {
  start();
  post("/events", R"({"title":"1","tags":"a","queue":"q"})");
  post("/events", R"({"title":"2","tags":"b","queue":"q"})");
  post("/events", R"({"title":"3","tags":"a"})");
  post("/events/2/cancel", "{}");
  EXPECT_THAT(eventq({"export", "--queue", "q", "--tag", "a"}).out, HasSubstr(R"({"title":"1")"));
  const std::string cancelled = eventq({"export", "--status", "CANCELLED"}).out;
  EXPECT_EQ(cancelled.find(R"({"title":"2")"), 0U) << cancelled;
  EXPECT_EQ(std::count(cancelled.begin(), cancelled.end(), '\n'), 1);
  EXPECT_EQ(eventq({"export", "--status", "LOST"}).exit_code, 2);
  const std::string both = eventq({"export", "--tag", "a", "--tag", "b"}).out;
  EXPECT_EQ(std::count(both.begin(), both.end(), '\n'), 3);
}

TEST_F(ToolsTest, ABackupOfAStoreInUseIsAValidStore) {
  start();
  for (int i = 0; i < 20; ++i) post("/events", R"({"title":"t","tags":"a"})");

  Finished finished = eventq({"backup", "copy.db"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, AllOf(HasSubstr("Copied eventq.db to copy.db"), HasSubstr("To restore it: ")));
  EXPECT_EQ(eventq({"verify", "sqlite:copy.db"}).exit_code, 0);
  EXPECT_THAT(files_of("copy.db"), ElementsAre("copy.db"));
  EXPECT_EQ(std::filesystem::status(server_.file("copy.db")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(query(server_.file("copy.db"), "SELECT count(*) FROM event_body").at(0), "20");

  finished = eventq({"backup", "copy.db"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("exists already"));
  EXPECT_THAT(post("/events", R"({"title":"t","tags":"a"})"), HasSubstr(R"("id":21)"));
}

TEST_F(ToolsTest, ABackupOfAStoreWithAViolationIsKeptWithAWarning) {
  start();
  post("/events", R"({"title":"t","tags":"a"})");
  ASSERT_EQ(server_.terminate(), 0);
  query_file("UPDATE event_count SET n = 5 RETURNING n");
  const Finished finished = eventq({"backup", "copy.db"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("Copied eventq.db"), HasSubstr("counters equal rows"),
                                  HasSubstr("eventq verify sqlite:copy.db"), Not(HasSubstr(", verified"))));
  EXPECT_THAT(files_of("copy.db"), ElementsAre("copy.db"));
  EXPECT_EQ(query(server_.file("copy.db"), "SELECT n FROM event_count").at(0), "5");
}

TEST_F(ToolsTest, ABackupOfAnOlderSchemaReportsWhatWasNotChecked) {
  start();
  post("/events", R"({"title":"t","tags":"a"})");
  ASSERT_EQ(server_.terminate(), 0);
  query(server_.file("eventq.db"), "PRAGMA user_version = 2; UPDATE event_count SET n = 5");
  const Finished finished = eventq({"backup", "copy.db"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("schema 2"), HasSubstr("integrity check"), Not(HasSubstr(", verified"))));
  EXPECT_THAT(files_of("copy.db"), ElementsAre("copy.db"));
}

TEST_F(ToolsTest, ABackupOfADamagedFileIsNotMade) {
  start();
  post("/events", R"({"title":"t","tags":"a"})");
  ASSERT_EQ(server_.terminate(), 0);
  query(server_.file("eventq.db"),
        "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = "
        "'queue_checkpoints_created_at_idx'");
  for (const char* schema : {"4", "2"}) {
    query(server_.file("eventq.db"), std::string("PRAGMA user_version = ") + schema);
    const Finished finished = eventq({"backup", "copy.db"});
    EXPECT_EQ(finished.exit_code, 1);
    EXPECT_THAT(finished.err, HasSubstr("SQLite finds the copy damaged"));
    EXPECT_THAT(files_of("copy.db"), IsEmpty());
  }
}

TEST_F(ToolsTest, ABackupOfAMissingFileIsRefused) {
  EXPECT_EQ(eventq({"backup", "none/copy.db"}).err,
            "eventq: Cannot write none/copy.db: the folder none: No such file or directory.\n");
  const Finished finished = eventq({"backup", "copy.db", "--store", "sqlite:none.db"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("There is no file none.db"));
}

TEST_F(ToolsTest, ABackupAndTheDoctorLeaveNoFilesBesideAnUnusedStore) {
  start();
  post("/events", R"({"title":"t","tags":"a"})");
  ASSERT_EQ(server_.terminate(), 0);
  const auto before = files_of("eventq.db");
  EXPECT_EQ(eventq({"backup", "copy.db"}).exit_code, 0);
  eventq({"doctor"});
  EXPECT_EQ(files_of("eventq.db"), before);
}

TEST_F(ToolsTest, TheDoctorMeasuresAndPrintsWhatToFix) {
  start();
  post("/events", R"({"title":"t","tags":"a"})");
  post("/queues/main/pause", R"({"reason":"test"})");
  post("/events", R"({"title":"t","tags":"a","queue":"mail"})");

  const Finished finished = eventq({"doctor", "-o", "table"});

  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  for (const char* text : {"(200 samples)", "schema 6, journal mode wal", "ready", "clock", "is paused",
                           "fix: eventq queue resume main", "1 event waits and no worker asks for it",
                           "fix: eventq work TAGS --exec CMD --queue mail", "write-ahead log"}) {
    EXPECT_THAT(finished.out, HasSubstr(text));
  }
  EXPECT_THAT(eventq({"doctor"}).out,
              HasSubstr(R"({"state":"warn","check":"queue main","text":"is paused")"));
}

TEST_F(ToolsTest, TheDoctorFindsEventsOfATagThatNoWorkerAsksFor) {
  start();
  for (const char* tags : {"a", "b", "b", "a,b"}) {
    post("/events", R"({"title":"t","tags":")" + std::string(tags) + R"("})");
  }
  post("/events/subscribe", R"({"tags":"a","worker_id":"w:1"})");

  EXPECT_THAT(eventq({"doctor"}).out,
              HasSubstr(R"("check":"queue main","text":"2 events wait and no worker asks for them")"));
}

TEST_F(ToolsTest, TheDoctorFailsForAFileThatIsNotAStore) {
  start();
  write("text", "This file holds plain text; it is not a database at all.");
  const Finished finished = eventq({"doctor", "--store", "sqlite:text", "-o", "table"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, HasSubstr("FAIL"));
  EXPECT_EQ(eventq({"doctor", "--store", "text"}).exit_code, 2);
}

TEST_F(ToolsTest, CommandsForFilesPrintTheAlternativeForPostgres) {
  start();
  const std::string url = "postgres://me:secret@db/eventq";
  const auto message_of = [&](const std::vector<std::string>& arguments) {
    const Finished finished = eventq(arguments);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    EXPECT_THAT(finished.err,
                AllOf(HasSubstr("postgres://me@db/eventq is not a file: "), Not(HasSubstr("secret"))));
    return finished.err;
  };
  EXPECT_THAT(message_of({"backup", "copy", "--store", url}), HasSubstr("pg_dump --format=custom"));
  EXPECT_THAT(message_of({"verify", url}), HasSubstr("eventq move URL sqlite:copy.db"));
  EXPECT_THAT(message_of({"doctor", "--store", url}), HasSubstr("eventq migrate status --store URL"));
}

TEST_F(ToolsTest, BenchPrintsPercentilesAndLeavesNothingLive) {
  start();
  const Finished finished = eventq({"bench", "--seconds", "1", "--connections", "4", "-o", "jsonl"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  for (const char* workload : {"publish", "work", "publish and work"}) {
    EXPECT_THAT(finished.out, HasSubstr(R"({"workload":")" + std::string(workload) + R"(","steps":)"));
  }
  EXPECT_THAT(finished.out, AllOf(HasSubstr("p50_ms"), HasSubstr("p95_ms"), HasSubstr("p99_ms")));
  EXPECT_THAT(finished.err, AllOf(HasSubstr("queue bench"), HasSubstr("Closed loop")));
  EXPECT_THAT(get("/queues/bench?events=0"), HasSubstr(R"("depth":0)"));
}

TEST_F(ToolsTest, AnInterruptedBenchLeavesNothingLive) {
  start();
  Process bench(program({"bench", "--seconds", "60", "--connections", "2", "-o", "jsonl"}));
  const SteadyTime limit = steady_now() + 60s;
  while (get("/events?limit=1&queue=bench").find(R"("id":)") == std::string::npos && steady_now() < limit) {
    bench.wait(10ms);
  }

  bench.signal(SIGINT);

  EXPECT_THAT(bench.wait(60s), Optional(130)) << bench.err();
  EXPECT_THAT(bench.out(), HasSubstr(R"("workload":"publish")"));
  EXPECT_THAT(bench.out(), Not(HasSubstr(R"("workload":"work")")));
  EXPECT_THAT(get("/queues/bench?events=0"), HasSubstr(R"("depth":0)"));
}

TEST_F(ToolsTest, BenchRefusesAQueueWithEventsOfOthers) {
  start();
  post("/events", R"({"title":"mine","tags":"bench","queue":"bench"})");
  const Finished finished = eventq({"bench", "--seconds", "1"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("live events"));
  EXPECT_EQ(eventq({"bench", "--connections", "0"}).exit_code, 2);
}

// The server of `eventq dev`, in a folder of its own.
class DevTest : public testing::Test {
 protected:
  DevTest() : dev_(eventq_program(directory_.file(""), {"dev", "--listen", "127.0.0.1:0"})) {
    const SteadyTime limit = steady_now() + 60s;
    while (dev_.out().find("A demo worker completes") == std::string::npos && steady_now() < limit)
      dev_.wait(10ms);
    const std::string out = dev_.out();
    const std::size_t start = out.find("http://");
    if (start != std::string::npos) url_ = out.substr(start, out.find('/', start + 7) - start);
  }

  Finished eventq(const std::vector<std::string>& arguments) const {
    return run(eventq_program(directory_.file(""), arguments, {"EVENTQ_URL=" + url_}));
  }

  [[nodiscard]] std::uint16_t port() const {
    return parse_whole<std::uint16_t>(url_.substr(url_.rfind(':') + 1)).value_or(0);
  }

  TemporaryDirectory directory_;
  Process dev_;
  std::string url_;
};

TEST_F(DevTest, PrintsAWelcomeAndCompletesPublishedEvents) {
  EXPECT_THAT(dev_.out(),
              AllOf(HasSubstr("is ready. Data in ./eventq.db"), HasSubstr("Dashboard  http://127.0.0.1:"),
                    HasSubstr("eventq publish email"), HasSubstr("eventq work email --exec cat")));
  const Finished finished = eventq({"publish", "email", R"({"to":"a@b"})", "--wait"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("COMPLETED"));
  EXPECT_TRUE(std::filesystem::exists(directory_.file("eventq.db")));
  dev_.signal(SIGINT);
  EXPECT_THAT(dev_.wait(60s), Optional(0)) << dev_.err();
  EXPECT_THAT(dev_.err(), IsEmpty());
}

TEST_F(DevTest, RetriesAreShortAndExponential) {
  const Finished queue = eventq({"queue", "show", "main", "-o", "json"});

  EXPECT_THAT(dev_.out(), HasSubstr("A failed event runs again after 1 s, then after 2 s, 4 s and so on."));
  EXPECT_THAT(queue.out,
              HasSubstr(R"("retry":{"kind":"exponential","baseMs":1000,"capMs":30000,"jitter":0})"));
}

TEST_F(DevTest, TheDemoWorkerStepsAsideOnlyForTheTagsThatAnotherWorkerAsksFor) {
  ASSERT_EQ(eventq({"publish", "email", "--wait"}).exit_code, 0);  // the demo worker is there
  HttpClient worker(port());
  ASSERT_EQ(worker.get("/events/subscribe?tags=email&worker_id=w:1")->status, 204);

  const Finished kept = eventq({"publish", "email,other", "-o", "id"});
  EXPECT_EQ(eventq({"publish", "report", "--wait"}).exit_code, 0) << "not a tag of the worker";
  EXPECT_EQ(eventq({"publish", "email", "--queue", "mail", "-o", "id"}).exit_code, 0);
  const Finished why = eventq({"why", "2"});
  EXPECT_THAT(why.out, HasSubstr("The demo worker of `eventq dev` leaves it to worker w:1"));
  EXPECT_THAT(eventq({"get", "2"}).out, HasSubstr("PENDING")) << kept.out;

  // It returns when the worker has left.
  ASSERT_EQ(worker.request("DELETE", "/workers/w:1", "", {})->status, 204);
  EXPECT_EQ(eventq({"wait", "2", "--timeout", "30s"}).exit_code, 0);
  EXPECT_THAT(eventq({"why", "2"}).out, HasSubstr("It was completed by the demo worker of `eventq dev`."));
}

TEST_F(DevTest, TheDemoWorkerStaysForTheOtherQueueWhenAWorkerAsksForOne) {
  HttpClient worker(port());
  ASSERT_EQ(worker.get("/events/subscribe?queue=reports&tags=report&worker_id=w:1")->status, 204);
  ASSERT_EQ(worker.get("/events/subscribe?tags=other&worker_id=w:1")->status, 204);

  EXPECT_EQ(eventq({"publish", "report", "--wait"}).exit_code, 0);
}

TEST_F(DevTest, TheDemoWorkerPausesWhileAnotherWorkerIsActive) {
  Process worker(eventq_program(directory_.file(""), {"work", "email", "--exec", "cat", "-o", "jsonl"},
                                {"EVENTQ_URL=" + url_}));
  const SteadyTime limit = steady_now() + 60s;
  while (worker.err().find("done") == std::string::npos && steady_now() < limit) {
    ASSERT_EQ(eventq({"publish", "email", "1", "--wait"}).exit_code, 0);
  }
  // The demo worker checks for other workers before each call, so a call in progress may still claim one of
  // these.
  for (int i = 0; i < 6; ++i) {
    ASSERT_EQ(eventq({"publish", "email", "2", "--wait"}).exit_code, 0);
  }
  worker.signal(SIGTERM);
  ASSERT_THAT(worker.wait(60s), Optional(0)) << worker.err();
  const std::string out = worker.out();
  EXPECT_GE(std::count(out.begin(), out.end(), '2'), 5) << out;
}

}  // namespace
}  // namespace eventq
