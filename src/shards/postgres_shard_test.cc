// postgres_shard_test.cc: several servers on one database: they wake each other, one of them does retention,
// an idle one costs little, a wrong clock does no harm, and a silent database does not delay a stop.
#include "shards/postgres_shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/steady.h"
#include "engine/engine.h"
#include "shards/router.h"
#include "store/postgres/connection.h"
#include "store/postgres/migrate.h"
#include "support/mailbox.h"
#include "support/manual_clock.h"
#include "support/open_engine.h"
#include "support/postgres_cluster.h"
#include "support/queue_commands.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::SizeIs;

Metrics metrics_of(Engine& engine) { return std::get<Metrics>(engine.call(ask(MetricsRequest{})).admin); }

void await_waiting_claims(Engine& engine, std::int64_t claims) {
  while (metrics_of(engine).waiting_claims != claims) {
  }
}

Lease lease_of(const Claim& claim) { return {claim.event.id, claim.event.worker_id, claim.event.attempts}; }

NewEvent small_event() { return {.title = "x", .tags = {"t"}}; }

EventId publish_on(Engine& engine, NewEvent event = small_event()) {
  const Answer answer = engine.call(publish(std::move(event)));
  EXPECT_FALSE(answer.error);
  return (*answer.published)->events.front().id;
}

// False also when a loaded machine answers too late: the caller asks again.
bool is_gone(Engine& engine, EventId id) {
  const Answer answer = engine.call(get(id));
  return answer.details && !*answer.details && answer.details->error().code == ErrorCode::not_found;
}

class PostgresShardTest : public testing::Test {
 protected:
  std::unique_ptr<Engine> open(const Options& options = {}) {
    return open_engine(database.url(), options).value();
  }
  std::int64_t count(const std::string& sql) {
    auto connection = postgres::PgConnection::open(database.url()).value();
    return connection->run_one(sql).value().number(0, 0);
  }

  const TestDatabase database;
  Mailbox mailbox;
};

// Collects the activity of a shard.
class ActivityLog final : public ShardObserver {
 public:
  void on_activity(int /*shard*/, const ShardActivity& activity) override {
    const std::scoped_lock lock(mutex_);
    ready_.insert(activity.ready.begin(), activity.ready.end());
    all_ = all_ || activity.all_ready;
    ended_ = ended_ || activity.any_ended || !activity.ended.empty();
    changed_.notify_all();
  }
  void on_health(int /*shard*/, bool /*up*/) override {}

  bool await_all() {
    return await([this] { return all_; });
  }
  bool await_ready(const std::string& queue) {
    return await([&] { return ready_.contains(queue); });
  }
  bool await_end() {
    return await([this] { return ended_; });
  }

 private:
  template <typename Holds>
  bool await(const Holds& holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 60s, holds);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> ready_;
  bool all_ = false;
  bool ended_ = false;
};

// A shard without a router retries nothing by itself, so only a hint can report the activity.
TEST_F(PostgresShardTest, TheActivityOfAnotherServerIsReported) {
  ActivityLog activity;
  const auto shard = open_postgres_shard(database.url(), 0, 1, {}, system_clock()).value();
  shard->start(activity, 0);
  ASSERT_TRUE(activity.await_all()) << "it listens";
  const auto other = open();

  publish_on(*other);
  EXPECT_TRUE(activity.await_ready("main"));
  other->call(complete(lease_of(other->call(claim({}, "w")).claims.at(0))));
  EXPECT_TRUE(activity.await_end());
  shard->stop();
}

TEST_F(PostgresShardTest, AWaitingWorkerIsWokenByAPublicationOnAnotherServer) {
  const std::unique_ptr<Engine> servers[] = {open(), open(), open()};
  for (std::uint64_t round = 0; round < 10; ++round) {
    Engine& waits = *servers[round % 3];
    waits.submit(claim_or_wait({"t"}, "w"), mailbox, round);
    await_waiting_claims(waits, 1);
    publish_on(*servers[(round + 1) % 3]);
    EXPECT_THAT(mailbox.wait(round).claims, SizeIs(1));
  }
}

