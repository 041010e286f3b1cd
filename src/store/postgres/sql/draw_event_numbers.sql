-- draw_event_numbers.sql: for ids and turns.
SELECT nextval('eventq.event_number') FROM generate_series(1, $1::bigint)
