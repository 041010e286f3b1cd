// connection_test.cc: one connection on a real PostgreSQL: values, batches, errors, lost connections.
#include "store/postgres/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "store/postgres/sqlstate.h"
#include "support/postgres_cluster.h"

namespace eventq::postgres {
namespace {

using testing::HasSubstr;
using testing::Not;

class PostgresConnection : public testing::Test {
 protected:
  static std::unique_ptr<PgConnection> open(const std::string& url) {
    auto opened = PgConnection::open(url);
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }

  Rows run(std::string_view sql, Params params = {}) {
    auto rows = connection_->run_one(sql, std::move(params));
    EXPECT_TRUE(rows) << rows.error().message;
    return std::move(*rows);
  }

  // Null if the call succeeded.
  template <typename T>
  static std::optional<ErrorCode> code(const Result<T>& result) {
    if (result) return std::nullopt;
    return result.error().code;
  }

  TestDatabase database_;
  std::unique_ptr<PgConnection> connection_ = open(database_.url());
};

TEST_F(PostgresConnection, NumbersAndTextsAreReturnedUnchanged) {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  Params params;
  params.add(least)
      .add("a\"'\\\n\xC3\xA4")
      .add(std::optional<std::int64_t>())
      .add(std::optional<std::string_view>());
  const Rows rows = run("SELECT $1::bigint, $2::text, $3::bigint, $4::text", params);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.number(0, 0), least);
  EXPECT_EQ(rows.text(0, 1), "a\"'\\\n\xC3\xA4");
  EXPECT_EQ(rows.maybe_number(0, 2), std::nullopt);
  EXPECT_EQ(rows.maybe_text(0, 3), std::nullopt);
  EXPECT_EQ(rows.maybe_number(0, 0), least);
  EXPECT_EQ(rows.maybe_text(0, 1), "a\"'\\\n\xC3\xA4");
}

TEST_F(PostgresConnection, ArraysAreReturnedElementByElement) {
  const std::vector<std::optional<std::int64_t>> numbers = {1, std::nullopt, -3};
  const std::vector<std::optional<std::string>> texts = {"", std::nullopt, "NULL"};
  Params params;
  params.add(std::span(numbers)).add(std::span(texts));
  const Rows rows = run("SELECT a, b FROM unnest($1::bigint[], $2::text[]) AS t(a, b)", params);
  ASSERT_EQ(rows.size(), 3U);
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(rows.maybe_number(row, 0), numbers[row]);
    EXPECT_EQ(rows.maybe_text(row, 1), texts[row]);
  }
}

TEST_F(PostgresConnection, AnEmptyArrayHasNoRows) {
  Params params;
  params.add(std::span<const std::int64_t>()).add(std::span<const std::string>());
  EXPECT_TRUE(run("SELECT a, b FROM unnest($1::bigint[], $2::text[]) AS t(a, b)", params).empty());
}

TEST_F(PostgresConnection, ALargeBatchIsSentWhileItsAnswersAreRead) {
  const std::string large(1 << 20, 'x');
  std::vector<StatementCall> calls;
  for (int n = 0; n < 24; ++n) calls.push_back({"SELECT $1::text", Params().add(large)});
  const auto rows = connection_->run(std::move(calls));
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 24U);
  for (const Rows& one : *rows) EXPECT_EQ(one.text(0, 0), large);
}

TEST_F(PostgresConnection, AfterAnErrorTheOtherCallsAreNotRunAndNothingIsChanged) {
  run("CREATE TABLE t (n bigint PRIMARY KEY)");
  const auto rows = connection_->run(
      {{"INSERT INTO t VALUES (1)"}, {"INSERT INTO t VALUES (1), (1)"}, {"INSERT INTO t VALUES (2)"}});
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().code, ErrorCode::internal);
  EXPECT_THAT(rows.error().message, HasSubstr("duplicate key"));
  EXPECT_EQ(run("SELECT n FROM t").size(), 0U);
  EXPECT_FALSE(connection_->broken());
}

