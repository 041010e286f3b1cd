-- add_queue.sql: adds a new queue; an existing row stays unchanged.
INSERT OR IGNORE INTO stored_queue (id, config, status, status_by, status_reason, status_at, created_at, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);
