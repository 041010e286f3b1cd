-- mark_ready.sql: sets `ready` of an event that came due; other statements write its rows in event_ready.
UPDATE event_queue SET ready = 1 WHERE id = ?1;
