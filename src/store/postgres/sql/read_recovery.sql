-- read_recovery.sql: how a queue was found at the start.
SELECT queue, id, checkpoint_id, events_recovered, started_at, completed_at, status
  FROM eventq.queue_recovery
 WHERE queue = $1;
