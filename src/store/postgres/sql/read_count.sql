-- read_count.sql: how many events a queue has, from the counters. A null status stands for all.
SELECT coalesce(sum(n), 0)::bigint
  FROM eventq.event_count
 WHERE queue = $1 AND ($2::text IS NULL OR status = $2);
