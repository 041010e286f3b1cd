-- insert_supersede.sql: inserts the supersede keys of pending events.
INSERT INTO eventq.event_supersede SELECT * FROM unnest($1::eventq.event_supersede[])
