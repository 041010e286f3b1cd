-- enter.sql: inserts new rows: bodies $1, states of new and revived events $2, one row per tag of an event that may be
-- claimed now $3, log entries $4, and ended events $5.
WITH body AS (
  INSERT INTO eventq.event_body SELECT * FROM unnest($1::eventq.event_body[])
), live AS (
  INSERT INTO eventq.event_queue SELECT * FROM unnest($2::eventq.event_queue[])
), ready AS (
  INSERT INTO eventq.event_ready SELECT * FROM unnest($3::eventq.event_ready[])
), log AS (
  INSERT INTO eventq.event_log SELECT * FROM unnest($4::eventq.event_log[])
)
INSERT INTO eventq.event_archive SELECT * FROM unnest($5::eventq.event_archive[])
