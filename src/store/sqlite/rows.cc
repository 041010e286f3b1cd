// rows.cc: see rows.h.
#include "store/sqlite/rows.h"

#include <string>
#include <utility>

#include "model/names.h"

namespace eventq::sqlite {
namespace {

constexpr int kCheckpointColumn = 13;  // of read_totals.sql, after the counters of Totals

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
    auto totalled = one_row(totals.with(queue.id), [](const Statement& row) {
      return std::pair(read_totals(row, 0), std::string(row.text(kCheckpointColumn)));
    });
    if (!totalled) return totalled.error();
    // A queue without events has no row of totals.
    auto [total, checkpoint_id] = std::move(*totalled).value_or(std::pair<Totals, std::string>());
    records.push_back({std::move(queue), *counted, total, std::move(checkpoint_id)});
  }
  return records;
}

Result<std::vector<LogEntry>> read_log(Statement& event_log, EventId id) {
  return all_rows(event_log.with(number(id)), read_entry_row<Statement>);
}

}  // namespace eventq::sqlite
