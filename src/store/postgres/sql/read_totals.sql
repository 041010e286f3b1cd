-- read_totals.sql: the totals of the queues $1, or of all queues if none is named.
SELECT queue, sum(published)::bigint, sum(deduplicated)::bigint, sum(claimed)::bigint, sum(completed)::bigint,
       sum(failed)::bigint, sum(failed_for_good)::bigint, sum(retried)::bigint, sum(abandoned)::bigint,
       sum(superseded)::bigint, sum(cancelled)::bigint, sum(run_ms)::bigint, sum(runs)::bigint, sum(removed)::bigint,
       (array_agg(checkpoint_id ORDER BY checkpoint_at DESC, slot))[1], max(changed_at)::bigint
  FROM eventq.queue_total
 WHERE queue = ANY (CASE cardinality($1::text[]) WHEN 0 THEN ARRAY (SELECT id FROM eventq.stored_queue) ELSE $1 END)
 GROUP BY queue;
