-- read_checkpoints.sql: the newest of a queue.
SELECT id, queue_id, checkpoint_id, event_count, created_at
  FROM queue_checkpoints
 WHERE queue_id = ?1
 ORDER BY created_at DESC, id DESC
 LIMIT ?2;
