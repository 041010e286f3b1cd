// postgres_endpoint.cc: a MoveEndpoint for a PostgreSQL database.
#include <algorithm>
#include <span>
#include <utility>

#include "generated/move_sql.h"
#include "store/postgres/connection.h"
#include "store/postgres/migrate.h"
#include "tools/move/endpoint.h"

namespace eventq::move {
namespace {

constexpr int kWaits = 40;  // of 50 ms each (postgres_wait.sql): two seconds in total

bool is_number(const ColumnSpec& column) { return column.kind == ColumnSpec::ColumnKind::number; }

// "$1::bigint, $2::text"; with `array` = "[]", "$1::bigint[], $2::text[]".
std::string dollars(const std::vector<ColumnSpec>& columns, std::string_view array) {
  std::string list;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    list += (i == 0 ? "$" : ", $") + std::to_string(i + 1) + (is_number(columns[i]) ? "::bigint" : "::text") +
            std::string(array);
  }
  return list;
}

// The FROM item of a table: its name, or the sums of its slots.
std::string source_of(const TableSpec& table) {
  if (!table.has_slots) return "eventq." + std::string(table.name);
  std::string sums;
  for (const ColumnSpec& column : table.columns) {
    if (column.key) continue;
    const std::string name(column.name);
    // The only text column is checkpoint_id; the newest slot has the valid value.
    if (!sums.empty()) sums += ", ";
    sums += column.newest       ? "max(" + name + ")::bigint"
            : is_number(column) ? "sum(" + name + ")::bigint"
                                : "(array_agg(" + name + " ORDER BY checkpoint_at DESC))[1]";
    sums += " AS " + name;
  }
  return fill(sql::postgres_summed, {{"key", key_list(table)},
                                     {"sums", sums},
                                     {"table", std::string(table.name)},
                                     {"having", std::string(table.having)}});
}

// REQUIRES: `value` is not null, as every part of a key.
void add(postgres::Params& params, const CellValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) params.add(*number);
  if (const auto* text = std::get_if<std::string>(&value)) params.add(std::string_view(*text));
}

// Adds the values of one column as an array.
template <typename Value>
void add_column(postgres::Params& params, const std::vector<Row>& rows, std::size_t index) {
  std::vector<std::optional<Value>> values;
  values.reserve(rows.size());
  for (const Row& row : rows) {
    const auto* value = std::get_if<Value>(&row[index]);
    values.push_back(value != nullptr ? std::optional(*value) : std::nullopt);
  }
  params.add(std::span<const std::optional<Value>>(values));
}

class PostgresEndpoint final : public MoveEndpoint {
 public:
  PostgresEndpoint(std::string name, std::unique_ptr<postgres::PgConnection> connection)
      : name_(std::move(name)), connection_(std::move(connection)) {}

  [[nodiscard]] std::string name() const override { return name_; }

  Result<std::string> state() override {
    auto rows = connection_->run_one(sql::postgres_state);
    if (!rows) return rows.error();
    return std::string(rows->text(0, 0));
  }

  Result<std::int64_t> count(const TableSpec& table) override {
    return number(fill(sql::postgres_count, {{"source", source_of(table)}}));
  }

  Result<std::int64_t> count_ready() override {
    return number(fill(sql::postgres_count, {{"source", "eventq.event_ready"}}));
  }

