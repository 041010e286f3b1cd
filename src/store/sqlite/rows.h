// rows.h: table rows to values and back.
#pragma once

#include "eventq/event.h"
#include "store/sqlite/connection.h"
#include "store/store.h"

namespace eventq::sqlite {

inline std::int64_t millis(TimePoint time) { return time.time_since_epoch().count(); }
inline TimePoint time_point(std::int64_t millis) { return TimePoint(Millis(millis)); }
inline std::int64_t number(EventId id) { return static_cast<std::int64_t>(id); }

// A row in the columns of load_live.sql, all of it or only the head (see Transaction::load).
// Errors: corrupt when it holds what no version of eventq writes.
Result<Stored> read_event(const Statement& row, Transaction::Part part);

// A row in the columns of event_log.sql.
Result<LogEntry> read_entry(const Statement& row);

// The whole log of one event, by event_log.sql.
Result<std::vector<LogEntry>> read_log(Statement& event_log, EventId id);

// Binds the columns of append_entry.sql. `errors` lends its memory to the statement.
void bind_entry(Statement& statement, const LogEntry& entry, std::string& errors);

}  // namespace eventq::sqlite
