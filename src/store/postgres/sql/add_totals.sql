-- add_totals.sql: once per queue and transaction. $15 is the event_id of the last event completed, or empty; $16 is
-- the time.
INSERT INTO eventq.queue_total AS t (queue, published, deduplicated, claimed, completed, failed, failed_for_good,
                                     retried, abandoned, superseded, cancelled, run_ms, runs, removed,
                                     checkpoint_id, checkpoint_at, slot)
SELECT c.*, CASE c.checkpoint_id WHEN '' THEN 0 ELSE $16::bigint END, pg_backend_pid() % 16
  FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
              $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[],
              $15::text[])
       AS c (queue, published, deduplicated, claimed, completed, failed, failed_for_good, retried, abandoned,
             superseded, cancelled, run_ms, runs, removed, checkpoint_id)
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
       checkpoint_at = greatest(t.checkpoint_at, excluded.checkpoint_at);
