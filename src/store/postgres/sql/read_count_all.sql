-- read_count_all.sql: how many events of all queues, from the counters; a null status stands for all.
SELECT coalesce(sum(n), 0)::bigint
  FROM eventq.event_count
 WHERE $1::text IS NULL OR status = $1;
