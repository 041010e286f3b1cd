// postgres_statements_test.cc: every statement can be prepared and uses an index, even if the planner has no
// statistics, or believes that the tables are small.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "generated/postgres_sql.h"
#include "store/columns.h"
#include "store/conformance/store_conformance.h"
#include "store/postgres/connection.h"
#include "support/postgres_cluster.h"

namespace eventq::postgres {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string without_comments(std::string_view sql) {
  std::string text = std::regex_replace(std::string(sql), std::regex("--[^\n]*\n"), "");
  while (!text.empty() && (text.back() == '\n' || text.back() == ';')) text.pop_back();
  return text;
}

// "(NULL, NULL)" for a statement with two parameters.
std::string nulls_for(const std::string& statement) {
  std::size_t params = 0;
  const std::regex param(R"(\$(\d+))");
  for (std::sregex_iterator found(statement.begin(), statement.end(), param), end; found != end; ++found) {
    params = std::max<std::size_t>(params, std::stoul((*found)[1]));
  }
  std::string nulls;
  for (std::size_t i = 0; i < params; ++i) nulls += i == 0 ? "(NULL" : ", NULL";
  return params > 0 ? nulls + ")" : nulls;
}

bool has_plan(const std::string& statement) {
  return std::regex_search(statement, std::regex(R"(^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b)"));
}

// The lines of a plan that read an index from its beginning to its end.
std::vector<std::string> whole_index_scans(const std::string& plan) {
  std::vector<std::string> scans;
  std::istringstream lines(plan);
  bool in_scan = false;
  for (std::string line; std::getline(lines, line);) {
    const bool node = line.find("->") != std::string::npos;
    if (line.find("Index Scan using") != std::string::npos ||
        line.find("Index Only Scan using") != std::string::npos) {
      scans.push_back(line);
      in_scan = true;
    } else if (node) {
      in_scan = false;
    } else if (in_scan && line.find("Index Cond:") != std::string::npos) {
      scans.pop_back();
      in_scan = false;
    }
  }
  return scans;
}

class PostgresStatementsTest : public testing::Test {
 protected:
  // The plan that PostgreSQL makes without the values of the parameters.
  std::string plan_of(std::string_view name, std::string_view sql) {
    const std::string statement = without_comments(sql);
    must(connection_->script("PREPARE plan_of_" + std::string(name) + " AS " + statement));
    const std::string nulls = nulls_for(statement);
    const auto rows =
        must(connection_->run_one("EXPLAIN (COSTS OFF) EXECUTE plan_of_" + std::string(name) + nulls));
    std::string plan;
    for (std::size_t row = 0; row < rows.size(); ++row) plan += std::string(rows.text(row, 0)) + "\n";
    return plan;
  }

