// postgres_faults_test.cc: breaks servers on PostgreSQL, their databases and the network between them.
// Acknowledged changes must exist, nothing may be done twice, and an uncertain outcome must be reported as
// unknown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "base/steady.h"
#include "crash/client.h"
#include "crash/load.h"
#include "faults/deployment.h"
#include "support/http_client.h"
#include "support/json_lines.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint32_t kSeed = 20'251'224;

HttpResponse request(std::uint16_t port, const std::string& method, const std::string& target,
                     const std::string& body = {}, const HttpHeaders& headers = {}) {
  HttpClient client(port);
  const auto response = client.request(method, target, body, headers);
  EXPECT_TRUE(response.has_value()) << method << " " << target << ": " << response.error().message;
  return response ? *response : HttpResponse();
}
HttpResponse get(std::uint16_t port, const std::string& target) { return request(port, "GET", target); }

// Publishes an event with this title; `more` members as ",\"priority\":1".
HttpResponse publish(std::uint16_t port, const std::string& title, const std::string& more = {},
                     const std::string& key = {}) {
  HttpHeaders headers;
  if (!key.empty()) headers.emplace_back("Idempotency-Key", key);
  return request(port, "POST", "/events", R"({"title":")" + title + R"(","tags":"t")" + more + "}", headers);
}

std::string at(const HttpResponse& response, const std::string& where) {
  const JsonLines lines = json_lines(response.body);
  const auto found = lines.find(where);
  return found == lines.end() ? std::string() : found->second;
}
std::int64_t id_of(const HttpResponse& response) {
  EXPECT_EQ(response.status / 100, 2) << response.body;
  return parse_whole<std::int64_t>(at(response, "id")).value_or(-1);
}

void expect_unknown(const HttpResponse& response) {
  EXPECT_EQ(response.status, 503) << response.body;
  EXPECT_EQ(at(response, "outcome"), "\"unknown\"") << response.body;
}

bool wait_until(Deployment& deployment, const std::function<bool()>& holds) {
  const SteadyTime deadline = steady_now() + 60s;
  while (!holds()) {
    if (steady_now() > deadline) return false;
    deployment.wait_while_running(10ms);
  }
  return true;
}

// True when 40 more events are completed, enough for the counts that the tests expect at the end.
bool completes_more_events(Deployment& deployment) {
  const std::uint16_t port = deployment.server(0).port();
  const std::int64_t before = count_events(port, "COMPLETED");
  return wait_until(deployment, [&] { return count_events(port, "COMPLETED") > before + 40; });
}

TEST(PostgresFaults, NothingIsLostOrDoneTwiceWhicheverProcessIsKilledUnderLoad) {
  RemoteDatabase shard;
  Deployment deployment({shard.url()}, 2);
  OwnCluster& cluster = shard.cluster;
  ASSERT_TRUE(configure(deployment.server(0).port(), kLimitedQueue, R"({"maxQueueDepth": 60})"));
  Load load(kSeed, 4, 8, Load::Databases::may_be_down);
  load.servers().set_servers(deployment.ports());
  const std::vector<std::pair<const char*, std::function<void()>>> faults = {
      {"a server, kill -9",
       [&] {
         deployment.server(1).kill();
         ASSERT_TRUE(deployment.server(1).start()) << deployment.server(1).log();
         load.servers().set_servers(deployment.ports());
       }},
      {"all connections, ended by the database", [&] { shard.end_connections(); }},
      {"a backend, kill -9, which restarts the database", [&] { shard.kill_backend(); }},
      {"pg_ctl stop -m immediate",
       [&] {
         cluster.stop(OwnCluster::Stop::immediate);
         cluster.start();
       }},
      {"pg_ctl stop -m fast",
       [&] {
         cluster.stop(OwnCluster::Stop::fast);
         cluster.start();
       }},
      {"the postmaster, kill -9",
       [&] {
         cluster.kill();
         cluster.start();
       }},
      {"the network, cut", [&] { shard.proxy.cut(); }},
  };

  for (const auto& [name, fault] : faults) {
    SCOPED_TRACE(name);
    ASSERT_NO_FATAL_FAILURE(fault());
    ASSERT_TRUE(deployment.reaches_all_shards_within(60s)) << deployment.logs();
    ASSERT_TRUE(completes_more_events(deployment)) << deployment.logs();
  }

  History history;
  EXPECT_EQ(deployment.finish_and_check(load, history), "");
  EXPECT_GT(count_outcome(history.publishes, CallOutcome::ok), 100);
  EXPECT_GT(count_outcome(history.reports, CallOutcome::ok), 100);
}

