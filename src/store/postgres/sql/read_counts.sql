-- read_counts.sql: how many events of some queues, or of all (none is named), are in each status.
SELECT queue, status, sum(n)::bigint
  FROM eventq.event_count
 WHERE queue = ANY (CASE cardinality($1::text[]) WHEN 0 THEN ARRAY (SELECT id FROM eventq.event_queue_state) ELSE $1 END)
 GROUP BY queue, status;
