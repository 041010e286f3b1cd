-- insert_line.sql: inserts the places of events in their lines.
INSERT INTO eventq.event_line SELECT * FROM unnest($1::eventq.event_line[])
