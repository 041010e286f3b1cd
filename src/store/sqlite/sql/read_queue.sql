-- read_queue.sql: one queue, or all queues ordered by name when ?1 is null.
SELECT id, config, status, status_by, status_reason, status_at, created_at, updated_at
  FROM stored_queue
 WHERE ?1 IS NULL OR id = ?1
 ORDER BY id;
