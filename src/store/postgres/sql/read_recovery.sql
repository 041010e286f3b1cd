-- read_recovery.sql: the result of a queue's recovery at the last start.
SELECT queue, id, checkpoint_id, events_recovered, started_at, completed_at, status
  FROM eventq.queue_recovery
 WHERE queue = $1;
