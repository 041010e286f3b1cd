-- mark_ready.sql: a waiting event has come due; its rows in event_ready are written beside.
UPDATE event_queue SET ready = 1 WHERE id = ?1;
