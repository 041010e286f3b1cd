-- event_id_of.sql: from our id to the global one.
SELECT event_id FROM eventq.event_body WHERE id = $1;
