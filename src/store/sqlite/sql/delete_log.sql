-- delete_log.sql: deletes the log of a removed event.
DELETE FROM event_log WHERE event_id = ?1;
