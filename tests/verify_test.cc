// verify_test.cc: `eventq verify` on sound stores, and on stores damaged in every way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/steady.h"
#include "support/file_text.h"
#include "support/http_client.h"
#include "support/server_process.h"
#include "support/store_audit.h"
#include "support/temporary_directory.h"

namespace eventq {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The requests of workers and operators.
class Talk {
 public:
  explicit Talk(std::uint16_t port) : client_(port) {}

  void post(const std::string& target, const std::string& body) {
    const auto answer = client_.post(target, body);
    ASSERT_TRUE(answer) << answer.error().message;
    // The last failure of an event is recorded although it is answered with 400.
    ASSERT_TRUE(answer->status / 100 == 2 || answer->status == 400) << target << " " << answer->body;
  }
  void take(const std::string& worker, const std::string& tag, int limit) {
    post("/events/subscribe", R"({"worker_id":")" + worker + R"(","tags":")" + tag + R"(","limit":)" +
                                  std::to_string(limit) + "}");
  }
  void end(const std::string& how, int id, const std::string& worker) {
    post("/events/" + std::to_string(id) + "/" + how, R"({"worker_id":")" + worker + R"("})");
  }

 private:
  HttpClient client_;
};

Finished verify_in(const ServerProcess& server) {
  return run(eventq_program(server.file(""), {"verify", "sqlite:eventq.db", "-o", "table"}));
}

// Waits until retention has left this many events.
void wait_until_kept(ServerProcess& server, const std::string& events) {
  const SteadyTime limit = steady_now() + std::chrono::seconds(30);
  while (query(server.file("eventq.db"), "SELECT count(*) FROM event_body").at(0) != events &&
         steady_now() < limit) {
    server.wait(std::chrono::milliseconds(50));
  }
}

std::set<std::string> files_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    names.insert(file.path().filename().string());
  return names;
}

// A store whose ten events have had every kind of change.
void fill(const ServerProcess& server) {
  Talk talk(server.port());
  talk.post("/events", R"({"title":"done","tags":"a"})");                            // 1
  talk.post("/events", R"({"title":"fails once, then done","tags":"a"})");           // 2
  talk.post("/events", R"({"title":"fails for good","tags":"a","max_retries":1})");  // 3
  talk.take("w:1", "a", 3);
  talk.end("start", 1, "w:1");
  talk.end("complete", 1, "w:1");
  talk.end("fail", 2, "w:1");
  talk.end("fail", 3, "w:1");
  talk.post("/events/2/reset", "{}");
  talk.take("w:2", "a", 1);
  talk.end("complete", 2, "w:2");
  talk.post(
      "/events/batch",
      R"({"ordered":true,"correlation_id":"c","events":[{"title":"1st","tags":"b"},{"title":"2nd","tags":"b"}]})");
  talk.take("w:1", "b", 1);  // 4
  talk.end("complete", 4, "w:1");
  talk.take("w:2", "b", 1);  // 5
  talk.end("complete", 5, "w:2");
  talk.post("/events", R"({"title":"waits","tags":"c,d","supersede_key":"k"})");
  talk.post("/events", R"({"title":"supersedes it","tags":"c,d","supersede_key":"k"})");
  talk.post("/events", R"({"title":"in work","tags":"e","ordering_key":"o"})");
  talk.post("/events", R"({"title":"behind","tags":"e","ordering_key":"o"})");
  talk.take("w:1", "e", 2);
  talk.post("/events", R"({"title":"called off","tags":"f"})");
}

class VerifyTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ServerProcess server;
    ASSERT_TRUE(server.start()) << server.log();
    fill(server);
    const auto ids = query(server.file("eventq.db"), "SELECT max(id) FROM event_body");
    Talk(server.port()).post("/events/" + ids.at(0) + "/cancel", "{}");
    ASSERT_EQ(server.terminate(), 0);
    original_ = std::make_unique<TemporaryDirectory>();
    std::filesystem::copy_file(server.file("eventq.db"), original_->file("eventq.db"));
  }
  static void TearDownTestSuite() { original_.reset(); }

  void SetUp() override { std::filesystem::copy_file(original_->file("eventq.db"), path()); }

  std::string path() const { return directory_.file("eventq.db"); }
  Finished verify(const std::string& format = "table") const {
    return run(eventq_program(directory_.file(""), {"verify", "sqlite:" + path(), "-o", format}));
  }
  void change(const std::string& sql) const {
    for (const std::string& line : query(path(), sql)) ASSERT_THAT(line, Not(HasSubstr("error"))) << sql;
  }

  static std::unique_ptr<TemporaryDirectory> original_;
  TemporaryDirectory directory_;
};

std::unique_ptr<TemporaryDirectory> VerifyTest::original_;

TEST_F(VerifyTest, AServedStoreIsProven) {
  const Finished finished = verify();
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  for (const char* proof : {"file sound", "none lost", "none finished twice", "no overlapping leases",
                            "order kept", "counters equal rows"}) {
    EXPECT_THAT(finished.out, HasSubstr(std::string(" ok   ") + proof));
  }
}

TEST_F(VerifyTest, WritesNothingToTheFileAndCreatesNoOther) {
  const auto before = std::filesystem::last_write_time(path());
  ASSERT_EQ(verify().exit_code, 0);
  EXPECT_EQ(std::filesystem::last_write_time(path()), before);
  EXPECT_THAT(files_in(directory_.file("")), ElementsAre("eventq.db"));
}

TEST_F(VerifyTest, InAPipeEachProofIsALineOfJson) {
  change("UPDATE event_log SET worker_id = 'w:9' WHERE event_id = 1 AND action = 'COMPLETED'");
  const Finished finished = run(eventq_program(directory_.file(""), {"verify", "sqlite:" + path()}));

  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(std::count(finished.out.begin(), finished.out.end(), '\n'), 6) << finished.out;
  EXPECT_THAT(
      finished.out,
      AllOf(HasSubstr(R"({"proof":"none lost","ok":true,"checked":10,"violated":0,"violations":[]})"),
            HasSubstr(
                R"({"proof":"no overlapping leases","ok":false,"checked":7,"violated":1,"violations":[{)")));
}

TEST_F(VerifyTest, OfManyViolationsAHundredAreShownAndAllAreCounted) {
  change(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 101) "
      "INSERT INTO event_count SELECT 'q' || i, 'FAILED', 1 FROM n");
  const std::string out = verify("jsonl").out;
  EXPECT_THAT(out,
              AllOf(HasSubstr(R"("violated":101,)"), HasSubstr("q100 FAILED"), Not(HasSubstr("q99 FAILED"))));
  EXPECT_THAT(verify().out, AllOf(HasSubstr("101 violated"), HasSubstr("(no more of these are shown)")));
}

struct Breakage {
  const char* what;
  const char* sql;
  const char* proof;
};

class BrokenStoreTest : public VerifyTest, public testing::WithParamInterface<Breakage> {};

TEST_P(BrokenStoreTest, IsFound) {
  change(GetParam().sql);
  const Finished finished = verify();
  EXPECT_EQ(finished.exit_code, 1) << finished.out;
  EXPECT_THAT(finished.out, HasSubstr(std::string(" FAIL ") + GetParam().proof)) << finished.out;
}

