-- add_totals.sql: adds to the totals of a queue, once per queue and transaction. ?15 is the id of the last
-- event completed, or null. ?16 is the time of the transaction; a clock that was set back does not lower changed_at.
INSERT INTO queue_total (queue, published, deduplicated, claimed, completed, failed, failed_for_good,
                         retried, abandoned, superseded, cancelled, run_ms, runs, removed, checkpoint_id,
                         changed_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,
        coalesce((SELECT event_id FROM event_body WHERE id = ?15), ''), ?16)
    ON CONFLICT (queue) DO UPDATE
   SET published = published + excluded.published,
       deduplicated = deduplicated + excluded.deduplicated,
       claimed = claimed + excluded.claimed,
       completed = completed + excluded.completed,
       failed = failed + excluded.failed,
       failed_for_good = failed_for_good + excluded.failed_for_good,
       retried = retried + excluded.retried,
       abandoned = abandoned + excluded.abandoned,
       superseded = superseded + excluded.superseded,
       cancelled = cancelled + excluded.cancelled,
       run_ms = run_ms + excluded.run_ms,
       runs = runs + excluded.runs,
       removed = removed + excluded.removed,
       checkpoint_id = CASE excluded.checkpoint_id WHEN '' THEN checkpoint_id ELSE excluded.checkpoint_id END,
       changed_at = max(changed_at, excluded.changed_at);
