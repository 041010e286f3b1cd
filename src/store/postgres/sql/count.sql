-- count.sql: adds to the counters of events by status $1 and to the totals of queues $2, one row per queue.
-- checkpoint_id is the event_id of the last completed event, or empty. changed_at is the time of the transaction; a clock
-- that was set back does not lower it.
WITH totals AS (
  INSERT INTO eventq.queue_total AS t (queue, published, deduplicated, claimed, completed, failed, failed_for_good,
                                       retried, abandoned, superseded, cancelled, run_ms, runs, checkpoint_id, removed,
                                       slot, checkpoint_at, changed_at)
  SELECT queue, published, deduplicated, claimed, completed, failed, failed_for_good, retried, abandoned, superseded,
         cancelled, run_ms, runs, checkpoint_id, removed, pg_backend_pid() % 16, checkpoint_at,
         changed_at
    FROM unnest($2::eventq.queue_total[])
      ON CONFLICT (queue, slot) DO UPDATE
     SET published = t.published + excluded.published,
         deduplicated = t.deduplicated + excluded.deduplicated,
         claimed = t.claimed + excluded.claimed,
         completed = t.completed + excluded.completed,
         failed = t.failed + excluded.failed,
         failed_for_good = t.failed_for_good + excluded.failed_for_good,
         retried = t.retried + excluded.retried,
         abandoned = t.abandoned + excluded.abandoned,
         superseded = t.superseded + excluded.superseded,
         cancelled = t.cancelled + excluded.cancelled,
         run_ms = t.run_ms + excluded.run_ms,
         runs = t.runs + excluded.runs,
         removed = t.removed + excluded.removed,
         checkpoint_id = CASE excluded.checkpoint_id WHEN '' THEN t.checkpoint_id ELSE excluded.checkpoint_id END,
         checkpoint_at = greatest(t.checkpoint_at, excluded.checkpoint_at),
         changed_at = greatest(t.changed_at, excluded.changed_at)
)
INSERT INTO eventq.event_count AS n (queue, status, n, slot)
SELECT queue, status, n, pg_backend_pid() % 16 FROM unnest($1::eventq.event_count[])
    ON CONFLICT (queue, status, slot) DO UPDATE SET n = n.n + excluded.n