constexpr Breakage kBreakages[] = {
    {"AnEventWithoutAState", "DELETE FROM event_archive WHERE id = 1", "none lost"},
    {"AnEventThatIsLiveAndEnded",
     "INSERT INTO event_queue SELECT id, queue, 'PENDING', attempts, retry_count, unreported, '', 0, 0, id, "
     "0, 0 "
     "FROM event_archive WHERE id = 1",
     "none lost"},
    {"AnEventThatVanishedWithItsLog",
     "DELETE FROM event_log WHERE event_id = 1; DELETE FROM event_archive WHERE id = 1; "
     "DELETE FROM event_body WHERE id = 1; "
     "UPDATE event_count SET n = n - 1 WHERE queue = 'main' AND status = 'COMPLETED'",
     "none lost"},
    {"AnEventThatVanishedAndLeftItsLog",
     "DELETE FROM event_archive WHERE id = 1; DELETE FROM event_body WHERE id = 1", "none lost"},
    {"AnEndWithoutAnEntry", "DELETE FROM event_log WHERE event_id = 1 AND action = 'COMPLETED'", "none lost"},
    {"TwoCompletions",
     "INSERT INTO event_log SELECT id + 100000, event_id, attempt, worker_id, action, status_code, "
     "error_message, "
     "execution_time_ms, errors, reason, retry_count, next_retry_at, created_at FROM event_log "
     "WHERE event_id = 1 AND action = 'COMPLETED'",
     "none finished twice"},
    {"AClaimAfterTheEnd",
     "INSERT INTO event_log SELECT id + 100000, event_id, attempt + 1, worker_id, action, status_code, "
     "error_message, "
     "execution_time_ms, errors, reason, retry_count, next_retry_at, created_at FROM event_log "
     "WHERE event_id = 1 AND action = 'PICKED'",
     "none finished twice"},
    {"AnAttemptLeftOut", "UPDATE event_log SET attempt = attempt + 1 WHERE event_id = 1",
     "no overlapping leases"},
    {"AReportByAnother", "UPDATE event_log SET worker_id = 'w:9' WHERE event_id = 1 AND action = 'COMPLETED'",
     "no overlapping leases"},
    {"AReportOfAnotherAttempt",
     "UPDATE event_log SET attempt = 2 WHERE event_id = 1 AND action = 'COMPLETED'", "no overlapping leases"},
    {"TwoClaimsAtOnce",
     "INSERT INTO event_log SELECT id + 100000, event_id, attempt + 1, 'w:9', action, status_code, "
     "error_message, "
     "execution_time_ms, errors, reason, retry_count, next_retry_at, created_at FROM event_log "
     "WHERE event_id = (SELECT id FROM event_queue WHERE status = 'PROCESSING') AND action = 'PICKED'",
     "no overlapping leases"},
    {"AClaimOutOfTurn", "UPDATE event_log SET id = id - 1000 WHERE event_id = 5", "order kept"},
    {"ALineWithoutAHead", "UPDATE event_line SET head = 0", "order kept"},
    {"AnEventWithAKeyInNoLine", "DELETE FROM event_line WHERE head = 0", "order kept"},
    {"AWrongCount", "UPDATE event_count SET n = n + 1 WHERE status = 'COMPLETED'", "counters equal rows"},
    {"ACountThatIsGone", "DELETE FROM event_count WHERE status = 'FAILED'", "counters equal rows"},
    {"MoreRemovedThanPublished", "UPDATE queue_total SET removed = removed + 1", "counters equal rows"},
    {"FewerPublishedThanThere", "UPDATE queue_total SET published = 1", "counters equal rows"},
    {"FewerEndsThanThere", "UPDATE queue_total SET completed = 0", "counters equal rows"},
    {"AWrongCorrelation", "UPDATE correlation SET pending = pending + 1", "counters equal rows"},
    {"ReadyAndNotInTheIndex", "DELETE FROM event_ready WHERE tag = 'd'", "counters equal rows"},
    {"InTheIndexAndNotReady", "INSERT INTO event_ready VALUES ('main', 'z', 0, 77777, 1)",
     "counters equal rows"},
    {"IdsThatWouldBeGivenAgain", "UPDATE id_sequence SET last = 1 WHERE name = 'event'",
     "counters equal rows"},
    {"AWrongCause", "UPDATE failure_cause SET n = n + 1", "counters equal rows"},
    {"AWrongNumberOfFailures", "UPDATE event_archive SET retry_count = 7 WHERE id = 3",
     "counters equal rows"},
    {"AMissingSupersedeKey", "DELETE FROM event_supersede", "counters equal rows"},
    {"ADetailOfNoFailure", "INSERT INTO event_log_detail VALUES (1, 77777, 'at line 7')", "none lost"},
    {"AResultOfNoCompletion", "INSERT INTO event_result VALUES (77777, '[1]')", "none lost"},
    {"AnAuthorOfNoEntry", "INSERT INTO event_log_author VALUES (1, 77777, 'anna')", "none lost"},
    {"ACheckpointOfNoQueue", "INSERT INTO stored_checkpoint VALUES ('id', 'none', '', 0, 0, 0)",
     "counters equal rows"},
    {"AQueueThatIsGone", "DELETE FROM stored_queue", "counters equal rows"},
};

