// migrate_test.cc: migrations run once, in order, and only on the databases that they are meant for.
#include "store/postgres/migrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "store/postgres/connection.h"
#include "support/postgres_cluster.h"

namespace eventq::postgres {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class PostgresMigrate : public testing::Test {
 protected:
  static int newest() { return migrations().back().version; }

  static std::unique_ptr<PgConnection> connect(const std::string& url) {
    return PgConnection::open(url).value();
  }

  // Empty if the call succeeded.
  template <typename T>
  static std::string complaint(const Result<T>& checked) {
    return checked ? "" : checked.error().message;
  }

  TestDatabase database_{TestDatabase::Empty()};
  const std::string url_ = database_.url();
  const std::vector<std::string> alone_ = {url_};
};

TEST_F(PostgresMigrate, MigrationsAreNumberedFromOneWithoutGaps) {
  ASSERT_FALSE(migrations().empty());
  EXPECT_EQ(migrations().front().name, "0001_init.sql");
  for (std::size_t n = 0; n < migrations().size(); ++n) {
    const std::string number = std::to_string(n + 1);
    EXPECT_EQ(migrations()[n].version, static_cast<int>(n) + 1);
    EXPECT_TRUE(migrations()[n].name.starts_with(std::string(4 - number.size(), '0') + number + "_"));
    EXPECT_TRUE(migrations()[n].sql.starts_with("-- " + migrations()[n].name + ": "));
  }
}

TEST_F(PostgresMigrate, AnEmptyDatabaseIsBroughtToTheNewestVersionOnce) {
  EXPECT_EQ(schema_state(url_).value().version, 0);
  EXPECT_EQ(migrate(alone_).value().size(), migrations().size());
  const DatabaseState state = schema_state(url_).value();
  EXPECT_EQ(state.version, newest());
  EXPECT_EQ(state.position, (ShardPosition{0, 1}));
  EXPECT_TRUE(migrate(alone_).value().empty());
  EXPECT_EQ(complaint(check_schema(alone_)), "");
}

TEST_F(PostgresMigrate, ConcurrentMigratorsRunEachMigrationOnce) {
  std::vector<std::thread> threads;
  std::atomic<std::size_t> done = 0;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&] {
      const auto migrated = migrate(alone_);
      ASSERT_TRUE(migrated) << migrated.error().message;
      done += migrated->size();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, migrations().size());
  EXPECT_EQ(complaint(check_schema(alone_)), "");
}

TEST_F(PostgresMigrate, AFailedMigrationIsRolledBack) {
  // The first migration fails, because this schema exists already.
  ASSERT_TRUE(connect(url_)->script("CREATE SCHEMA eventq; CREATE TABLE eventq.archive_file (n bigint)"));
  const auto refused = migrate(alone_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("0001_init.sql"));
  EXPECT_EQ(schema_state(url_).value().version, 0);
  ASSERT_TRUE(connect(url_)->script("DROP SCHEMA eventq CASCADE"));
  EXPECT_TRUE(migrate(alone_));
}

TEST_F(PostgresMigrate, ANewerVersionIsRefused) {
  ASSERT_TRUE(migrate(alone_));
  ASSERT_TRUE(connect(url_)->script("INSERT INTO eventq.schema_version VALUES (1000, 0)"));
  const auto refused = migrate(alone_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, AllOf(HasSubstr("schema 1000"), HasSubstr("newer eventq")));
  EXPECT_EQ(complaint(check_schema(alone_)), refused.error().message);
}

TEST_F(PostgresMigrate, AMissingOrOldSchemaIsRefusedWithTheCommandThatMigratesIt) {
  EXPECT_THAT(complaint(check_schema(alone_)),
              AllOf(HasSubstr("no eventq schema"), HasSubstr("eventq migrate up"),
                    HasSubstr("eventq serve --migrate")));
  ASSERT_TRUE(migrate(alone_));
  ASSERT_TRUE(connect(url_)->script("DELETE FROM eventq.shard"));
  EXPECT_THAT(complaint(check_schema(alone_)), HasSubstr("eventq migrate up"));
  ASSERT_TRUE(migrate(alone_));
  EXPECT_EQ(complaint(check_schema(alone_)), "");
  ASSERT_TRUE(connect(url_)->script("UPDATE eventq.schema_version SET version = version - 1000"));
  EXPECT_THAT(complaint(check_schema(alone_)), HasSubstr("eventq migrate up"));
}

// Databases that were migrated together, databases of another set, and new ones.
class PostgresShardSet : public PostgresMigrate {
 protected:
  PostgresShardSet() {
    EXPECT_TRUE(migrate(set_));
    EXPECT_TRUE(migrate(other_set_));
  }

  static std::vector<std::unique_ptr<TestDatabase>> make(int n) {
    std::vector<std::unique_ptr<TestDatabase>> made;
    while (n-- > 0) made.push_back(std::make_unique<TestDatabase>(TestDatabase::Empty()));
    return made;
  }

