// migrate_test.cc: a migration keeps the data of a file with an earlier schema.
#include "store/sqlite/migrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generated/sqlite_migrations.h"
#include "store/conformance/store_conformance.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/sqlite_store.h"
#include "support/store_audit.h"
#include "support/temporary_directory.h"

namespace eventq::sqlite {
namespace {

using testing::ElementsAre;

// Rows of schema 1: one event pending, one processing, one completed, one failed.
constexpr std::string_view kVersion1 = R"(
PRAGMA application_id = 0x45765120;
PRAGMA user_version = 1;
INSERT INTO event_body VALUES
  (1, 'a', 'main', 'waits', 'x,y', 'c1', 5, 3, 1000, 'd', '{"n":1}'),
  (2, 'b', 'main', 'in work', 'x', 'c1', 0, 3, 1001, NULL, 'null'),
  (3, 'c', 'main', 'done', 'x', 'c1', 0, 3, 1002, NULL, '3'),
  (4, 'd', 'other', 'failed', 'x', '', 0, 3, 1003, NULL, '4');
INSERT INTO event_queue VALUES (1, 'PENDING', 0, 0, 0, '', 1000, 1, 1000), (2, 'PROCESSING', 1, 0, 1, 'w:1', 9000, 0, 2000);
INSERT INTO event_ready VALUES ('main', 'x', 5, 1), ('main', 'y', 5, 1);
INSERT INTO event_archive VALUES (3, 'COMPLETED', 1, 0, 0, 'w:1', 3000), (4, 'FAILED', 3, 3, 0, 'w:2', 4000);
INSERT INTO event_log (id, event_id, attempt, worker_id, action, retry_count, next_retry_at, created_at)
VALUES (1, 2, 1, 'w:1', 'PICKED', 0, NULL, 2000),
       (2, 3, 1, 'w:1', 'PICKED', 0, NULL, 2001), (3, 3, 1, 'w:1', 'COMPLETED', 0, NULL, 3000),
       (4, 4, 1, 'w:2', 'PICKED', 0, NULL, 2002), (5, 4, 1, 'w:2', 'FAILED', 1, 2500, 2400),
       (6, 4, 2, 'w:2', 'PICKED', 1, NULL, 2600), (7, 4, 2, 'w:2', 'FAILED', 2, 2800, 2700),
       (8, 4, 3, 'w:2', 'PICKED', 2, NULL, 2900), (9, 4, 3, 'w:2', 'FAILED', 3, NULL, 4000);
INSERT INTO event_count VALUES ('main', 'PENDING', 1), ('main', 'PROCESSING', 1), ('main', 'COMPLETED', 1), ('other', 'FAILED', 1);
UPDATE id_sequence SET last = 4 WHERE name = 'event';
UPDATE id_sequence SET last = 9 WHERE name = 'log';
)";

class MigrateTest : public testing::Test {
 protected:
  MigrateTest() {
    auto connection = must(SqliteConnection::open(path_, SqliteConnection::OpenMode::write));
    must(connection.run(migrations::kAll[0].second));
    must(connection.run(kVersion1));
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_.file("store.db");
  const ManualClock clock_{TimePoint(Millis(5000))};
};

TEST_F(MigrateTest, AFileOfTheFirstSchemaKeepsEveryEventWithItsStateAndItsLog) {
  const auto store = must(open_store(path_, clock_));
  const auto reader = must(store->reader());

  const Event waiting = must(reader->get(EventId{1})).value();
  EXPECT_EQ(waiting.event_id, "a");
  EXPECT_EQ(waiting.payload, R"({"n":1})");
  EXPECT_THAT(waiting.tags, ElementsAre("x", "y"));
  EXPECT_EQ(waiting.timestamp, waiting.created_at);
  EXPECT_EQ(must(reader->get(EventId{2})).value().worker_id, "w:1");
  EXPECT_EQ(must(reader->get(EventId{3})).value().status, Status::completed);
  EXPECT_EQ(must(reader->get(EventId{4})).value().retry_count, 3);
  EXPECT_EQ(must(reader->log(EventId{2})).size(), 1U);
}

TEST_F(MigrateTest, MigratingTheFirstSchemaFillsQueuesCorrelationsAndCauses) {
  const auto store = must(open_store(path_, clock_));
  const auto reader = must(store->reader());

  EXPECT_EQ(must(reader->queues()).size(), 2U);
  const Correlation correlation = must(reader->correlation("c1", EventId{}, 10)).value();
  EXPECT_EQ(correlation.total, 3);
  EXPECT_EQ(correlation.pending, 2);
  EXPECT_EQ(correlation.completed, 1);
  EXPECT_EQ(must(reader->failures(std::nullopt, 10)).at(0).events, 1);
  const Totals totals = must(reader->queue("main", 0)).value().totals;
  EXPECT_EQ(totals.published, 3);
  EXPECT_EQ(totals.completed, 1);
  EXPECT_EQ(totals.claimed, 2);
}

TEST_F(MigrateTest, EventsOfAMigratedFileAreClaimableAndNewIdsAreHigher) {
  const auto store = must(open_store(path_, clock_));
  const auto transaction = must(store->begin());

  EXPECT_EQ(must(transaction->claim({"main", {"y"}}, 10)).at(0).event.id, EventId{1});
  Stored next = new_event("e", clock_.now());
  must(transaction->insert({&next, 1}));
  EXPECT_EQ(next.event.id, EventId{5});
  must(transaction->commit());
}

TEST_F(MigrateTest, AMigratedFileOfTheFirstSchemaPassesTheAudit) {
  must(open_store(path_, clock_)).reset();

  EXPECT_EQ(audit_queues(path_), "");
  EXPECT_THAT(query(path_, "PRAGMA user_version"), ElementsAre("6"));
}

// A file with the rows of kVersion1, after the first `steps` migrations.
SqliteConnection file_after(const std::string& path, std::size_t steps) {
  auto connection = must(SqliteConnection::open(path, SqliteConnection::OpenMode::write));
  for (std::size_t i = 0; i < steps; ++i) {
    must(connection.run(migrations::kAll[i].second));
    if (i == 0) must(connection.run(kVersion1));
  }
  return connection;
}

TEST(MigrateSecondSchemaTest, MigrationCountsMissingPublishedEventsAsRemoved) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("store.db");
  {
    SqliteConnection connection = file_after(path, 2);
    must(connection.run(
        "PRAGMA user_version = 2; UPDATE queue_total SET published = 10 WHERE queue = 'main'"));
  }
  must(open_store(path, ManualClock(TimePoint(Millis(5000))))).reset();

