-- put_queue.sql: sets the settings and status of a queue. REPLACE would delete the row first, and where foreign keys
-- are enforced also the checkpoints that refer to it.
INSERT INTO stored_queue (id, config, status, status_by, status_reason, status_at, created_at, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    ON CONFLICT (id) DO UPDATE
   SET config = excluded.config, status = excluded.status, status_by = excluded.status_by,
       status_reason = excluded.status_reason, status_at = excluded.status_at, created_at = excluded.created_at,
       updated_at = excluded.updated_at;
