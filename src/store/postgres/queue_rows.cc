// queue_rows.cc: see queue_rows.h.
#include "store/postgres/queue_rows.h"

#include <map>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "generated/postgres_sql.h"
#include "model/names.h"
#include "store/postgres/rows.h"

namespace eventq::postgres {

void read_records(std::vector<StatementCall>& calls, const std::vector<std::string>& queues) {
  for (const std::string_view sql : {sql::read_queues, sql::read_counts, sql::read_totals}) {
    calls.push_back({sql, Params().add(std::span<const std::string>(queues))});
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
    auto queue = read_queue_row(queues, row);
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
    records[found->second].totals = read_totals(totals, row, 1);
    records[found->second].checkpoint_id = totals.text(row, 14);
  }
  return records;
}

Result<Working> take_working(const Rows& workers, const Rows& processing) {
  Working working;
  for (std::size_t row = 0; row < workers.size(); ++row) {
    working.workers.push_back({std::string(workers.text(row, 0)), time_point(workers.number(row, 1)),
                               time_point(workers.number(row, 2)), workers.number(row, 3),
                               workers.number(row, 4)});
  }
  for (std::size_t row = 0; row < processing.size(); ++row) {
    auto stored = read_event(processing, row, Transaction::EventFields::state);
    if (!stored) return stored.error();
    working.processing.push_back(std::move(*stored));
  }
  return working;
}

}  // namespace eventq::postgres
