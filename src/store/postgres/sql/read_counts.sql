-- read_counts.sql: how many events are in each status, for the queues $1, or for all queues if none is named.
SELECT queue, status, sum(n)::bigint
  FROM eventq.event_count
 WHERE queue = ANY (CASE cardinality($1::text[]) WHEN 0 THEN ARRAY (SELECT id FROM eventq.stored_queue) ELSE $1 END)
 GROUP BY queue, status;
