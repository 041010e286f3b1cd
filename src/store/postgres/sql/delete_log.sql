-- delete_log.sql: the entries of removed events.
DELETE FROM eventq.event_log WHERE event_id = ANY ($1::bigint[])