TEST(PostgresFaults, AFailoverToASynchronousStandbyLosesNothing) {
  OwnCluster primary;
  const std::unique_ptr<OwnCluster> standby = primary.make_standby();
  Deployment deployment({OwnCluster::url(primary, *standby, "postgres")}, 2);
  ASSERT_TRUE(configure(deployment.server(0).port(), kLimitedQueue, R"({"maxQueueDepth": 60})"));
  Load load(kSeed, 4, 8, Load::Databases::may_be_down);
  load.servers().set_servers(deployment.ports());
  ASSERT_TRUE(completes_more_events(deployment)) << deployment.logs();

  primary.kill();
  standby->promote();

  ASSERT_TRUE(deployment.reaches_all_shards_within(60s)) << deployment.logs();
  ASSERT_TRUE(completes_more_events(deployment)) << deployment.logs();
  History history;
  EXPECT_EQ(deployment.finish_and_check(load, history), "");
  EXPECT_GT(count_outcome(history.publishes, CallOutcome::ok),
            20);  // 40 completions in each of two completes_more_events()
}

class LostCommit : public testing::TestWithParam<TcpProxy::Commit> {
 protected:
  [[nodiscard]] std::uint16_t port() { return deployment_.server(0).port(); }
  void lose_commit_of(const std::string& text) { shard_.proxy.cut_at_commit(text, GetParam()); }

  RemoteDatabase shard_;
  Deployment deployment_{{shard_.url()}, 1};
};

INSTANTIATE_TEST_SUITE_P(Both, LostCommit, testing::Values(TcpProxy::Commit::done, TcpProxy::Commit::lost),
                         [](const testing::TestParamInfo<TcpProxy::Commit>& commit) {
                           return commit.param == TcpProxy::Commit::done ? "OfWhichTheAnswerIsLost"
                                                                         : "ThatNeverArrives";
                         });

TEST_P(LostCommit, IsUnknownToThePublisherAndTheSameKeyGivesTheOneEvent) {
  lose_commit_of("the title");
  expect_unknown(publish(port(), "the title", "", "key-1"));
  ASSERT_TRUE(shard_.proxy.was_cut_within(0ms));

  const std::int64_t id = id_of(publish(port(), "the title", "", "key-1"));
  EXPECT_EQ(id_of(publish(port(), "the title", "", "key-1")), id);
  EXPECT_EQ(at(get(port(), "/events"), "total"), "1");
}

TEST_P(LostCommit, IsUnknownToTheWorkerWhoseReportIsRecordedOnce) {
  // A long lease, so that it does not expire during the test.
  ASSERT_TRUE(configure(port(), "main", R"({"leaseMs": 60000})"));
  const std::string id = std::to_string(id_of(publish(port(), "the title")));
  ASSERT_EQ(get(port(), "/events/subscribe?tags=t&worker_id=one:1").status, 200);
  const auto complete = [&] {
    return request(port(), "POST", "/events/" + id + "/complete",
                   R"({"worker_id":"one:1","attempt":1,"errors":["the report"]})");
  };
  // The proxy cuts at the text of the report. The worker's name would not do, because the server also writes
  // it periodically.
  lose_commit_of("the report");
  expect_unknown(complete());
  ASSERT_TRUE(shard_.proxy.was_cut_within(0ms));

  EXPECT_EQ(complete().status, 200);
  const HttpResponse event = get(port(), "/events/" + id + "?include_logs=true");
  EXPECT_EQ(at(event, "status"), "\"COMPLETED_WITH_ERRORS\"") << event.body;
  EXPECT_THAT(event.body, HasSubstr("the report"));
  EXPECT_EQ(event.body.find("the report"), event.body.rfind("the report")) << event.body;
}

TEST_P(LostCommit, OfAClaimCostsAtMostAnAttempt) {
  const std::int64_t id = id_of(publish(port(), "the title"));
  // The proxy cuts at the log entry of the claim. The worker's name would not do, because the server also
  // stores what the worker asked for.
  lose_commit_of("PICKED");
  const HttpResponse lost = get(port(), "/events/subscribe?tags=t&worker_id=one:1");
  EXPECT_EQ(lost.status, 503) << lost.body;
  ASSERT_TRUE(shard_.proxy.was_cut_within(0ms));

  const HttpResponse claimed = get(port(), "/events/subscribe?tags=t&worker_id=two:1&wait=50");
  EXPECT_EQ(id_of(claimed), id);
  EXPECT_EQ(at(claimed, "attempt"), GetParam() == TcpProxy::Commit::done ? "2" : "1");
}

