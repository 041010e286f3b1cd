-- put_queue.sql: sets the settings and status of a queue.
INSERT OR REPLACE INTO event_queue_state (id, config, status, status_by, status_reason, status_at, created_at,
                                          updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);
