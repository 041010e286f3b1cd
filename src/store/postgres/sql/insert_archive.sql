-- insert_archive.sql: events that have ended.
INSERT INTO eventq.event_archive SELECT * FROM unnest($1::eventq.event_archive[])
