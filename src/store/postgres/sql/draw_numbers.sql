-- draw_numbers.sql: $1 for ids and turns, then $2 for ids of entries.
SELECT nextval('eventq.event_number') FROM generate_series(1, $1::bigint)
 UNION ALL
SELECT nextval('eventq.log_number') FROM generate_series(1, $2::bigint)
