// move_test.cc: `eventq move` and `eventq migrate` copy everything, and refuse what they cannot do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "store/postgres/connection.h"
#include "store/postgres/migrate.h"
#include "support/http_client.h"
#include "support/postgres_cluster.h"
#include "support/server_process.h"
#include "support/store_audit.h"
#include "support/temporary_directory.h"
#include "tools/move/move.h"

namespace eventq {
namespace {

using testing::HasSubstr;
using testing::Not;

// All rows of a file, as text.
std::vector<std::string> contents(const std::string& path) {
  std::vector<std::string> all;
  const std::vector<std::string> tables = {
      "event_body",      "event_queue",       "event_archive",    "event_log",        "event_line",
      "event_supersede", "correlation",       "event_count",      "queue_total",      "failed_hour",
      "stored_queue",    "stored_checkpoint", "failure_cause",    "worker",           "id_sequence",
      "idempotency_key", "queue_log",         "event_log_author", "event_log_detail", "event_result",
      "worker_ask",      "worker_sign_off"};
  for (const std::string& table : tables) {
    std::string row = "''";
    for (const std::string& column :
         query(path, "SELECT name FROM pragma_table_info('" + table + "') ORDER BY name")) {
      row += " || '|' || quote(" + column + ")";
    }
    // A counter of zero may have no row.
    const std::string where = table == "event_count" ? " WHERE n <> 0" : "";
    for (std::string& line : query(path, "SELECT " + row + " FROM " + table + where + " ORDER BY 1")) {
      all.push_back(table + line);
    }
  }
  for (std::string& line :
       query(path,
             "SELECT queue || tag || priority || ' ' || turn || ' ' || id FROM event_ready "
             "WHERE tag <> '' ORDER BY 1")) {
    all.push_back("event_ready " + line);
  }
  return all;
}

class MoveTest : public testing::Test {
 protected:
  // A store with rows in every table.
  void fill() {
    ServerProcess server({"--store", "sqlite:" + file("old.db")});
    ASSERT_TRUE(server.start()) << server.log();
    HttpClient client(server.port());
    const auto post = [&](const std::string& target, const std::string& body) {
      const auto answer = client.post(target, body);
      ASSERT_TRUE(answer) << answer.error().message;
      ASSERT_LT(answer->status, 300) << target << " " << answer->body;
    };
    post("/events/batch", R"({"correlation_id":"c","ordered":true,"events":[{"title":"a","tags":"x,y"},
                              {"title":"b","tags":"x","payload":{"k":[1.0,  "\u00e9\u0000"]}},{"title":"c","tags":"y"}],
                              "on_complete":{"title":"end","tags":"z"}})");
    for (int i = 0; i < 30; ++i) {
      post("/events", R"({"title":"n","tags":"many","queue":"q","priority":)" + std::to_string(i % 3) + "}");
    }
    post("/events", R"({"title":"s1","tags":"s","supersede_key":"k"})");
    post("/events", R"({"title":"s2","tags":"s","supersede_key":"k"})");
    post("/events", R"({"title":"later","tags":"x","delay":3600})");
    post("/events/subscribe", R"({"worker_id":"w:1","tags":"many","queue":"q","limit":10})");
    post("/events/6/complete", R"({"worker_id":"w:1","result":{"n": [1.0,  "\u0000"]}})");
    post("/events/9/fail", R"({"worker_id":"w:1","error_message":"away","error_detail":"at\nline 7"})");
    post("/events/subscribe", R"({"worker_id":"w:1","tags":"x","limit":1})");
    post("/queues/q/checkpoint", "");
    ASSERT_EQ(server.terminate(), 0);
    query(file("old.db"),
          "INSERT INTO queue_log VALUES ('q', 'id-1', 'paused', 'anna', 'late', '{}', 1000), "
          "('q', 'id-2', 'resumed', '', '', '{}', 2000)");
    query(file("old.db"), "INSERT INTO event_log_author SELECT event_id, id, 'anna' FROM event_log");
    ASSERT_EQ(audit_queues(file("old.db")), "");
  }

