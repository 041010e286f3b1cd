-- delete_body.sql: an event leaves for good.
DELETE FROM event_body WHERE id = ?1;
