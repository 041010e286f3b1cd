// seed_002_disk_test.cc: when the state of seed 002 is on disk. Tests its four triggers by the files that a
// power cut leaves before and after each, and its tables and indexes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/postgres/connection.h"
#include "support/faulty_vfs.h"
#include "support/http_client.h"
#include "support/local_api.h"
#include "support/local_server.h"
#include "support/manual_clock.h"
#include "support/power_loss.h"
#include "support/server_process.h"
#include "support/store_audit.h"
#include "support/temporary_directory.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::IsSubsetOf;
using testing::Not;

constexpr int kPowerCuts = 24;  // a sample of the possible results at one moment

// A buffered queue `lazy` and a queue `strict`, on a disk that records what was synced.
class Seed002Persistence : public testing::Test {
 protected:
  Seed002Persistence() {
    disk_.skip_syncs();
    disk_.start_recording();
    server_ = serve(directory_.file("events.db"));
  }
  ~Seed002Persistence() override { server_.reset(); }

  void SetUp() override {
    configure(R"("persistenceThreshold":100,"processingInterval":60000)");
    request("PUT", "/queues/strict", R"({"durability":"strict"})");
  }

  void configure(const std::string& settings) {
    const HttpResponse response =
        request("PUT", "/queues/lazy", R"({"durability":"buffered",)" + settings + "}");
    ASSERT_LE(response.status, 201) << response.body;
  }

  std::unique_ptr<LocalServer> serve(const std::string& path) {
    Options options;
    options.clock = &clock_;
    return std::make_unique<LocalServer>("sqlite:" + path, options);
  }

  HttpResponse request(std::string_view method, std::string_view target, std::string_view body = {}) {
    return HttpClient(server_->port()).request(method, target, body).value();
  }

  // Publishes one event or one batch.
  void publish(const std::string& queue, int events = 1) {
    const std::string event = R"({"title":"event","tags":"t","queue":")" + queue + R"("})";
    std::string batch = event;
    for (int i = 1; i < events; ++i) batch += "," + event;
    const HttpResponse response = events == 1
                                      ? request("POST", "/events", event)
                                      : request("POST", "/events/batch", R"({"events":[)" + batch + "]}");
    ASSERT_EQ(response.status, 201) << response.body;
  }

  void advance(Millis by) {
    clock_.advance(by);
    server_->settle();
  }

  // The depths that the queue can have after a power cut now.
  std::set<int> after_power_cut(const std::string& queue) {
    if (server_) server_->settle();
    for (const FileOperation& operation : disk_.stop_recording()) files_.apply(operation);
    std::set<int> depths;
    for (int i = 0; i < kPowerCuts; ++i) {
      const TemporaryDirectory directory;
      files_.write_after_power_loss(directory.file(""), random_);
      EXPECT_EQ(audit_queues(directory.file("events.db")), "");
      const auto survivor = serve(directory.file("events.db"));
      const HttpResponse state = HttpClient(survivor->port()).get("/queues/" + queue).value();
      EXPECT_EQ(state.status, 200) << state.body;
      depths.insert(std::stoi("0" + at(state, "depth")));
    }
    disk_.start_recording();
    return depths;
  }

  FaultyVfs disk_;  // declared before the server, which must close its files first
  TemporaryDirectory directory_;
  ManualClock clock_{time_at("2024-03-15T00:00:00Z")};
  std::unique_ptr<LocalServer> server_;
  Disk files_;
  std::mt19937_64 random_{20'240'315};
};

TEST_F(Seed002Persistence, TheThresholdWritesEventsToDisk) {
  configure(R"("persistenceThreshold":5,"processingInterval":60000)");
  for (int i = 0; i < 4; ++i) publish("lazy");
  EXPECT_THAT(after_power_cut("lazy"), Contains(0)) << "no sync was requested yet";

  publish("lazy");

  EXPECT_THAT(after_power_cut("lazy"), ElementsAre(5));
}

TEST_F(Seed002Persistence, AGracefulShutdownWritesEventsToDisk) {
  for (int i = 0; i < 4; ++i) publish("lazy");
  EXPECT_THAT(after_power_cut("lazy"), Contains(0));

  server_.reset();

  EXPECT_THAT(after_power_cut("lazy"), ElementsAre(4));
}

TEST_F(Seed002Persistence, ARequestedCheckpointWritesEventsToDisk) {
  for (int i = 0; i < 4; ++i) publish("lazy");
  EXPECT_THAT(after_power_cut("lazy"), Contains(0));

  ASSERT_EQ(request("POST", "/queues/lazy/checkpoint").status, 201);

  EXPECT_THAT(after_power_cut("lazy"), ElementsAre(4));
}