TEST_F(PostgresConnection, ASkippedStatementIsPreparedByTheNextCall) {
  EXPECT_FALSE(connection_->run({{"SELECT 1 / 0"}, {"SELECT 7::bigint"}}));
  EXPECT_EQ(run("SELECT 7::bigint").number(0, 0), 7);
  EXPECT_FALSE(connection_->run_one("SELECT 1 / 0"));
  EXPECT_FALSE(connection_->run_one("SELECT nonsense"));
  EXPECT_FALSE(connection_->run_one("SELECT nonsense"));
  EXPECT_EQ(run("SELECT 7::bigint").number(0, 0), 7);
}

TEST_F(PostgresConnection, CommitMakesTheChangeVisibleToOthers) {
  run("CREATE TABLE t (n bigint)");
  run("BEGIN");
  const auto done = connection_->commit({{"INSERT INTO t VALUES (1)"}});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(open(database_.url())->run_one("SELECT n FROM t")->size(), 1U);
}

TEST_F(PostgresConnection, CommitReportsAnErrorOfItsStatementsAndChangesNothing) {
  run("CREATE TABLE t (n bigint)");
  run("BEGIN");
  EXPECT_EQ(code(connection_->commit({{"INSERT INTO t VALUES (1)"}, {"SELECT 1 / 0"}})), ErrorCode::internal);
  run("ROLLBACK");
  EXPECT_EQ(run("SELECT n FROM t").size(), 0U);
}

TEST_F(PostgresConnection, CommitOfAFailedTransactionIsAnError) {
  run("BEGIN");
  EXPECT_FALSE(connection_->run_one("SELECT 1 / 0"));
  EXPECT_EQ(code(connection_->commit({})), ErrorCode::unavailable);
}

TEST_F(PostgresConnection, AnErrorOfCommitItselfIsNotAnUnknownOutcome) {
  run("CREATE TABLE t (n bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)");
  run("BEGIN");
  EXPECT_EQ(code(connection_->commit({{"INSERT INTO t VALUES (1), (1)"}})), ErrorCode::internal);
  EXPECT_FALSE(connection_->broken());
}

TEST_F(PostgresConnection, ABackendEndedBeforeCommitWasSentIsUnavailable) {
  run("BEGIN");
  const std::int64_t pid = run("SELECT pg_backend_pid()::bigint").number(0, 0);
  const auto other = open(database_.url());
  // With a timeout, pg_terminate_backend() returns after the backend has ended.
  const auto ended =
      other->run_one("SELECT pg_terminate_backend($1::int, 10000)::int::bigint", Params().add(pid));
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(code(connection_->commit({{"SELECT 1"}})), ErrorCode::unavailable);
  EXPECT_TRUE(connection_->broken());
}

TEST_F(PostgresConnection, ABackendEndedInAStatementBeforeCommitIsUnavailable) {
  run("BEGIN");
  EXPECT_EQ(code(connection_->commit({{"SELECT pg_terminate_backend(pg_backend_pid())"}, {"SELECT 2"}})),
            ErrorCode::unavailable);
  EXPECT_TRUE(connection_->broken());
}

TEST_F(PostgresConnection, ABackendEndedInCommitIsAnUnknownOutcome) {
  run("CREATE TABLE t (n bigint)");
  run("CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS"
      " 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(10); RETURN NULL; END'");
  run("CREATE CONSTRAINT TRIGGER stop AFTER INSERT ON t INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "
      "stop()");
  run("BEGIN");
  EXPECT_EQ(code(connection_->commit({{"INSERT INTO t VALUES (1)"}})), ErrorCode::unknown_outcome);
  EXPECT_TRUE(connection_->broken());
}

