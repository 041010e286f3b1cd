-- read_totals.sql: the totals of one queue.
SELECT published, deduplicated, claimed, completed, failed, failed_for_good,
       retried, abandoned, superseded, cancelled, run_ms, runs, removed, checkpoint_id, changed_at
  FROM queue_total
 WHERE queue = ?1;
