-- drop_checkpoints.sql: deletes all but the newest ?2 checkpoints of a queue that the server made by time.
DELETE FROM stored_checkpoint
 WHERE id IN (SELECT id FROM stored_checkpoint
               WHERE queue_id = ?1 AND requested = 0
               ORDER BY created_at DESC, event_count DESC, id DESC
               LIMIT -1 OFFSET ?2);
