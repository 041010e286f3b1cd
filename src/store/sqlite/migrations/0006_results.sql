-- 0006_results.sql: new tables for what a worker may return with its report. Most reports return nothing, so an event
-- without a result, and a failure without a detail, has no row here.

-- JSON text that a worker returned when it completed the event.
CREATE TABLE event_result (
  id     INTEGER PRIMARY KEY,                        -- of the event
  result TEXT NOT NULL
) STRICT;

-- A stack trace, or the end of stderr.
CREATE TABLE event_log_detail (
  event_id INTEGER NOT NULL,
  id       INTEGER NOT NULL,                         -- event_log.id
  detail   TEXT NOT NULL,
  PRIMARY KEY (event_id, id)
) STRICT, WITHOUT ROWID;