INSTANTIATE_TEST_SUITE_P(Each, BrokenStoreTest, testing::ValuesIn(kBreakages),
                         [](const auto& breakage) { return std::string(breakage.param.what); });

TEST_F(VerifyTest, NamesTheEventAndTheEntry) {
  change("UPDATE event_log SET worker_id = 'w:9' WHERE event_id = 1 AND action = 'COMPLETED'");
  const auto entry = query(path(), "SELECT id FROM event_log WHERE event_id = 1 AND action = 'COMPLETED'");

  EXPECT_THAT(verify().out,
              HasSubstr("no overlapping leases: event 1, log entry " + entry.at(0) + ": after PROCESSING"));
  EXPECT_THAT(verify("jsonl").out,
              HasSubstr(R"("violations":[{"event_id":1,"log_id":)" + entry.at(0) + R"(,"message":"after)"));
}

TEST_F(VerifyTest, AFileThatIsNoStoreIsReported) {
  std::ofstream(path(), std::ios::trunc)
      << "This file holds plain text, and it is no database of any known kind.";
  Finished finished = verify();
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("is no store of this eventq"));

  std::filesystem::remove(path());
  finished = verify();
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("There is no file"));
}

TEST_F(VerifyTest, AnotherProgramsDatabaseAndAnotherSchemaAreRefused) {
  change("PRAGMA user_version = 1");
  EXPECT_THAT(verify().err, HasSubstr("The store has schema 1"));
  change("PRAGMA application_id = 7");
  const Finished finished = verify();
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("not one of eventq"));
}

TEST_F(VerifyTest, AnArgumentThatIsNoStoreIsAUsageError) {
  const Finished finished = run(eventq_program(directory_.file(""), {"verify", "eventq.db"}));
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("sqlite:FILE"));
}

TEST(VerifyServerTest, ProvesWhileTheServerRunsAndAfterItWasKilled) {
  ServerProcess server;
  ASSERT_TRUE(server.start()) << server.log();
  fill(server);

  Finished finished = verify_in(server);
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;

  server.kill();
  const auto log_size = std::filesystem::file_size(server.file("eventq.db-wal"));
  finished = verify_in(server);
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("10 events published"));
  EXPECT_EQ(std::filesystem::file_size(server.file("eventq.db-wal")), log_size) << "it was checkpointed";

  ASSERT_TRUE(server.start()) << server.log();
  EXPECT_EQ(verify_in(server).exit_code, 0);
}

TEST(VerifyServerTest, ARunningServerKeepsItsLogAlsoWhenThatIsEmpty) {
  ServerProcess server;
  ASSERT_TRUE(server.start()) << server.log();
  fill(server);
  query(server.file("eventq.db"), "PRAGMA wal_checkpoint(TRUNCATE)");
  ASSERT_EQ(std::filesystem::file_size(server.file("eventq.db-wal")), 0U);
  const auto files = files_in(server.file(""));

  EXPECT_EQ(verify_in(server).exit_code, 0);

  EXPECT_EQ(files_in(server.file("")), files);
  Talk(server.port()).post("/events", R"({"title":"one more","tags":"a"})");
  EXPECT_THAT(verify_in(server).out, HasSubstr("11 events published"));
  server.kill();
  EXPECT_THAT(verify_in(server).out, HasSubstr("11 events published"));
}

