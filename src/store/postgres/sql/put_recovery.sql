-- put_recovery.sql: stores the result of a queue's recovery at the last start.
INSERT INTO eventq.queue_recovery (queue, id, checkpoint_id, events_recovered, started_at, completed_at, status)
VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (queue) DO UPDATE
   SET id = excluded.id, checkpoint_id = excluded.checkpoint_id, events_recovered = excluded.events_recovered,
       started_at = excluded.started_at, completed_at = excluded.completed_at, status = excluded.status;