TEST_F(PostgresShardTest, AnEndOnAnotherServerEndsTheWaitForIt) {
  const auto waits = open();
  const auto works = open();
  for (std::uint64_t round = 0; round < 10; ++round) {
    const EventId id = publish_on(*works);
    waits->submit(wait_for(id), mailbox, round);
    while (metrics_of(*waits).waiting_ends != 1) {
    }
    const auto claims = works->call(claim({}, "w")).claims;
    ASSERT_THAT(claims, SizeIs(1));
    works->call(complete(lease_of(claims.front())));
    EXPECT_TRUE(mailbox.wait(round).waited);
  }
}

TEST_F(PostgresShardTest, OneServerDoesRetentionAndAnotherTakesOverWhenItStops) {
  const TemporaryDirectory folders;
  ManualClock clock{kStart};
  const auto open_with = [&](const std::string& folder) {
    Options options;
    options.clock = &clock;
    options.archive_dir = folders.file(folder);
    options.queues["main"].completed_retention = 1h;
    return open(options);
  };
  const auto files_in = [&](const std::string& folder) {
    const std::filesystem::recursive_directory_iterator files(folders.file(folder));
    return std::count_if(begin(files), end(files), [](const auto& file) { return file.is_regular_file(); });
  };
  const auto retire_one = [&](std::vector<Engine*> servers) {
    Engine& server = *servers.back();
    const EventId id = publish_on(server);
    server.call(complete(lease_of(server.call(claim({}, "w")).claims.at(0))));
    clock.advance(48h);
    while (!is_gone(server, id)) {
      for (Engine* each : servers) each->recheck_clock();
    }
  };
  const std::string holders =
      "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database "
      "WHERE datname = current_database() AND locktype = 'advisory' AND classid = 25970 AND granted";

  const auto first = open_with("first");
  while (count(holders) == 0) {
  }
  const auto second = open_with("second");
  retire_one({first.get(), second.get()});
  EXPECT_EQ(count(holders), 1);
  EXPECT_EQ(files_in("first"), 1);
  EXPECT_EQ(files_in("second"), 0);

  first->stop();
  retire_one({second.get()});
  EXPECT_EQ(files_in("first"), 1);
  EXPECT_EQ(files_in("second"), 1);
}

TEST_F(PostgresShardTest, AnOldSnapshotShowsInTheMetrics) {
  const auto server = open();
  EXPECT_LT(metrics_of(*server).shards.at(0).upkeep.value().oldest_snapshot, 60s);

  auto other = postgres::PgConnection::open(database.url()).value();
  ASSERT_TRUE(other->script("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; SELECT pg_sleep(0.3)"));
  const ShardMetrics held = metrics_of(*server).shards.at(0);
  EXPECT_TRUE(held.up);
  EXPECT_EQ(held.shard, 0);
  EXPECT_GE(held.upkeep->oldest_snapshot, 300ms);
  EXPECT_LT(held.upkeep->oldest_snapshot, 60s);

  ASSERT_TRUE(other->script("COMMIT"));
  // This server's own transactions are short, so they do not count as old.
  while (metrics_of(*server).shards.at(0).upkeep->oldest_snapshot >= 300ms) {
  }
}

// A clock that is an hour ahead or behind must neither delay due events by an hour nor cause constant
// polling.
TEST_F(PostgresShardTest, AServerWhoseClockIsWrongIsNeitherLateNorBusy) {
  class Wrong final : public Clock {
   public:
    explicit Wrong(Millis by) : by_(by) {}
    [[nodiscard]] TimePoint now() const override { return system_clock().now() + by_; }

   private:
    const Millis by_;
  };
  for (const Millis by : {Millis(1h), Millis(-1h)}) {
    SCOPED_TRACE(by.count());
    const Wrong clock(by);
    std::vector<std::unique_ptr<Shard>> shards;
    shards.push_back(open_postgres_shard(database.url(), 0, 1, {}, clock).value());
    Router router(std::move(shards), clock, RouterOptions());
    const auto token = static_cast<std::uint64_t>(by.count());
    router.submit(claim_or_wait({"t"}, "w"), mailbox, token);
    await_waiting_claims(router, 1);
    const std::string transactions =
        "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()";
    const std::int64_t before = count(transactions);

    const SteadyTime start = steady_now();
    NewEvent delayed = small_event();
    delayed.delay = 1500ms;
    publish_on(router, delayed);
    EXPECT_THAT(mailbox.wait(token).claims, SizeIs(1));
    const Millis waited = millis_since(start);

    EXPECT_GE(waited, 1400ms);
    EXPECT_LT(count(transactions) - before, 50 + 20 * waited / 1s);
  }
}

