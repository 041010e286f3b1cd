-- insert_ready.sql: one row per tag of an event that may be claimed now.
INSERT INTO eventq.event_ready SELECT * FROM unnest($1::eventq.event_ready[])
