-- insert_line.sql: events that take a place in line.
INSERT INTO eventq.event_line SELECT * FROM unnest($1::eventq.event_line[])
