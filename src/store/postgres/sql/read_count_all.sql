-- read_count_all.sql: how many events all queues have, from the counters. A null status stands for all.
SELECT coalesce(sum(n), 0)::bigint
  FROM eventq.event_count
 WHERE $1::text IS NULL OR status = $1;
