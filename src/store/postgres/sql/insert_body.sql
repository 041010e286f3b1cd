-- insert_body.sql: what never changes of new events.
INSERT INTO eventq.event_body SELECT * FROM unnest($1::eventq.event_body[])
