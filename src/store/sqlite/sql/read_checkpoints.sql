-- read_checkpoints.sql: the newest checkpoints of a queue. Two checkpoints, before and after a restart, can have
-- the same millisecond; the one with more events is the newer.
SELECT id, queue_id, checkpoint_id, event_count, created_at, requested
  FROM stored_checkpoint
 WHERE queue_id = ?1
 ORDER BY created_at DESC, event_count DESC, id DESC
 LIMIT ?2;
