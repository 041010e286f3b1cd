-- append_entry.sql: what happened to events.
INSERT INTO eventq.event_log SELECT * FROM unnest($1::eventq.event_log[])