TEST(VerifyServerTest, RemovedEventsAreAccountedForAndALostLiveEventIsReported) {
  ServerProcess server;
  ASSERT_TRUE(server.start()) << server.log();
  Talk talk(server.port());
  HttpClient client(server.port());
  ASSERT_EQ(
      client.request("PUT", "/queues/main", R"({"config":{"retention":{"completedSeconds":1}}})")->status,
      200);
  // One event ends twice. Its second end must not hide that another event is missing.
  talk.post("/events", R"({"title":"done after all","tags":"a","max_retries":1})");
  talk.post("/events", R"({"title":"waits","tags":"b"})");
  talk.take("w:1", "a", 1);
  talk.end("fail", 1, "w:1");
  talk.post("/events/1/reset", "{}");
  talk.take("w:1", "a", 1);
  talk.end("complete", 1, "w:1");
  wait_until_kept(server, "1");
  ASSERT_EQ(server.terminate(), 0);

  Finished finished = verify_in(server);
  EXPECT_EQ(finished.exit_code, 0) << finished.out;
  EXPECT_THAT(finished.out, HasSubstr("2 events published: 1 live, 0 ended, 1 removed"));

  query(server.file("eventq.db"),
        "DELETE FROM event_queue; DELETE FROM event_body; DELETE FROM event_ready; "
        "DELETE FROM event_count WHERE status = 'PENDING'");
  finished = verify_in(server);
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr(" FAIL none lost"),
                    HasSubstr("of 2 events published to queue main 0 are there and 1 were removed "
                              "after their end; 1 are lost")));
}

// Rows of the first schema: an event that failed permanently and was reset, and two completed events.
constexpr const char* kVersion1 = R"(
PRAGMA application_id = 0x45765120;
PRAGMA user_version = 1;
INSERT INTO event_body VALUES
  (1, 'a', 'main', 'reset', 'x', '', 0, 1, 1000, NULL, '1'),
  (2, 'b', 'main', 'done', 'x', '', 0, 3, 1001, NULL, '2'),
  (3, 'c', 'main', 'done', 'x', '', 0, 3, 1002, NULL, '3');
INSERT INTO event_queue VALUES (1, 'PENDING', 1, 0, 0, '', 1000, 1, 2500);
INSERT INTO event_ready VALUES ('main', 'x', 0, 1);
INSERT INTO event_archive VALUES (2, 'COMPLETED', 1, 0, 0, 'w:1', 3000), (3, 'COMPLETED', 1, 0, 0, 'w:1', 4000);
INSERT INTO event_log (id, event_id, attempt, worker_id, action, retry_count, created_at)
VALUES (1, 1, 1, 'w:1', 'PICKED', 0, 2000), (2, 1, 1, 'w:1', 'FAILED', 1, 2400), (3, 1, 1, '', 'RESET', 0, 2500),
       (4, 2, 1, 'w:1', 'PICKED', 0, 2600), (5, 2, 1, 'w:1', 'COMPLETED', 0, 3000),
       (6, 3, 1, 'w:1', 'PICKED', 0, 3100), (7, 3, 1, 'w:1', 'COMPLETED', 0, 4000);
INSERT INTO event_count VALUES ('main', 'PENDING', 1), ('main', 'COMPLETED', 2);
UPDATE id_sequence SET last = 3 WHERE name = 'event';
UPDATE id_sequence SET last = 7 WHERE name = 'log';
)";

TEST(VerifyServerTest, AStoreOfTheFirstSchemaIsProvenAfterItWasServed) {
  ServerProcess server;
  const std::string schema = content_of(EVENTQ_SOURCE_DIR "/src/store/sqlite/migrations/0001_init.sql");
  std::ofstream(server.file("eventq.db")).close();
  ASSERT_THAT(query(server.file("eventq.db"), schema + kVersion1), IsEmpty());
  EXPECT_THAT(verify_in(server).err, HasSubstr("The store has schema 1"));

  ASSERT_TRUE(server.start()) << server.log();
  wait_until_kept(server, "1");
  ASSERT_EQ(server.terminate(), 0);

  const Finished finished = verify_in(server);
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("3 events published: 1 live, 0 ended, 2 removed"));
}

}  // namespace
}  // namespace eventq
