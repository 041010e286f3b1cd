-- draw_log_numbers.sql: for ids of entries.
SELECT nextval('eventq.log_number') FROM generate_series(1, $1::bigint)
