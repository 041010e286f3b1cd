-- find_event.sql: from the global id to ours.
SELECT id FROM event_body WHERE event_id = ?1;
