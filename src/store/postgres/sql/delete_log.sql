-- delete_log.sql: deletes the log entries of removed events.
WITH authors AS (
  DELETE FROM eventq.event_log_author WHERE event_id = ANY ($1::bigint[])
), details AS (
  DELETE FROM eventq.event_log_detail WHERE event_id = ANY ($1::bigint[])
)
DELETE FROM eventq.event_log WHERE event_id = ANY ($1::bigint[])
