// rows.h: converts rows of the database to values. The columns are those of SQLite's statements of the same
// name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "eventq/event.h"
#include "store/columns.h"
#include "store/postgres/connection.h"
#include "store/store.h"

namespace eventq::postgres {

// A row in the columns of load_live.sql: all fields, or only the state (see Transaction::load).
// Errors: corrupt if a field has a value that no version of eventq writes.
Result<Stored> read_event(const Rows& rows, std::size_t row, Transaction::EventFields fields);

// One row, or all rows, in the columns of event_log.sql.
Result<LogEntry> read_entry(const Rows& rows, std::size_t row);
Result<std::vector<LogEntry>> read_log(const Rows& rows);

// Rows in the columns of read_queues.sql, read_totals.sql (from `column` on) and find_checkpoint.sql.
Result<QueueRow> read_queue_row(const Rows& rows, std::size_t row);
Totals read_totals(const Rows& rows, std::size_t row, int column);
Checkpoint read_checkpoint(const Rows& rows, std::size_t row);

}  // namespace eventq::postgres
