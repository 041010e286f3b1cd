-- read_recovery.sql: the state in which the last start found a queue.
SELECT queue, id, checkpoint_id, events_recovered, started_at, completed_at, status
  FROM queue_recovery
 WHERE queue = ?1;