TEST_F(PostgresConnection, AWarningInCommitIsAnUnknownOutcomeAndAnEarlierOneIsNot) {
  run("CREATE TABLE t (n bigint)");
  run("CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS"
      " 'BEGIN RAISE WARNING ''canceling wait''; RETURN NULL; END'");
  run("CREATE CONSTRAINT TRIGGER warn AFTER INSERT ON t INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "
      "warn()");
  run("BEGIN");
  EXPECT_EQ(code(connection_->commit({{"INSERT INTO t VALUES (1)"}})), ErrorCode::unknown_outcome);
  run("BEGIN");
  EXPECT_TRUE(connection_->commit({{"SET CONSTRAINTS ALL IMMEDIATE"}, {"INSERT INTO t VALUES (2)"}}));
}

TEST_F(PostgresConnection, InterruptFailsAHangingCallAndAllLaterOnes) {
  const auto other = open(database_.url());
  ASSERT_TRUE(other->run_one("SELECT pg_advisory_lock(1)"));
  std::thread interrupter([&] { connection_->interrupt(); });
  EXPECT_EQ(code(connection_->run_one("SELECT pg_advisory_lock(1)")), ErrorCode::unavailable);
  interrupter.join();
  EXPECT_TRUE(connection_->broken());
  EXPECT_EQ(code(connection_->run_one("SELECT 1")), ErrorCode::unavailable);
  EXPECT_EQ(code(connection_->commit({})), ErrorCode::unavailable);
  EXPECT_EQ(code(connection_->script("SELECT 1")), ErrorCode::unavailable);
}