  // Checks that no server starts on these databases and that nothing is changed. Returns the error message.
  std::string refusal(const std::vector<std::string>& urls) {
    const std::string checked = complaint(check_schema(urls));
    const auto migrated = migrate(urls);
    EXPECT_FALSE(migrated);
    if (migrated) return "";
    EXPECT_EQ(migrated.error().code, ErrorCode::conflict);
    EXPECT_EQ(migrated.error().message, checked);
    EXPECT_EQ(migration_script(urls).error().message, checked);
    EXPECT_EQ(schema_state(url_).value().version, 0);
    return checked;
  }

  const std::vector<std::unique_ptr<TestDatabase>> databases_ = make(4);
  const std::vector<std::string> set_ = {databases_[0]->url(), databases_[1]->url()};
  const std::vector<std::string> other_set_ = {databases_[2]->url(), databases_[3]->url()};
};

TEST_F(PostgresShardSet, StoresItsPositionsAndAnIdOfItsOwn) {
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(schema_state(set_[i]).value().position, (ShardPosition{static_cast<int>(i), 2}));
  }
  EXPECT_EQ(schema_state(set_[0]).value().set, schema_state(set_[1]).value().set);
  EXPECT_NE(schema_state(set_[0]).value().set, schema_state(other_set_[0]).value().set);
  EXPECT_EQ(complaint(check_schema(set_)), "");
  EXPECT_TRUE(migrate(set_).value().empty());
}

TEST_F(PostgresShardSet, IsRefusedInAnotherOrderOrNumber) {
  // Swapped.
  EXPECT_EQ(
      refusal({set_[1], set_[0]}),
      "The database " + without_password(set_[1]) +
          " is shard 1 of 2, but was given as shard 0 of 2. Start `eventq serve` with all 2 databases, each "
          "once and in their order: this one is --store number 2.");
  // One database twice, one missing, one too many.
  EXPECT_THAT(refusal({set_[0], set_[0]}), HasSubstr("is given twice"));
  EXPECT_THAT(refusal({set_[0], set_[1], set_[1]}), HasSubstr("is given twice"));
  EXPECT_THAT(refusal({url_, url_}), HasSubstr("is given twice"));
  EXPECT_THAT(refusal({set_[0]}), HasSubstr("given as shard 0 of 1"));
  EXPECT_THAT(refusal({set_[0], set_[1], url_}), HasSubstr("given as shard 0 of 3"));
  EXPECT_THAT(refusal({url_, set_[0], set_[1]}), HasSubstr("given as shard 1 of 3"));
  const TestDatabase whole;
  EXPECT_THAT(
      refusal({url_, whole.url()}),
      HasSubstr("is shard 0 of 1, but was given as shard 1 of 2. It is a whole store: serve it alone."));
}

TEST_F(PostgresShardSet, IsRefusedWithDatabasesOfAnotherSetOrNewOnes) {
  EXPECT_EQ(refusal({set_[0], other_set_[1]}), "The database " + without_password(other_set_[1]) +
                                                   " is shard 1 of 2 beside another shard 0 than " +
                                                   without_password(set_[0]) +
                                                   ". Name the databases that were first served together.");
  EXPECT_EQ(refusal({url_, set_[1]}),
            "The database " + without_password(set_[1]) + " is shard 1 of 2 beside another shard 0 than " +
                without_password(url_) +
                ", which is new. Name the databases that were first served together.");
  EXPECT_EQ(refusal({set_[0], url_}),
            "The database " + without_password(url_) + " is new, but " + without_password(set_[0]) +
                " has its shard 1 of 2 elsewhere. Name the databases that were first "
                "served together.");
}

TEST_F(PostgresShardSet, ThatWasHalfMigratedIsCompletedByTheNextMigration) {
  const TestDatabase second{TestDatabase::Empty()};
  const std::vector<std::string> urls = {url_, second.url()};
  // As if the second database failed in between: this URL names the first database again.
  EXPECT_FALSE(migrate(std::vector<std::string>{url_, url_ + "&application_name=other"}));
  EXPECT_THAT(complaint(check_schema(urls)),
              HasSubstr("was not migrated completely. Run `eventq migrate up`"));
  EXPECT_EQ(migrate(urls).value().size(), migrations().size());
  EXPECT_EQ(complaint(check_schema(urls)), "");
}

TEST_F(PostgresShardSet, HasOneIdAfterSeveralServersMigrateItAtOnce) {
  const TestDatabase second{TestDatabase::Empty()};
  const std::vector<std::string> urls = {url_, second.url()};
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&] {
      const auto migrated = migrate(urls);
      EXPECT_TRUE(migrated) << migrated.error().message;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(complaint(check_schema(urls)), "");
}

