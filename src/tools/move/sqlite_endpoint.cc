// sqlite_endpoint.cc: a MoveEndpoint for a SQLite file.
#include <filesystem>
#include <system_error>
#include <utility>

#include "generated/move_sql.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/lock_file.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/read_only_open.h"
#include "store/sqlite/writer.h"
#include "tools/move/endpoint.h"

namespace eventq::move {
namespace {

std::string question_marks(std::size_t count) {
  std::string marks;
  for (std::size_t i = 0; i < count; ++i) marks += i == 0 ? "?" : ", ?";
  return marks;
}

void bind(sqlite::Statement& statement, const CellValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    statement.bind(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    statement.bind(std::string_view(*text));
  } else {
    statement.bind(nullptr);
  }
}

CellValue read_value(const sqlite::Statement& row, int index, ColumnSpec::ColumnKind kind) {
  if (row.is_null(index)) return {};
  if (kind == ColumnSpec::ColumnKind::number) return row.integer(index);
  return std::string(row.text(index));
}

class SqliteEndpoint final : public MoveEndpoint {
 public:
  SqliteEndpoint(std::string path, sqlite::LockFile lock, sqlite::SqliteConnection connection)
      : path_(std::move(path)), lock_(std::move(lock)), connection_(std::move(connection)) {}

  [[nodiscard]] std::string name() const override { return "sqlite:" + path_; }

  Result<std::string> state() override { return sqlite::read_text(connection_, sql::sqlite_state); }

  Result<std::int64_t> count(const TableSpec& table) override {
    return sqlite::read_number(connection_, fill(sql::sqlite_count, {{"table", std::string(table.name)}}));
  }

  Result<std::int64_t> count_ready() override {
    return sqlite::read_number(connection_, sql::sqlite_count_ready);
  }

  Result<std::vector<Row>> read(const TableSpec& table, const Row& after) override {
    auto statement = sqlite::Statement::prepare(
        connection_, fill(sql::sqlite_read, {{"columns", column_list(table)},
                                             {"table", std::string(table.name)},
                                             {"key", key_list(table)},
                                             {"after", question_marks(after.size())},
                                             {"limit", std::to_string(kChunkRows)}}));
    if (!statement) return statement.error();
    for (const CellValue& value : after) bind(*statement, value);
    std::vector<Row> rows;
    std::size_t bytes = 0;
    // The row that reaches the limit is included, so a chunk has at least one row and the move makes
    // progress.
    while (bytes < kChunkBytes) {
      const auto more = statement->step();
      if (!more) return more.error();
      if (!*more) break;
      Row& row = rows.emplace_back();
      for (std::size_t i = 0; i < table.columns.size(); ++i) {
        row.push_back(read_value(*statement, static_cast<int>(i), table.columns[i].kind));
        if (const auto* text = std::get_if<std::string>(&row.back())) bytes += text->size();
      }
    }
    return rows;
  }

  Result<LastIds> last_ids() override {
    const auto ids = all_rows(connection_, sql::sqlite_read_ids, [](const sqlite::Statement& row) {
      return LastIds{row.integer(0), row.integer(1)};
    });
    if (!ids) return ids.error();
    return ids->front();
  }

  Result<std::optional<MoveMark>> mark() override {
    const auto found = sqlite::read_number(connection_, sql::sqlite_find_mark);
    if (!found) return found.error();
    if (*found == 0) return std::optional<MoveMark>();
    const auto marks = all_rows(connection_, sql::sqlite_read_mark, make_mark<sqlite::Statement>);
    if (!marks) return marks.error();
    return marks->empty() ? std::optional<MoveMark>() : marks->front();
  }

  Result<void> begin(const std::string& source) override {
    return in_transaction([&]() -> Result<void> {
      if (auto made = connection_.run(sql::sqlite_make_mark); !made) return made;
      return run(sql::sqlite_begin_mark, {source});
    });
  }

  Result<void> write(const TableSpec& table, const std::vector<Row>& rows, const MoveMark& mark) override {
    return in_transaction([&]() -> Result<void> {
      auto statement = sqlite::Statement::prepare(
          connection_, fill(sql::sqlite_write, {{"table", std::string(table.name)},
                                                {"columns", column_list(table)},
                                                {"values", question_marks(table.columns.size())}}));
      if (!statement) return statement.error();
      for (const Row& row : rows) {
        statement->reset();
        for (const CellValue& value : row) bind(*statement, value);
        if (const auto done = statement->run(); !done) return done.error();
      }
      // In the same transaction as the live events, so a crash leaves none without its ready rows.
      if (table.name == kLive && !rows.empty()) {
        if (auto done = run(sql::sqlite_fill_ready, {rows.front().front(), rows.back().front()}); !done)
          return done;
      }
      const auto key = key_to_texts(mark.last_key);
      return run(sql::sqlite_set_mark, {static_cast<std::int64_t>(mark.step), key[0], key[1], key[2]});
    });
  }

  Result<void> finish(const LastIds& ids) override {
    return in_transaction([&]() -> Result<void> {
      if (auto done = run(sql::sqlite_write_ids, {ids.event, ids.log}); !done) return done;
      return connection_.run(sql::sqlite_drop_mark);
    });
  }

 private:
  Result<void> run(std::string_view sql, const Row& values) {
    auto statement = sqlite::Statement::prepare(connection_, sql);
    if (!statement) return statement.error();
    for (const CellValue& value : values) bind(*statement, value);
    if (const auto done = statement->run(); !done) return done.error();
    return {};
  }

  template <typename Body>
  Result<void> in_transaction(const Body& body) {
    if (auto begun = connection_.run(sql::sqlite_begin); !begun) return begun;
    auto done = body();
    if (done) done = connection_.run(sql::sqlite_commit);
    // Ignore an error of the rollback: the first error is the cause.
    if (!done) static_cast<void>(connection_.run(sql::sqlite_rollback));
    return done;
  }

  const std::string path_;
  const sqlite::LockFile lock_;  // outlives the connection
  sqlite::SqliteConnection connection_;
};

}  // namespace

Result<std::unique_ptr<MoveEndpoint>> open_sqlite(const std::string& path, bool source) {
  std::error_code none;
  // LockFile::take() creates the file, so a missing source must be found before.
  if (source && !std::filesystem::is_regular_file(path, none)) {
    return Error{ErrorCode::not_found, "There is no file " + path + ".", "store"};
  }
  // The lock is taken before the file is opened, so no server changes it in between.
  auto lock = sqlite::LockFile::take(path);
  if (!lock) return lock.error();
  auto connection = source ? sqlite::open_read_only(path) : sqlite::open_for_writing(path);
  if (!connection) return connection.error();
  // A target may hold part of this move, so only the source must be complete.
  auto ready = source ? sqlite::check_current(*connection) : connection->run(sql::sqlite_open);
  if (!ready) return Error{ready.error().code, "sqlite:" + path + ": " + ready.error().message, "store"};
  return std::unique_ptr<MoveEndpoint>(
      std::make_unique<SqliteEndpoint>(path, std::move(*lock), std::move(*connection)));
}

}  // namespace eventq::move
