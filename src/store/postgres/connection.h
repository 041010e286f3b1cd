// connection.h: one connection to PostgreSQL, with prepared statements. Several calls share one round trip.
//
// All values are binary on the wire: bigint as 8 bytes, text as its bytes, and arrays of these or of rows of
// these. No other type is sent or read, so a statement casts what it needs ($1::bigint[], sum(n)::bigint).
//
// Threads: one thread at a time. interrupt() and wake() may be called from any thread.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "store/row_value.h"

struct pg_conn;
struct pg_result;

namespace eventq::postgres {

// Rows of one of the schema's row types, for unnest($1::eventq.TYPE[]). The database decodes them with a
// fraction of the work of one array per column.
class RecordArray {
 public:
  explicit RecordArray(std::string_view type) : type_(type) {}

  // Adds one row. REQUIRES: the columns are in the order of the type; each is a number, a text or an optional
  // of one.
  template <typename... Columns>
  void add(const Columns&... columns) {
    begin_row(sizeof...(columns));
    (add_column(columns), ...);
    end_row();
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }

 private:
  friend class Params;
  void begin_row(std::size_t columns);
  void end_row();
  void add_column(std::int64_t value);
  void add_column(std::string_view value);
  void add_column(const std::string& value) { add_column(std::string_view(value)); }
  void add_column(const std::optional<std::int64_t>& value);
  void add_column(const std::optional<std::string>& value);
  void add_null(std::uint32_t type);

  std::string type_;
  std::size_t count_ = 0;
  std::string rows_;     // in PostgreSQL's binary format
  std::size_t row_ = 0;  // offset of the last row in rows_
};

// The values of $1, $2, … of one call, in order. Stores encoded copies.
class Params {
 public:
  template <std::integral Number>
  Params& add(Number value) {
    return add_number(static_cast<std::int64_t>(value));
  }
  Params& add(std::string_view value);
  Params& add(const std::string& value) { return add(std::string_view(value)); }
  template <std::size_t n>
  Params& add(const char (&value)[n]) {
    return add(std::string_view(value));
  }
  Params& add(std::optional<std::int64_t> value);
  Params& add(std::optional<std::string_view> value);
  Params& add(std::span<const std::int64_t> values);                 // bigint[]
  Params& add(std::span<const std::optional<std::int64_t>> values);  // bigint[] with nulls
  Params& add(std::span<const std::string> values);                  // text[]
  Params& add(std::span<const std::optional<std::string>> values);   // text[] with nulls
  Params& add(const RecordArray& records);                           // eventq.TYPE[]

 private:
  friend class PgConnection;
  struct EncodedParam {
    std::uint32_t type = 0;  // oid; 0: taken from the cast in the statement
    bool null = false;
    std::string bytes;
    std::string record = {};  // name of the row type; the connection fills in its oid
    void set_record_type(std::uint32_t oid);
  };
  Params& add_number(std::int64_t value);
  Params& add_value(std::uint32_t type, std::string bytes);
  Params& add_null(std::uint32_t type);

  std::vector<EncodedParam> values_;
};

template <typename... Values>
Params params_of(const Values&... values) {
  Params params;
  (params.add(values), ...);
  return params;
}

// The rows that one call returned.
class Rows {
 public:
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] int columns() const;
  [[nodiscard]] std::string_view column_name(int column) const;
  [[nodiscard]] bool is_null(std::size_t row, int column) const;
  [[nodiscard]] std::int64_t number(std::size_t row, int column) const;  // of a bigint; REQUIRES: not null
  [[nodiscard]] std::string_view text(std::size_t row, int column) const;
  [[nodiscard]] std::optional<std::int64_t> maybe_number(std::size_t row, int column) const;
  [[nodiscard]] std::optional<std::string> maybe_text(std::size_t row, int column) const;

 private:
  friend class PgConnection;
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

// One row of Rows, with the functions that store/columns.h calls.
struct RowView {
  const Rows& rows;
  const std::size_t row;

