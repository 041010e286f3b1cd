-- read_checkpoints.sql: the newest checkpoints of a queue. Of two in the same millisecond, before and after a restart,
-- the one that counted more events comes first.
SELECT id, queue_id, checkpoint_id, event_count, created_at, requested
  FROM eventq.stored_checkpoint
 WHERE queue_id = $1
 ORDER BY created_at DESC, event_count DESC, id DESC
 LIMIT $2;
