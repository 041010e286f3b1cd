-- read_count.sql: how many events of a queue, from the counters; a null status stands for all.
SELECT coalesce(sum(n), 0)::bigint
  FROM eventq.event_count
 WHERE queue = $1 AND ($2::text IS NULL OR status = $2);
