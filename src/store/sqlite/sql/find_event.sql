-- find_event.sql: the id of the event with this global id.
SELECT id FROM event_body WHERE event_id = ?1;