TEST_F(Seed002Persistence, TheIntervalWritesEventsToDisk) {
  configure(R"("persistenceThreshold":100,"processingInterval":1000)");
  for (int i = 0; i < 4; ++i) publish("lazy");
  advance(999ms);
  EXPECT_THAT(after_power_cut("lazy"), Contains(0));

  advance(1ms);

  EXPECT_THAT(after_power_cut("lazy"), ElementsAre(4));
}

TEST_F(Seed002Persistence, AChangeOfAStrictQueueAlsoWritesBufferedEventsToDisk) {
  for (int i = 0; i < 4; ++i) publish("lazy");

  publish("strict");

  EXPECT_THAT(after_power_cut("lazy"), ElementsAre(4));
}

TEST_F(Seed002Persistence, AStrictQueuesEventsAreOnDiskOnceAcknowledged) {
  for (int i = 1; i <= 3; ++i) {
    publish("strict");
    EXPECT_THAT(after_power_cut("strict"), ElementsAre(i));
  }
}

TEST_F(Seed002Persistence, NoPartOfABatchSurvivesAlone) {
  publish("lazy", 7);
  EXPECT_THAT(after_power_cut("lazy"), IsSubsetOf({0, 7}));

  publish("lazy", 30);

  EXPECT_THAT(after_power_cut("lazy"), IsSubsetOf({0, 7, 37}));
}

TEST_F(Seed002Persistence, EndsAreBufferedToo) {
  publish("lazy");
  ASSERT_EQ(request("POST", "/queues/lazy/checkpoint").status, 201);
  request("GET", "/events/subscribe?tags=t&queue=lazy&worker_id=w:1");
  ASSERT_EQ(request("POST", "/events/1/complete", R"({"worker_id":"w:1"})").status, 200);
  EXPECT_THAT(after_power_cut("lazy"), Contains(1)) << "the completion may be lost, the event must not be";

  advance(60s);

  EXPECT_THAT(after_power_cut("lazy"), ElementsAre(0));
}

// The real program: the kernel keeps the written bytes when the process dies.
TEST(Seed002Process, AKilledServerLosesNothingOfABufferedQueue) {
  ServerProcess server;
  ASSERT_TRUE(server.start()) << server.log();
  {
    HttpClient client(server.port());
    ASSERT_EQ(
        client.request("PUT", "/queues/lazy", R"({"durability":"buffered","processingInterval":3600000})")
            .value()
            .status,
        201);
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(client.post("/events", R"({"title":"event","tags":"t","queue":"lazy"})").value().status, 201);
    }
  }

  server.kill();
  ASSERT_TRUE(server.start()) << server.log();

  HttpClient client(server.port());
  EXPECT_EQ(at(client.get("/queues/lazy/recovery").value(), "eventsRecovered"), "20");
  EXPECT_EQ(at(client.get("/queues/lazy/recovery").value(), "status"), R"("completed")");
  EXPECT_EQ(at(client.get("/queues/lazy").value(), "depth"), "20");
}

// The tables of the seed, read with SQL. `CAST (… AS TEXT)` and `->>` are the same in both databases.
class Seed002Tables : public LocalApiTest {
 protected:
  using LocalApiTest::LocalApiTest;

  std::vector<std::string> query_store(const std::string& sql) {
    if (!tests_postgres()) return query(store_.path(), sql);
    auto connection = postgres::PgConnection::open(store_.url());
    auto rows = (*connection)->run_one(sql);
    EXPECT_TRUE(rows) << sql << ": " << (rows ? "" : rows.error().message);
    std::vector<std::string> found;
    for (std::size_t row = 0; rows && row < rows->size(); ++row) found.emplace_back(rows->text(row, 0));
    return found;
  }
  std::vector<std::string> state_of(const std::string& column) {
    return query_store("SELECT CAST(" + column + " AS TEXT) FROM event_queue_state WHERE id = 'mail'");
  }

  // The text of a TIMESTAMP: ISO 8601 in SQLite, which has no such type.
  static std::string timestamp(const std::string& date, const std::string& time) {
    return tests_postgres() ? date + " " + time : date + "T" + time + ".000Z";
  }

  // The members of a JSON text that lacks its outer object.
  static JsonLines lines(const std::string& name, const std::string& json) {
    return json_lines("{\"" + name + "\":" + json + "}");
  }
};

