// rows.h: table rows to values and back.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "eventq/event.h"
#include "store/columns.h"
#include "store/sqlite/connection.h"
#include "store/store.h"

namespace eventq::sqlite {

// A row in the columns of load_live.sql, with all fields or only the state (see Transaction::load).
// Errors: corrupt when a column has a value that no version of eventq writes.
Result<Stored> read_event(const Statement& row, Transaction::EventFields fields);

// Rows in the columns of read_queue.sql, read_totals.sql, find_checkpoint.sql and read_workers.sql.
Result<QueueRow> read_queue_row(const Statement& row);
Totals read_totals(const Statement& row);
Checkpoint read_checkpoint(const Statement& row);
WorkerRow read_worker(const Statement& row);

// The counters of one queue, by read_counts.sql, and its totals and checkpoint_id, by read_totals.sql.
Result<Counts> counts_of(Statement& read_counts, std::string_view queue);
Result<std::pair<Totals, std::string>> totals_of(Statement& read_totals, std::string_view queue);

// A row in the columns of event_log.sql.
Result<LogEntry> read_entry(const Statement& row);

// The whole log of one event, by event_log.sql.
Result<std::vector<LogEntry>> read_log(Statement& event_log, EventId id);

// Binds the columns of append_entry.sql. REQUIRES: `errors` lives until the statement's next reset(), because
// the statement points into it.
void bind_entry(Statement& statement, const LogEntry& entry, std::string& errors);

}  // namespace eventq::sqlite