TEST(PostgresFaults, ACommitWhoseWaitForTheStandbyWasCancelledIsUnknown) {
  RemoteDatabase shard;
  Deployment deployment({shard.url()}, 1);
  const std::uint16_t port = deployment.server(0).port();
  const auto wait_for = [&](const std::string& standby) {
    shard.cluster.run("postgres", "ALTER SYSTEM SET synchronous_standby_names = '" + standby + "'");
    shard.cluster.run("postgres", "SELECT pg_reload_conf()");
    ASSERT_TRUE(wait_until(deployment,
                           [&] { return shard.query_text("SHOW synchronous_standby_names") == standby; }));
  };
  const auto waiting = [&] {
    return shard.query_text("SELECT count(*)::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
  };
  ASSERT_NO_FATAL_FAILURE(wait_for("missing_standby"));
  HttpClient client(port);
  ASSERT_TRUE(client.send("POST", "/events", R"({"title":"a","tags":"t"})", {{"Idempotency-Key", "key-1"}}));
  ASSERT_TRUE(wait_until(deployment, [&] { return waiting() != "0"; }));

  shard.cluster.run("postgres",
                    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");

  const auto answer = client.receive();
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  expect_unknown(*answer);
  ASSERT_NO_FATAL_FAILURE(wait_for(""));
  EXPECT_GT(id_of(publish(port, "a", "", "key-1")), 0);
  EXPECT_EQ(at(get(port, "/events"), "total"), "1");
}

class SilentShard : public testing::Test {
 protected:
  static constexpr std::size_t kTries = 64;

  void SetUp() override {
    ASSERT_TRUE(configure(port(), "main", R"({"leaseMs": 600000})"));
    for (std::size_t i = 0; i < kTries && (key_[0].empty() || key_[1].empty()); ++i) {
      const std::string key = "k" + std::to_string(i);
      const std::int64_t id = id_of(publish(port(), "first of " + key, keyed(key)));
      ASSERT_GE(id, 0);
      key_.at(static_cast<std::size_t>(id % 2)) = key;
      first_.at(static_cast<std::size_t>(id % 2)) = id;
    }
    ASSERT_FALSE(key_[0].empty() || key_[1].empty());
  }

  [[nodiscard]] std::uint16_t port() { return deployment_.server(0).port(); }
  static std::string keyed(const std::string& key) { return R"(,"ordering_key":")" + key + '"'; }
  [[nodiscard]] static std::string path_of(std::int64_t id) { return "/events/" + std::to_string(id); }

  std::array<RemoteDatabase, 2> shards_;
  Deployment deployment_{{shards_[0].url(), shards_[1].url()}, 1};
  std::array<std::string, 2> key_;  // an ordering_key of each shard
  std::array<std::int64_t, 2> first_{};
};

// `./dev bench postgres` measures how soon; notifier.cc asserts the time limits behind it.
TEST_F(SilentShard, CallsThatNeedItFailAndListsArePartialUntilItRecovers) {
  shards_[1].proxy.black_hole();

  expect_unknown(publish(port(), "silent", keyed(key_[1]), "key-1"));
  EXPECT_EQ(get(port(), path_of(first_[1])).status, 503);
  EXPECT_EQ(request(port(), "POST", path_of(first_[1]) + "/cancel").status, 503);
  for (const char* list : {"/events", "/queues", "/workers"}) {
    const HttpResponse response = get(port(), list);
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_THAT(response.body, AllOf(HasSubstr(R"("partial":true)"), HasSubstr(R"("missing_shards":[1])")))
        << list;
  }
  // Calls that do not need the shard succeed.
  EXPECT_EQ(get(port(), path_of(first_[0])).status, 200);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(id_of(publish(port(), "elsewhere")) % 2, 0);
  EXPECT_EQ(publish(port(), "next", keyed(key_[0])).status, 201);
  EXPECT_EQ(id_of(get(port(), "/events/subscribe?tags=t&worker_id=w:1")) % 2, 0);

  shards_[1].proxy.pass();

  ASSERT_TRUE(deployment_.reaches_all_shards_within(60s)) << deployment_.logs();
  const std::int64_t id = id_of(publish(port(), "silent", keyed(key_[1]), "key-1"));
  EXPECT_EQ(id_of(publish(port(), "silent", keyed(key_[1]), "key-1")), id);
  EXPECT_EQ(get(port(), path_of(first_[1])).status, 200);
  EXPECT_THAT(get(port(), "/events").body, Not(HasSubstr("partial")));
}

TEST_F(SilentShard, LaterCallsAreRefusedWithoutReachingItAndOtherCallsSucceed) {
  shards_[1].proxy.black_hole();
  expect_unknown(publish(port(), "silent", keyed(key_[1])));

  // The server now reports the shard as down and sends nothing to it, so the outcome of these calls is known.
  for (int i = 0; i < 20; ++i) {
    const HttpResponse refused = publish(port(), "refused", keyed(key_[1]));
    EXPECT_EQ(refused.status, 503) << refused.body;
    EXPECT_EQ(at(refused, "outcome"), "\"unchanged\"") << refused.body;

    const std::int64_t id = id_of(request(port(), "POST", "/events", R"({"title":"r","tags":"elsewhere"})"));
    EXPECT_EQ(id % 2, 0);
    EXPECT_EQ(id_of(get(port(), "/events/subscribe?tags=elsewhere&worker_id=w:1")), id);
    EXPECT_EQ(request(port(), "POST", path_of(id) + "/complete", R"({"worker_id":"w:1"})").status, 200);
  }

  shards_[1].proxy.pass();
  ASSERT_TRUE(deployment_.reaches_all_shards_within(60s)) << deployment_.logs();
  EXPECT_EQ(shards_[1].query_text("SELECT count(*)::text FROM eventq.event_body WHERE title = 'refused'"),
            "0");
}

class ShardList : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a", "b", "c"}) cluster_.run("postgres", "CREATE DATABASE " + std::string(name));
    ServerProcess first(Deployment::arguments_for({url("a"), url("b")}));
    ASSERT_TRUE(first.start()) << first.log();
    ASSERT_EQ(publish(first.port(), "x").status, 201);
  }

  [[nodiscard]] std::string url(const std::string& database) const {
    return "postgres://postgres:secret@127.0.0.1:" + std::to_string(cluster_.port()) + "/" + database;
  }
  // The log of a server that must not start on these databases.
  std::string refusal(const std::vector<std::string>& databases) {
    std::vector<std::string> urls;
    for (const std::string& database : databases) urls.push_back(url(database));
    ServerProcess server(Deployment::arguments_for(urls));
    EXPECT_FALSE(server.start()) << testing::PrintToString(databases);
    EXPECT_THAT(server.wait(60s), testing::Optional(testing::Gt(0)));
    EXPECT_THAT(server.log(), Not(HasSubstr("secret")));
    return server.log();
  }

  OwnCluster cluster_;
};

