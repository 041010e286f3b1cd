-- delete_log.sql: deletes the log entries of removed events.
DELETE FROM eventq.event_log WHERE event_id = ANY ($1::bigint[])
