-- insert_supersede.sql: pending events that a newer one may supersede.
INSERT INTO eventq.event_supersede SELECT * FROM unnest($1::eventq.event_supersede[])
