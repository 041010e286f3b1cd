-- delete_body.sql: deletes the fixed part of a removed event.
DELETE FROM event_body WHERE id = ?1;
