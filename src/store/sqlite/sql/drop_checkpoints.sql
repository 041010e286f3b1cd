-- drop_checkpoints.sql: deletes all but the newest ?2 checkpoints of a queue.
DELETE FROM queue_checkpoints
 WHERE id IN (SELECT id FROM queue_checkpoints WHERE queue_id = ?1 ORDER BY created_at DESC, event_count DESC, id DESC
               LIMIT -1 OFFSET ?2);
