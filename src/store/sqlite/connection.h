// connection.h: the only wrapper of SQLite's C API. Its classes own the handles.
//
// Threads: a SqliteConnection and its Statements belong to one thread at a time.
#pragma once

#include <sqlite3.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "eventq/error.h"
#include "store/row_value.h"

namespace eventq::sqlite {

class SqliteConnection {
 public:
  enum class OpenMode : std::uint8_t {
    write,
    read,    // never checkpoints, and keeps the -wal and -shm files
    inspect  // the file exists; the last connection to close deletes -wal and -shm
  };

  static Result<SqliteConnection> open(const std::string& path, OpenMode mode);

  // Runs every statement of `sql` and ignores the result rows.
  Result<void> run(std::string_view sql);

  // Syncs the write-ahead log. With synchronous = NORMAL, commits write to it without a sync.
  Result<void> sync_log();

  // The error of the last failed call, with `doing` in its message. Records a failed sync.
  [[nodiscard]] Error error(std::string_view doing);

  // A sync failed since the connection was opened. The kernel may have dropped the unwritten pages, so
  // nothing may be acknowledged until the process restarts.
  [[nodiscard]] bool sync_failed() const { return sync_failed_; }

  [[nodiscard]] sqlite3* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  explicit SqliteConnection(sqlite3* handle) : handle_(handle) {}
  void note_failed_sync();

  std::unique_ptr<sqlite3, Close> handle_;
  bool sync_failed_ = false;
};

// A prepared statement for repeated use: with() all parameters, then step().
// REQUIRES: bound text stays valid until the next reset().
class Statement {
 public:
  Statement() = default;  // REQUIRES: assigned before use
  static Result<Statement> prepare(SqliteConnection& connection, std::string_view sql);

  Statement& reset();  // the next bind() fills the first parameter
  template <std::integral Number>
  Statement& bind(Number value) {
    return bind_number(static_cast<std::int64_t>(value));
  }
  Statement& bind(std::string_view text);
  Statement& bind(std::nullptr_t);
  template <typename T>
  Statement& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind(nullptr);
  }
  // reset(), and bind() of all parameters in order.
  template <typename... Values>
  Statement& with(const Values&... values) {
    reset();
    (bind(values), ...);
    return *this;
  }

  // True: there is a row. False: done.
  Result<bool> step();
  // Runs a statement without result rows; returns the number of rows changed.
  Result<int> run();
  // The same with these parameters, for callers that do not need the number.
  template <typename... Values>
  Result<void> execute(const Values&... values) {
    const auto done = with(values...).run();
    return done ? Result<void>() : done.error();
  }

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string_view text(int column) const;  // valid until the next step()
  [[nodiscard]] std::optional<std::string> optional_text(int column) const;
  [[nodiscard]] std::optional<std::int64_t> optional_integer(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  Statement(SqliteConnection& connection, sqlite3_stmt* statement)
      : connection_(&connection), statement_(statement) {}
  Statement& bind_number(std::int64_t value);

  SqliteConnection* connection_ = nullptr;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_ = 1;  // the parameter that the next bind() fills
};

// Prepares the statements that are members of a class, and keeps the first error for the caller of the
// constructor.
class Preparer {
 public:
  explicit Preparer(SqliteConnection& connection) : connection_(connection) {}
  Statement operator()(std::string_view sql);
  [[nodiscard]] const Result<void>& result() const { return result_; }

 private:
  SqliteConnection& connection_;
  Result<void> result_;
};

// The first row of a bound statement. The reset ends the read transaction, which would keep the WAL from
// being checkpointed.
template <typename Read>
Result<std::optional<RowValue<Read, Statement>>> one_row(Statement& statement, const Read& read) {
  using Value = RowValue<Read, Statement>;
  const auto row = statement.step();
  if (!row) return row.error();
  if (!*row) return std::optional<Value>();
  Result<Value> value = read(statement);
  statement.reset();
  if (!value) return value.error();
  return std::optional<Value>(std::move(*value));
}

// All rows of a bound statement.
template <typename Read>
Result<std::vector<RowValue<Read, Statement>>> all_rows(Statement& statement, const Read& read) {
  std::vector<RowValue<Read, Statement>> found;
  for (;;) {
    const auto row = statement.step();
    if (!row) return row.error();
    if (!*row) return found;
    Result<RowValue<Read, Statement>> value = read(statement);
    if (!value) {
      statement.reset();
      return value.error();
    }
    found.push_back(std::move(*value));
  }
}

// All rows of a statement that runs once.
template <typename Read>
Result<std::vector<RowValue<Read, Statement>>> all_rows(SqliteConnection& connection, std::string_view sql,
                                                        const Read& read) {
  auto statement = Statement::prepare(connection, sql);
  if (!statement) return statement.error();
  return all_rows(*statement, read);
}

// The first column of the first row.
Result<std::int64_t> read_number(SqliteConnection& connection, std::string_view sql);
Result<std::string> read_text(SqliteConnection& connection, std::string_view sql);

}  // namespace eventq::sqlite
