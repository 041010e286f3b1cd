-- postgres_write_ids.sql: the last ids given: $1 of events, $2 of the log.
SELECT setval('eventq.event_number', greatest($1, 1), $1 > 0), setval('eventq.log_number', greatest($2, 1), $2 > 0)