  Finished eventq(const std::vector<std::string>& arguments) {
    return run(eventq_program(folder_.file(""), arguments));
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

  const TemporaryDirectory folder_;
  TestDatabase database_;
};

TEST_F(MoveTest, AMoveAndAMoveBackChangeNothing) {
  fill();
  const auto there = eventq({"move", "sqlite:old.db", database_.url()});
  ASSERT_EQ(there.exit_code, 0) << there.err;
  EXPECT_THAT(there.err, HasSubstr("sqlite:old.db is unchanged. Do not start a server with it again"));
  const auto back = eventq({"move", database_.url(), "sqlite:new.db"});
  ASSERT_EQ(back.exit_code, 0) << back.err;
  EXPECT_EQ(contents(file("new.db")), contents(file("old.db")));
  EXPECT_EQ(audit_queues(file("new.db")), "");
}

TEST_F(MoveTest, AWorkerCanReportToTheNewServer) {
  fill();
  const auto moved = eventq({"move", "sqlite:old.db", database_.url()});
  ASSERT_EQ(moved.exit_code, 0) << moved.err;
  ServerProcess server({"--store", database_.url()});
  ASSERT_TRUE(server.start()) << server.log();
  HttpClient client(server.port());
  const auto done = client.post("/events/12/complete", R"({"worker_id":"w:1"})");
  ASSERT_TRUE(done);
  EXPECT_EQ(done->status, 200) << done->body;
  const auto next = client.post("/events", R"({"title":"new","tags":"x"})");
  ASSERT_TRUE(next);
  EXPECT_EQ(next->status, 201) << next->body;
  server.terminate();
  const auto back = eventq({"move", database_.url(), "sqlite:new.db"});
  ASSERT_EQ(back.exit_code, 0) << back.err;
  EXPECT_EQ(audit_queues(file("new.db")), "");
}

TEST_F(MoveTest, AnInterruptedMoveContinuesWhereItStopped) {
  fill();
  // Each run copies one chunk more than the run before, the first none, until a run completes the move.
  bool done = false;
  for (int runs = 0; !done && runs < 100; ++runs) {
    int chunks = 0;
    const auto moved =
        move::move({.from = "sqlite:" + file("old.db"),
                    .to = database_.url(),
                    .on_progress = [&](std::int64_t, std::int64_t) { return ++chunks <= runs; }});
    done = moved.has_value();
    if (!done) {
      EXPECT_THAT(moved.error().message, HasSubstr("Run the same command again to continue it."));
    }
  }
  ASSERT_TRUE(done);
  const auto back = eventq({"move", database_.url(), "sqlite:new.db"});
  ASSERT_EQ(back.exit_code, 0) << back.err;
  EXPECT_EQ(contents(file("new.db")), contents(file("old.db")));
}

TEST_F(MoveTest, RefusesToContinueWhenTheOldStoreWasServedInBetween) {
  fill();
  int chunks = 0;
  ASSERT_FALSE(move::move({.from = "sqlite:" + file("old.db"),
                           .to = database_.url(),
                           .on_progress = [&](std::int64_t, std::int64_t) { return ++chunks < 4; }}));
  // The incomplete target cannot be served, and it refuses new events.
  EXPECT_THAT(eventq({"serve", "--listen", "127.0.0.1:0", "--store", database_.url()}).err,
              HasSubstr("holds part of a store that is being moved"));
  {
    const auto application = postgres::PgConnection::open(database_.url());
    ASSERT_TRUE(application);
    const auto published = (*application)->run_one("SELECT eventq.publish('more', ARRAY['x'])");
    ASSERT_FALSE(published);
    EXPECT_THAT(published.error().message, HasSubstr("holds part of a store that is being moved"));
  }
  {
    ServerProcess server({"--store", "sqlite:" + file("old.db")});
    ASSERT_TRUE(server.start()) << server.log();
    ASSERT_TRUE(HttpClient(server.port()).post("/events", R"({"title":"more","tags":"x"})"));
    server.terminate();
  }
  const auto again = eventq({"move", "sqlite:old.db", database_.url()});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("holds part of another move"));
}

TEST_F(MoveTest, AnIncompleteFileIsNotAcceptedAsAStore) {
  fill();
  ASSERT_EQ(eventq({"move", "sqlite:old.db", database_.url()}).exit_code, 0);
  int chunks = 0;
  ASSERT_FALSE(move::move({.from = database_.url(),
                           .to = "sqlite:" + file("half.db"),
                           .on_progress = [&](std::int64_t, std::int64_t) { return ++chunks < 4; }}));
  const std::vector<std::vector<std::string>> commands = {
      {"verify", "sqlite:half.db"},
      {"backup", "copy.db", "--store", "sqlite:half.db"},
      {"doctor", "--store", "sqlite:half.db"},
      {"migrate", "status", "--store", "sqlite:half.db"},
      {"serve", "--listen", "127.0.0.1:0", "--store", "sqlite:half.db"},
      {"move", "sqlite:half.db", database_.url()},
  };
  for (const auto& command : commands) {
    const auto refused = eventq(command);
    EXPECT_EQ(refused.exit_code, 1) << command.front();
    EXPECT_THAT(refused.out + refused.err, HasSubstr("being moved")) << command.front();
  }
}

TEST_F(MoveTest, RefusesATargetThatIsNotEmpty) {
  fill();
  ASSERT_EQ(eventq({"move", "sqlite:old.db", database_.url()}).exit_code, 0);
  const auto again = eventq({"move", "sqlite:old.db", database_.url()});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("is not empty"));
}

TEST_F(MoveTest, RefusesStoresThatAreInUse) {
  fill();
  {
    ServerProcess server({"--store", "sqlite:" + file("old.db")});
    ASSERT_TRUE(server.start()) << server.log();
    const auto moved = eventq({"move", "sqlite:old.db", database_.url()});
    EXPECT_EQ(moved.exit_code, 1);
    EXPECT_THAT(moved.err, HasSubstr("is in use by process " + std::to_string(server.pid())));
  }
  const auto other = postgres::PgConnection::open(database_.url());
  ASSERT_TRUE(other);
  const auto moved = eventq({"move", "sqlite:old.db", database_.url()});
  EXPECT_EQ(moved.exit_code, 1);
  EXPECT_THAT(moved.err, HasSubstr("is in use: 1 connection of eventq to it is open"));
}

