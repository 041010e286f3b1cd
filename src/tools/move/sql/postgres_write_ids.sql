-- postgres_write_ids.sql: sets the last ids assigned: $1 to events, $2 to log entries.
SELECT setval('eventq.event_number', greatest($1, 1), $1 > 0), setval('eventq.log_number', greatest($2, 1), $2 > 0)
