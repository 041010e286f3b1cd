// connection.h: SQLite's C API with owners. The only wrapper round it.
//
// Threads: a SqliteConnection and its Statements belong to one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "eventq/error.h"

namespace eventq::sqlite {

class SqliteConnection {
 public:
  enum class OpenMode : std::uint8_t {
    write,
    read,    // checkpoints nothing and leaves what is beside the file
    inspect  // the file is there; the last to close it takes what is beside the file away, as a writer would
  };

  static Result<SqliteConnection> open(const std::string& path, OpenMode mode);

  // Runs every statement of `sql`; results are dropped.
  Result<void> run(std::string_view sql);

  // Brings to the disk what earlier commits left in the write-ahead log with synchronous = NORMAL.
  Result<void> sync_log();

  // What the last failed call means for the caller, with `doing` in its message.
  [[nodiscard]] Error error(std::string_view doing);

  // A sync has failed since it was opened: what the kernel holds of the file is no longer
  // known, so nothing may be acknowledged until the process has started again.
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

// A prepared statement, used again and again: reset(), bind all parameters in order, step().
// Bound text must live until the next reset.
class Statement {
 public:
  Statement() = default;  // to be assigned before use
  static Result<Statement> prepare(SqliteConnection& connection, std::string_view sql);

  Statement& reset();  // the next bind() fills the first parameter
  Statement& bind(std::int64_t value);
  Statement& bind(std::string_view text);
  Statement& bind(std::nullptr_t);
  template <typename T>
  Statement& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind(nullptr);
  }

  // True: there is a row. False: done.
  Result<bool> step();
  // Runs to the end; the number of rows changed.
  Result<int> run();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string_view text(int column) const;  // until the next step
  [[nodiscard]] std::optional<std::string> optional_text(int column) const;
  [[nodiscard]] std::optional<std::int64_t> optional_integer(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  Statement(SqliteConnection& connection, sqlite3_stmt* statement)
      : connection_(&connection), statement_(statement) {}

  SqliteConnection* connection_ = nullptr;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_ = 1;  // the parameter that the next bind() fills
};

// The first column of the first row.
Result<std::int64_t> read_number(SqliteConnection& connection, std::string_view sql);
Result<std::string> read_text(SqliteConnection& connection, std::string_view sql);

}  // namespace eventq::sqlite