TEST_F(PostgresConnection, ACallLongerThanItsPatienceFails) {
  connection_->set_patience(Millis(60'000));
  EXPECT_TRUE(connection_->run_one("SELECT 1"));
  connection_->set_patience(Millis(50));
  EXPECT_EQ(code(connection_->run_one("SELECT pg_sleep(10)")), ErrorCode::unavailable);
  EXPECT_TRUE(connection_->broken());
}

TEST_F(PostgresConnection, ADeadlockIsUnavailableForOneOfTheTwo) {
  const auto other = open(database_.url());
  run("BEGIN");
  run("SELECT pg_advisory_xact_lock(1)");
  ASSERT_TRUE(other->run({{"BEGIN"}, {"SELECT pg_advisory_xact_lock(2)"}}));
  std::optional<ErrorCode> theirs;
  std::thread thread([&] {
    theirs = code(other->run_one("SELECT pg_advisory_xact_lock(1)"));
    if (theirs) static_cast<void>(other->run_one("ROLLBACK"));
    if (!theirs) static_cast<void>(other->commit({}));
  });
  const std::optional<ErrorCode> ours = code(connection_->run_one("SELECT pg_advisory_xact_lock(2)"));
  static_cast<void>(connection_->run_one("ROLLBACK"));
  thread.join();
  EXPECT_EQ((std::set{ours, theirs}),
            (std::set<std::optional<ErrorCode>>{std::nullopt, ErrorCode::unavailable}));
}

TEST_F(PostgresConnection, ANotificationReachesAListeningConnection) {
  run("LISTEN eventq");
  ASSERT_TRUE(open(database_.url())->script("NOTIFY eventq, 'a'; NOTIFY eventq, 'b'"));
  const auto payloads = connection_->notifications(Millis(60'000));
  ASSERT_TRUE(payloads) << payloads.error().message;
  EXPECT_EQ(*payloads, (std::vector<std::string>{"a", "b"}));
}

TEST_F(PostgresConnection, WakeEndsTheWaitForNotifications) {
  connection_->wake();
  EXPECT_EQ(connection_->notifications(Millis(60'000)).value(), std::vector<std::string>());
  EXPECT_EQ(connection_->notifications(Millis(1)).value(), std::vector<std::string>());
  EXPECT_FALSE(connection_->broken());
}

TEST_F(PostgresConnection, ACommitIsDurableWhateverTheDatabasesDefaultIs) {
  const auto setting = [&](const std::string& given) {
    const auto other = open(database_.url() + "&options=-csynchronous_commit%3D" + given);
    return std::string(other->run_one("SHOW synchronous_commit")->text(0, 0));
  };
  EXPECT_EQ(setting("off"), "on");
  EXPECT_EQ(setting("local"), "on");
  EXPECT_EQ(setting("remote_apply"), "remote_apply");
}

TEST(PostgresUrl, AnUnreachableServerIsUnavailableAndTheErrorHidesThePassword) {
  const auto refused = PgConnection::open("postgres://me:secret@127.0.0.1:1/db");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_EQ(refused.error().message,
            "Cannot connect to postgres://me@127.0.0.1:1/db: connection to server at \"127.0.0.1\", port 1 "
            "failed: Connection refused. Is PostgreSQL running there?");
}

TEST(PostgresUrl, AMalformedUrlIsInvalidAndTheErrorHidesThePassword) {
  for (const std::string url :
       {"postgres://me:se/cret@host/db", "postgres://me:secret@host:port/db?nonsense=1"}) {
    const auto refused = PgConnection::open(url);
    ASSERT_FALSE(refused) << url;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument) << refused.error().message;
    EXPECT_THAT(refused.error().message, Not(HasSubstr("cret")));
  }
}

TEST(PostgresUrl, ADatabaseWhoseEncodingLacksCharactersIsRefused) {
  const OwnCluster cluster(quick_settings());
  const auto open = [&](const std::string& name, const std::string& encoding) {
    cluster.run("postgres", "CREATE DATABASE " + name + " TEMPLATE template0 ENCODING '" + encoding +
                                "' LC_COLLATE 'C' LC_CTYPE 'C'");
    return PgConnection::open(cluster.url(name));
  };
  EXPECT_TRUE(open("a", "UTF8"));
  EXPECT_TRUE(open("b", "SQL_ASCII"));
  const auto refused = open("c", "LATIN1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("Create a database with ENCODING 'UTF8'."));
}

TEST(PostgresUrl, IsShownWithoutItsPassword) {
  EXPECT_EQ(without_password("postgres://me:secret@host:5432/db"), "postgres://me@host:5432/db");
  EXPECT_EQ(without_password("postgres://me:se@c/ret@host/db"), "postgres://me@host/db");
  EXPECT_EQ(without_password("postgres://me@host:1,host:2/db"), "postgres://me@host:1,host:2/db");
  EXPECT_EQ(without_password("postgres://host:5432/db"), "postgres://host:5432/db");
  EXPECT_EQ(without_password("postgres:///db?password=secret&host=a"), "postgres:///db?password=***&host=a");
  EXPECT_EQ(without_password("postgres:///db?host=a&password=secret"), "postgres:///db?host=a&password=***");
  EXPECT_EQ(without_password("postgres:///db?host=a&password=x&password=y"),
            "postgres:///db?host=a&password=***&password=***");
  EXPECT_EQ(without_password("postgres:///db?user=a@b&sslpassword=x"),
            "postgres:///db?user=a@b&sslpassword=***");
  EXPECT_EQ(without_password("postgrs://me:secret@host/db"), "postgrs://me@host/db");
  EXPECT_EQ(without_password("postgres:/me:secret@host/db"), "postgres@host/db");
  EXPECT_EQ(without_password("me:secret@host/db"), "me@host/db");
  EXPECT_EQ(without_password("sqlite:a:b@c.db"), "sqlite:a:b@c.db");
}

TEST(PostgresFailure, EachSqlstateMapsToItsErrorCode) {
  const auto code = [](const std::string& state) { return error_for_sqlstate(state, "words").code; };
  for (const char* state :
       {"40P01", "40001", "55P03", "57014", "57P01", "57P02", "57P03", "53300", "08006", "25006"}) {
    EXPECT_EQ(code(state), ErrorCode::unavailable) << state;
  }
  EXPECT_EQ(code("53100"), ErrorCode::no_space);
  EXPECT_EQ(code("22021"), ErrorCode::invalid_argument);
  EXPECT_EQ(code("XX001"), ErrorCode::corrupt);
  EXPECT_EQ(code("XX002"), ErrorCode::corrupt);
  EXPECT_EQ(code("23505"), ErrorCode::internal);
  EXPECT_EQ(error_for_sqlstate("57P01", "going down now.\n").message,
            "The database reported an error: going down now (57P01).");
  EXPECT_THAT(error_for_sqlstate("55P03", "canceling").message, HasSubstr("an application left it open"));
  EXPECT_THAT(error_for_sqlstate("42P05", "s1 exists").message, HasSubstr("pool_mode = session"));
}

TEST(PostgresFailure, EachTriedHostIsNamedWithoutLibpqsGuesses) {
  EXPECT_EQ(unavailable("a failed: refused\n\tIs the server running?\nb failed: no route.\n").message,
            "The database is unavailable: a failed: refused; b failed: no route.");
}

TEST(PostgresCommit, ACancelledWaitForTheStandbyIsAnUnknownOutcome) {
  OwnCluster primary(quick_settings());
  const auto standby = primary.make_standby();
  primary.run("postgres", "CREATE TABLE public.t (n bigint)");
  auto connection = PgConnection::open(primary.url("postgres")).value();
  const auto other = PgConnection::open(primary.url("postgres")).value();
  standby->pause(true);
  const std::int64_t pid = connection->run_one("SELECT pg_backend_pid()::bigint").value().number(0, 0);
  ASSERT_TRUE(connection->run_one("BEGIN"));
  std::thread canceller([&] {
    const std::string_view waits =
        "SELECT count(*)::bigint FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'SyncRep'";
    while (other->run_one(waits, Params().add(pid)).value().number(0, 0) == 0) {
    }
    static_cast<void>(other->run_one("SELECT pg_cancel_backend($1::int)::int::bigint", Params().add(pid)));
  });
  const auto done = connection->commit({{"INSERT INTO public.t VALUES (1)"}});
  canceller.join();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::unknown_outcome) << done.error().message;
  EXPECT_FALSE(connection->broken());
}

TEST(PostgresFailover, AUrlOfBothServersFindsThePromotedStandbyWithEveryCommit) {
  OwnCluster primary;
  const auto standby = primary.make_standby();
  const std::string url = OwnCluster::url(primary, *standby, "postgres");
  {
    auto connection = PgConnection::open(url).value();
    ASSERT_TRUE(connection->script("CREATE TABLE public.t (n bigint); INSERT INTO public.t VALUES (1)"));
    primary.kill();
    EXPECT_FALSE(connection->run_one("SELECT 1"));
    EXPECT_TRUE(connection->broken());
  }
  EXPECT_FALSE(PgConnection::open(url));
  standby->promote();
  auto connection = PgConnection::open(url);
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_EQ((*connection)->run_one("SELECT n FROM public.t").value().number(0, 0), 1);
}

TEST(PostgresFailover, ARestartedClusterStillHasEveryCommit) {
  OwnCluster cluster;
  cluster.run("postgres", "CREATE TABLE public.t (n bigint)");
  for (const auto mode : {OwnCluster::Stop::fast, OwnCluster::Stop::immediate}) {
    cluster.run("postgres", "INSERT INTO public.t VALUES (1)");
    cluster.stop(mode);
    EXPECT_FALSE(PgConnection::open(cluster.url("postgres")));
    cluster.start();
  }
  auto connection = PgConnection::open(cluster.url("postgres")).value();
  EXPECT_EQ(connection->run_one("SELECT n FROM public.t").value().size(), 2U);
}

}  // namespace
}  // namespace eventq::postgres