  const TestDatabase database_;
  const std::unique_ptr<PgConnection> connection_ = must(PgConnection::open(database_.url()));
};

TEST_F(PostgresStatementsTest, EveryFileStartsWithItsNameAndWhatItIsFor) {
  for (const auto& [name, text] : sql::kAll) {
    EXPECT_TRUE(text.starts_with("-- " + std::string(name) + ".sql: ")) << name;
  }
}

TEST_F(PostgresStatementsTest, EveryFileButTheScriptsIsOneStatement) {
  for (const auto& [name, text] : sql::kAll) {
    if (name == "session" || name == "listen" || name == "lock_schema") continue;  // scripts
    EXPECT_THAT(without_comments(text), Not(HasSubstr(";"))) << name;
  }
}

TEST_F(PostgresStatementsTest, NoStatementReadsATableWithoutAnIndexOrMoreOfItThanItNeeds) {
  // Excepted: whole tables of a few rows (workers, one-row tables), and the counters of all queues.
  const std::set<std::string_view> excepted = {"drop_workers", "drop_asks",      "drop_sign_offs",
                                               "read_asks",    "read_count_all", "read_position",
                                               "read_time",    "read_version"};
  for (const auto& [name, text] : sql::kAll) {
    if (!has_plan(without_comments(text)) || excepted.contains(name)) continue;
    const std::string plan = plan_of(name, text);
    EXPECT_THAT(plan, Not(HasSubstr("Seq Scan"))) << name;
    EXPECT_THAT(plan, Not(HasSubstr("Bitmap"))) << name;
    EXPECT_THAT(plan, Not(HasSubstr("Hash Join"))) << name;
    EXPECT_THAT(plan, Not(HasSubstr("Merge Join"))) << name;
  }
}

// The cheapest plan for one page of rows is slow for many rows, and the server keeps plans.
TEST_F(PostgresStatementsTest, EveryLookupInAHotTableUsesItsKeyEvenIfItWasVacuumedWhileSmall) {
  must(connection_->script(
      "INSERT INTO eventq.event_queue SELECT n, 'main', 'PENDING', 0, 0, 0, '', 0, 1, n, 0, 0, 0 "
      "  FROM generate_series(1, 3) AS n;"
      "INSERT INTO eventq.event_ready SELECT 'main', 'tag', 0, n, n FROM generate_series(1, 3) AS n;"
      "INSERT INTO eventq.event_body SELECT n, 'evt' || n, 'main', 't', 'tag', '', '', '', 0, 3, NULL, 0, "
      "NULL, NULL, '', "
      "  '', '', '', '', '', '', '', NULL, 'null' FROM generate_series(1, 3) AS n;"
      "INSERT INTO eventq.event_archive SELECT n, 'main', 'FAILED', 0, 0, 0, '', 0, 0, 0, NULL, '' "
      "  FROM generate_series(4, 6) AS n;"
      "INSERT INTO eventq.event_line SELECT 'main', 'key', 0, n FROM generate_series(1, 3) AS n;"
      "INSERT INTO eventq.event_supersede SELECT 'main', 'key', n FROM generate_series(1, 3) AS n"));
  for (const char* table : {"event_queue", "event_ready", "event_body", "event_archive", "event_line",
                            "event_supersede", "event_count", "queue_total"}) {
    must(connection_->script("VACUUM ANALYZE eventq." + std::string(table)));
  }
  // Excepted: whole tables that stay small (queues, workers, archive files), and counters.
  const std::set<std::string_view> excepted = {"last_checkpoints",   "oldest_pendings", "processing",
                                               "read_archive_files", "read_counts",     "read_failed_hours",
                                               "read_failures",      "read_queues",     "read_totals",
                                               "read_workers",       "read_asks"};
  for (const auto& [name, text] : sql::kAll) {
    if (!has_plan(without_comments(text)) || excepted.contains(name)) continue;
    EXPECT_THAT(whole_index_scans(plan_of(name, text)), IsEmpty()) << name;
  }
}

TEST_F(PostgresStatementsTest, EveryStatementThatReturnsEventRowsHasTheColumnsOfEventColumn) {
  std::size_t found = 0;
  for (const auto& [name, text] : sql::kAll) {
    const std::string statement = without_comments(text);
    if (statement.find("b.max_retries") == std::string::npos) continue;
    ++found;
    must(connection_->script("PREPARE columns_of_" + std::string(name) + " AS " + statement));
    const Rows rows =
        must(connection_->run_one("EXECUTE columns_of_" + std::string(name) + nulls_for(statement)));
    const auto state = static_cast<int>(EventColumn::event_id) + 1;
    const auto all = static_cast<int>(std::size(kEventColumns));
    ASSERT_GE(rows.columns(), state) << name;
    // Statements may return columns of their own behind those of the event.
    const int expected = rows.columns() < all ? state : all;
    for (int i = 0; i < expected; ++i) EXPECT_EQ(rows.column_name(i), kEventColumns[i]) << name << " " << i;
  }
  EXPECT_EQ(found, 25);
}

TEST_F(PostgresStatementsTest, AListReadsNoMoreThanItShowsFromTheRightIndex) {
  struct Row {
    std::string_view name;
    std::string_view sql;
    std::string_view index;
  };
  const Row rows[] = {
      {"list_all", sql::list_all,
       " using event_body_pkey on event_body\n%Index Cond: ((id > $1) AND (id < $2))"},
      {"list_all_down", sql::list_all_down,
       " Backward using event_body_pkey on event_body\n%Index Cond: ((id > $1) AND (id < $2))"},
      {"list_live", sql::list_live,
       " using event_queue_pkey on event_queue\n%Index Cond: ((id > $1) AND (id < $2))"},
      {"list_live_down", sql::list_live_down,
       " Backward using event_queue_pkey on event_queue\n%Index Cond: ((id > $1) AND (id < $2))"},
      {"list_queue", sql::list_queue,
       " using event_queue_live on event_queue\n%Index Cond: ((queue = $4) AND (id > $1) AND (id < $2))"},
      {"list_queue_down", sql::list_queue_down,
       " Backward using event_queue_live on event_queue\n%Index Cond: ((queue = $4) AND (id > $1) AND (id < "
       "$2))"},
      {"list_archived", sql::list_archived,
       " using event_archive_pkey on event_archive\n%Index Cond: ((id > $1) AND (id < $2))"},
      {"list_archived_down", sql::list_archived_down,
       " Backward using event_archive_pkey on event_archive\n%Index Cond: ((id > $1) AND (id < $2))"},
      {"list_rare", sql::list_rare,
       " using event_archive_status on event_archive\n%Index Cond: ((status = $4) AND (id > $1) AND (id < "
       "$2))"},
      {"list_rare_down", sql::list_rare_down,
       " Backward using event_archive_status on event_archive\n%Index Cond: ((status = $4) AND (id > $1) AND "
       "(id < $2))"},
      {"list_correlation", sql::list_correlation,
       " using event_body_correlation on event_body\n%Index Cond: ((correlation_id = $4) AND (id > $1) AND "
       "(id < $2))"},
      {"list_correlation_down", sql::list_correlation_down,
       " Backward using event_body_correlation on event_body\n%Index Cond: ((correlation_id = $4) AND (id > "
       "$1) AND (id < $2))"},
      {"list_event_id", sql::list_event_id,
       " using event_body_event_id on event_body\n%Index Cond: (event_id = $4)"},
      {"oldest_pending", sql::oldest_pending,
       " using event_queue_live on event_queue\n%Index Cond: (queue = $1)"},
  };
  for (const Row& row : rows) {
    std::string plan = plan_of(row.name, row.sql);
    plan = std::regex_replace(plan, std::regex("\n *(-> *)?"), "\n%");
    EXPECT_THAT(plan, HasSubstr("\n%Limit\n%Index Scan" + std::string(row.index))) << row.name;
    EXPECT_THAT(plan, Not(HasSubstr("Sort"))) << row.name;
  }
}

}  // namespace
}  // namespace eventq::postgres
