-- drop_checkpoints.sql: deletes all but the newest $2 checkpoints of a queue.
DELETE FROM eventq.queue_checkpoints
 WHERE id = ANY (ARRAY (SELECT id FROM eventq.queue_checkpoints
                         WHERE queue_id = $1
                         ORDER BY created_at DESC, event_count DESC, id DESC
                        OFFSET $2));
