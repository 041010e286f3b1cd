-- put_recovery.sql: sets the state in which the last start found a queue.
INSERT OR REPLACE INTO queue_recovery (queue, id, checkpoint_id, events_recovered, started_at, completed_at, status)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7);
