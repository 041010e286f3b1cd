-- delete_log.sql: and with it its log.
DELETE FROM event_log WHERE event_id = ?1;
