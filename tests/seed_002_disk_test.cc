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
using testing::ElementsAre;
using testing::IsSubsetOf;

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

// A store that the server wrote, read with SQL.
class Seed002Tables : public LocalApiTest {
 protected:
  std::vector<std::string> query_store(const std::string& sql) { return query(store_.path(), sql); }
};

TEST_F(Seed002Tables, QueueCheckpointsHasTheSeedsColumns) {
  EXPECT_THAT(query_store("SELECT name FROM pragma_table_info('queue_checkpoints') ORDER BY cid"),
              ElementsAre("id", "queue_id", "checkpoint_id", "event_count", "created_at"));
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
  EXPECT_THAT(query_store("SELECT created_at FROM queue_checkpoints"), ElementsAre("1710460800000"));
}

TEST_F(Seed002Tables, TheSeedsIndexesAreThere) {
  const auto indexes = query_store("SELECT name FROM sqlite_master WHERE type = 'index'");

  EXPECT_THAT(indexes, Contains("event_queue_state_status_idx"));
  EXPECT_THAT(indexes, Contains("queue_checkpoints_queue_id_idx"));
  EXPECT_THAT(indexes, Contains("queue_checkpoints_created_at_idx"));
}

TEST_F(Seed002Tables, ThePrimaryKeyIsTheUniqueIndexOnTheQueuesId) {
  EXPECT_THAT(query_store("SELECT origin FROM pragma_index_list('event_queue_state') WHERE \"unique\" = 1"),
              ElementsAre("pk"));
  EXPECT_THAT(query_store("SELECT name FROM pragma_table_info('event_queue_state') WHERE pk > 0"),
              ElementsAre("id"));
}

TEST_F(Seed002Tables, EventQueueStateHoldsConfigAndStatusOfEachQueue) {
  put("/queues/mail", R"({"maxQueueDepth":10})");
  post("/queues/mail/pause");

  EXPECT_THAT(query_store("SELECT status FROM event_queue_state WHERE id = 'mail'"), ElementsAre("paused"));
  EXPECT_THAT(
      query_store("SELECT json_extract(config, '$.maxQueueDepth') FROM event_queue_state WHERE id = 'mail'"),
      ElementsAre("10"));
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
