// statements_test.cc: every .sql file can be prepared, states its purpose, guards its changes of events, and
// finds rows by an index.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "generated/sqlite_sql.h"
#include "store/columns.h"
#include "store/conformance/store_conformance.h"
#include "store/sqlite/writer.h"
#include "support/store_audit.h"
#include "support/temporary_directory.h"

namespace eventq::sqlite {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class StatementsTest : public testing::Test {
 protected:
  // The rows of EXPLAIN QUERY PLAN, joined: "SEARCH ...; SCAN ...".
  std::string plan_of(std::string_view sql) {
    Statement statement =
        must(Statement::prepare(writer_->connection, "EXPLAIN QUERY PLAN " + std::string(sql)));
    std::string plan;
    while (must(statement.step())) plan += (plan.empty() ? "" : "; ") + std::string(statement.text(3));
    return plan;
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.file("store.db");
  const std::unique_ptr<SqliteWriter> writer_ = must(SqliteWriter::open(path_));
};

std::string without_comments(std::string_view sql) {
  return std::regex_replace(std::string(sql), std::regex("--[^\n]*\n"), "");
}

TEST_F(StatementsTest, EveryFileStartsWithItsNameAndPurpose) {
  for (const auto& [name, text] : sql::kAll) {
    EXPECT_TRUE(text.starts_with("-- " + std::string(name) + ".sql: ")) << name;
  }
}

TEST_F(StatementsTest, EveryFileIsOneStatementThatCanBePrepared) {
  // Excepted: set_version.sql lacks a number that the caller appends; the others have several settings.
  const std::set<std::string_view> excepted = {"set_version", "open_writer", "open_reader", "open_read_only"};
  for (const auto& [name, text] : sql::kAll) {
    if (excepted.contains(name)) continue;
    const std::string statement = without_comments(text);
    EXPECT_TRUE(Statement::prepare(writer_->connection, text)) << name;
    EXPECT_EQ(std::count(statement.begin(), statement.end(), ';'), 1) << name;
  }
}

TEST_F(StatementsTest, EverySettingOfAConnectionCanBeRun) {
  for (const std::string_view text : {sql::open_writer, sql::open_reader, sql::open_read_only}) {
    EXPECT_TRUE(writer_->connection.run(text)) << text;
  }
}

TEST_F(StatementsTest, EveryStatementThatChangesAStateIsGuarded) {
  // Excepted: mark_ready changes the ready index only, of an event loaded in the same transaction.
  const std::set<std::string_view> excepted = {"mark_ready"};
  const std::regex changes(R"((UPDATE|DELETE FROM)\s+(event_queue|event_archive)\b)");
  const std::regex guarded(
      R"(WHERE\s+id = \?1 AND status = \?\d+ AND attempts = \?\d+ AND worker_id = \?\d+;\s*$)");
  std::vector<std::string_view> found;
  for (const auto& [name, text] : sql::kAll) {
    const std::string statement = without_comments(text);
    if (!std::regex_search(statement, changes) || excepted.contains(name)) continue;
    found.push_back(name);
    EXPECT_TRUE(std::regex_search(statement, guarded)) << name;
  }
  EXPECT_THAT(found, testing::UnorderedElementsAre("update_live", "delete_live", "delete_archive"));
}

TEST_F(StatementsTest, OnlyDeleteLogChangesExistingLogEntries) {
  const std::regex changes(R"((UPDATE|DELETE FROM|REPLACE INTO)\s+event_log\b)");
  for (const auto& [name, text] : sql::kAll) {
    if (name == "delete_log") continue;
    EXPECT_FALSE(std::regex_search(without_comments(text), changes)) << name;
  }
}

TEST_F(StatementsTest, NoStatementSortsOrReadsATableWithoutAnIndex) {
  // Excepted: tables of few rows (queues, workers, causes, files), counters with one row per queue and
  // status, statements that run once per queue or once at the start, and created_around, which scans its own
  // steps.
  const std::set<std::string_view> excepted = {
      "find_move",    "count_tables",      "read_any_tag_queues", "read_count",         "fill_any_tag",
      "count_live",   "read_live_counts",  "processing",          "read_queue",         "read_workers",
      "drop_workers", "read_failed_hours", "read_failures",       "read_archive_files", "read_asks",
      "drop_asks",    "drop_sign_offs",    "created_around"};
  for (const auto& [name, text] : sql::kAll) {
    const std::string statement = without_comments(text);
    if (statement.starts_with("PRAGMA") || excepted.contains(name)) continue;
    EXPECT_THAT(plan_of(text), Not(HasSubstr("TEMP B-TREE"))) << name;
    // A scan by an index is allowed, because it stops at the LIMIT.
    EXPECT_FALSE(std::regex_search(plan_of(text), std::regex(R"(SCAN \w+(;|$))")))
        << name << ": " << plan_of(text);
  }
}

TEST_F(StatementsTest, PollsAndListsUseTheIntendedIndex) {
  struct Row {
    std::string_view name;
    std::string_view sql;
    std::string_view plan;
  };
  const std::string_view body = "SEARCH b USING INTEGER PRIMARY KEY (rowid=?)";
  const std::string_view live = "SEARCH s USING INTEGER PRIMARY KEY (rowid>? AND rowid<?); ";
  const std::string_view rare = "SEARCH s USING INDEX event_archive_status (status=? AND id>? AND id<?); ";
  const std::string_view all =
      "SEARCH b USING INTEGER PRIMARY KEY (rowid>? AND rowid<?); SEARCH q USING INTEGER PRIMARY KEY "
      "(rowid=?) "
      "LEFT-JOIN; SEARCH a USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN";
  const Row rows[] = {
      {"ready_by_tag", sql::ready_by_tag, "SEARCH event_ready USING PRIMARY KEY (queue=? AND tag=?)"},
      {"next_ready_tag", sql::next_ready_tag, "SEARCH event_ready USING PRIMARY KEY (queue=? AND tag>?)"},
      {"ready_tags", sql::ready_tags, "SEARCH r USING PRIMARY KEY (queue=? AND tag=?); "},
      {"due", sql::due, "SEARCH event_queue USING INDEX event_queue_due (due_at<?)"},
      {"next_due", sql::next_due, "SCAN event_queue USING INDEX event_queue_due"},
      {"find_event", sql::find_event,
       "SEARCH event_body USING COVERING INDEX sqlite_autoindex_event_body_1 (event_id=?)"},
      {"event_log", sql::event_log,
       "SEARCH l USING PRIMARY KEY (event_id=?); SEARCH a USING PRIMARY KEY (event_id=? AND id=?) LEFT-JOIN; "
       "SEARCH d USING PRIMARY KEY (event_id=? AND id=?) LEFT-JOIN"},
      {"purge_keys", sql::purge_keys,
       "SEARCH idempotency_key USING PRIMARY KEY (key=?); LIST SUBQUERY 1; SEARCH idempotency_key USING "
       "COVERING INDEX idempotency_key_age (created_at<?)"},
      {"list_live", sql::list_live, live},
      {"list_live_down", sql::list_live_down, live},
      {"list_archived", sql::list_archived, live},
      {"list_archived_down", sql::list_archived_down, live},
      {"list_rare", sql::list_rare, rare},
      {"list_rare_down", sql::list_rare_down, rare},
      {"list_all", sql::list_all, all},
      {"list_all_down", sql::list_all_down, all},
      {"read_content", sql::read_content, body},
      {"list_event_id", sql::list_event_id,
       "SEARCH b USING INDEX sqlite_autoindex_event_body_1 (event_id=? AND rowid>? AND rowid<?); "
       "SEARCH q USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN; "
       "SEARCH a USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"},
      {"load_state", sql::load_state, "SEARCH s USING INTEGER PRIMARY KEY (rowid=?); "},
      {"load_live", sql::load_live, "SEARCH s USING INTEGER PRIMARY KEY (rowid=?); "},
      {"load_archived", sql::load_archived, "SEARCH s USING INTEGER PRIMARY KEY (rowid=?); "},
  };
  for (const Row& row : rows) {
    // The joined tables of an event are found by its id.
    const std::string expected = std::string(row.plan) + std::string(row.plan.ends_with("; ") ? body : "");
    EXPECT_EQ(plan_of(row.sql), expected) << row.name;
  }
}

TEST_F(StatementsTest, TheEventsOfATimeAreFoundWithoutAScan) {
  // One event per second, except for a gap that retention left.
  query(path_,
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
        "INSERT INTO event_body SELECT i, 'e' || i, 'main', 't', 'x', '', '', '', 0, 3, NULL, i * 1000, "
        "NULL, NULL,"
        " '', '', '', '', '', '', '', '', NULL, '{}' FROM n WHERE i NOT BETWEEN 40001 AND 60000");
  Statement around = must(Statement::prepare(writer_->connection, sql::created_around));
  const auto found = [&](std::int64_t created_at) {
    EXPECT_TRUE(must(around.with(created_at, std::int64_t{1} << 53).step()));
    return std::pair(around.integer(0), around.integer(1));
  };

  int steps = 0;  // instructions of SQLite's machine; each row that is read takes several
  const auto count = [](void* counter) { return ++*static_cast<int*>(counter), 0; };
  sqlite3_progress_handler(writer_->connection.handle(), 1, count, &steps);
  EXPECT_EQ(found(30'000'000), std::pair(29'999L, 30'000L));
  sqlite3_progress_handler(writer_->connection.handle(), 0, nullptr, nullptr);
  EXPECT_GT(steps, 0);
  EXPECT_LT(steps, 5'000) << "the statement reads far fewer rows than there are";
  EXPECT_EQ(found(0), std::pair(0L, 1L));
  EXPECT_EQ(found(50'000'000), std::pair(40'000L, 40'001L));
  EXPECT_EQ(found(1'000'000'000).first, 100'000);
}

TEST_F(StatementsTest, EveryStatementThatReturnsEventRowsHasTheColumnsOfEventColumn) {
  std::size_t found = 0;
  for (const auto& [name, text] : sql::kAll) {
    sqlite3_stmt* raw = nullptr;
    sqlite3_prepare_v2(writer_->connection.handle(), text.data(), static_cast<int>(text.size()), &raw,
                       nullptr);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, sqlite3_finalize);
    std::vector<std::string> names;
    for (int i = 0; i < sqlite3_column_count(raw); ++i) names.emplace_back(sqlite3_column_name(raw, i));
    if (std::find(names.begin(), names.end(), "max_retries") == names.end()) continue;
    ++found;
    const std::size_t expected = name == "load_state" ? EventColumn::event_id + 1 : std::size(kEventColumns);
    EXPECT_THAT(names, testing::ElementsAreArray(kEventColumns, expected)) << name;
  }
  EXPECT_EQ(found, 16);
}

TEST_F(StatementsTest, TheEventViewShowsEveryEvent) {
  query(path_,
        "INSERT INTO event_body VALUES (1, 'a', 'main', 't', 'x', '', '', '', 0, 3, NULL, 0, NULL, NULL, '', "
        "'',"
        " '', '', '', '', '', '', NULL, '{}'), (2, 'b', 'main', 't', 'x', '', '', '', 0, 3, NULL, 0, NULL, "
        "NULL,"
        " '', '', '', '', '', '', '', '', NULL, '{}');"
        "INSERT INTO event_queue VALUES (1, 'main', 'PENDING', 0, 0, 0, '', 0, 0, 1, 0, 0);"
        "INSERT INTO event_archive VALUES (2, 'main', 'FAILED', 1, 1, 0, 'w:1', 0, 0, 0, NULL, 'x')");

  EXPECT_THAT(query(path_, "SELECT event_id || ' ' || status FROM event ORDER BY id"),
              testing::ElementsAre("a PENDING", "b FAILED"));
}

}  // namespace
}  // namespace eventq::sqlite
