// table.h: the tables of a store that a move copies, in the order of copying.
//
// Both databases have these tables with the same columns; TableSpec also has the columns that only PostgreSQL
// has. The statements in sql/ serve all tables: fill() replaces their {names}.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace eventq::move {

using CellValue = std::variant<std::monostate, std::int64_t, std::string>;  // SQL's null, bigint and text
using Row = std::vector<CellValue>;

struct ColumnSpec {
  enum class ColumnKind : std::uint8_t { number, text };
  std::string_view name;
  ColumnKind kind = ColumnKind::text;
  bool key = false;     // part of the key that orders the rows
  bool newest = false;  // a number of which the highest of all slots counts, and not their sum
};

struct TableSpec {
  std::string_view name;
  std::vector<ColumnSpec> columns;
  // PostgreSQL keeps these counters in several rows (slots). A move reads their sum and writes it to slot 0.
  bool has_slots = false;
  std::string_view more = {};         // columns that only PostgreSQL has: ", slot"
  std::string_view more_values = {};  // the values of those columns
  std::string_view having = {};       // leaves out sums for which SQLite has no row
};

std::span<const TableSpec> all_tables();

inline constexpr std::string_view kLive = "event_queue";  // write() also writes the ready rows of this table

// "queue, ordering_key, id"
std::string column_list(const TableSpec& table);
std::string key_list(const TableSpec& table);
std::vector<ColumnSpec> key_columns(const TableSpec& table);
// A key before the first row.
Row first_key(const TableSpec& table);

// The statement without its leading comments, with every {name} replaced.
std::string fill(std::string_view sql, const std::vector<std::pair<std::string_view, std::string>>& names);

}  // namespace eventq::move