std::unique_ptr<Engine> open_on(const OwnCluster& cluster) {
  const std::vector<std::string> urls = {cluster.add_database("eventq")};
  EXPECT_TRUE(postgres::migrate(urls));
  return open_engine(urls, Options{}).value();
}

// Counts the statements that a cluster ran, by the name of their file.
class Asked {
 public:
  explicit Asked(const OwnCluster& cluster) : cluster_(cluster) {}

  // Since the last call.
  int operator()(const std::string& name) {
    const std::string log = cluster_.log();
    int found = 0;
    for (std::size_t at = log.find("-- " + name); at != log.npos; at = log.find("-- " + name, at + 1))
      ++found;
    return found - std::exchange(before_[name], found);
  }

 private:
  const OwnCluster& cluster_;
  std::map<std::string, int> before_;
};

// See docs/scaling.md, "What an idle server costs".
TEST(PostgresIdle, AnIdleServerCosts30TransactionsAMinuteAnd60MoreForEachSelectorWaitedFor) {
  std::vector<std::string> settings = quick_settings();
  settings.emplace_back("log_statement=all");
  OwnCluster cluster(settings);
  const auto server = open_on(cluster);
  publish_on(*server, {.title = "x", .tags = {"other"}});
  Asked asked(cluster);
  const std::string names[] = {"begin.sql", "begin_read.sql", "ping.sql", "try_retention_lock.sql"};
  // Each of the server's threads has started when it has run its first statement.
  for (const std::string& name : names) {
    while (asked(name) == 0) cluster.run("postgres", "SELECT pg_sleep(0.1)");
  }
  const auto count_statements = [&](int selectors) {
    // The start of the server is not counted.
    cluster.run("postgres", "SELECT pg_sleep(2)");
    for (const std::string& name : names) asked(name);
    const SteadyTime start = steady_now();
    cluster.run("postgres", "SELECT pg_sleep(6)");
    int found[4] = {};
    std::transform(std::begin(names), std::end(names), found,
                   [&](const std::string& name) { return asked(name); });
    const auto seconds = static_cast<int>(millis_since(start) / 1s) + 1;
    EXPECT_GE(found[0], 1 + selectors);
    EXPECT_LE(found[0], seconds / 5 + 1 + selectors * (seconds + 1));  // commit threads
    EXPECT_LE(found[1], seconds / 10 + 1);  // the retention thread, which has the lock
    EXPECT_LE(found[2],
              seconds / 10 + 1 + selectors * (seconds + 1));  // a ping for each retry that takes long
    EXPECT_EQ(found[3], 0);
  };
  count_statements(0);

  Mailbox mailbox;
  for (std::uint64_t token = 0; token < 20; ++token) {
    Command waits = claim_or_wait({token % 2 == 0 ? "a" : "b"}, "w" + std::to_string(token));
    waits.claim->wait = 60s;
    server->submit(std::move(waits), mailbox, token);
  }
  await_waiting_claims(*server, 20);
  count_statements(2);
  server->stop();
}

TEST(PostgresIdle, AServerStopsSoonWhileItsDatabaseDoesNotAnswer) {
  OwnCluster cluster(quick_settings());
  const auto server = open_on(cluster);
  publish_on(*server);
  Mailbox mailbox;
  server->submit(claim_or_wait({"other"}, "w"), mailbox, 1);
  await_waiting_claims(*server, 1);

  cluster.pause(true);
  server->submit(publish(small_event()), mailbox, 2);
  const SteadyTime start = steady_now();
  server->stop();
  const Millis waited = millis_since(start);
  cluster.pause(false);

  EXPECT_TRUE(mailbox.has(1));
  EXPECT_EQ(mailbox.wait(2).error->code, ErrorCode::unknown_outcome);
  EXPECT_LT(waited, RouterOptions().answer_timeout);
}

}  // namespace
}  // namespace eventq
