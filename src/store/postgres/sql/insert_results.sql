-- insert_results.sql: stores the results $1 of events that end.
INSERT INTO eventq.event_result SELECT * FROM unnest($1::eventq.event_result[])
