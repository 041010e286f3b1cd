// rows.h: rows of the database to values. The columns are those of SQLite's statements of the same name.
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

// A row in the columns of load_live.sql, all of it or only the head (see Transaction::load).
// Errors: corrupt when it holds what no version of eventq writes.
Result<Stored> read_event(const Rows& rows, std::size_t row, Transaction::EventFields fields);

// A row in the columns of event_log.sql, and all of them.
Result<LogEntry> read_entry(const Rows& rows, std::size_t row);
Result<std::vector<LogEntry>> read_log(const Rows& rows);

// Rows in the columns of read_queue.sql, read_totals.sql (from `column` on) and find_checkpoint.sql.
Result<QueueRow> read_queue_row(const Rows& rows, std::size_t row);
Totals read_totals(const Rows& rows, std::size_t row, int column);
Checkpoint read_checkpoint(const Rows& rows, std::size_t row);

}  // namespace eventq::postgres
