// rows.cc: see rows.h.
#include "store/postgres/rows.h"

namespace eventq::postgres {
namespace {

// One row, with the functions that columns.h calls.
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

}  // namespace

Result<Stored> read_event(const Rows& rows, std::size_t row, Transaction::EventFields fields) {
  return read_event_row(RowView{rows, row}, fields);
}

Result<LogEntry> read_entry(const Rows& rows, std::size_t row) { return read_entry_row(RowView{rows, row}); }

Result<std::vector<LogEntry>> read_log(const Rows& rows) {
  std::vector<LogEntry> entries;
  entries.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    auto entry = read_entry(rows, row);
    if (!entry) return entry.error();
    entries.push_back(std::move(*entry));
  }
  return entries;
}

Result<QueueRow> read_queue_row(const Rows& rows, std::size_t row) {
  return read_queue_columns(RowView{rows, row});
}

Totals read_totals(const Rows& rows, std::size_t row, int column) {
  const auto next = [&] { return rows.number(row, column++); };
  // C++ evaluates the elements of a braced list in order, so each next() reads the next column.
  return {next(), next(), next(), next(), next(), next(), next(),
          next(), next(), next(), next(), next(), next()};
}

Checkpoint read_checkpoint(const Rows& rows, std::size_t row) {
  return {std::string(rows.text(row, 0)), std::string(rows.text(row, 1)), std::string(rows.text(row, 2)),
          rows.number(row, 3), time_point(rows.number(row, 4))};
}

}  // namespace eventq::postgres