TEST_F(PostgresMigrate, TheEventViewShowsTimesAsTimestamps) {
  ASSERT_TRUE(migrate(alone_));
  const auto rows = connect(url_)->run_one(
      "SELECT count(*)::bigint FROM information_schema.columns WHERE table_schema = 'eventq' AND table_name "
      "= 'event'"
      " AND data_type = 'timestamp with time zone'");
  EXPECT_EQ(rows.value().number(0, 0), 2);
}

TEST_F(PostgresMigrate, ADatabaseOfTheSecondSchemaKeepsItsQueuesAndCheckpoints) {
  const auto connection = connect(url_);
  ASSERT_TRUE(connection->script("BEGIN; " + migrations()[0].sql + migrations()[1].sql + R"(
    INSERT INTO eventq.schema_version VALUES (1, 0), (2, 0);
    INSERT INTO eventq.event_queue_state VALUES
      ('main', '{}', 'active', '', '', NULL, 1000, 1000),
      ('mail', '{"maxQueueDepth":10}', 'paused', '', '', NULL, 1000, 2000);
    INSERT INTO eventq.queue_checkpoints VALUES
      ('018e3c1a-0000-7000-8000-000000000001', 'mail', 'evt_a', 7, 3000),
      ('018e3c1a-0000-7000-8000-000000000002', 'removed queue', '', 0, 3000);
    INSERT INTO eventq.event_archive VALUES (1, 'mail', 'COMPLETED', 1, 0, 0, 'w:1', 3000, 4000, 0, NULL, NULL);
    INSERT INTO eventq.queue_total VALUES
      ('mail', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', 0, 3, 0),
      ('mail', 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 10, 1, 'evt_a', 0, 5, 4000);
    COMMIT;)"));
  ASSERT_EQ(migrate(alone_).value().size(), migrations().size() - 2);

  const auto row = [&](const std::string& sql) { return std::string(connection->run_one(sql)->text(0, 0)); };
  EXPECT_EQ(
      row("SELECT concat_ws(' ', id, status, checkpoint_id, config ->> 'highWatermark', updated_at) FROM "
          "eventq.event_queue_state WHERE id = 'mail'"),
      "mail paused evt_a 8 1970-01-01 00:00:04");
  EXPECT_EQ(
      row("SELECT string_agg(concat_ws(' ', id, queue_id, checkpoint_id, event_count, created_at), ';') "
          "FROM eventq.queue_checkpoints"),
      "018e3c1a-0000-7000-8000-000000000001 mail evt_a 7 1970-01-01 00:00:03");
}

// The types of the document that describes the two tables. Others may be stored, but these are shown.
TEST_F(PostgresMigrate, TheViewsOfQueuesHaveTheColumnsAndTypesOfTheirDescription) {
  ASSERT_TRUE(migrate(alone_));
  const auto columns = [&](const std::string& view) {
    return std::string(connect(url_)
                           ->run_one("SELECT string_agg(concat(column_name, ' ', data_type, "
                                     "character_maximum_length), ', ' ORDER BY ordinal_position) FROM "
                                     "information_schema.columns WHERE table_schema = 'eventq' AND "
                                     "table_name = '" +
                                     view + "'")
                           ->text(0, 0));
  };
  EXPECT_EQ(columns("event_queue_state"),
            "id character varying255, events jsonb, checkpoint_id character varying255, queue_metrics jsonb, "
            "config jsonb, status character varying50, created_at timestamp without time zone, updated_at "
            "timestamp without time zone");
  EXPECT_EQ(
      columns("queue_checkpoints"),
      "id uuid, queue_id character varying255, checkpoint_id character varying255, event_count integer, "
      "created_at timestamp without time zone");
}

TEST_F(PostgresMigrate, APayloadThatJsonbCannotHoldIsShownAsText) {
  ASSERT_TRUE(migrate(alone_));
  const auto connection = connect(url_);
  const auto shown = [&](const std::string& payload) {
    return std::string(
        connection->run_one("SELECT eventq.payload_jsonb($payload$" + payload + "$payload$)::text")
            ->text(0, 0));
  };
  EXPECT_EQ(shown(R"({"a": [1, null]})"), R"({"a": [1, null]})");
  EXPECT_EQ(shown(R"({"a":"\u0000"})"), R"("{\"a\":\"\\u0000\"}")");
  EXPECT_EQ(shown("1e999999"), R"("1e999999")");
}

// A second address of the same machine stands for another machine.
TEST(PostgresMigrateElsewhere, ADatabaseIsHereWhenBothEndsHaveTheSameAddress) {
  auto settings = quick_settings();
  settings.emplace_back("listen_addresses=127.0.0.1,127.0.0.2");
  const OwnCluster cluster(settings);
  std::string url = cluster.url("postgres");
  EXPECT_TRUE(schema_state(url).value().here);
  url.replace(url.find("127.0.0.1"), std::string("127.0.0.1").size(), "127.0.0.2");
  EXPECT_FALSE(schema_state(url).value().here);
}

}  // namespace
}  // namespace eventq::postgres
