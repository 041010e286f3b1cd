-- change_count.sql: how many more, or fewer, events are in a status.
INSERT INTO eventq.event_count AS n (queue, status, n, slot)
SELECT c.queue, c.status, c.n, pg_backend_pid() % 16
  FROM unnest($1::text[], $2::text[], $3::bigint[]) AS c (queue, status, n)
    ON CONFLICT (queue, status, slot) DO UPDATE SET n = n.n + excluded.n
