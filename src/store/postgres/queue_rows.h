// queue_rows.h: reads queues with their counters, in three statements, and workers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "store/postgres/connection.h"
#include "store/store.h"

namespace eventq::postgres {

// Adds the calls that read the named queues, or all queues if none is named.
void read_records(std::vector<StatementCall>& calls, const std::vector<std::string>& queues);
inline constexpr std::size_t kRecordCalls = 3;

// Takes the rows of those calls. The records are sorted by queue name.
Result<std::vector<QueueRecord>> take_records(std::span<const Rows> rows);

// Takes the rows of read_workers.sql and processing.sql.
Result<Working> take_working(const Rows& workers, const Rows& processing);

}  // namespace eventq::postgres
