-- last_checkpoints.sql: the newest checkpoint of each queue.
SELECT c.id, c.queue_id, c.checkpoint_id, c.event_count, c.created_at, c.requested
  FROM eventq.stored_queue AS q
 CROSS JOIN LATERAL (SELECT id, queue_id, checkpoint_id, event_count, created_at, requested
                       FROM eventq.stored_checkpoint
                      WHERE queue_id = q.id
                      ORDER BY created_at DESC, event_count DESC, id DESC
                      LIMIT 1) AS c
 ORDER BY q.id;