TEST_F(Seed002Tables, SelectingTheQueueStateGivesTheSeedsDocument) {
  put("/queues/mail", R"({"maxQueueDepth":2000,"retry":{"baseMs":0}})");
  publish("mail", R"(,"event_id":"done")");
  publish(
      "mail",
      R"(,"event_id":"failed","pattern":"invoice.created","version":"1.0.0","payload":1,)"
      R"("source":{"type":"integration","id":"xero","name":"Xero"},"timestamp":"2024-03-14T10:00:00.123Z",)"
      R"("correlation_id":"corr_xyz789","causation_id":"c","trace_id":"t")");
  publish("mail", R"(,"event_id":"held","source":{"id":"only"},"payload":"x")");
  publish("mail", R"(,"event_id":"waits","priority":-1,"payload":null)");
  complete(claim("mail"));
  fail(claim("mail"), "Connection timeout");
  advance(1s);
  claim("mail");
  claim("mail");

  const HttpResponse shown = get("/queues/mail?events=1000");
  JsonLines document = json_lines(shown.body);
  std::erase_if(document, [](const auto& line) {
    return line.first == "depth" || line.first.starts_with("counts.") || line.first.ends_with("_at");
  });
  JsonLines selected = {{"id", "\"" + state_of("id").at(0) + "\""},
                        {"checkpointId", "\"" + state_of("checkpoint_id").at(0) + "\""},
                        {"status", "\"" + state_of("status").at(0) + "\""}};
  selected.merge(lines("events", state_of("events").at(0)));
  selected.merge(lines("queueMetrics", state_of("queue_metrics").at(0)));
  selected.merge(lines("config", state_of("config").at(0)));

  EXPECT_EQ(missing(document, selected), "");
  EXPECT_EQ(at(shown, "events[0].eventId"), R"("failed")");
  EXPECT_EQ(selected["events[0].id"], "2");
  EXPECT_EQ(difference(lines("config", state_of("config").at(0)),
                       [&] {
                         JsonLines config = json_lines(shown.body);
                         std::erase_if(config,
                                       [](const auto& line) { return !line.first.starts_with("config."); });
                         return config;
                       }()),
            "");
}

TEST_F(Seed002Tables, TheTimesOfAQueueAreTimestamps) {
  put("/queues/mail", "{}");
  EXPECT_THAT(state_of("created_at"), ElementsAre(timestamp("2024-03-15", "00:00:00")));
  EXPECT_THAT(state_of("updated_at"), ElementsAre(timestamp("2024-03-15", "00:00:00")));
}

TEST_F(Seed002Tables, UpdatedAtFollowsTheTraffic) {
  put("/queues/mail", "{}");
  const auto shown = [&] { return at(get("/queues/mail"), "updated_at"); };
  advance(1min);
  publish("mail");
  EXPECT_EQ(shown(), R"("2024-03-15T00:01:00.000Z")");
  EXPECT_THAT(state_of("updated_at"), ElementsAre(timestamp("2024-03-15", "00:01:00")));
  advance(1min);
  const std::string id = claim("mail");
  EXPECT_EQ(shown(), R"("2024-03-15T00:02:00.000Z")");
  advance(1s);
  post("/events/" + id + "/release", R"({"worker_id":"w:1"})");
  EXPECT_EQ(shown(), R"("2024-03-15T00:02:01.000Z")");
  EXPECT_THAT(state_of("updated_at"), ElementsAre(timestamp("2024-03-15", "00:02:01")));
}

TEST_F(Seed002Tables, EventsHoldsTheFirstThousandLiveEvents) {
  std::string batch;
  for (int i = 0; i < 1001; ++i) {
    batch += std::string(i == 0 ? "" : ",") + R"({"title":"event","tags":"t","queue":"mail"})";
  }
  ASSERT_EQ(post("/events/batch", R"({"events":[)" + batch + "]}").status, 201);

  EXPECT_THAT(state_of("coalesce(events ->> 999, 'none')"), Not(ElementsAre("none")));
  EXPECT_THAT(state_of("coalesce(events ->> 1000, 'none')"), ElementsAre("none"));
  EXPECT_THAT(query_store("SELECT CAST(events AS TEXT) FROM event_queue_state WHERE id = 'main'"),
              ElementsAre("[]"));
}

class Seed002Defaults : public Seed002Tables {
 protected:
  Seed002Defaults() : Seed002Tables(Options{.lease = 10s, .max_retries = 7}) {}
};

