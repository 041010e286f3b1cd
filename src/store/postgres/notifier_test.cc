// notifier_test.cc: hints between servers, and how a server notices an outage.
#include "store/postgres/notifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "base/steady.h"
#include "store/postgres/connection.h"
#include "support/postgres_cluster.h"

namespace eventq::postgres {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A server's notifier, and what its callbacks got.
class Server {
 public:
  explicit Server(const std::string& url)
      : notifier_(url,
                  {.on_hint = [this](const Hint& hint) { keep(hints_, hint); },
                   .on_health = [this](bool up) { keep(healths_, up); }},
                  [this](LogLevel, std::string_view line) { keep(log_, std::string(line)); }) {}

  Notifier& notifier() { return notifier_; }

  // The next hint. The first one follows the connect.
  Hint hint() { return next(hints_, hints_read_); }
  bool health() { return next(healths_, healths_read_); }
  std::string log() { return next(log_, log_read_); }

 private:
  template <typename T>
  void keep(std::vector<T>& list, T value) {
    const std::scoped_lock lock(mutex_);
    list.push_back(std::move(value));
    changed_.notify_all();
  }

  template <typename T>
  T next(const std::vector<T>& list, std::size_t& read) {
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_for(lock, std::chrono::seconds(60), [&] { return list.size() > read; });
    EXPECT_TRUE(came);
    return came ? T(list[read++]) : T();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Hint> hints_;
  std::vector<bool> healths_;
  std::vector<std::string> log_;
  std::size_t hints_read_ = 0;
  std::size_t healths_read_ = 0;
  std::size_t log_read_ = 0;
  Notifier notifier_;
};

// Two servers that have counted each other.
struct Two {
  explicit Two(const std::string& url) : one(url), first(one.hint()), other(url) {
    EXPECT_TRUE(first.all);
    EXPECT_TRUE(other.hint().all);
    EXPECT_TRUE(other.hint().all);  // from `one`, which was alone before
  }
  Server one;
  Hint first;  // of `one`, before `other` starts
  Server other;
};

class PostgresNotifier : public testing::Test {
 protected:
  TestDatabase database_;
};

TEST_F(PostgresNotifier, TheFirstHintAfterAConnectSaysThatAnythingMayHaveChanged) {
  Server server(database_.url());
  const Hint first = server.hint();
  EXPECT_TRUE(first.all);
  EXPECT_TRUE(first.ended);
  EXPECT_TRUE(server.notifier().up());
}

TEST_F(PostgresNotifier, AHintReachesOtherServersAndNotItsSender) {
  Two two(database_.url());
  Server& one = two.one;
  Server& other = two.other;

  one.notifier().notify({.ready = {"mail", "a/b:c@d-e_f.g"}});
  const Hint heard = other.hint();
  EXPECT_THAT(heard.ready, ElementsAre("a/b:c@d-e_f.g", "mail"));
  EXPECT_FALSE(heard.all);
  EXPECT_FALSE(heard.ended);

  // The next hint that the sender gets is the answer, not its own hint.
  other.notifier().notify({.ended = true});
  const Hint answer = one.hint();
  EXPECT_TRUE(answer.ended);
  EXPECT_TRUE(answer.ready.empty());
}

TEST_F(PostgresNotifier, AServerThatIsAloneSendsNoHintsUntilAnotherStarts) {
  const auto stranger = PgConnection::open(database_.url()).value();
  ASSERT_TRUE(stranger->script("LISTEN eventq"));
  Server one(database_.url());
  EXPECT_TRUE(one.hint().all);
  one.notifier().notify({.ready = {"unheard"}});

  Server other(database_.url());
  EXPECT_TRUE(other.hint().all);

  // `one` dropped hints while it was alone, so anything may have changed.
  const Hint missed = other.hint();
  EXPECT_TRUE(missed.all);
  EXPECT_TRUE(missed.ended);
  one.notifier().notify({.ready = {"mail"}});
  EXPECT_THAT(other.hint().ready, ElementsAre("mail"));
  std::string received;
  while (received.find("mail") == received.npos) {
    const auto payloads = stranger->notifications(Millis(60'000));
    ASSERT_TRUE(payloads && !payloads->empty());
    for (const std::string& payload : *payloads) received += payload;
  }
  EXPECT_THAT(received, Not(HasSubstr("unheard")));
}

TEST_F(PostgresNotifier, AServerThatStartsWhileALoneOneReconnectsAlsoGetsAHint) {
  Server one(database_.url());
  EXPECT_TRUE(one.hint().all);
  one.notifier().notify({.ready = {"unheard"}});
  const auto connection = PgConnection::open(database_.url()).value();
  ASSERT_TRUE(
      connection->script("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                         " WHERE datname = current_database() AND pid <> pg_backend_pid()"));

  Server other(database_.url());

  EXPECT_TRUE(other.hint().all);  // after its own connect
  EXPECT_TRUE(other.hint().all);
}

// Two servers whose role lacks a right, as on installations that grant some rights to administrators only.
class PostgresNotifierRefused : public PostgresNotifier {
 protected:
  void start_without(const std::string& right) {
    ASSERT_TRUE(admin_->script("REVOKE " + right + " FROM PUBLIC"));
    ASSERT_TRUE(
        admin_->script("DO $$ BEGIN CREATE ROLE eventq_hermit LOGIN;"
                       " EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"));
    std::string url = database_.url();
    url.replace(url.find("postgres@"), std::string("postgres").size(), "eventq_hermit");
    for (std::optional<Server>* server : {&one_, &other_}) {
      server->emplace(url);
      EXPECT_TRUE((*server)->hint().all);
    }
  }

  const std::unique_ptr<PgConnection> admin_ = PgConnection::open(database_.url()).value();
  std::optional<Server> one_;
  std::optional<Server> other_;
};

TEST_F(PostgresNotifierRefused, AServerThatMayNotCountTheOthersSendsAllHints) {
  start_without("SELECT ON pg_stat_activity");
  one_->notifier().notify({.ready = {"mail"}});
  EXPECT_THAT(other_->hint().ready, ElementsAre("mail"));
  EXPECT_TRUE(one_->notifier().up());
}

TEST_F(PostgresNotifierRefused, AServerThatMayNotNotifyStillReceivesHints) {
  start_without("EXECUTE ON FUNCTION pg_notify(text, text)");
  for (int i = 0; i < 5; ++i) {
    one_->notifier().notify({.ready = {"mail"}});
    ASSERT_TRUE(admin_->script("SELECT pg_sleep(0.02)"));  // so that hints are not merged
    ASSERT_TRUE(admin_->script("NOTIFY eventq, E'sender\\n\\nnews'"));
    const Hint heard = one_->hint();
    EXPECT_THAT(heard.ready, ElementsAre("news"));
    EXPECT_FALSE(heard.all) << "it has lost its connection";
  }
}

TEST_F(PostgresNotifier, HintsOfABurstAreMerged) {
  Two two(database_.url());
  Server& one = two.one;
  Server& other = two.other;
  std::set<std::string> sent;
  for (int n = 0; n < 500; ++n) {
    const std::string queue = "q" + std::to_string(n);
    sent.insert(queue);
    one.notifier().notify({.ready = {queue}});
  }
  std::set<std::string> heard;
  int hints = 0;
  while (heard.size() < sent.size()) {
    const Hint hint = other.hint();
    ASSERT_FALSE(hint.all || hint.ready.empty());
    heard.insert(hint.ready.begin(), hint.ready.end());
    ++hints;
  }
  EXPECT_EQ(heard, sent);
  EXPECT_LT(hints, 100);
}

TEST_F(PostgresNotifier, AHintWithTooManyQueuesToNameIsForAll) {
  Two two(database_.url());
  Server& one = two.one;
  Server& other = two.other;
  // PostgreSQL takes 7999 bytes: 36 for the sender's id, two line feeds, and one line feed before each
  // further name.
  const auto names = [](std::size_t last) {
    Hint hint;
    for (int n = 100; n < 179; ++n) hint.ready.insert(std::to_string(n) + std::string(96, 'x'));
    hint.ready.insert(std::string(last, 'y'));
    return hint;
  };
  const std::size_t fits = 7999 - 36 - 1 - std::size_t{79} * 100 - 1;
  one.notifier().notify(names(fits));
  EXPECT_EQ(other.hint().ready, names(fits).ready);
  one.notifier().notify(names(fits + 1));
  const Hint all = other.hint();
  EXPECT_TRUE(all.all);
  EXPECT_TRUE(all.ready.empty());
}

TEST_F(PostgresNotifier, AnUnknownPayloadMeansThatAnythingMayHaveChanged) {
  Server server(database_.url());
  server.hint();
  const auto connection = PgConnection::open(database_.url()).value();
  for (const std::string payload : {"", "hello", "x\nnews\n\nq"}) {
    ASSERT_TRUE(connection->script("NOTIFY eventq, '" + payload + "'"));
    const Hint hint = server.hint();
    EXPECT_TRUE(hint.all && hint.ended) << payload;
  }
}

TEST_F(PostgresNotifier, ALostConnectionIsNotReportedAsAnOutage) {
  Server server(database_.url());
  server.hint();
  const auto connection = PgConnection::open(database_.url()).value();
  ASSERT_TRUE(
      connection->script("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                         " WHERE datname = current_database() AND pid <> pg_backend_pid()"));
  EXPECT_TRUE(server.hint().all);  // hints may have been lost
  EXPECT_TRUE(server.notifier().up());
}

TEST_F(PostgresNotifier, ADatabaseThatCannotBeReachedIsDown) {
  Server server("postgres://me:secret@127.0.0.1:1/db");
  EXPECT_FALSE(server.health());
  EXPECT_FALSE(server.notifier().up());
  const std::string line = server.log();
  EXPECT_THAT(line, HasSubstr("database is unavailable"));
  EXPECT_THAT(line, Not(HasSubstr("secret")));
}

TEST(PostgresHealth, AStoppedClusterIsDownAndARestartedOneIsUp) {
  OwnCluster cluster(quick_settings());
  Server server(cluster.url("postgres"));
  server.hint();
  for (const auto mode : {OwnCluster::Stop::fast, OwnCluster::Stop::immediate}) {
    cluster.stop(mode);
    EXPECT_FALSE(server.health());
    EXPECT_FALSE(server.notifier().up());
    cluster.start();
    EXPECT_TRUE(server.health());
    EXPECT_TRUE(server.hint().all);
  }
}

TEST(PostgresHealth, ASilentClusterIsDownWhileAnswersAreExpectedAndUpAfterwards) {
  OwnCluster cluster(quick_settings());
  Server server(cluster.url("postgres"));
  server.hint();
  cluster.pause(true);
  server.notifier().expect_answers(true);
  EXPECT_FALSE(server.health());
  cluster.pause(false);
  EXPECT_TRUE(server.health());
  EXPECT_TRUE(server.hint().all);
}

// A lock delays the ping of an idle server until a caller expects answers.
TEST(PostgresHealth, AnExpectationThatBeginsDuringAPingIsNotLost) {
  OwnCluster cluster(quick_settings());
  Server server(cluster.url("postgres"));
  server.hint();
  const auto locker = PgConnection::open(cluster.url("postgres")).value();
  const auto witness = PgConnection::open(cluster.url("postgres")).value();
  ASSERT_TRUE(locker->script("BEGIN; LOCK TABLE pg_stat_activity"));
  const SteadyTime start = steady_now();
  while (witness->run_one("SELECT count(*), pg_sleep(0.005) FROM pg_locks WHERE NOT granted")->number(0, 0) ==
         0) {
    ASSERT_LT(millis_since(start), Millis(30'000));
  }
  server.notifier().expect_answers(true);
  ASSERT_TRUE(locker->script("ROLLBACK"));
  const std::string looking =
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'eventq hints' AND state = 'active'";
  while (witness->run_one(looking)->number(0, 0) > 0) ASSERT_LT(millis_since(start), Millis(30'000));
  ASSERT_TRUE(server.notifier().up());
  cluster.pause(true);
  const SteadyTime paused = steady_now();
  EXPECT_FALSE(server.health());
  EXPECT_LT(millis_since(paused), Millis(5000));  // 1.5 s; the next ping of an idle server is later
  cluster.pause(false);
}

// An idle server pings six times a minute, and a server with running commands twice a second.
TEST(PostgresHealth, ADatabaseIsPingedTwiceASecondWhileAnswersAreExpected) {
  OwnCluster cluster([] {
    auto settings = quick_settings();
    settings.emplace_back("log_statement=all");
    return settings;
  }());
  Server server(cluster.url("postgres"));
  server.hint();
  const auto pings = [&] {
    const std::string log = cluster.log();
    int found = 0;
    for (std::size_t at = log.find("-- ping.sql:"); at != log.npos; at = log.find("-- ping.sql:", at + 1))
      ++found;
    return found;
  };
  const SteadyTime start = steady_now();
  // The log of the cluster arrives through a pipe, so it may be late.
  const auto await_pings = [&](int wanted) {
    while (pings() < wanted && millis_since(start) < Millis(30'000)) {
      cluster.run("postgres", "SELECT pg_sleep(0.05)");
    }
  };
  await_pings(1);
  EXPECT_EQ(pings(), 1);
  server.notifier().expect_answers(true);
  await_pings(5);
  EXPECT_GE(pings(), 5);
  EXPECT_GE(millis_since(start), Millis(1900));
}

}  // namespace
}  // namespace eventq::postgres