  [[nodiscard]] bool is_null(int column) const { return rows.is_null(row, column); }
  [[nodiscard]] std::int64_t integer(int column) const { return rows.number(row, column); }
  [[nodiscard]] std::string_view text(int column) const { return rows.text(row, column); }
  [[nodiscard]] std::optional<std::string> optional_text(int column) const {
    return rows.maybe_text(row, column);
  }
  [[nodiscard]] std::optional<std::int64_t> optional_integer(int column) const {
    return rows.maybe_number(row, column);
  }
};

// The values that `read` makes of all rows.
template <typename Read>
Result<std::vector<RowValue<Read, RowView>>> all_rows(const Rows& rows, const Read& read) {
  std::vector<RowValue<Read, RowView>> found;
  found.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    Result<RowValue<Read, RowView>> value = read(RowView{rows, row});
    if (!value) return value.error();
    found.push_back(std::move(*value));
  }
  return found;
}
template <typename Read>
Result<std::vector<RowValue<Read, RowView>>> all_rows(const Result<Rows>& rows, const Read& read) {
  if (!rows) return rows.error();
  return all_rows(*rows, read);
}

struct StatementCall {
  std::string_view sql;  // as embedded from its .sql file; prepared once per connection
  Params params = {};
};

// An initializer list of calls would copy their parameters.
template <typename... Calls>
std::vector<StatementCall> calls_of(Calls&&... calls) {
  std::vector<StatementCall> all;
  (all.push_back(std::forward<Calls>(calls)), ...);
  return all;
}

// The rows of the only call.
inline Result<Rows> only(Result<std::vector<Rows>> rows) {
  if (!rows) return rows.error();
  return std::move(rows->front());
}

class PgConnection {
 public:
  // Connects. `url` is in libpq's format: postgres://user@host1,host2/db?target_session_attrs=read-write.
  // Errors: unavailable, with the database's message and without the password; invalid_argument if `url`
  // cannot be parsed; conflict if the database's encoding lacks characters.
  static Result<std::unique_ptr<PgConnection>> open(const std::string& url);

  ~PgConnection();
  PgConnection(const PgConnection&) = delete;
  PgConnection& operator=(const PgConnection&) = delete;

  // Runs all calls in order in one round trip, and returns one Rows for each. After an error the remaining
  // calls are not run.
  // Errors: unavailable if the connection was lost, a lock or statement timed out, or the server is shutting
  // down. Then nothing was changed, and an open transaction is gone or must be rolled back. Also
  // invalid_argument, no_space, internal, corrupt.
  Result<std::vector<Rows>> run(std::vector<StatementCall> calls);
  Result<Rows> run_one(std::string_view sql, Params params = {});

  // Runs one or many statements without parameters or rows, and does not prepare them. For migrations and
  // settings.
  Result<void> script(const std::string& sql);

  // Runs `calls` and then COMMIT in one round trip.
  // Errors: as run() if nothing was committed. unknown_outcome if the connection broke in COMMIT, or a wait
  // for a synchronous standby was cancelled: the change may be committed or lost.
  Result<void> commit(std::vector<StatementCall> calls);

  // After LISTEN: waits up to `patience` for notifications and returns their payloads. Returns none if the
  // time is over or wake() was called.
  Result<std::vector<std::string>> notifications(Millis patience);
  void wake();  // from any thread

  // From now on a call that takes longer fails as if the connection was lost. Without this call there is no
  // limit.
  void set_patience(Millis patience);

  // True if the connection cannot be used any more.
  [[nodiscard]] bool broken() const;

  [[nodiscard]] std::size_t round_trips() const;  // so far

  // Makes a running call and every later one fail at once.
  void interrupt();

 private:
  struct Pipeline;
  explicit PgConnection(std::unique_ptr<Pipeline> impl);
  const std::unique_ptr<Pipeline> impl_;
};

// The URL without its password, for logs and messages.
std::string without_password(const std::string& url);

}  // namespace eventq::postgres
