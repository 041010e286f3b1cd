// connection.h: one connection to PostgreSQL: prepared statements, several of them in one round trip.
//
// Everything is binary on the wire: bigint as 8 bytes, text as it is, arrays of both and of rows of both. No
// other type is sent or asked for; a statement casts what it needs ($1::bigint[], sum(n)::bigint).
//
// Threads: one at a time; interrupt() and wake() from any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/clock.h"
#include "eventq/error.h"

struct pg_conn;
struct pg_result;

namespace eventq::postgres {

// Rows of one of the schema's types, a table's or another, for unnest($1::eventq.TYPE[]). To the database
// this is a fraction of the work of one array per column.
class RecordArray {
 public:
  explicit RecordArray(std::string_view type) : type_(type) {}

  // One row: its columns in the order of the type's, each a number, a text or an optional of one.
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
  std::string rows_;     // encoded
  std::size_t row_ = 0;  // where the last one begins
};

// Values for $1, $2, … of one call, in order. Owns what it was given, encoded.
class Params {
 public:
  Params& add(std::int64_t value);
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
    std::uint32_t type = 0;  // oid; 0: the statement's cast says it
    bool null = false;
    std::string bytes;
    std::string record = {};  // the name of the elements' type, whose oid the connection knows
    void set_record_type(std::uint32_t oid);
  };
  Params& add_value(std::uint32_t type, std::string bytes);
  Params& add_null(std::uint32_t type);

  std::vector<EncodedParam> values_;
};

// The rows of one call.
class Rows {
 public:
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::size_t changed() const;  // rows that an INSERT, UPDATE or DELETE touched
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

struct StatementCall {
  std::string_view sql;  // as embedded from its .sql file; prepared once per connection
  Params params = {};
};

class PgConnection {
 public:
  // `url` as libpq takes it: postgres://user@host1,host2/db?target_session_attrs=read-write.
  // Errors: unavailable, with the database's own words and without a password;
  // conflict when its encoding lacks characters.
  static Result<std::unique_ptr<PgConnection>> open(const std::string& url);

  ~PgConnection();
  PgConnection(const PgConnection&) = delete;
  PgConnection& operator=(const PgConnection&) = delete;

  // Runs all of them in one round trip and in order; one Rows for each. At the first error the rest is not
  // run. Errors: unavailable (connection lost, deadlock, lock or statement time-out, server shutting down:
  // nothing was changed, an open transaction is gone or must be rolled back); no_space; internal; corrupt.
  Result<std::vector<Rows>> run(std::vector<StatementCall> calls);
  Result<Rows> run_one(std::string_view sql, Params params = {});

  // One or many statements without parameters or rows, not prepared: migrations.
  Result<void> script(const std::string& sql);

  // Runs `calls` and then COMMIT in one round trip. Errors: as run() when nothing was committed for certain;
  // unknown_outcome when the connection broke, or a wait for a synchronous standby was cancelled, so that
  // nobody can say.
  Result<void> commit(std::vector<StatementCall> calls);

  // Of LISTEN: waits up to `patience` for notifications; returns their payloads, none when the time is over
  // or wake() was called.
  Result<std::vector<std::string>> notifications(Millis patience);
  void wake();  // from any thread

  // From now on a call that takes longer fails as if the connection was lost. No limit at first.
  void set_patience(Millis patience);

  // Whether it can be used no more.
  [[nodiscard]] bool broken() const;

  [[nodiscard]] std::size_t round_trips() const;  // so far

  // Makes a call under way, and every later one, fail at once.
  void interrupt();

 private:
  struct Pipeline;
  explicit PgConnection(std::unique_ptr<Pipeline> impl);
  const std::unique_ptr<Pipeline> impl_;
};

// The URL without its password, for logs and messages.
std::string without_password(const std::string& url);

}  // namespace eventq::postgres