TEST_F(MoveTest, RefusesShardsTwoStoresOfOneKindAndMissingFiles) {
  fill();
  const TestDatabase shard(TestDatabase::Empty{});
  const TestDatabase second(TestDatabase::Empty{});
  const std::string shards[] = {shard.url(), second.url()};
  ASSERT_TRUE(postgres::migrate(shards));
  EXPECT_THAT(eventq({"move", "sqlite:old.db", shard.url()}).err, HasSubstr("is one of 2 shards"));
  EXPECT_THAT(eventq({"move", shard.url(), "sqlite:new.db"}).err, HasSubstr("is one of 2 shards"));
  const auto same = eventq({"move", "sqlite:old.db", "sqlite:new.db"});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_THAT(same.err, HasSubstr("from sqlite:FILE to postgres://USER@HOST/DB, or back"));
  EXPECT_THAT(eventq({"move", "sqlite:none.db", database_.url()}).err, HasSubstr("There is no file none.db"));
  EXPECT_FALSE(std::filesystem::exists(file("none.db")));
}

class MigrateTest : public testing::Test {
 protected:
  Finished eventq(const std::vector<std::string>& arguments,
                  const std::vector<std::string>& environment = {}) {
    return run(eventq_program(folder_.file(""), arguments, environment));
  }

  const TemporaryDirectory folder_;
  TestDatabase empty_{TestDatabase::Empty{}};
};

TEST_F(MigrateTest, UpCreatesTheSchemaOnceAndStatusShowsIt) {
  const auto before = eventq({"migrate", "status", "--store", empty_.url()});
  EXPECT_EQ(before.exit_code, 1);
  EXPECT_THAT(before.out, HasSubstr(R"("schema":0)"));
  const auto up = eventq({"migrate", "up", "--store", empty_.url()});
  EXPECT_EQ(up.exit_code, 0) << up.err;
  EXPECT_THAT(up.err, HasSubstr("0001_init.sql"));
  const auto again = eventq({"migrate", "up"}, {"EVENTQ_STORE=" + empty_.url()});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, Not(HasSubstr("0001_init.sql")));
  const auto after = eventq({"migrate", "status", "--store", empty_.url()});
  EXPECT_EQ(after.exit_code, 0) << after.out;
  EXPECT_THAT(after.out, HasSubstr(R"("current":true,"shard":0,"of":1)"));
}

TEST_F(MigrateTest, SqlPrintsWhatUpWouldRun) {
  const auto printed = eventq({"migrate", "sql", "--store", empty_.url()});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  auto connection = postgres::PgConnection::open(empty_.url());
  ASSERT_TRUE(connection);
  const auto done = (*connection)->script(printed.out);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(eventq({"migrate", "status", "--store", empty_.url()}).exit_code, 0);
  EXPECT_EQ(eventq({"migrate", "sql", "--store", empty_.url()}).out, "");
}

TEST_F(MigrateTest, AServerRefusesADatabaseThatIsNotCurrentUnlessItMayMigrate) {
  const auto refused = eventq({"serve", "--listen", "127.0.0.1:0", "--store", empty_.url()});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err,
              HasSubstr("has no eventq schema yet. Run `eventq migrate up` with the same --store"));
  ServerProcess server({"--store", empty_.url(), "--migrate"});
  ASSERT_TRUE(server.start()) << server.log();
  EXPECT_THAT(server.log(), HasSubstr("migration=0001_init.sql"));
}

TEST_F(MigrateTest, ASqliteFileHasAStatusToo) {
  EXPECT_EQ(eventq({"migrate", "status"}).exit_code, 1);
  EXPECT_EQ(eventq({"migrate", "up"}).exit_code, 0);
  const auto status = eventq({"migrate", "status"});
  EXPECT_EQ(status.exit_code, 0) << status.err;
  EXPECT_THAT(status.out, HasSubstr(R"("store":"sqlite:eventq.db")"));
  EXPECT_THAT(eventq({"migrate", "sql"}).err, HasSubstr("there is no SQL to run by hand"));
}

TEST_F(MigrateTest, PasswordsAreNeverShown) {
  const std::string url = "postgres://me:secret@127.0.0.1:1/none";
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"serve", "--listen", "127.0.0.1:0", "--store", url},
           {"serve", "--listen", "127.0.0.1:0", "--migrate", "--store", url, "--store",
            url + "?password=secret"},
           {"serve", "--print-config", "--store", "postgres://a/b", "--store", url},
           {"serve", "--store", "sqlite:a.db", "--store", url},
           {"serve", "--store", "postgres://a/b", "--store", url + "\x01"},
           {"migrate", "status", "--store", url},
           {"move", "sqlite:none.db", url},
           {"move", url, "sqlite:none.db"}}) {
    const auto finished = eventq(arguments);
    EXPECT_THAT(finished.out + finished.err, Not(HasSubstr("secret"))) << arguments.front();
  }
}

}  // namespace
}  // namespace eventq
