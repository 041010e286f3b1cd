// rows.cc: see rows.h.
#include "store/postgres/rows.h"

#include <map>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "generated/postgres_sql.h"
#include "model/names.h"

namespace eventq::postgres {
namespace {

// Columns of read_totals.sql, after the queue and the counters of Totals.
constexpr int kCheckpointColumn = 14;
constexpr int kChangedColumn = 15;

}  // namespace

Result<Stored> read_event(const Rows& rows, std::size_t row, Transaction::EventFields fields) {
  return read_event_row(RowView{rows, row}, fields);
}

Result<std::vector<LogEntry>> read_log(const Rows& rows) { return all_rows(rows, read_whole_entry<RowView>); }

void read_records(std::vector<StatementCall>& calls, const std::vector<std::string>& queues) {
  for (const std::string_view sql : {sql::read_queues, sql::read_counts, sql::read_totals}) {
    calls.push_back({sql, params_of(queues)});
  }
}

Result<std::vector<QueueRecord>> take_records(std::span<const Rows> rows) {
  EVENTQ_ASSERT(rows.size() == kRecordCalls);
  const Rows& queues = rows[0];
  const Rows& counts = rows[1];
  const Rows& totals = rows[2];
  std::vector<QueueRecord> records;
  std::map<std::string, std::size_t, std::less<>> indexes;
  for (std::size_t row = 0; row < queues.size(); ++row) {
    auto queue = read_queue_columns(RowView{queues, row});
    if (!queue) return queue.error();
    indexes[queue->id] = records.size();
    records.push_back({.row = std::move(*queue), .counts = {}, .totals = {}, .checkpoint_id = {}});
  }
  for (std::size_t row = 0; row < counts.size(); ++row) {
    const auto found = indexes.find(counts.text(row, 0));
    const auto status = status_named(counts.text(row, 1));
    if (found == indexes.end() || !status) continue;
    records[found->second].counts.at(static_cast<std::size_t>(*status)) = counts.number(row, 2);
  }
  for (std::size_t row = 0; row < totals.size(); ++row) {
    const auto found = indexes.find(totals.text(row, 0));
    if (found == indexes.end()) continue;
    records[found->second].totals = read_totals(RowView{totals, row}, 1);
    records[found->second].checkpoint_id = totals.text(row, kCheckpointColumn);
    records[found->second].changed_at = time_point(totals.number(row, kChangedColumn));
  }
  return records;
}

Result<Working> take_working(const Rows& workers, const Rows& processing) {
  auto seen = all_rows(workers, read_worker<RowView>);
  if (!seen) return seen.error();
  auto held = all_rows(
      processing, [](const RowView& row) { return read_event_row(row, Transaction::EventFields::state); });
  if (!held) return held.error();
  return Working{std::move(*seen), std::move(*held)};
}

}  // namespace eventq::postgres