TEST_F(ShardList, OtherThanTheOneInTheDatabasesIsRefusedAtStart) {
  EXPECT_THAT(refusal({"b", "a"}), HasSubstr("shard 1 of 2"));
  EXPECT_THAT(refusal({"a"}), HasSubstr("shard 0 of 2"));
  EXPECT_THAT(refusal({"b"}), HasSubstr("shard 1 of 2"));
  EXPECT_THAT(refusal({"a", "a"}), HasSubstr("is given twice"));
  EXPECT_THAT(refusal({"a", "b", "c"}), HasSubstr("shard 0 of 2"));
  EXPECT_THAT(refusal({"c", "b"}), HasSubstr("which is new"));
  EXPECT_THAT(refusal({"a", "c"}), HasSubstr("is new, but"));

  ServerProcess right(Deployment::arguments_for({url("a"), url("b")}));
  ASSERT_TRUE(right.start()) << right.log();
  EXPECT_EQ(at(get(right.port(), "/events"), "total"), "1");
}

TEST_F(ShardList, IsShownWithoutPasswordsWhenItsDatabasesAreDown) {
  ServerProcess server(Deployment::arguments_for({url("a"), url("b")}));
  ASSERT_TRUE(server.start()) << server.log();
  cluster_.stop(OwnCluster::Stop::fast);
  for (const HttpResponse& answer :
       {get(server.port(), "/readyz"), publish(server.port(), "x"), get(server.port(), "/events/1")}) {
    EXPECT_EQ(answer.status, 503) << answer.body;
    EXPECT_THAT(answer.body, Not(HasSubstr("secret")));
  }
  server.terminate();
  EXPECT_THAT(server.log(), AllOf(HasSubstr("postgres://postgres@127.0.0.1"), Not(HasSubstr("secret"))));
}

TEST_F(ShardList, WithAMissingDatabaseIsRefusedAtStartByName) {
  EXPECT_THAT(refusal({"a", "nowhere"}), HasSubstr("nowhere"));
  cluster_.stop(OwnCluster::Stop::fast);
  EXPECT_THAT(refusal({"a", "b"}), HasSubstr("127.0.0.1"));
}

}  // namespace
}  // namespace eventq
