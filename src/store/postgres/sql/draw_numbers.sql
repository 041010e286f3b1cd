-- draw_numbers.sql: draws $1 numbers for ids and turns of events, then $2 for ids of log entries.
SELECT nextval('eventq.event_number') FROM generate_series(1, $1::bigint)
 UNION ALL
SELECT nextval('eventq.log_number') FROM generate_series(1, $2::bigint)
