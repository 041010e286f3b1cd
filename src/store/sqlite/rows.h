// rows.h: table rows to values. store/columns.h has the rows that are alike in all databases.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "eventq/event.h"
#include "store/columns.h"
#include "store/sqlite/connection.h"
#include "store/store.h"

namespace eventq::sqlite {

// A row in the columns of load_live.sql, with all fields or only the state (see Transaction::load).
// Errors: corrupt when a column has a value that no version of eventq writes.
Result<Stored> read_event(const Statement& row, Transaction::EventFields fields);

// The queue `id`, or all queues ordered by name when it is null. The arguments are the statements of
// read_queue.sql, read_counts.sql and read_totals.sql.
Result<std::vector<QueueRecord>> read_records(Statement& queues, Statement& counts, Statement& totals,
                                              std::optional<std::string_view> id);

// The whole log of one event, by event_log.sql.
Result<std::vector<LogEntry>> read_log(Statement& event_log, EventId id);

}  // namespace eventq::sqlite
