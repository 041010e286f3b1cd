-- event_id_of.sql: the global event_id of an event.
SELECT event_id FROM eventq.event_body WHERE id = $1;
