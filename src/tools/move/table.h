// table.h: the tables of a store that a move copies, in the order in which it does.
//
// Both databases have them with the same columns; what PostgreSQL has besides is said here, too. The
// statements of sql/ are written once for all tables, with {names} that fill() replaces.
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
  bool key = false;  // part of what the rows are ordered by
};

struct TableSpec {
  std::string_view name;
  std::vector<ColumnSpec> columns;
  // Counters that PostgreSQL keeps in several rows: they are summed there, and written to slot 0.
  bool has_slots = false;
  std::string_view more = {};         // columns that only PostgreSQL has: ", slot"
  std::string_view more_values = {};  // and what they get
  std::string_view having = {};       // of the sums: those that SQLite would not have a row for are left out
};

std::span<const TableSpec> all_tables();

inline constexpr std::string_view kLive = "event_queue";  // whose rows bring their ready rows along

// "queue, ordering_key, id"
std::string column_list(const TableSpec& table);
std::string key_list(const TableSpec& table);
std::vector<ColumnSpec> key_columns(const TableSpec& table);
// Before the first row.
Row first_key(const TableSpec& table);

// The statement without its comment, every {name} replaced.
std::string fill(std::string_view sql, const std::vector<std::pair<std::string_view, std::string>>& names);

}  // namespace eventq::move