TEST_F(Seed002Defaults, ConfigIsCompleteWithTheServersDefaults) {
  put("/queues/mail", R"({"maxRetries":2,"retention":{"failedSeconds":5}})");
  publish("other");
  const auto setting = [&](const std::string& queue, const std::string& path) {
    return query_store("SELECT coalesce(CAST(config " + path + " AS TEXT), 'null') FROM event_queue_state " +
                       "WHERE id = '" + queue + "'");
  };
  EXPECT_THAT(setting("mail", "->> 'leaseMs'"), ElementsAre("10000"));
  EXPECT_THAT(setting("mail", "->> 'maxRetries'"), ElementsAre("2"));
  EXPECT_THAT(setting("mail", "-> 'retention' ->> 'failedSeconds'"), ElementsAre("5"));
  EXPECT_THAT(setting("mail", "-> 'retention' ->> 'completedSeconds'"), ElementsAre("86400"));
  EXPECT_THAT(setting("other", "->> 'maxRetries'"), ElementsAre("7"));
  EXPECT_THAT(setting("other", "->> 'maxQueueDepth'"), ElementsAre("10000"));
  EXPECT_THAT(setting("other", "->> 'highWatermark'"), ElementsAre("8000"));
  EXPECT_THAT(setting("main", "->> 'maxQueueDepth'"), ElementsAre("null"));
  EXPECT_THAT(setting("main", "->> 'leaseMs'"), ElementsAre("10000"));
}

TEST_F(Seed002Tables, ACheckpointIsOneRowOfQueueCheckpoints) {
  publish("mail", R"(,"event_id":"evt_111aaa222bbb333")");
  complete(claim("mail"));
  const HttpResponse made = post("/queues/mail/checkpoint");
  server_.restart();

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(at(made, "queueId"), R"("mail")");
  EXPECT_EQ(at(made, "checkpointId"), R"("evt_111aaa222bbb333")");
  EXPECT_EQ(at(made, "eventCount"), "1");
  EXPECT_EQ(at(made, "created_at"), R"("2024-03-15T00:00:00.000Z")");
  EXPECT_THAT(query_store("SELECT '\"'||id||'\"' FROM queue_checkpoints"), ElementsAre(at(made, "id")));
  EXPECT_THAT(query_store("SELECT queue_id||' '||checkpoint_id||' '||event_count FROM queue_checkpoints"),
              ElementsAre("mail evt_111aaa222bbb333 1"));
  EXPECT_THAT(query_store("SELECT CAST(created_at AS TEXT) FROM queue_checkpoints"),
              ElementsAre(timestamp("2024-03-15", "00:00:00")));
}

TEST_F(Seed002Tables, TheSeedsIndexesAreThere) {
  const auto indexes = query_store(
      tests_postgres() ? "SELECT indexdef FROM pg_indexes WHERE schemaname = 'eventq'"
                       : "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL");

  EXPECT_THAT(indexes,
              Contains(ContainsRegex("UNIQUE INDEX event_queue_state_id_idx ON .*stored_queue .*\\(id\\)")));
  EXPECT_THAT(indexes,
              Contains(ContainsRegex("event_queue_state_status_idx ON .*stored_queue\"? .*\\(status\\)")));
  EXPECT_THAT(
      indexes,
      Contains(ContainsRegex("queue_checkpoints_queue_id_idx ON .*stored_checkpoint .*\\(queue_id,")));
  EXPECT_THAT(
      indexes,
      Contains(ContainsRegex("queue_checkpoints_created_at_idx ON .*stored_checkpoint .*\\(created_at\\)")));
}

TEST_F(Seed002Tables, TheCheckpointsQueueIsAForeignKey) {
  const auto keys = query_store(
      tests_postgres() ? "SELECT confrelid::regclass::text FROM pg_constraint WHERE contype = 'f' AND "
                         "conrelid = 'stored_checkpoint'::regclass"
                       : "SELECT \"table\" FROM pragma_foreign_key_list('stored_checkpoint')");
  EXPECT_THAT(keys, ElementsAre("stored_queue"));
}

TEST_F(Seed002Tables, ACheckpointIsMadeEveryMinuteInWhichEventsWereCompleted) {
  publish("mail", R"(,"event_id":"first")");
  advance(1min);
  EXPECT_EQ(get("/queues/mail/checkpoints").body, R"({"checkpoints":[]})") << "nothing was completed";

  complete(claim("mail"));
  advance(1min);
  advance(1min);

  const HttpResponse made = get("/queues/mail/checkpoints");
  EXPECT_EQ(at(made, "checkpoints[0].checkpointId"), R"("first")");
  EXPECT_EQ(at(made, "checkpoints[1].id"), "") << "no event was completed in the second minute";
}

}  // namespace
}  // namespace eventq
