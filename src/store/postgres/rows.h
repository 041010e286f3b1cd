// rows.h: converts rows of the database to values. The columns are those of SQLite's statements of the same
// name; store/columns.h has the rows that are alike in all databases.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "eventq/event.h"
#include "store/columns.h"
#include "store/postgres/connection.h"
#include "store/store.h"

namespace eventq::postgres {

// A row in the columns of load_live.sql: all fields, or only the state (see Transaction::load).
// Errors: corrupt if a field has a value that no version of eventq writes.
Result<Stored> read_event(const Rows& rows, std::size_t row, Transaction::EventFields fields);

// All rows, in the columns of event_log.sql.
Result<std::vector<LogEntry>> read_log(const Rows& rows);

// Adds the calls that read the named queues with their counters, or all queues if none is named.
void read_records(std::vector<StatementCall>& calls, const std::vector<std::string>& queues);
inline constexpr std::size_t kRecordCalls = 3;

// Takes the rows of those calls. The records are sorted by queue name.
Result<std::vector<QueueRecord>> take_records(std::span<const Rows> rows);

// Takes the rows of read_workers.sql and processing.sql.
Result<Working> take_working(const Rows& workers, const Rows& processing);

}  // namespace eventq::postgres