  EXPECT_THAT(query(path, "SELECT queue || ' ' || removed FROM queue_total"),
              ElementsAre("main 7", "other 0"));
  EXPECT_EQ(audit_queues(path), "");
}

TEST(MigrateThirdSchemaTest, AFileOfTheThirdSchemaKeepsItsQueuesCheckpointsAndLogs) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("store.db");
  {
    SqliteConnection connection = file_after(path, 3);
    must(connection.run(R"(
PRAGMA user_version = 3;
UPDATE event_queue_state SET config = '{"maxRetries":9}', status = 'paused', updated_at = 2000 WHERE id = 'other';
INSERT INTO queue_checkpoints VALUES ('c1', 'main', 'evt_a', 7, 3000), ('c2', 'main', '', 0, 1000),
                                     ('c3', 'removed queue', '', 0, 1000);
)"));
  }
  const ManualClock clock(TimePoint(Millis(5000)));
  const auto store = must(open_store(path, clock));
  const auto reader = must(store->reader());

  const QueueDocument other = must(reader->queue("other", 0)).value();
  EXPECT_EQ(other.row.config.max_retries, 9);
  EXPECT_EQ(other.row.status, QueueStatus::paused);
  EXPECT_EQ(other.changed_at, TimePoint(Millis(4000)));
  EXPECT_EQ(must(reader->queue("main", 0))->changed_at, TimePoint(Millis(3000)));
  const std::vector<Checkpoint> kept = must(reader->checkpoints("main", 10));
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].id, "c1");
  EXPECT_EQ(kept[0].event_count, 7);
  EXPECT_FALSE(kept[0].requested);
  EXPECT_EQ(must(reader->log(EventId{4})).size(), 6U);
  EXPECT_EQ(audit_queues(path), "");
}

}  // namespace
}  // namespace eventq::sqlite
