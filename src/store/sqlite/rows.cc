// rows.cc: see rows.h.
#include "store/sqlite/rows.h"

#include <string>
#include <utility>

#include "model/names.h"

namespace eventq::sqlite {
namespace {

// Columns of read_totals.sql, after the counters of Totals.
constexpr int kCheckpointColumn = 13;
constexpr int kChangedColumn = 14;

Result<Counts> counts_of(Statement& statement, std::string_view queue) {
  const auto rows = all_rows(statement.with(queue), [](const Statement& row) {
    return std::pair(status_named(row.text(0)), row.integer(1));
  });
  if (!rows) return rows.error();
  Counts counts{};
  for (const auto& [status, events] : *rows) {
    // A status that this version does not know is left out, because Counts has no slot for it.
    if (status) counts.at(static_cast<std::size_t>(*status)) = events;
  }
  return counts;
}

}  // namespace

Result<Stored> read_event(const Statement& row, Transaction::EventFields fields) {
  return read_event_row(row, fields);
}

Result<std::vector<QueueRecord>> read_records(Statement& queues, Statement& counts, Statement& totals,
                                              std::optional<std::string_view> id) {
  auto rows = all_rows(queues.with(id), read_queue_columns<Statement>);
  if (!rows) return rows.error();
  std::vector<QueueRecord> records;
  for (QueueRow& queue : *rows) {
    auto counted = counts_of(counts, queue.id);
    if (!counted) return counted.error();
    QueueRecord& record = records.emplace_back();
    record.row = std::move(queue);
    record.counts = *counted;
    // A queue without events has no row of totals.
    const auto totalled = one_row(totals.with(record.row.id), [&](const Statement& row) {
      record.totals = read_totals(row, 0);
      record.checkpoint_id = row.text(kCheckpointColumn);
      record.changed_at = time_point(row.integer(kChangedColumn));
      return true;
    });
    if (!totalled) return totalled.error();
  }
  return records;
}

Result<std::vector<LogEntry>> read_log(Statement& event_log, EventId id) {
  return all_rows(event_log.with(number(id)), read_whole_entry<Statement>);
}

}  // namespace eventq::sqlite