  Result<std::vector<Row>> read(const TableSpec& table, const Row& after) override {
    postgres::Params params;
    for (const CellValue& value : after) add(params, value);
    const auto rows =
        connection_->run_one(fill(sql::postgres_read, {{"columns", column_list(table)},
                                                       {"source", source_of(table)},
                                                       {"key", key_list(table)},
                                                       {"after", dollars(key_columns(table), "")},
                                                       {"limit", std::to_string(limit_)}}),
                             params);
    if (!rows) return rows.error();
    std::vector<Row> read;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < rows->size() && bytes < kChunkBytes; ++i) {
      read.push_back(to_row(*rows, i, table));
      for (const CellValue& value : read.back()) {
        if (const auto* text = std::get_if<std::string>(&value)) bytes += text->size();
      }
    }
    // libpq holds a whole result in memory, so the next read asks for fewer rows when this one was too large.
    limit_ = bytes < kChunkBytes ? kChunkRows : std::max<std::size_t>(1, read.size());
    return read;
  }

  Result<LastIds> last_ids() override {
    auto rows = connection_->run_one(sql::postgres_read_ids);
    if (!rows) return rows.error();
    return LastIds{rows->number(0, 0), rows->number(0, 1)};
  }

  Result<std::optional<MoveMark>> mark() override {
    const auto found = number(sql::postgres_find_mark);
    if (!found) return found.error();
    if (*found == 0) return std::optional<MoveMark>();
    const auto marks = all_rows(connection_->run_one(sql::postgres_read_mark), make_mark<postgres::RowView>);
    if (!marks) return marks.error();
    return marks->empty() ? std::optional<MoveMark>() : marks->front();
  }

  Result<void> begin(const std::string& source) override {
    // Two calls, because postgres_begin_mark cannot be prepared before the table exists.
    if (auto made = connection_->run({{sql::postgres_begin}, {sql::postgres_make_mark}}); !made)
      return made.error();
    return connection_->commit({{sql::postgres_begin_mark, postgres::params_of(source)}});
  }

  Result<void> write(const TableSpec& table, const std::vector<Row>& rows, const MoveMark& mark) override {
    std::vector<postgres::StatementCall> calls = {{sql::postgres_begin}};
    std::string insert;  // the calls point into it until commit() returns
    if (!rows.empty()) {
      postgres::Params columns;
      for (std::size_t i = 0; i < table.columns.size(); ++i) {
        is_number(table.columns[i]) ? add_column<std::int64_t>(columns, rows, i)
                                    : add_column<std::string>(columns, rows, i);
      }
      insert = fill(sql::postgres_write, {{"table", std::string(table.name)},
                                          {"columns", column_list(table)},
                                          {"more", std::string(table.more)},
                                          {"more_values", std::string(table.more_values)},
                                          {"values", dollars(table.columns, "[]")}});
      calls.push_back({insert, std::move(columns)});
    }
    // In the same transaction as the live events, so a crash leaves none without its ready rows.
    if (table.name == kLive && !rows.empty()) {
      postgres::Params ids;
      add(ids, rows.front().front());
      add(ids, rows.back().front());
      calls.push_back({sql::postgres_fill_ready, std::move(ids)});
    }
    postgres::Params mark_params;
    mark_params.add(static_cast<std::int64_t>(mark.step));
    for (const std::string& text : key_to_texts(mark.last_key)) mark_params.add(std::string_view(text));
    calls.push_back({sql::postgres_set_mark, std::move(mark_params)});
    return connection_->commit(std::move(calls));
  }

  Result<void> finish(const LastIds& ids) override {
    return connection_->commit({{sql::postgres_begin},
                                {sql::postgres_write_ids, postgres::params_of(ids.event, ids.log)},
                                {sql::postgres_drop_mark}});
  }

  // Locks the database against servers and applications until this endpoint is destroyed.
  // Errors: unavailable when one of them is connected.
  Result<void> take() {
    auto others = number(sql::postgres_others);
    // PostgreSQL lists a closed connection for a short time, so wait before reporting it.
    for (int i = 0; i < kWaits && others && *others > 0; ++i) {
      if (auto waited = connection_->run_one(sql::postgres_wait); !waited) return waited.error();
      others = number(sql::postgres_others);
    }
    if (!others) return others.error();
    if (*others > 0) {
      return in_use(std::to_string(*others) + (*others == 1 ? " connection" : " connections") +
                    " of eventq to it " + (*others == 1 ? "is" : "are") + " open");
    }
    // Publishers inside an application's transaction hold this lock shared, also without a server.
    const auto taken = number(sql::postgres_take);
    if (!taken) return taken.error();
    return *taken == 1 ? Result<void>() : in_use("a transaction that uses eventq is open in it");
  }

 private:
  Result<void> in_use(const std::string& why) const {
    return Error{ErrorCode::unavailable,
                 name_ + " is in use: " + why + ". Stop its servers and applications first.", "store"};
  }

  Result<std::int64_t> number(std::string_view sql) {
    auto rows = connection_->run_one(sql);
    if (!rows) return rows.error();
    return rows->number(0, 0);
  }

  static Row to_row(const postgres::Rows& rows, std::size_t row, const TableSpec& table) {
    Row read;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const int column = static_cast<int>(i);
      if (rows.is_null(row, column)) {
        read.emplace_back();
      } else if (is_number(table.columns[i])) {
        read.emplace_back(rows.number(row, column));
      } else {
        read.emplace_back(std::string(rows.text(row, column)));
      }
    }
    return read;
  }

  const std::string name_;
  const std::unique_ptr<postgres::PgConnection> connection_;
  std::size_t limit_ = kChunkRows;
};

}  // namespace

Result<std::unique_ptr<MoveEndpoint>> open_postgres(const std::string& url, bool source) {
  const std::string name = postgres::without_password(url);
  // A shard has events with ids of its own, which would not fit a store with all ids.
  const auto state = postgres::schema_state(url);
  if (!state) return state.error();
  if (state->position && state->position->shard_count != 1) {
    return Error{ErrorCode::conflict,
                 name + " is one of " + std::to_string(state->position->shard_count) +
                     " shards. Only a store in a single database can be moved.",
                 "store"};
  }
  if (source) {
    if (auto current = postgres::check_schema({&url, 1}); !current) return current.error();
  } else if (auto migrated = postgres::migrate({&url, 1}); !migrated) {
    return migrated.error();
  }
  auto connection = postgres::PgConnection::open(url);
  if (!connection) return connection.error();
  auto end = std::make_unique<PostgresEndpoint>(name, std::move(*connection));
  if (auto taken = end->take(); !taken) return taken.error();
  return std::unique_ptr<MoveEndpoint>(std::move(end));
}

}  // namespace eventq::move
